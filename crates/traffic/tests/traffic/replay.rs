//! A trace is replayed exactly, or refused.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use serde_json::{Value, json};
use skywave_registry::ParameterError;

use crate::support::{Sent, build, error, read, run};

/// A directory that is removed with everything in it.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("skywave-replay-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Reads a source whose trace is a file with these bytes.
    fn read(&self, field: &str, bytes: &[u8]) -> Result<Value, ParameterError> {
        std::fs::write(self.0.join("trace"), bytes).unwrap();
        let spec = read(json!({ "replay": { field: "trace" } }), &self.0)?;
        Ok(serde_json::to_value(spec).unwrap())
    }

    fn error(&self, field: &str, bytes: &[u8]) -> String {
        self.read(field, bytes).unwrap_err().to_string()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _removed = std::fs::remove_dir_all(&self.0);
    }
}

fn replayed(document: Value) -> Vec<Sent> {
    let mut source = build(document, 0);
    let sent = run(&mut *source, 1e9);
    assert!(source.is_done());
    sent
}

const FILE: &str = "# a call\ntime_s,bytes\n0,160\n\n0.02, 320\n0.02,33\n1.5e0,1\n";

const SENT: [Sent; 4] = [(0.0, 160), (0.02, 320), (0.02, 33), (1.5, 1)];

#[test]
fn a_trace_is_replayed_exactly() {
    let listed = json!({
        "replay": { "times": ["0 s", "20 ms", "20 ms", "1.5 s"], "sizes": ["160 B", "320 B", "33 B", "1 B"] }
    });
    assert_eq!(replayed(listed.clone()), SENT);
    let directory = Directory::new();
    let mut complete = listed;
    complete["replay"]["repeat"] = json!(false);
    assert_eq!(directory.read("file", FILE.as_bytes()).unwrap(), complete);
    let marked = format!("\u{feff}{}", FILE.replace('\n', "\r\n"));
    assert_eq!(directory.read("file", marked.as_bytes()).unwrap(), complete);
}

#[test]
fn a_trace_of_ns2_has_the_time_since_the_datagram_before() {
    let records = [(0_u32, 160_u32), (20_000, 320), (0, 33), (1_480_000, 1)];
    let records = records.map(|(micros, size)| [micros.to_be_bytes(), size.to_be_bytes()]);
    let bytes = records.as_flattened().as_flattened();
    let document = Directory::new().read("ns2", bytes).unwrap();
    assert_eq!(replayed(document), SENT);
}

#[test]
fn a_trace_that_repeats_begins_anew_at_its_last_time() {
    let document = json!({
        "replay": { "times": ["10 ms", "30 ms"], "sizes": ["1 B", "2 B"], "repeat": true }
    });
    let mut source = build(document, 0);
    let rounds = [(0.01, 1), (0.03, 2), (0.04, 1), (0.06, 2), (0.07, 1)];
    assert_eq!(run(&mut *source, 0.08), rounds);
    assert!(!source.is_done());
}

#[test]
fn errors_name_the_line_or_the_record() {
    let directory = Directory::new();
    for (text, message) in [
        ("", "replay.file: trace has no datagrams: give at least one"),
        (
            "time_s,bytes\n",
            "replay.file: trace has no datagrams: give at least one",
        ),
        (
            "0,160\n",
            "replay.file: trace, line 1: the first line is time_s,bytes",
        ),
        (
            "time_s,bytes\n0,160\n0.1\n",
            "replay.file: trace, line 3: a time and a size are two values, as in 0.02,160",
        ),
        (
            "time_s,bytes\n0.2,1\n#\n0.1,1\n",
            "replay.file: trace, line 4: 100 ms is before 200 ms: put the times in order",
        ),
        (
            "time_s,bytes\n-1,1\n",
            "replay.file: trace, line 2: \"-1\" is not a time in seconds",
        ),
        (
            "time_s,bytes\nNaN,1\n",
            "replay.file: trace, line 2: \"NaN\" is not a time in seconds",
        ),
        (
            "time_s,bytes\n1e30,1\n",
            "replay.file: trace, line 2: \"1e30\" is not a time in seconds",
        ),
        (
            "time_s,bytes\n1,1.5\n",
            "replay.file: trace, line 2: \"1.5\" is not a number of bytes",
        ),
        (
            "time_s,bytes\n1,64496\n",
            "replay.file: trace, line 2: 64496 B do not fit a packet: between 1 B and 64495 B",
        ),
    ] {
        assert_eq!(directory.error("file", text.as_bytes()), message);
    }
    for (bytes, message) in [
        (&[0; 13][..], "replay.ns2: trace has 13 B: a record has 8 B"),
        (
            &[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            "replay.ns2: trace, record 2: 0 B do not fit a packet: between 1 B and 64495 B",
        ),
        (&[], "replay.ns2: trace has no datagrams: give at least one"),
    ] {
        assert_eq!(directory.error("ns2", bytes), message);
    }
    let missing = read(json!({ "replay": { "file": "none.csv" } }), &directory.0);
    let message = missing.unwrap_err().to_string();
    assert!(
        message.starts_with("replay.file: none.csv cannot be read: "),
        "{message}"
    );
    let itself = read(json!({ "replay": { "ns2": "." } }), &directory.0);
    assert_eq!(
        itself.unwrap_err().to_string(),
        "replay.ns2: . is not a file"
    );
}

#[test]
fn errors_name_the_parameter() {
    for (parameters, message) in [
        (json!({}), "replay: give times and sizes, or file, or ns2"),
        (
            json!({ "file": "a", "ns2": "b" }),
            "replay: give times and sizes, or file, or ns2",
        ),
        (
            json!({ "file": "a" }),
            "replay.file: the file has not been read: read the scenario from a file too, or list \
             times and sizes",
        ),
        (
            json!({ "times": ["0 s", "1 s"], "sizes": ["1 B"] }),
            "replay.sizes: 1 sizes for 2 times: give one for each",
        ),
        (
            json!({ "times": ["2 s", "1 s"], "sizes": ["1 B", "1 B"] }),
            "replay.times[1]: 1 s is before 2 s: put the times in order",
        ),
        (
            json!({ "times": ["2 s"], "sizes": ["0 B"] }),
            "replay.sizes[0]: 0 B do not fit a packet: between 1 B and 64495 B",
        ),
        (
            json!({ "times": ["0 s"], "sizes": ["1 B"], "repeat": true }),
            "replay.repeat: the last time is the length of the trace: give one above zero",
        ),
    ] {
        assert_eq!(error(json!({ "replay": parameters })), message);
    }
}

/// What a file of lines says, by the shortest possible reader.
fn said(text: &str) -> Option<Vec<Sent>> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_headed = lines
        .next()?
        .split(',')
        .map(str::trim)
        .eq(["time_s", "bytes"]);
    let datagram = |line: &str| {
        let (time, size) = line.split_once(',')?;
        Some((time.trim().parse().ok()?, size.trim().parse().ok()?))
    };
    let all: Option<Vec<Sent>> = lines.map(datagram).collect();
    all.filter(|all| is_headed && !all.is_empty())
}

