//! TCP's own controls, selected by name, and the defaults of a control for any transport.

use std::sync::Arc;

use skywave_congestion::{ControlContext, VegasParameters};
use skywave_registry::Value;
use skywave_transport::tcp::{
    AnyTransport, Header, RecoveryAlgorithm, SenderControl, TcpControlKind, built_in_tcp_controls,
};
use skywave_wire::tcp::Flags;

const fn context(ns2: bool) -> ControlContext {
    ControlContext {
        packet_size: 1000,
        initial_cwnd: 4.0,
        initial_ssthresh: f64::INFINITY,
        ns2,
        linux: false,
    }
}

fn with(name: &str, value: f64) -> Value {
    [(name, value)].into_iter().collect()
}

#[test]
fn vegas_is_tcps_own_with_its_recovery_and_its_variant_of_ns2() {
    let controls = built_in_tcp_controls();
    assert_eq!(controls.names().collect::<Vec<_>>(), ["vegas"]);
    let vegas = controls.read("vegas", &with("alpha", 2.0)).unwrap().member;
    assert_eq!(vegas.recovery(), Some(RecoveryAlgorithm::Vegas));
    assert!(matches!(
        vegas.build(&context(false)),
        SenderControl::Plain(_)
    ));
    assert!(matches!(
        vegas.build(&context(true)),
        SenderControl::Ns2Vegas(_)
    ));
    let error = controls.read("vegas", &with("alpha", 4.0)).unwrap_err();
    assert_eq!(error.field, "alpha", "more than beta");
}

#[test]
fn a_control_of_any_transport_is_checked_and_asks_tcp_for_nothing() {
    let refused = VegasParameters {
        alpha: Some(4.0),
        ..VegasParameters::default()
    };
    let error = AnyTransport(Arc::new(refused)).check().unwrap_err();
    assert_eq!(error.field, "alpha");

    let vegas = AnyTransport(Arc::new(VegasParameters::default()));
    assert!(vegas.check().is_ok());
    assert!(matches!(
        vegas.build(&context(false)),
        SenderControl::Plain(_)
    ));
    assert_eq!(vegas.recovery(), None);
    assert!(vegas.receiver().is_none());
    assert!(!vegas.has_tags() && !vegas.owns_ecn());
    let header = Header {
        seq: 1,
        ack: 2,
        flags: Flags::ACK,
        checksum_offset: 3,
        identification: 4,
    };
    assert_eq!(vegas.tag(header), 0);
    assert!(vegas.check_routers(&[("codes", 1)]).is_ok());
}
