//! A sender whose peer is scripted by the test, segment by segment.

use skywave_congestion::{Aimd, AimdConfig};
use skywave_transport::tcp::{
    Event, LimitedTransmit, Ports, Sender, SenderConfig, SenderControl, SenderStats,
};
use skywave_transport::{Drain, Drained, Driven, Transmit};
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::{Flags, SackBlock, Segment, TcpOptions};
use skywave_wire::{Ecn, Payload};

/// The round-trip time of a [`Script`].
pub(crate) const RTT: Duration = Duration::from_millis(100);
/// Sequence number of the peer's SYN.
const PEER_INITIAL: u32 = 4_000_000_000;

/// A sent segment, in offsets from the SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) offset: u32,
    pub(crate) length: u32,
}

/// A segment of 1000 bytes that starts at `offset`.
pub(crate) const fn full(offset: u32) -> Sent {
    Sent {
        offset,
        length: 1000,
    }
}

pub(crate) struct Script {
    pub(crate) now: Instant,
    pub(crate) sender: Driven<Sender>,
    /// The window field of the peer's segments.
    pub(crate) window: u16,
    /// Everything that the sender has sent since the last check.
    pub(crate) segments: Vec<Segment>,
    /// The ECN bits and flags of the last one.
    pub(crate) last: (Ecn, Flags),
    deadline: Option<Instant>,
    initial: u32,
}

/// Segments of 1000 bytes; otherwise as the RFCs recommend.
pub(crate) fn config() -> SenderConfig {
    SenderConfig {
        segment_size: 1000,
        ..SenderConfig::default()
    }
}

/// The same, without limited transmit.
pub(crate) fn without_limited_transmit() -> SenderConfig {
    SenderConfig {
        limited_transmit: LimitedTransmit::Off,
        ..config()
    }
}

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A window of RFC 5681 that starts with `initial` segments.
pub(crate) fn window(initial: f64) -> AimdConfig {
    AimdConfig {
        initial_cwnd: initial,
        ..AimdConfig::rfc5681(1000)
    }
}

impl Script {
    pub(crate) fn closed(config: SenderConfig, window: AimdConfig) -> Self {
        Self::with_control(config, Aimd::new(window))
    }

    pub(crate) fn with_control(config: SenderConfig, control: impl Into<SenderControl>) -> Self {
        let ports = Ports {
            local: 1,
            remote: 2,
        };
        Self {
            now: Instant::ZERO,
            sender: Driven::new(Sender::new(config, control, ports, 1)),
            window: u16::MAX,
            segments: Vec::new(),
            last: (Ecn::NotEct, Flags::default()),
            deadline: None,
            initial: 0,
        }
    }

    /// A sender with an endless stream whose SYN has just been acknowledged.
    pub(crate) fn streaming(config: SenderConfig, window: AimdConfig) -> Self {
        let mut script = Self::closed(config, window);
        script.apply(|sender| sender.write_unlimited().unwrap());
        script.accept();
        script
    }

    /// Sends the SYN-ACK, one round-trip time after the SYN. The peer supports ECN.
    pub(crate) fn accept(&mut self) {
        let options = TcpOptions {
            mss: Some(1460),
            window_scale: Some(0),
            sack_permitted: self.segments[0].options.sack_permitted,
            ..TcpOptions::default()
        };
        self.accept_with(options);
    }

    pub(crate) fn accept_with(&mut self, options: TcpOptions) {
        let syn = self.segments[0].flags;
        assert!(syn.contains(Flags::SYN));
        self.segments.clear();
        self.now += RTT;
        let mut flags = Flags::SYN.union(Flags::ACK);
        if syn.contains(Flags::ECE) {
            flags = flags.union(Flags::ECE);
        }
        self.receive(0, 1, flags, options);
    }

    pub(crate) fn apply<T>(&mut self, action: impl FnOnce(&mut Sender) -> T) -> T {
        let (answer, output) = self.sender.apply(self.now, action, drained);
        self.keep(output);
        answer
    }

    fn keep(&mut self, (sent, deadline): Output) {
        for Transmit {
            ecn,
            packet: segment,
        } in sent
        {
            self.last = (ecn, segment.flags);
            if segment.flags.contains(Flags::SYN) {
                self.initial = segment.seq;
            }
            self.segments.push(segment);
        }
        self.deadline = deadline;
    }

