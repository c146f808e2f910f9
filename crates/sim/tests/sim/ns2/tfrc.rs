//! Compares CCID 3 under RFC 3448's rules with ns-2.35's two TFRCs.

use skywave_sim::{Registry, RunOptions, run};

use crate::ns2::path::{self, Flow};
use crate::support::{counts, floats, table, words};

/// The times at which data packets left, and X in bytes per second at each change.
#[derive(Debug, Default)]
struct Trace {
    sent: Vec<f64>,
    rate: Vec<(f64, f64)>,
}

impl Trace {
    /// X at `time`.
    fn rate_at(&self, time: f64) -> f64 {
        let after = self.rate.partition_point(|&(at, _)| at <= time);
        self.rate[after - 1].1
    }
}

fn golden(name: &str) -> Trace {
    let mut trace = Trace::default();
    for (event, numbers) in path::golden(&format!("canonical/{name}")) {
        match event {
            'S' => trace.sent.push(numbers[0]),
            'X' => trace.rate.push((numbers[0], numbers[1])),
            _ => {}
        }
    }
    trace
}

fn ours(losses: &[u64], rules: &str) -> Trace {
    let transport = format!(
        r#"dccp = {{ ccid = 3, profile = "ns2", ecn = false, tfrc = {{ rules = "{rules}" }} }}"#
    );
    let flow = Flow {
        seconds: 20,
        transport: &transport,
        source: r#"ftp = { datagram = "1000 B" }"#,
        losses,
        probe: "rates",
    };
    let results = run(
        &flow.scenario(),
        &Registry::default(),
        RunOptions::default(),
        |_| true,
    )
    .unwrap();
    let rates = table(&results, "rates");
    let x = counts(rates, "allowed_rate_bps");
    let bytes = x.iter().map(|&bps| bps as f64 / 8.0);
    let packets = table(&results, "packets");
    let (events, kinds) = (words(packets, "event"), words(packets, "kind"));
    let sent = floats(packets, "time_s")
        .iter()
        .zip(events.iter().zip(kinds))
        .filter(|(_, (event, kind))| **event == "send" && kind.starts_with("DCCP-Data"))
        .map(|(&at, _)| at);
    Trace {
        sent: sent.collect(),
        rate: floats(rates, "time_s").iter().copied().zip(bytes).collect(),
    }
}

/// Slow start of ns-2's DCCP module: the first packets leave within 0.5 ms of ours, and X doubles
/// at the same reports, within 0.5 %. Later packets are not compared: the module's coarse clock
/// sends two where we send one.
#[test]
fn slow_start_of_the_dccp_module() {
    let (ns2, ours) = (golden("dccp3_drop1.csv"), ours(&[14], "ns2"));
    for (index, (&theirs, &mine)) in ns2.sent.iter().zip(&ours.sent).take(4).enumerate() {
        assert!(
            (theirs - mine).abs() < 0.5e-3,
            "packet {index}: {mine}, not {theirs}"
        );
    }
    // A report arrives every 212 ms from 0.4147 s on; the trace has a sample every 5 ms.
    for report in 0..5 {
        let after = 0.4147 + 0.2123 * f64::from(report) + 0.05;
        let (theirs, mine) = (ns2.rate_at(after), ours.rate_at(after));
        assert!(
            (mine / theirs - 1.0).abs() < 0.005,
            "{mine}, not {theirs}, at {after}"
        );
    }
}

/// Recovery of ns-2's DCCP module, whose p counts loss intervals not seen yet as empty: ours is as
/// slow, and at most 3 s later. Under RFC 3448 X would be three to five times as high.
#[test]
fn recovery_of_the_dccp_module() {
    let (ns2, ours) = (golden("dccp3_drop1.csv"), ours(&[14], "ns2"));
    for time in [4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 17.0] {
        let (theirs, mine) = (ns2.rate_at(time), ours.rate_at(time));
        let later = ours.rate_at(time + 2.9);
        assert!(
            mine < 1.01 * theirs && 0.99 * theirs < later,
            "{mine}, then {later}, not {theirs}, at {time} s"
        );
    }
}

/// Recovery of ns-2's Agent/TFRC, which starts faster: from 14 s on, X differs by less than 5 %
/// after named losses, and by less than 16 % if only the queue drops packets.
#[test]
fn recovery_of_the_tfrc_agent() {
    for (name, losses, limit) in [
        ("tfrc_drop0.csv", &[][..], 0.16),
        ("tfrc_drop1.csv", &[14][..], 0.05),
        ("tfrc_drop4.csv", &[14, 24, 26, 28][..], 0.05),
    ] {
        let (ns2, ours) = (golden(name), ours(losses, "rfc3448"));
        for time in [14.0, 17.0, 19.9] {
            let (theirs, mine) = (ns2.rate_at(time), ours.rate_at(time));
            assert!(
                (mine / theirs - 1.0).abs() < limit,
                "{name}: {mine}, not {theirs}, at {time} s"
            );
        }
    }
}
