//! The control satisfies the contract of every control, for any length of chains.

use proptest::prelude::*;
use skywave_congestion::contract::{calls, verify};
use skywave_congestion::{Ack, AckedPacket, AnyControl, Control};
use skywave_mpcp::{Mpcp, MpcpConfig, VcpConfig};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

proptest! {
    #[test]
    fn a_sender_that_obeys_load_factors_keeps_the_contract(
        calls in calls(), packets in 1..=4_u8, paces in any::<bool>(), falls_back in any::<bool>(),
    ) {
        let config = MpcpConfig::li2009(4.0, packets);
        let vcp = VcpConfig { paces, falls_back, ..config.vcp };
        verify(AnyControl::new(Mpcp::new(MpcpConfig { vcp, ..config })), &calls)?;
    }
}

/// RFC 3168 section 6.1.2: an acknowledgement with ECN-Echo does not increase cwnd, even if the
/// sender reads codes.
#[test]
fn an_ecn_echo_lets_no_window_grow() {
    for packets in [1, 2] {
        for ecn_echo in [false, true] {
            let mut control = Mpcp::new(MpcpConfig::li2009(4.0, packets));
            let rtt = Duration::from_millis(100);
            let mut now = Instant::ZERO;
            let before = control.cwnd();
            for number in 0..100 {
                control.on_packet_acked(&AckedPacket {
                    number,
                    sent_at: now,
                    transmissions: 1,
                    ecn: Ecn::NotEct,
                });
                now += rtt;
                control.on_ack(&Ack {
                    now,
                    newly_acked: 1,
                    marked: 0,
                    in_flight: 3,
                    ack_ratio: 1,
                    rtt: Some(rtt),
                    delivery_rate: None,
                    application_limited: false,
                    ecn_echo,
                });
            }
            assert_eq!(control.cwnd() > before, !ecn_echo, "{packets}");
        }
    }
}
