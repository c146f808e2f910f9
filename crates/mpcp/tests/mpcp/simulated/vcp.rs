//! VCP: routers and senders together, next to others, and without each other.

use skywave_sim::{Registry, Results, RunOptions, Scenario, run};

use crate::dumbbell::{DCCP, ECN_TCP, TCP, dumbbell, mean_delay};

const ROUTER: &str = "vcp = { packets = 300 }";
const VCP_TCP: &str = "transport = { tcp = { control = \"vcp\" } }\nsource = { ftp = {} }";
const VCP_DCCP: &str =
    "transport = { dccp = { ccid = 248 } }\nsource = { ftp = { datagram = \"1000 B\" } }";
const WITH_FALLBACK: [&str; 2] = [
    "transport = { tcp = { control = \"vcp\", vcp = { fallback = true } } }\nsource = { ftp = {} }",
    "transport = { dccp = { ccid = 248, vcp = { fallback = true } } }\n\
     source = { ftp = { datagram = \"1000 B\" } }",
];

/// Goodput of the flows from `first` to `last` - 1, in bits per second each.
fn mean_goodput(results: &Results, first: usize, last: usize) -> f64 {
    let flows = &results.summary.flows[first..last];
    flows.iter().map(|flow| flow.goodput_bps).sum::<f64>() / flows.len() as f64
}

/// The claims of both papers, for both transports separately and together: high utilisation, almost
/// no queue, no losses.
#[test]
fn routers_and_senders_keep_the_link_busy_and_the_queue_empty() {
    let mixed = [
        VCP_TCP, VCP_DCCP, VCP_TCP, VCP_DCCP, VCP_TCP, VCP_DCCP, VCP_TCP, VCP_DCCP,
    ];
    for flows in [[VCP_TCP; 8], [VCP_DCCP; 8], mixed] {
        let results = dumbbell(ROUTER, &flows);
        let (bottleneck, delay) = (&results.summary.links[0], mean_delay(&results));
        println!(
            "{:.4}, {:.1} ms, {bottleneck:?}",
            bottleneck.utilisation,
            delay * 1e3
        );
        assert!(bottleneck.utilisation > 0.89, "{bottleneck:?}");
        assert!(delay < 0.01, "{delay} s");
        assert_eq!(bottleneck.drops, 0);
        assert!(bottleneck.marks > 0);
    }
}

/// A receiver of TCP that acknowledges every other segment still returns overload in time, whether
/// its peer grows per packet or per acknowledgement.
#[test]
fn delayed_acknowledgements_keep_the_queue_empty() {
    let flows = ["per-packet", "per-ack"].map(|growth| {
        format!(
            "transport = {{ tcp = {{ control = \"vcp\", delayed_ack = \"200 ms\", \
             vcp = {{ growth = \"{growth}\" }} }} }}\nsource = {{ ftp = {{}} }}"
        )
    });
    for flow in &flows {
        let results = dumbbell(ROUTER, &[flow.as_str(); 8]);
        let (bottleneck, delay) = (&results.summary.links[0], mean_delay(&results));
        println!("{:.4}, {:.1} ms", bottleneck.utilisation, delay * 1e3);
        assert!(bottleneck.utilisation > 0.85, "{bottleneck:?}");
        assert!(delay < 0.01, "{delay} s");
        assert_eq!(bottleneck.drops, 0);
    }
}

/// TCP and DCCP flows with the same window policy get the same share.
#[test]
fn transports_share_alike() {
    let mixed = [
        VCP_TCP, VCP_TCP, VCP_TCP, VCP_TCP, VCP_DCCP, VCP_DCCP, VCP_DCCP, VCP_DCCP,
    ];
    let results = dumbbell(ROUTER, &mixed);
    let ratio = mean_goodput(&results, 0, 4) / mean_goodput(&results, 4, 8);
    println!("TCP over DCCP: {ratio:.2}");
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
}

