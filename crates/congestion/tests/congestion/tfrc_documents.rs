//! The parameters that each document sets for TFRC, where the documents differ.

use skywave_congestion::tfrc::{
    AfterSilence, Config, FirstInterval, InitialWindow, SenderRules, UnseenIntervals,
};

#[test]
fn rfc5348_and_rfc3448_differ_where_rfc5348_section_9_says() {
    let [new, old] = [Config::rfc5348(), Config::rfc3448()];
    assert_eq!(
        [new.rules, old.rules],
        [SenderRules::Rfc5348, SenderRules::Rfc3448]
    );
    // Section 4.2: min(4 * s, max(2 * s, 4380)) instead of one packet per round-trip time.
    assert_eq!(new.initial_window, InitialWindow::Rfc3390);
    assert_eq!(old.initial_window, InitialWindow::Packets(1));
    assert_eq!(
        [new.uses_handshake_rtt, old.uses_handshake_rtt],
        [true, false]
    );
    // Section 4.6: unused permission to send.
    assert_eq!([new.max_credit, old.max_credit], [1.0, 0.0]);
    // Section 5.5: the lower bound of DF was 0.5.
    assert_eq!([new.discounting, old.discounting], [Some(0.25), Some(0.5)]);
    // Section 6.3.1: the first interval is computed from the greatest receive rate.
    assert_eq!(new.first_interval, FirstInterval::GreatestReceiveRate);
    assert_eq!(old.first_interval, FirstInterval::LatestReceiveRate);
    // Section 6.2: what X_recv covers.
    assert_eq!(new.after_silence, AfterSilence::RoundTrip);
    assert_eq!(old.after_silence, AfterSilence::SinceReport);
    // Everything else is the same; sections 4.3 and 4.5 recommend q and q2.
    assert_eq!([new.rtt_weight, old.rtt_weight], [0.9; 2]);
    assert_eq!(
        [new.oscillation_prevention, old.oscillation_prevention],
        [Some(0.9); 2]
    );
    assert_eq!(
        [new.unseen_intervals, old.unseen_intervals],
        [UnseenIntervals::LeftOut; 2]
    );
}

/// ns-2.35's DCCP module has no history discounting, and begins with intervals of length zero.
#[test]
fn ns2_differs_from_rfc3448_in_its_mean() {
    let [ns2, old] = [Config::ns2(), Config::rfc3448()];
    assert_eq!(ns2.discounting, None);
    assert_eq!(ns2.unseen_intervals, UnseenIntervals::OfLengthZero);
    let same = Config {
        discounting: old.discounting,
        unseen_intervals: old.unseen_intervals,
        ..ns2
    };
    assert_eq!(format!("{same:?}"), format!("{old:?}"));
}

/// Section 4.5: without oscillation prevention, a low q.
#[test]
fn without_oscillation_prevention_the_past_weighs_little() {
    let config = Config::rfc5348().without_oscillation_prevention();
    assert_eq!(
        (config.oscillation_prevention, config.rtt_weight),
        (None, 0.1)
    );
}
