//! The table `packets`, and how it relates to `drops`.

use std::collections::{BTreeMap, BTreeSet};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;

use crate::support::{counts, floats, run_verified, table, words};

/// A flow of each protocol over two links, both of which lose packets.
const TEXT: &str = r#"
    name = "packets"
    duration = "10 s"
    nodes = ["a", "b", "c"]
    probes = { interval = "1 s", packets = true }

    [[links]]
    from = "a"
    to = "b"
    rate = "2 Mbps"
    delay = "10 ms"
    queue = { drop-tail = { packets = 5 } }

    [[links]]
    from = "b"
    to = "c"
    rate = "10 Mbps"
    delay = "5 ms"
    loss = { bernoulli = { probability = 0.02 } }
    queue = { codel = { packets = 50 } }
    back = { loss = { bernoulli = { probability = 0.02 } } }

    [[flows]]
    name = "tcp"
    from = "a"
    to = "c"
    transport = { tcp = {} }
    source = { ftp = {} }

    [[flows]]
    name = "dccp"
    from = "a"
    to = "c"
    transport = { dccp = {} }
    source = { ftp = {} }

    [[flows]]
    name = "udp"
    from = "a"
    to = "c"
    transport = { udp = {} }
    source = { cbr = { rate = "500 kbps", datagram = "500 B" } }
"#;

/// Flow, type and sequence number of each row, and the size.
fn described(batch: &RecordBatch) -> Vec<(&str, &str, u64, u32)> {
    let sizes = batch.column_by_name("bytes").unwrap();
    let sizes = sizes.as_primitive::<UInt32Type>();
    let (flows, kinds, seqs) = (
        words(batch, "flow"),
        words(batch, "kind"),
        counts(batch, "seq"),
    );
    (0..batch.num_rows())
        .map(|row| (flows[row], kinds[row], seqs[row], sizes.value(row)))
        .collect()
}

#[test]
fn a_number_follows_a_packet_from_its_sending_to_its_end() {
    let results = run_verified(TEXT);
    let (packets, drops) = (table(&results, "packets"), table(&results, "drops"));
    let (numbers, times) = (counts(packets, "packet"), floats(packets, "time_s"));
    let (events, places) = (words(packets, "event"), words(packets, "place"));
    let what = described(packets);

    let mut paths: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut sent = 0;
    for row in 0..packets.num_rows() {
        if events[row] == "send" {
            assert_eq!(numbers[row], sent, "packets are numbered as they are sent");
            sent += 1;
        }
        paths.entry(numbers[row]).or_default().push(row);
    }
    for (number, rows) in &paths {
        assert!(rows.iter().all(|&row| what[row] == what[rows[0]]));
        let path: Vec<_> = rows.iter().map(|&row| events[row]).collect();
        // Each link takes it and delivers it; a queue that keeps packets may drop it in between.
        let on_links = &path[1..].join(" ");
        let rest = on_links.replacen("enqueue arrive", "", 2);
        let ends = ["", "receive", "enqueue", "drop", "enqueue drop"];
        assert_eq!(path[0], "send", "{number}");
        assert!(ends.contains(&rest.trim()), "{number}: {on_links}");
    }

    let (dropped, links) = (counts(drops, "packet"), words(drops, "link"));
    for (row, lost) in described(drops).into_iter().enumerate() {
        let path = &paths[&dropped[row]];
        let &last = path.last().unwrap();
        assert_eq!(lost, what[last]);
        assert_eq!((events[last], places[last]), ("drop", links[row]));
        assert_eq!(
            times[last].to_bits(),
            floats(drops, "time_s")[row].to_bits()
        );
    }
    let in_both = events.iter().filter(|&&event| event == "drop").count();
    assert_eq!(in_both, dropped.len());
    assert_eq!(dropped.iter().collect::<BTreeSet<_>>().len(), dropped.len());

    // The test is about something: each flow loses packets, TCP sends segments again, and nothing
    // else tells UDP's packets apart.
    for flow in ["tcp", "dccp", "udp"] {
        assert!(words(drops, "flow").contains(&flow), "{flow}");
    }
    let sends = |flow, kind| -> Vec<u64> {
        let rows = (0..events.len()).filter(|&row| events[row] == "send");
        let of_kind = rows.filter(|&row| (what[row].0, what[row].1) == (flow, kind));
        of_kind.map(|row| what[row].2).collect()
    };
    let segments = sends("tcp", "TCP data");
    let distinct: BTreeSet<_> = segments.iter().collect();
    assert!(distinct.len() < segments.len());
    assert!(sends("udp", "UDP").iter().all(|&seq| seq == 0));
}