/// Chen, Yang and Hong 2010, section 4.4: VCP next to TCP under RED, each in its own sub-queue.
#[test]
fn sub_queues_keep_vcp_and_tcp_apart() {
    for weights in [(1, 1), (3, 1), (1, 3)] {
        let queue = format!(
            "weighted = {{ queues = [\
             {{ weight = {}, queue = {{ red = {{ packets = 100, mean_packet = \"1000 B\" }} }} }}, \
             {{ weight = {}, queue = {{ vcp = {{ packets = 100 }} }} }}] }}",
            weights.0, weights.1
        );
        let vcp = [
            format!("class = 1\n{VCP_TCP}"),
            format!("class = 1\n{VCP_DCCP}"),
        ];
        let flows = [TCP, TCP, TCP, TCP, &vcp[0], &vcp[1], &vcp[0], &vcp[1]];
        let results = dumbbell(&queue, &flows);
        let (tcp, vcp) = (mean_goodput(&results, 0, 4), mean_goodput(&results, 4, 8));
        let share = vcp / (tcp + vcp);
        let due = f64::from(weights.1) / f64::from(weights.0 + weights.1);
        println!("weights {weights:?}: VCP has {share:.3}");
        assert!((share - due).abs() < 0.07, "{weights:?}: {share}");
        let lost: u64 = results.summary.flows[4..]
            .iter()
            .map(|flow| flow.drops)
            .sum();
        assert_eq!(lost, 0, "VCP loses nothing beside TCP");
    }
}

/// Behind routers without VCP, whether they drop or mark as in RFC 3168, a VCP flow with the
/// fallback gets at most one and a half times the goodput of a TCP or CCID 2 flow in its place.
fn falls_back_behind(router: &str) {
    for (kind, plain) in [(WITH_FALLBACK[0], ECN_TCP), (WITH_FALLBACK[1], DCCP)] {
        let others = [ECN_TCP; 6];
        let first_two = |flow| {
            let flows: Vec<&str> = [flow, flow].into_iter().chain(others).collect();
            let results = dumbbell(router, &flows);
            (mean_goodput(&results, 0, 2), mean_goodput(&results, 2, 8))
        };
        let ((vcp, beside), (usual, _)) = (first_two(kind), first_two(plain));
        println!("{router}: VCP {vcp:.0}, else {usual:.0}, others {beside:.0} bit/s");
        assert!(vcp < 1.5 * usual, "{router}: {vcp} and {usual}");
        assert!(vcp > 0.1 * usual, "{router}: {vcp} and {usual}");
        assert!(beside > 500e3, "{router}: {beside}");
    }
}

#[test]
fn behind_drop_tail_a_flow_falls_back() {
    falls_back_behind("drop-tail = { packets = 60 }");
}

#[test]
fn behind_red_a_flow_falls_back() {
    falls_back_behind("red = { packets = 200, mean_packet = \"1000 B\" }");
    falls_back_behind("red = { packets = 200, mean_packet = \"1000 B\", ecn = true }");
}

#[test]
fn behind_codel_a_flow_falls_back() {
    falls_back_behind("codel = { packets = 200, ecn = true }");
}

/// Without the fallback such a flow is refused with an error that says what to do.
#[test]
fn a_flow_without_vcp_routers_is_refused() {
    for (transport, field) in [
        (
            "tcp = { control = \"vcp\" }",
            "flows[0].transport.tcp.control",
        ),
        ("dccp = { ccid = 248 }", "flows[0].transport.dccp.ccid"),
    ] {
        for (queue, class, is_refused) in [
            ("drop-tail = { packets = 9 }", 0, true),
            ("vcp = { packets = 9 }", 0, false),
            (
                "weighted = { queues = [{ weight = 1, queue = { vcp = { packets = 9 } } }, { weight = 1 }] }",
                1,
                true,
            ),
        ] {
            let text = format!(
                "name = \"refused\"\nduration = \"1 s\"\nnodes = [\"a\", \"b\"]\n\
                 [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\n\
                 queue = {{ {queue} }}\n[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n\
                 class = {class}\ntransport = {{ {transport} }}\nsource = {{ ftp = {{}} }}\n"
            );
            let scenario = Scenario::from_toml(&text, &Registry::default()).unwrap();
            let outcome = run(
                &scenario,
                &Registry::default(),
                RunOptions::default(),
                |_| true,
            );
            assert_eq!(outcome.is_err(), is_refused, "{queue} {transport}");
            if let Err(error) = outcome {
                let message = error.to_string();
                assert!(message.starts_with(field), "{message}");
                assert!(message.contains("fallback = true"), "{message}");
            }
        }
    }
}
