//! Quick-Start between two connections under CCID 3, with a router between them (RFC 5634).

use skywave_congestion::tfrc;
use skywave_units::Rate;
use skywave_wire::quick_start::RateField;

use super::*;
use crate::dccp::{Ccid, QuickStartStats};

const APPROVED: Rate = Rate::from_bps(1_280_000);
/// Data in the approved rate, if packets have 1000 bytes of it (RFC 5634 equation 2).
const QS_SENDRATE: u64 = 1_235_521;

fn under(ccid: Ccid, quick_start: Option<Rate>) -> Config {
    Config {
        sender_ccids: vec![ccid],
        receiver_ccids: vec![ccid],
        send_queue: 1_000_000,
        tfrc: tfrc::Config {
            quick_start,
            ..tfrc::Config::rfc5348()
        },
        ..Config::default()
    }
}

/// A pair whose client asks for the approved rate.
fn asking() -> Pair {
    let config = |rate| under(Ccid::TFRC, rate);
    Pair::open(config(Some(APPROVED)), config(None))
}

fn send_many(pair: &mut Pair, count: usize) {
    for _ in 0..count {
        pair.send(Client, 1_000);
    }
}

fn counts(pair: &Pair) -> (u64, u64) {
    let QuickStartStats {
        requests,
        approvals,
    } = pair.get(Client).stats().quick_start;
    (requests, approvals)
}

/// The packets of the client with an option, in order.
fn optioned(pair: &Pair) -> Vec<&Sent> {
    let mut sent = pair.sent_by(Client, 0);
    sent.retain(|sent| sent.quick_start.is_some());
    sent
}

fn allowed_bps(pair: &Pair) -> u64 {
    pair.rate(Client).allowed_rate.as_bps()
}

/// Sections 2.1 to 2.3 and 3.2: the first data packet has the request, an acknowledgement has the
/// response at once and once, and the first Quick-Start Packet the report of the approved rate.
#[test]
fn request_response_report() {
    let mut pair = asking();
    let before = pair.log.len();
    assert!(optioned(&pair).is_empty(), "not before there is data");
    send_many(&mut pair, 500);
    let start = pair.now;
    pair.run_for(millis(101));
    assert_eq!(allowed_bps(&pair), QS_SENDRATE);
    pair.run_for(secs(3));
    assert_eq!(counts(&pair), (1, 1));

    let responses: Vec<_> = pair
        .sent_by(Server, before)
        .into_iter()
        .filter(|sent| sent.option(OptionType::QUICK_START_RESPONSE).is_some())
        .collect();
    let [response] = responses[..] else {
        panic!("{responses:?}")
    };
    assert_eq!(response.at, start + millis(50), "at once");
    assert!(response.option(OptionType::RECEIVE_RATE).is_some());

    let options = optioned(&pair);
    let [request, report] = options[..] else {
        panic!("{options:?}")
    };
    assert_eq!(request.at, start);
    let Some(QuickStart::Request(sent)) = request.quick_start else {
        panic!("{request:?}")
    };
    assert_eq!(sent.rate.rate(), APPROVED);
    assert!((millis(100)..millis(110)).contains(&(report.at - start)));
    assert!(report.packet.kind.carries_data());
    let expected = QuickStart::Report {
        rate: sent.rate,
        nonce: sent.nonce,
    };
    assert_eq!(report.quick_start, Some(expected));
}

/// Section 2.3.1: Quick-Start Packets are paced at the approved rate for the Quick-Start Mode of
/// one round-trip time.
#[test]
fn quick_start_packets_are_paced() {
    let mut pair = asking();
    send_many(&mut pair, 500);
    let start = pair.now + millis(100);
    pair.run_for(secs(1));
    let times: Vec<_> = pair
        .sent_by(Client, 0)
        .iter()
        .filter(|sent| sent.at >= start && sent.at < start + millis(100))
        .map(|sent| sent.at)
        .collect();
    assert!((15..=17).contains(&times.len()), "{times:?}");
    // Packets of 1036 bytes at 160,000 bytes per second are 6.475 ms apart.
    for step in times.windows(2).skip(1) {
        assert!(step[1] - step[0] >= Duration::from_micros(6_400));
    }
}

