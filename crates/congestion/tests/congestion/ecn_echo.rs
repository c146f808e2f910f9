//! RFC 3168 section 6.1.2, for every control: an acknowledgement with ECN-Echo does not increase
//! cwnd. Nor does one that counts marked packets, unless the control has laws of its own for them.

use proptest::prelude::*;
use skywave_congestion::{
    Ack, AckedPacket, Aimd, AimdConfig, AnyControl, Bbr, BbrConfig, Control, Cubic, CubicConfig,
    GrowthLaw, Vegas, VegasConfig, VegasRules,
};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::support::sent;

/// Every algorithm, with this initial ssthresh if it has such a parameter.
fn windows(ssthresh: f64) -> Vec<AnyControl> {
    let laws = [
        GrowthLaw::PerAck,
        GrowthLaw::PerPacket { limit: 2 },
        GrowthLaw::Rfc4341,
        GrowthLaw::Ns2TcpLike,
    ];
    let aimd = laws.map(|growth| {
        Aimd::new(AimdConfig {
            growth,
            initial_ssthresh: ssthresh,
            ..AimdConfig::rfc5681(1000)
        })
    });
    let cubic = Cubic::new(CubicConfig {
        initial_ssthresh: ssthresh,
        ..CubicConfig::rfc9438(1000)
    });
    let vegas = [VegasRules::Published, VegasRules::Ns2].map(|rules| {
        Vegas::new(VegasConfig {
            initial_ssthresh: ssthresh,
            rules,
            ..VegasConfig::new(4.0)
        })
    });
    let aimd = aimd.into_iter().map(AnyControl::from);
    let vegas = vegas.into_iter().map(AnyControl::new);
    let others = [
        AnyControl::new(cubic),
        AnyControl::new(Bbr::new(BbrConfig::new(1000, 4.0))),
    ];
    aimd.chain(others).chain(vegas).collect()
}

/// The windows that treat a counted mark as an echo: all but those of CCID 2, and BBR.
fn without_counts(ssthresh: f64) -> Vec<AnyControl> {
    let has_laws = [2, 3, 5];
    let windows = windows(ssthresh).into_iter().enumerate();
    let others = windows.filter(|(index, _)| !has_laws.contains(index));
    others.map(|(_, window)| window).collect()
}

/// The growth of cwnd at each of several acknowledgements of a full window; `echoes` says which of
/// them carry ECN-Echo, or count a mark if `counts`.
fn growth(window: &mut AnyControl, echoes: &[bool], counts: bool) -> Vec<f64> {
    let rtt = Duration::from_millis(100);
    let mut now = Instant::ZERO;
    let mut seq = 0;
    let each = |&ecn_echo: &bool| {
        let flight = window.cwnd() as u32;
        window.on_sent(&sent(now, flight));
        window.on_packet_acked(&AckedPacket::new(seq, now, 1, Ecn::NotEct));
        seq += 1;
        now += rtt;
        let before = window.cwnd();
        let mut ack = Ack::new(now, 1, flight.saturating_sub(1));
        ack.rtt = Some(rtt);
        ack.ecn_echo = ecn_echo && !counts;
        ack.marked = u32::from(ecn_echo && counts);
        window.on_ack(&ack);
        window.cwnd() - before
    };
    echoes.iter().map(each).collect()
}

proptest! {
    #[test]
    fn rfc3168_6_1_2_an_ecn_echo_lets_no_window_grow(
        ssthresh in prop_oneof![Just(2.0), Just(8.0), Just(f64::INFINITY)],
        echoes in proptest::collection::vec(any::<bool>(), 1..100),
    ) {
        for (windows, counts) in [(windows(ssthresh), false), (without_counts(ssthresh), true)] {
            for mut window in windows {
                let grown = growth(&mut window, &echoes, counts);
                for (grown, echo) in grown.into_iter().zip(&echoes) {
                    prop_assert!(!echo || grown <= 0.0, "{:?} by {}", window, grown);
                }
            }
        }
    }
}

#[test]
fn without_an_echo_every_window_grows() {
    for ssthresh in [2.0, f64::INFINITY] {
        for mut window in windows(ssthresh) {
            let grown = growth(&mut window, &[false; 100], false);
            assert!(grown.iter().any(|&grown| grown > 0.0), "{window:?}");
        }
    }
}
