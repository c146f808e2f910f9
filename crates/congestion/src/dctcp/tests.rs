use skywave_units::Instant;
use skywave_wire::Ecn;

use super::*;
use crate::testing::{context, linux, loss, mark};
use crate::{AckedPacket, Control, ControlContext, MarkedPackets};

const NOW: Instant = Instant::ZERO;

fn control(parameters: DctcpParameters, context: &ControlContext) -> Governed<Dctcp> {
    Governed::new(context, parameters.law(context))
}

/// Acknowledges a window of packets one by one; the first `marked` are marked. The first
/// mark is reported as congestion.
fn round(control: &mut Governed<Dctcp>, marked: u32) {
    let packets = control.cwnd() as u32;
    for number in 0..packets {
        let is_marked = number < marked;
        let ecn = if is_marked { Ecn::Ce } else { Ecn::Ect0 };
        control.on_packet_acked(&AckedPacket::new(0, NOW, 1, ecn));
        if is_marked {
            control.on_packets_marked(&MarkedPackets::new(NOW, 1, None));
        }
        let mut ack = Ack::new(NOW, 1, packets);
        ack.ecn_echo = is_marked;
        control.on_ack(&ack);
        if is_marked && number == 0 {
            control.on_mark(&mark(NOW, packets));
        }
    }
}

fn alpha(control: &Governed<Dctcp>) -> f64 {
    control.law.0.average()
}

/// Alpha begins with 1, so a mark before anything else halves the window.
#[test]
fn rfc8257_3_3_the_first_mark_halves_the_window() {
    for context in [context(20.0, 20.0), linux(20.0, 20.0)] {
        let mut dctcp = control(DctcpParameters::default(), &context);
        dctcp.on_mark(&mark(NOW, 20));
        assert_eq!((dctcp.cwnd(), dctcp.ssthresh()), (10.0, 10.0));
    }
}

/// Step 9: cwnd (1 - alpha / 2).
#[test]
fn rfc8257_3_3_a_mark_takes_half_of_alpha() {
    for (initial_alpha, left) in [(0.5, 15.0), (0.25, 17.5), (0.0, 20.0)] {
        let parameters = DctcpParameters {
            initial_alpha,
            ..DctcpParameters::default()
        };
        let mut dctcp = control(parameters, &context(20.0, 20.0));
        dctcp.on_mark(&mark(NOW, 20));
        assert_eq!(dctcp.cwnd(), left, "alpha {initial_alpha}");
        // Linux takes 5, 2 (of 2.5) and 0 packets.
        let mut dctcp = control(parameters, &linux(20.0, 20.0));
        dctcp.on_mark(&mark(NOW, 20));
        assert_eq!(dctcp.cwnd(), left.ceil(), "alpha {initial_alpha}");
    }
}

/// Alpha approaches the fraction of marked packets.
#[test]
fn rfc8257_3_3_alpha_is_the_fraction_of_marked_packets() {
    let mut dctcp = control(DctcpParameters::default(), &context(100.0, 2.0));
    for _ in 0..200 {
        dctcp.window = Window::new(&context(100.0, 2.0));
        round(&mut dctcp, 10);
    }
    let found = alpha(&dctcp);
    // The window shrinks in each round, so that it is a bit more than a tenth.
    assert!((0.1..0.12).contains(&found), "{found}");
}

/// Unmarked windows multiply alpha by 1 - g.
#[test]
fn rfc8257_3_3_alpha_decays_without_marks() {
    let mut dctcp = control(DctcpParameters::default(), &context(10.0, 2.0));
    // The first acknowledgement ends a window too.
    for _ in 0..4 {
        dctcp.window = Window::new(&context(10.0, 2.0));
        round(&mut dctcp, 0);
    }
    let expected = (15.0_f64 / 16.0).powi(4);
    assert!(
        (alpha(&dctcp) - expected).abs() < 1e-12,
        "{}",
        alpha(&dctcp)
    );
}

/// "A DCTCP sender MUST react to loss episodes in the same way as conventional TCP."
#[test]
fn rfc8257_3_5_a_loss_halves_the_window_whatever_alpha_is() {
    let parameters = DctcpParameters {
        initial_alpha: 0.0,
        ..DctcpParameters::default()
    };
    for (context, left) in [(context(21.0, 2.0), 10.5), (linux(21.0, 2.0), 10.0)] {
        let mut dctcp = control(parameters, &context);
        dctcp.on_loss(&loss(NOW, 21));
        assert_eq!((dctcp.cwnd(), dctcp.ssthresh()), (left, left));
        let mut dctcp = control(parameters, &context);
        dctcp.on_timeout(NOW, 21);
        assert_eq!((dctcp.cwnd(), dctcp.ssthresh()), (1.0, left));
    }
}

/// Section 3.4: growth is conventional TCP's.
#[test]
fn rfc8257_3_4_the_window_grows_as_renos() {
    let mut dctcp = control(DctcpParameters::default(), &context(4.0, 8.0));
    let cwnds: Vec<_> = (0..4)
        .map(|_| {
            round(&mut dctcp, 0);
            dctcp.cwnd()
        })
        .collect();
    assert_eq!(cwnds, [8.0, 9.0, 10.0, 11.0]);
}

/// Acknowledgements of a recovery are not reported, but their packets are.
#[test]
fn packets_of_a_recovery_count() {
    let mut dctcp = control(
        DctcpParameters {
            gain: 0.5,
            initial_alpha: 0.0,
        },
        &context(10.0, 2.0),
    );
    round(&mut dctcp, 0);
    for _ in 0..10 {
        dctcp.on_packet_acked(&AckedPacket::new(0, NOW, 1, Ecn::Ce));
        dctcp.on_packets_marked(&MarkedPackets::new(NOW, 1, None));
    }
    dctcp.on_ack(&Ack::new(NOW, 1, 10));
    // 10 of 19: nine unmarked ones have followed the first.
    assert!(
        (alpha(&dctcp) - 5.0 / 19.0).abs() < 1e-12,
        "{}",
        alpha(&dctcp)
    );
}

#[test]
fn it_asks_for_exact_reports_of_marks() {
    let wants = DctcpParameters::default().wants();
    assert_eq!(wants.ecn, Some(Ect::Zero));
    assert!(wants.accurate_ecn);
}