/// Section 2.4 and RFC 4782 section 3.3: a router that takes no part, or that denies the request,
/// leaves the sender where it was. A report of rate zero follows.
#[test]
fn a_denied_request_changes_nothing() {
    let run = |router: fn(&mut RateRequest), rate| {
        let mut pair = Pair::open(under(Ccid::TFRC, rate), under(Ccid::TFRC, None));
        pair.router = router;
        send_many(&mut pair, 500);
        pair.run_for(secs(1));
        pair
    };
    let without = run(|_| {}, None);
    for router in [
        (|_: &mut RateRequest| {}) as fn(&mut RateRequest),
        |request| *request = RateRequest::default(),
    ] {
        let pair = run(router, Some(APPROVED));
        assert_eq!(counts(&pair), (1, 0));
        assert_eq!(allowed_bps(&pair), allowed_bps(&without));
        let [_, report] = optioned(&pair)[..] else {
            panic!("one request and one report")
        };
        assert!(matches!(
            report.quick_start,
            Some(QuickStart::Report {
                rate: RateField::ZERO,
                ..
            })
        ));
    }
}

/// Section 2.4: if the response is lost, the rate is not used. It is not sent again (section 2.2).
#[test]
fn a_lost_response_changes_nothing() {
    let mut pair = asking();
    pair.network = Box::new(|sent| match sent.option(OptionType::QUICK_START_RESPONSE) {
        Some(_) => Fate::Drop,
        None => Fate::Deliver,
    });
    send_many(&mut pair, 500);
    pair.run_for(secs(1));
    assert_eq!(counts(&pair), (1, 0));
    let responses = pair.log.iter();
    let is_response = |sent: &&Sent| sent.option(OptionType::QUICK_START_RESPONSE).is_some();
    assert_eq!(responses.filter(is_response).count(), 1);
}

/// Section 3.2.5: a lost or marked Quick-Start Packet ends Quick-Start with the next report.
#[test]
fn a_lost_or_marked_packet_ends_quick_start() {
    for (fate, limit) in [
        ((|| Fate::Drop) as fn() -> Fate, millis(320)),
        (|| Fate::Mark, millis(300)),
    ] {
        let mut pair = asking();
        send_many(&mut pair, 500);
        let start = pair.now;
        let mut is_over = false;
        pair.network = Box::new(move |sent| {
            let is_hit = !is_over && sent.from == Client && sent.at > start + millis(120);
            is_over |= is_hit;
            if is_hit { fate() } else { Fate::Deliver }
        });
        pair.run_for(millis(200));
        assert_eq!(allowed_bps(&pair), QS_SENDRATE);
        pair.run_until(start + limit);
        assert_eq!(pair.rate(Client).loss_events, 1);
        assert!(allowed_bps(&pair) < QS_SENDRATE, "{}", allowed_bps(&pair));
    }
}

/// Sections 2.1.1 and 3.2.1: another request after an idle period, but not within 6 s of the first.
#[test]
fn asks_again_after_an_idle_period() {
    let mut pair = asking();
    send_many(&mut pair, 100);
    pair.run_for(secs(3));
    send_many(&mut pair, 100);
    pair.run_for(secs(2));
    assert_eq!(counts(&pair), (1, 1));
    pair.run_for(secs(10));
    send_many(&mut pair, 100);
    pair.run_for(millis(101));
    assert_eq!(counts(&pair), (2, 2));
    assert_eq!(allowed_bps(&pair), QS_SENDRATE);
}

/// Section 3.3: CCID 4 does the same, for at most 100 packets per second.
#[test]
fn ccid_4_asks_too() {
    let config = |rate| under(Ccid::TFRC_SP, rate);
    let mut pair = Pair::open(config(Some(APPROVED)), config(None));
    send_many(&mut pair, 500);
    pair.run_for(millis(101));
    assert_eq!(counts(&pair), (1, 1));
    let Some(QuickStart::Request(sent)) = optioned(&pair)[0].quick_start else {
        panic!("no request")
    };
    assert_eq!(sent.rate.rate(), Rate::from_bps(640_000));
}

/// CCID 2's sender asks for nothing: section 3.1 is not implemented.
#[test]
fn ccid_2_sends_no_request() {
    let config = under(Ccid::TCP_LIKE, Some(APPROVED));
    let mut pair = Pair::open(config.clone(), config);
    send_many(&mut pair, 100);
    pair.run_for(secs(1));
    assert_eq!(counts(&pair), (0, 0));
}
