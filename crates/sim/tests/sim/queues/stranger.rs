//! User-defined disciplines: registered, named in a scenario, run and verified.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_path::{
    Admission, AnyQueue, Arrival, Backlog, Conduct, DropReason, Dropped, Head, Keeps, Limit, Line,
    Packet, QueueKind, Verdict,
};
use skywave_sim::{Registry, Results, RunOptions, Scenario, ScenarioError, run};
use skywave_units::Instant;

use crate::support::{floats, table, words};

/// Sends small packets before large ones. If it overflows, it drops the oldest large packet, or the
/// oldest small one if there is no large one.
#[derive(Clone, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SmallFirst {
    packets: u32,
    #[serde(default = "small")]
    small: u32,
    /// Whether it falsely declares itself FIFO.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    says_fifo: bool,
}

fn small() -> u32 {
    100
}

impl<P: Packet + Send + 'static> QueueKind<P> for SmallFirst {
    fn conduct(&self) -> Conduct {
        Conduct {
            fifo: self.says_fifo,
            drops_inside: true,
            ..Conduct::fifo(Limit::Packets(self.packets))
        }
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::keeps(SmallFirstQueue {
            spec: self.clone(),
            lines: [Backlog::new(), Backlog::new()],
            dropped: None,
        })
    }
}

struct SmallFirstQueue<P> {
    spec: SmallFirst,
    lines: [Backlog<P>; 2],
    dropped: Option<Dropped<P>>,
}

impl<P: Packet> Keeps<P> for SmallFirstQueue<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>> {
        let line = usize::from(packet.size() > self.spec.small);
        self.lines[line].push(now, packet);
        if self.packets() > self.spec.packets as usize {
            let [small, large] = &mut self.lines;
            let packet = large.pop(now).or_else(|| small.pop(now));
            self.dropped = packet.map(|(_, packet)| Dropped::new(packet, DropReason::Full));
        }
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        let mut lines = self.lines.iter_mut();
        lines.find_map(|line| line.pop(now).map(|(_, packet)| packet))
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        self.dropped.take()
    }

    fn packets(&self) -> usize {
        self.lines.iter().map(Backlog::packets).sum()
    }

    fn bytes(&self) -> u64 {
        self.lines.iter().map(Backlog::bytes).sum()
    }
}

/// Drops every tenth packet, and may hide that in its declaration.
#[derive(Clone, Copy, JsonSchema, Serialize, Deserialize)]
struct EveryTenth {
    says_so: bool,
}

impl<P> QueueKind<P> for EveryTenth {
    fn conduct(&self) -> Conduct {
        Conduct {
            drops_early: self.says_so,
            ..Conduct::fifo(Limit::Unlimited)
        }
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::admission(Tenth(0))
    }
}

struct Tenth(u32);

impl Admission for Tenth {
    fn admit(
        &mut self,
        _now: Instant,
        _line: &mut Line<'_>,
        _arrival: Arrival,
    ) -> Result<Verdict, DropReason> {
        self.0 += 1;
        if self.0.is_multiple_of(10) {
            Err(DropReason::Early)
        } else {
            Ok(Verdict::Keep)
        }
    }
}

/// Holds one packet. If another arrives, it drops both.
#[derive(Clone, Copy, JsonSchema, Serialize, Deserialize)]
struct Spiteful {}

impl<P: Packet + Send + 'static> QueueKind<P> for Spiteful {
    fn conduct(&self) -> Conduct {
        Conduct {
            drops_inside: true,
            ..Conduct::fifo(Limit::Packets(1))
        }
    }

    fn build(&self, _head: &Head<'_>) -> AnyQueue<P> {
        AnyQueue::keeps(SpitefulQueue {
            waiting: Backlog::new(),
            dropped: None,
        })
    }
}

struct SpitefulQueue<P> {
    waiting: Backlog<P>,
    dropped: Option<Dropped<P>>,
}

impl<P: Packet> Keeps<P> for SpitefulQueue<P> {
    fn enqueue(&mut self, now: Instant, packet: P) -> Result<(), Dropped<P>> {
        let full = |packet| Dropped::new(packet, DropReason::Full);
        if let Some((_, victim)) = self.waiting.pop(now) {
            self.dropped = Some(full(victim));
            return Err(full(packet));
        }
        self.waiting.push(now, packet);
        Ok(())
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        self.waiting.pop(now).map(|(_, packet)| packet)
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        self.dropped.take()
    }

    fn packets(&self) -> usize {
        self.waiting.packets()
    }