    pub(crate) fn receive(&mut self, seq: u32, ack: u32, flags: Flags, options: TcpOptions) {
        let segment = Segment {
            source_port: 2,
            destination_port: 1,
            seq: PEER_INITIAL.wrapping_add(seq),
            ack: self.initial.wrapping_add(ack),
            flags,
            window: self.window,
            checksum_offset: 0,
            identification: 0,
            options,
            payload: Payload::EMPTY,
        };
        self.relay(segment);
    }

    /// Passes a segment of a real receiver to the sender.
    pub(crate) fn relay(&mut self, segment: Segment) {
        let output = self.sender.receive(self.now, Ecn::NotEct, segment, drained);
        self.keep(output);
    }

    /// Acknowledges everything before `offset`. Returns what is sent in response.
    pub(crate) fn ack(&mut self, offset: u32) -> Vec<Sent> {
        self.receive(1, offset, Flags::ACK, TcpOptions::default());
        self.sent()
    }

    /// Sends an acknowledgement with ECN-Echo.
    pub(crate) fn echo(&mut self, offset: u32) -> Vec<Sent> {
        let flags = Flags::ACK.union(Flags::ECE);
        self.receive(1, offset, flags, TcpOptions::default());
        self.sent()
    }

    /// Sends an acknowledgement with a SACK option.
    pub(crate) fn sack(&mut self, offset: u32, blocks: &[(u32, u32)]) -> Vec<Sent> {
        let block = |&(left, right): &(u32, u32)| SackBlock {
            left: self.initial.wrapping_add(left),
            right: self.initial.wrapping_add(right),
        };
        let options = TcpOptions {
            sack: blocks.iter().map(block).collect(),
            ..TcpOptions::default()
        };
        self.receive(1, offset, Flags::ACK, options);
        self.sent()
    }

    /// Lets `time` pass, including timers. Returns what is sent.
    pub(crate) fn wait(&mut self, time: Duration) -> Vec<Sent> {
        let until = self.now + time;
        while let Some(deadline) = self.deadline.filter(|&deadline| deadline <= until) {
            self.now = self.now.max(deadline);
            let output = self.sender.expire(self.now, drained);
            self.keep(output);
        }
        self.now = until;
        self.sent()
    }

    /// Lets time pass until something is sent. Returns the time and what was sent.
    pub(crate) fn wait_for_segment(&mut self) -> (Duration, Vec<Sent>) {
        let start = self.now;
        for _ in 0..100 {
            let step = self.deadline.expect("a timer is running") - self.now;
            let sent = self.wait(step);
            if !sent.is_empty() {
                return (self.now - start, sent);
            }
        }
        panic!("the timer fires and nothing is sent");
    }

    /// What was sent since the last check.
    pub(crate) fn sent(&mut self) -> Vec<Sent> {
        let initial = self.initial;
        let look = |segment: Segment| Sent {
            offset: segment.seq.wrapping_sub(initial),
            length: segment.payload.len() as u32,
        };
        self.segments.drain(..).map(look).collect()
    }

    pub(crate) fn stats(&self) -> SenderStats {
        self.sender.get().stats()
    }

    pub(crate) fn events(&mut self) -> Vec<Event> {
        self.apply(|sender| std::iter::from_fn(|| sender.event()).collect())
    }
}

/// The segments sent, and the next deadline.
type Output = (Vec<Transmit<Segment>>, Option<Instant>);

fn drained(mut drain: Drain<'_, Sender>) -> Drained<Output> {
    let sent = std::iter::from_fn(|| drain.transmit()).collect();
    drain.finish().map(|deadline| (sent, deadline))
}

/// A sender in congestion avoidance with ten segments in flight: 1, 1001, .. 9001.
pub(crate) fn ten_in_flight(config: SenderConfig) -> Script {
    let avoiding = AimdConfig {
        initial_ssthresh: 10.0,
        ..window(10.0)
    };
    let mut script = Script::streaming(config, avoiding);
    assert_eq!(script.sent().len(), 10);
    script.now += RTT;
    script
}

/// Repeats `count` acknowledgements of `una`. Returns what is sent.
pub(crate) fn duplicates(script: &mut Script, una: u32, count: usize) -> Vec<Sent> {
    (0..count).flat_map(|_| script.ack(una)).collect()
}