/// Lines as they are written, and some that are wrong.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        20 => (0..1_000_u32, 0..70_000_u32).prop_map(|(ms, size)| format!("{}.{ms:03}, {size}", ms / 300)),
        4 => Just("# a comment".to_owned()),
        2 => "[-0-9.e, #a]{0,9}",
        1 => ".*",
    ];
    let lines = prop::collection::vec(line, 0..6);
    (prop::bool::weighted(0.9), any::<bool>(), lines).prop_map(
        |(is_headed, in_order, mut lines)| {
            if in_order {
                lines.sort();
            }
            if is_headed {
                lines.insert(0, "time_s,bytes".to_owned());
            }
            lines.join("\n")
        },
    )
}

proptest! {
    #[test]
    fn any_text_is_replayed_exactly_or_refused(text in text()) {
        match Directory::new().read("file", text.as_bytes()) {
            Ok(document) => {
                let (sent, said) = (replayed(document), said(&text).unwrap());
                prop_assert_eq!(sent.len(), said.len());
                for (sent, said) in sent.iter().zip(said) {
                    prop_assert!((sent.0 - said.0).abs() <= 0.5e-9 + said.0 * f64::EPSILON);
                    prop_assert_eq!(sent.1, said.1);
                }
            }
            Err(error) => {
                let is_good = said(&text).is_some_and(|said| {
                    said.is_sorted_by(|a, b| a.0 <= b.0)
                        && said.iter().all(|&(at, size)| at >= 0.0 && (1..=64_495).contains(&size))
                });
                prop_assert!(!is_good, "{}", error);
                prop_assert!(error.field.starts_with("replay"), "{}", error);
            }
        }
    }

    #[test]
    fn any_bytes_are_replayed_exactly_or_refused(
        records in prop::collection::vec((any::<u32>(), prop_oneof![9 => 1..64_496_u32, 1 => any::<u32>()]), 0..6),
        rest in prop_oneof![9 => Just(Vec::new()), 1 => prop::collection::vec(any::<u8>(), 1..8)],
    ) {
        let mut bytes = Vec::new();
        for (micros, size) in &records {
            bytes.extend(micros.to_be_bytes());
            bytes.extend(size.to_be_bytes());
        }
        bytes.extend(&rest);
        let fit = records.iter().all(|(_, size)| (1..=64_495).contains(size));
        let is_good = rest.is_empty() && fit && !records.is_empty();
        let document = Directory::new().read("ns2", &bytes);
        prop_assert_eq!(document.is_ok(), is_good);
        if let Ok(document) = document {
            let mut micros = 0;
            let expected: Vec<Sent> = records
                .into_iter()
                .map(|(since, size)| {
                    micros += u64::from(since);
                    (skywave_units::Duration::from_micros(micros).as_secs_f64(), size as usize)
                })
                .collect();
            prop_assert_eq!(replayed(document), expected);
        }
    }
}

#[test]
fn a_trace_has_at_most_a_million_datagrams() {
    let text = format!("time_s,bytes\n{}", "0,1\n".repeat(1_000_001));
    assert_eq!(
        Directory::new().error("file", text.as_bytes()),
        "replay.times: 1000001 datagrams: at most 1000000"
    );
}
