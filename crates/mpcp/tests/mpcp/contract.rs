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
                control.on_packet_acked(&AckedPacket::new(number, now, 1, Ecn::NotEct));
                now += rtt;
                let mut ack = Ack::new(now, 1, 3);
                ack.rtt = Some(rtt);
                ack.ecn_echo = ecn_echo;
                control.on_ack(&ack);
            }
            assert_eq!(control.cwnd() > before, !ecn_echo, "{packets}");
        }
    }
}