    fn bytes(&self) -> u64 {
        self.waiting.bytes()
    }
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    let queues = &mut registry.queues;
    queues.register("small-first", "A stranger.", |spec: SmallFirst| {
        Ok(Arc::new(spec))
    });
    queues.register("tenth", "A stranger.", |spec: EveryTenth| {
        Ok(Arc::new(spec))
    });
    queues.register("spiteful", "A stranger.", |spec: Spiteful| {
        Ok(Arc::new(spec))
    });
    registry
}

fn scenario(queue: &str) -> Result<Scenario, ScenarioError> {
    let text = format!(
        "name = \"stranger\"\nduration = \"20 s\"\nnodes = [\"a\", \"b\"]\n\
         [[links]]\nfrom = \"a\"\nto = \"b\"\nrate = \"2 Mbps\"\ndelay = \"20 ms\"\n\
         queue = {{ {queue} }}\n\
         [[flows]]\nname = \"file\"\nfrom = \"a\"\nto = \"b\"\ntransport = {{ tcp = {{}} }}\n\
         source = {{ ftp = {{}} }}\n\
         [[flows]]\nname = \"acks\"\nfrom = \"b\"\nto = \"a\"\nclass = 1\n\
         transport = {{ tcp = {{}} }}\nsource = {{ ftp = {{}} }}\n"
    );
    Scenario::from_toml(&text, &registry())
}

fn verified(queue: &str) -> Results {
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    run(&scenario(queue).unwrap(), &registry(), options, |_| true).unwrap()
}

fn runs(queue: &str) {
    let results = verified(queue);
    assert_eq!(results.violations, Vec::<String>::new(), "{queue}");
    assert!(results.summary.links[0].drops > 0, "{queue}");
    assert!(results.summary.links[0].delivered > 100, "{queue}");
}

#[test]
fn runs_as_those_that_are_built_in_do() {
    runs("small-first = { packets = 10 }");
    runs("tenth = { says_so = true }");
}

#[test]
fn runs_as_a_sub_queue_of_weighted() {
    runs(
        "weighted = { queues = [{ weight = 1, queue = { tenth = { says_so = true } } }, \
         { weight = 1, queue = { small-first = { packets = 10 } } }] }",
    );
}

/// If a queue drops a waiting packet while it refuses another, both drops have the same time: the
/// first does not wait for the link's next event.
#[test]
fn drops_inside_happen_when_they_happen() {
    let mut scenario = scenario("spiteful = {}").unwrap();
    scenario.probes.packets = true;
    let results = run(&scenario, &registry(), RunOptions::default(), |_| true).unwrap();
    let packets = table(&results, "packets");
    let (events, times) = (words(packets, "event"), floats(packets, "time_s"));
    let drops: Vec<f64> = (0..packets.num_rows())
        .filter(|&row| events[row] == "drop")
        .map(|row| times[row])
        .collect();
    assert!(drops.len() > 20);
    assert!(drops.chunks(2).all(|pair| pair[0] == *pair.last().unwrap()));
}

#[test]
fn is_judged_by_what_it_declares() {
    for (queue, complaint) in [
        (
            "small-first = { packets = 10, says_fifo = true }",
            "is not FIFO",
        ),
        ("tenth = { says_so = false }", "drops it early"),
    ] {
        let violations = verified(queue).violations;
        assert!(
            violations.iter().any(|found| found.contains(complaint)),
            "{queue}: {violations:?}"
        );
    }
}

#[test]
fn is_written_with_its_defaults_and_errors_name_its_parameters() {
    let json = scenario("small-first = { packets = 10 }")
        .unwrap()
        .to_json();
    let json: String = json.split_whitespace().collect();
    assert!(
        json.contains(r#""queue":{"small-first":{"packets":10,"small":100}}"#),
        "{json}"
    );
    let error = scenario("small-first = { packet = 10 }").unwrap_err();
    assert_eq!(error.field, "links[0].queue.small-first.packet");
    let error = scenario("weighted = { queues = [{ weight = 1, queue = { tenth = {} } }] }");
    assert_eq!(
        error.unwrap_err().field,
        "links[0].queue.weighted.queues[0].queue.tenth"
    );
}

/// A registry without the discipline reports its name as unknown.
#[test]
fn is_unknown_where_it_is_not_registered() {
    let scenario = scenario("tenth = { says_so = true }").unwrap();
    let error = scenario.validate(&Registry::default()).unwrap_err();
    assert_eq!(error.field, "links[0].queue");
    assert!(
        error.message.starts_with("\"tenth\" is not a known"),
        "{error}"
    );
}
