//! Errors in flows and their transports.

use super::assert_errors;

#[test]
fn errors_of_flows_name_their_field() {
    assert_errors(&[
        (
            "name = \"voice\"",
            "name = \"file\"",
            "flows[1].name",
            "another flow is named \"file\"",
        ),
        (
            "tcp = {}",
            "sctp = {}",
            "flows[0].transport",
            "\"sctp\" is not a known transport: use dccp, kernel-dccp, kernel-tcp, tcp, udp",
        ),
        (
            "tcp = {}",
            "kernel-dccp = { ccid = 4 }",
            "flows[0].transport.kernel-dccp.ccid",
            "the kernel has no CCID 4: use 2 or 3",
        ),
        (
            "tcp = {}",
            "kernel-dccp = { send_queue = 0 }",
            "flows[0].transport.kernel-dccp.send_queue",
            "0 packets: give a number from 1 to ",
        ),
        (
            "start = \"1 s\"",
            "class = 4",
            "flows[1].class",
            "there is no class 4: use 0 to 3",
        ),
    ]);
}

#[test]
fn errors_of_tcp_name_their_field() {
    assert_errors(&[
        (
            "tcp = {}",
            "tcp = { initial_cwnd = 4294967295 }",
            "flows[0].transport.tcp.initial_cwnd",
            "4294967295 packets",
        ),
        (
            "tcp = {}",
            "tcp = { recovery = \"fack\" }",
            "flows[0].transport.tcp.recovery",
            "unknown variant `fack`, expected one of `tahoe`, `reno`, `newreno`, `sack`, \
             `rack`, `vegas`",
        ),
        (
            "tcp = {}",
            "tcp = { control = \"copa\" }",
            "flows[0].transport.tcp.control",
            "\"copa\" is not a known control: use ",
        ),
    ]);
}

#[test]
fn errors_of_ccid_248_name_their_field() {
    assert_errors(&[(
        "ccid = 2",
        "ccid = 248, tfrc = {}",
        "flows[1].transport.dccp.tfrc",
        "CCID 248 is not TFRC",
    )]);
}

#[test]
fn errors_of_tfrc_sp_name_their_field() {
    assert_errors(&[(
        "ccid = 2",
        "ccid = 4, tfrc = { feedback = { per-round-trip = { reports = 0 } } }",
        "flows[1].transport.dccp.tfrc.feedback.per-round-trip.reports",
        "0 reports",
    )]);
}

#[test]
fn errors_of_tfrc_name_their_field() {
    assert_errors(&[
        (
            "ccid = 2",
            "ccid = 3, tfrc = { rules = \"rfc2001\" }",
            "flows[1].transport.dccp.tfrc.rules",
            "unknown variant `rfc2001`, expected one of `rfc5348`, `rfc3448`, `ns2`",
        ),
        (
            "ccid = 2",
            "ccid = 3, tfrc = { segment_size = \"0 B\" }",
            "flows[1].transport.dccp.tfrc.segment_size",
            "0 B do not fit",
        ),
        (
            "ccid = 2",
            "ccid = 3, tfrc = { feedback = { dynamic = { rtt_ref = \"0 s\" } } }",
            "flows[1].transport.dccp.tfrc.feedback.dynamic.rtt_ref",
            "0 s: give a time above zero",
        ),
        (
            "ccid = 2",
            "ccid = 3, tfrc = { feedback = { dynamic = { window = \"week\" } } }",
            "flows[1].transport.dccp.tfrc.feedback.dynamic.window",
            "unknown variant `week`, expected `interval` or `round-trip`",
        ),
    ]);
}

#[test]
fn errors_of_dccp_name_their_field() {
    assert_errors(&[
        (
            "ccid = 2",
            "ccid = 5",
            "flows[1].transport.dccp.ccid",
            "5 is not a known CCID",
        ),
        (
            "ccid = 2",
            "send_queue = 4294967295",
            "flows[1].transport.dccp.send_queue",
            "4294967295 packets",
        ),
        (
            "ccid = 2",
            "ccid = 2, tfrc = {}",
            "flows[1].transport.dccp.tfrc",
            "CCID 2 is not TFRC",
        ),
    ]);
}

#[test]
fn errors_of_cubic_name_their_field() {
    assert_errors(&[
        (
            "tcp = {}",
            "tcp = { cubic = {} }",
            "flows[0].transport.tcp.cubic",
            "these are parameters of `cubic`: give control = \"cubic\" too",
        ),
        (
            "tcp = {}",
            "tcp = { control = \"cubic\", cubic = { beta = 1.5 } }",
            "flows[0].transport.tcp.cubic.beta",
            "1.5: between 0 and 1",
        ),
        (
            "tcp = {}",
            "tcp = { control = \"cubic\", cubic = { betta = 0.5 } }",
            "flows[0].transport.tcp.cubic.betta",
            "unknown field `betta`",
        ),
    ]);
}

#[test]
fn the_least_ack_ratio_is_one_or_two() {
    assert_errors(&[(
        "ccid = 2",
        "ccid = 2, min_ack_ratio = 3",
        "flows[1].transport.dccp.min_ack_ratio",
        "out of range: give 1 or 2 (RFC 4341 section 6.1.2)",
    )]);
}

#[test]
fn bounds_of_the_ack_ratio_are_checked() {
    assert_errors(&[
        (
            "ccid = 2",
            "ccid = 2, max_ack_ratio = 1",
            "flows[1].transport.dccp.max_ack_ratio",
            "below 2, which is always allowed (RFC 4341 section 6.1.2): use 2 or more",
        ),
        (
            "ccid = 2",
            "ccid = 2, ack_ratio = 5, max_ack_ratio = 4",
            "flows[1].transport.dccp.ack_ratio",
            "5 is above max_ack_ratio",
        ),
        (
            "ccid = 2",
            "ccid = 2, min_acks_per_window = 1",
            "flows[1].transport.dccp.min_acks_per_window",
            "below 2, the least of RFC 4341 section 6.1.2: use 2 or more",
        ),
    ]);
}

#[test]
fn errors_of_vegas_name_their_field() {
    assert_errors(&[(
        "ccid = 2",
        "ccid = 251, control = \"vegas\", vegas = { alpha = 4.0 }",
        "flows[1].transport.dccp.vegas.alpha",
        "4 is above beta, 3",
    )]);
}

#[test]
fn errors_of_the_senders_choice_name_their_field() {
    assert_errors(&[
        (
            "ccid = 2",
            "ccid = 2, control = \"cubic\"",
            "flows[1].transport.dccp.control",
            "CCID 2 has a control of its own: leave `control` out, or use ccid 251",
        ),
        (
            "ccid = 2",
            "ccid = 251, control = \"yeah\"",
            "flows[1].transport.dccp.control",
            "\"yeah\" is not a known control: use ",
        ),
        (
            "ccid = 2",
            "ccid = 251, vegas = {}",
            "flows[1].transport.dccp.vegas",
            "unknown field `vegas`",
        ),
    ]);
}

#[test]
fn errors_of_chosen_members_name_their_field() {
    assert_errors(&[(
        "tcp = {}",
        "tcp = { segmennt = \"1 kB\" }",
        "flows[0].transport.tcp.segmennt",
        "unknown field `segmennt`",
    )]);
}
