//! The totals of flows: for how long they were active, and how long a window limited them.

use skywave_sim::FlowSummary;

use crate::support::run_verified;

/// Runs one flow for a minute over a link with a round-trip time of 100 ms.
fn flow(link: &str, flow: &str) -> FlowSummary {
    let text = format!(
        "name = \"totals\"\nduration = \"60 s\"\nseed = 3\nnodes = [\"a\", \"b\"]\n\
         links = [{{ from = \"a\", to = \"b\", delay = \"50 ms\", {link} }}]\n\
         flows = [{{ name = \"f\", from = \"a\", to = \"b\", {flow} }}]\n"
    );
    let results = run_verified(&text);
    let [flow] = <[_; 1]>::try_from(results.summary.flows).unwrap();
    flow
}

const MBPS: &str = "rate = \"1 Mbps\", queue = { drop-tail = { packets = 50 } }";
const TCP: &str = "transport = { tcp = {} }";
const DCCP: &str = "transport = { dccp = {} }";

#[track_caller]
fn close(value: f64, to: f64) {
    assert!((value / to - 1.0).abs() < 0.01, "{value} {to}");
}

#[track_caller]
fn is_rate_over_active_time(flow: &FlowSummary) {
    close(
        flow.goodput_bps,
        8.0 * flow.delivered_bytes as f64 / flow.active_s,
    );
}

#[test]
fn an_endless_flow_is_active_until_the_end_of_the_run() {
    for transport in [TCP, DCCP] {
        let late = flow(
            MBPS,
            &format!("start = \"20 s\", {transport}, source = {{ ftp = {{}} }}"),
        );
        assert_eq!(late.active_s, 40.0);
        is_rate_over_active_time(&late);
        assert!(late.goodput_bps > 0.85e6, "{late:?}");
    }
}

#[test]
fn a_flow_is_active_until_its_last_packet_has_arrived_after_its_stop() {
    for transport in [TCP, DCCP] {
        let source = "source = { ftp = {} }, start = \"10 s\", stop = \"40 s\"";
        let stopped = flow(MBPS, &format!("{transport}, {source}"));
        // The queue holds less than half a second.
        assert!((30.0..31.0).contains(&stopped.active_s), "{stopped:?}");
        is_rate_over_active_time(&stopped);
        // No more than the link carries, although the queue empties after the stop.
        assert!(stopped.goodput_bps < 1e6, "{stopped:?}");
    }
}

#[test]
fn a_file_is_active_until_its_last_packet_has_arrived() {
    for transport in [TCP, DCCP] {
        let source = "source = { ftp = { size = \"1 MB\" } }, start = \"10 s\"";
        let file = flow(MBPS, &format!("{transport}, {source}"));
        assert!(transport == DCCP || file.delivered_bytes == 1_000_000);
        assert!((8.0..11.0).contains(&file.active_s), "{file:?}");
        is_rate_over_active_time(&file);
    }
}

/// Otherwise a transfer that stalls would look faster than one that does not.
#[test]
fn a_file_that_does_not_arrive_is_active_until_the_end_of_the_run() {
    let dies = "rate = \"1 Mbps\", trace = { steps = [{ at = \"15 s\", rate = \"0 bps\" }] }";
    let source = "source = { ftp = { size = \"1 MB\" } }, start = \"10 s\"";
    for transport in [TCP, DCCP] {
        let file = flow(dies, &format!("{transport}, {source}"));
        assert!(file.delivered_bytes < 1_000_000);
        assert_eq!(file.active_s, 50.0, "{file:?}");
    }
}

#[test]
fn a_stream_without_a_connection_is_active_until_it_stops() {
    let udp = "transport = { udp = {} }, stop = \"30 s\", \
               source = { cbr = { rate = \"80 kbps\", datagram = \"100 B\" } }";
    let stream = flow(MBPS, udp);
    close(stream.active_s, 30.05);
    close(stream.goodput_bps, 80e3);
    // Its last packets are lost.
    let dead = "rate = \"1 Mbps\", trace = { steps = [{ at = \"15 s\", rate = \"0 bps\" }] }";
    let cut = flow(dead, udp);
    assert_eq!(cut.active_s, 30.0);
    close(cut.goodput_bps, 40e3);
}

#[test]
fn a_flow_that_never_starts_has_no_rate() {
    let never = flow(
        MBPS,
        &format!("start = \"70 s\", {TCP}, source = {{ ftp = {{}} }}"),
    );
    assert_eq!((never.active_s, never.goodput_bps), (0.0, 0.0));
}

#[test]
fn a_fixed_window_below_the_bandwidth_delay_product_limits_all_the_time() {
    let wide = "rate = \"10 Mbps\", queue = { drop-tail = { packets = 120 } }";
    let tcp = |window: &str| {
        flow(
            wide,
            &format!("transport = {{ tcp = {{ {window} }} }}, source = {{ ftp = {{}} }}"),
        )
    };
    // 20 segments of 1000 B, which the network holds six times.
    let narrow = tcp("receive_window = 20");
    close(narrow.receive_window_limited_s, 60.0);
    close(narrow.goodput_bps, 20.0 * 8000.0 / 0.10083);
    let free = tcp("control = \"cubic\"");
    assert!(free.receive_window_limited_s < 0.6, "{free:?}");
    assert!(free.goodput_bps > 8.5e6, "{free:?}");
}

/// The window of slow start's first round trips is cwnd, and a source that sends seldom waits for
/// nobody.
#[test]
fn cwnd_and_the_application_are_not_the_receive_window() {
    let seldom = "source = { cbr = { rate = \"80 kbps\", datagram = \"1000 B\" } }";
    for window in ["", "receive_window = 20"] {
        let slow = flow(
            MBPS,
            &format!("transport = {{ tcp = {{ {window} }} }}, {seldom}"),
        );
        assert_eq!(slow.receive_window_limited_s, 0.0, "{slow:?}");
    }
    let filled = flow(MBPS, &format!("{TCP}, source = {{ ftp = {{}} }}"));
    assert!(filled.receive_window_limited_s < 0.6, "{filled:?}");
    let other = flow(MBPS, &format!("{DCCP}, source = {{ ftp = {{}} }}"));
    assert_eq!(other.receive_window_limited_s, 0.0);
}

#[test]
fn a_deep_queue_is_filled_without_a_word_about_windows() {
    // 1000 packets: 8 s, eighty times the round-trip time.
    let deep = "rate = \"1 Mbps\", queue = { drop-tail = { packets = 1000 } }";
    let filled = flow(deep, &format!("{TCP}, source = {{ ftp = {{}} }}"));
    assert!(filled.drops > 0, "slow start overshoots: {filled:?}");
    assert!(filled.receive_window_limited_s < 0.6, "{filled:?}");
}
