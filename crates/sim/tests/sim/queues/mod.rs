//! Queue disciplines at a bottleneck: each achieves its purpose, with physics verified.

mod stranger;

use skywave_sim::Results;

use crate::dumbbell::{DCCP, ECN_TCP, TCP, dumbbell, mean_delay};

/// Tests for each AQM. `ECN` in its specification stands for `true` or `false`.
macro_rules! managed {
    ($($module:ident: $queue:literal;)*) => {$(
        mod $module {
            #[test]
            fn is_short_and_its_link_busy() {
                super::is_short_and_its_link_busy($queue);
            }

            #[test]
            fn marks_instead_of_dropping() {
                super::marks_instead_of_dropping($queue);
            }
        }
    )*};
}

managed! {
    red: "red = { packets = 300, mean_packet = \"1000 B\", ecn = ECN }";
    adaptive_red: "adaptive-red = { packets = 300, mean_packet = \"1000 B\", ecn = ECN }";
    codel: "codel = { packets = 300, ecn = ECN }";
    fq_codel: "fq-codel = { ecn = ECN }";
    pie: "pie = { packets = 300, ecn = ECN }";
    weighted: "weighted = { queues = [{ weight = 1, queue = { codel = { packets = 300, ecn = ECN } } }] }";
}

#[test]
fn drop_tail_is_long() {
    let unmanaged = dumbbell("drop-tail = { packets = 300 }", &[TCP; 8]);
    assert!(mean_delay(&unmanaged) > 0.15);
}

fn is_short_and_its_link_busy(queue: &str) {
    let results = dumbbell(&queue.replace("ECN", "false"), &[TCP; 8]);
    let bottleneck = &results.summary.links[0];
    let delay = mean_delay(&results);
    assert!(delay < 0.025, "{delay} s");
    assert!(bottleneck.utilisation > 0.9, "{bottleneck:?}");
    assert_eq!(bottleneck.marks, 0);
    // Packets queued or in flight when the run ends.
    let rest = bottleneck.arrivals - bottleneck.drops - bottleneck.delivered;
    assert!(rest < 100, "{bottleneck:?}");
}

/// DCCP, and TCP with ECN, react to marks: if all flows do, drops fall to less than a quarter.
fn marks_instead_of_dropping(queue: &str) {
    for flow in [DCCP, ECN_TCP] {
        let dropped = dumbbell(&queue.replace("ECN", "false"), &[flow; 8]);
        let marked = dumbbell(&queue.replace("ECN", "true"), &[flow; 8]);
        let (without, with) = (&dropped.summary.links[0], &marked.summary.links[0]);
        assert!(without.marks == 0 && without.drops > 100, "{without:?}");
        assert!(with.marks > 100, "{with:?}");
        assert!(with.drops < without.drops / 4, "{with:?}");
        assert!(with.utilisation > 0.9, "{with:?}");
        let delay = mean_delay(&marked);
        assert!(delay < 0.04, "{delay} s");
        // Only the bottleneck marks.
        assert!(marked.summary.links[1..].iter().all(|link| link.marks == 0));
    }
}

/// RFC 8257 section 3.1: K above a seventh of the bandwidth-delay product keeps the link busy. Reno
/// halves cwnd at a mark, so it needs the whole product. Packets that cannot be marked fill the queue.
#[test]
fn a_step_marks_above_its_threshold() {
    for step in [
        "step = { packets = 300, threshold = 60 }",
        "step = { packets = 300, threshold_delay = \"50 ms\" }",
    ] {
        let marked = dumbbell(step, &[ECN_TCP; 8]);
        let bottleneck = &marked.summary.links[0];
        assert!(bottleneck.marks > 100, "{bottleneck:?}");
        assert!(bottleneck.utilisation > 0.95, "{bottleneck:?}");
        let delay = mean_delay(&marked);
        assert!((0.02..0.065).contains(&delay), "{delay} s");
        let unmarked = dumbbell(step, &[TCP; 8]);
        assert_eq!(unmarked.summary.links[0].marks, 0);
        assert!(mean_delay(&unmarked) > 0.15);
    }
}

/// RFC 8290 section 1: flows with different round-trip times share the link far more evenly than in
/// one queue, and a flow that needs less than its share loses nothing. (The shares are not equal:
/// with a queue of 5 ms, a flow with a round-trip time of 100 ms cannot fill its share after it has
/// halved cwnd.)
#[test]
fn fq_codel_shares_the_link() {
    let thin = "transport = { dccp = { ccid = 2 } }\n\
                source = { cbr = { rate = \"500 kbps\", datagram = \"500 B\" } }";
    let mut flows = [TCP; 8];
    flows[7] = thin;
    // The ratio of the slowest TCP flow's goodput to the fastest one's.
    let evenness = |results: &Results| {
        let rates = results.summary.flows[..7]
            .iter()
            .map(|flow| flow.goodput_bps);
        rates.clone().fold(f64::MAX, f64::min) / rates.fold(0.0, f64::max)
    };
    let one_queue = dumbbell("codel = { packets = 300 }", &flows);
    let shared = dumbbell("fq-codel = {}", &flows);
    let (one_queue, even) = (evenness(&one_queue), evenness(&shared));
    println!("one queue {one_queue:.2}, FQ {even:.2}");
    assert!(even > 1.5 * one_queue, "{one_queue} and {even}");
    assert!(shared.summary.flows[7].goodput_bps > 0.98 * 500e3);
    assert_eq!(shared.summary.flows[7].drops, 0);
}

/// Chen, Yang and Hong 2010, section 4.4: two kinds of traffic share a link by weight.
#[test]
fn sub_queues_share_the_link_by_weight() {
    let queue = |first: u32, second: u32| {
        format!(
            "weighted = {{ queues = [\
             {{ weight = {first}, queue = {{ adaptive-red = {{ packets = 100, mean_packet = \"1000 B\" }} }} }}, \
             {{ weight = {second}, queue = {{ drop-tail = {{ packets = 40 }} }} }}] }}"
        )
    };
    let other = format!("class = 1\n{DCCP}");
    for (weights, flows) in [
        ((1, 1), [TCP, TCP, TCP, TCP, TCP, TCP, TCP, other.as_str()]),
        (
            (4, 1),
            [
                TCP,
                TCP,
                TCP,
                TCP,
                other.as_str(),
                other.as_str(),
                other.as_str(),
                other.as_str(),
            ],
        ),
    ] {
        let results = dumbbell(&queue(weights.0, weights.1), &flows);
        let (mut first, mut second) = (0.0, 0.0);
        for (flow, spec) in results.summary.flows.iter().zip(flows) {
            if spec == TCP {
                first += flow.goodput_bps;
            } else {
                second += flow.goodput_bps;
            }
        }
        let share = second / (first + second);
        let due = f64::from(weights.1) / f64::from(weights.0 + weights.1);
        println!("weights {weights:?}: {share:.3} of the goodput");
        assert!((share - due).abs() < 0.05, "{weights:?}: {share}");
    }
    // One class gets what the other leaves unused.
    let alone = dumbbell(&queue(1, 9), &[TCP; 8]);
    assert!(alone.summary.links[0].utilisation > 0.95);
}
