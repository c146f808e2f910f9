//! A sender and a receiver on a virtual network: two links each way, and whatever else a test does
//! to segments in flight.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use skywave_transport::tcp::{Receiver, Sender};
use skywave_transport::{Drain, Drained, Driven, End, Transmit};
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::Ecn;
use skywave_wire::tcp::Segment;

/// IPv4 and TCP headers without options, in bytes.
const HEADERS: u64 = 40;

/// A link with an unbounded FIFO queue.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
    busy_until: Instant,
}

impl Link {
    pub(crate) fn new(rate: &str, delay: &str) -> Self {
        Self {
            rate: rate.parse().unwrap(),
            delay: delay.parse().unwrap(),
            busy_until: Instant::ZERO,
        }
    }

    fn carry(&mut self, now: Instant, segment: &Segment) -> Instant {
        let size = HEADERS + segment.payload.len() as u64;
        self.busy_until = self.busy_until.max(now) + self.rate.transmission_time(size);
        self.busy_until + self.delay
    }
}

/// What happens to a segment at the head of the second link.
pub(crate) enum Fate {
    /// It is delivered.
    Pass,
    /// It is lost before it uses the link's capacity.
    Drop,
    /// It is delivered this many times, each delayed by the given extra time.
    Copies(Vec<Duration>),
}

/// Where segments go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    Forward,
    Backward,
}

/// Events passed to a test.
pub(crate) enum Seen<'a> {
    /// The sender has sent a segment.
    Sent(&'a Segment),
    /// The receiver has sent one.
    Answered(&'a Segment),
    /// A segment has arrived at the receiver.
    Received(&'a Segment),
    /// A segment has arrived at the sender but was not processed yet.
    Acknowledged(&'a Segment),
    /// An endpoint has processed something, and its segments are in flight.
    Settled(&'a mut Driven<Sender>, &'a Driven<Receiver>),
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Middle(Direction),
    End(Direction),
}

/// The network. Segments that arrive at the same time are handled in scheduling order.
pub(crate) struct Network<F> {
    pub(crate) now: Instant,
    pub(crate) sender: Driven<Sender>,
    pub(crate) receiver: Driven<Receiver>,
    access: [Link; 2],
    bottleneck: [Link; 2],
    fate: F,
    arrivals: BinaryHeap<Reverse<(Instant, u64, Place)>>,
    segments: Vec<Segment>,
    deadlines: [Option<Instant>; 2],
}

impl<F: FnMut(Direction, u64, &Segment) -> Fate> Network<F> {
    /// `fate` is called at the head of the bottleneck with the ordinal of the arrival.
    pub(crate) fn new(
        sender: Sender,
        receiver: Receiver,
        access: Link,
        bottleneck: Link,
        fate: F,
    ) -> Self {
        Self {
            now: Instant::ZERO,
            sender: Driven::new(sender),
            receiver: Driven::new(receiver),
            access: [access; 2],
            bottleneck: [bottleneck; 2],
            fate,
            arrivals: BinaryHeap::new(),
            segments: Vec::new(),
            deadlines: [None; 2],
        }
    }

    fn schedule(&mut self, at: Instant, place: Place, segment: Segment) {
        self.arrivals
            .push(Reverse((at, self.segments.len() as u64, place)));
        self.segments.push(segment);
    }

    /// Applies `action` to the sender.
    pub(crate) fn apply(
        &mut self,
        see: &mut impl FnMut(Instant, Seen<'_>),
        action: impl FnOnce(&mut Sender),
    ) {
        let now = self.now;
        let ((), sent) = self.sender.apply(now, action, drained);
        self.launch(Direction::Forward, sent, see);
    }

    /// Sends an end's segments into its access link.
    fn launch(
        &mut self,
        direction: Direction,
        (sent, deadline): Output<Segment>,
        see: &mut impl FnMut(Instant, Seen<'_>),
    ) {
        let end = direction as usize;
        self.deadlines[end] = deadline;
        for Transmit { packet, .. } in sent {
            let seen = match direction {
                Direction::Forward => Seen::Sent(&packet),
                Direction::Backward => Seen::Answered(&packet),
            };
            see(self.now, seen);
            let at = self.access[end].carry(self.now, &packet);
            self.schedule(at, Place::Middle(direction), packet);
        }
        see(self.now, Seen::Settled(&mut self.sender, &self.receiver));
    }

    fn cross_bottleneck(
        &mut self,
        ordinals: &mut [u64; 2],
        direction: Direction,
        segment: Segment,
    ) {
        let way = direction as usize;
        ordinals[way] += 1;
        let delays = match (self.fate)(direction, ordinals[way], &segment) {
            Fate::Pass => vec![Duration::ZERO],
            Fate::Drop => vec![],
            Fate::Copies(delays) => delays,
        };
        for delay in delays {
            let at = self.bottleneck[way].carry(self.now, &segment) + delay;
            self.schedule(at, Place::End(direction), segment.clone());
        }
    }

    /// Runs until nothing is pending before `end`.
    pub(crate) fn run(&mut self, end: Instant, see: &mut impl FnMut(Instant, Seen<'_>)) {
        let mut ordinals = [0; 2];
        loop {
            let arrival = self.arrivals.peek().map(|Reverse((at, ..))| *at);
            let timer = self.deadlines.iter().flatten().min().copied();
            let Some(next) = [arrival, timer].into_iter().flatten().min() else {
                return;
            };
            if next >= end {
                return;
            }
            self.now = self.now.max(next);
            let now = self.now;
            if arrival.is_none_or(|arrival| timer.is_some_and(|timer| timer < arrival)) {
                if self.deadlines[0].is_some_and(|deadline| deadline <= now) {
                    let sent = self.sender.expire(now, drained);
                    self.launch(Direction::Forward, sent, see);
                } else {
                    let sent = self.receiver.expire(now, drained);
                    self.launch(Direction::Backward, sent, see);
                }
                continue;
            }
            let Some(Reverse((_, index, place))) = self.arrivals.pop() else {
                return;
            };
            let segment = self.segments[index as usize].clone();
            match place {
                Place::Middle(direction) => {
                    self.cross_bottleneck(&mut ordinals, direction, segment)
                }
                Place::End(Direction::Forward) => {
                    see(now, Seen::Received(&segment));
                    let sent = self.receiver.receive(now, Ecn::NotEct, segment, drained);
                    self.launch(Direction::Backward, sent, see);
                }
                Place::End(Direction::Backward) => {
                    see(now, Seen::Acknowledged(&segment));
                    let sent = self.sender.receive(now, Ecn::NotEct, segment, drained);
                    self.launch(Direction::Forward, sent, see);
                }
            }
        }
    }
}

/// The segments sent by an end, and its next deadline.
type Output<P> = (Vec<Transmit<P>>, Option<Instant>);

fn drained<E: End>(mut drain: Drain<'_, E>) -> Drained<Output<E::Packet>> {
    let sent = std::iter::from_fn(|| drain.transmit()).collect();
    drain.finish().map(|deadline| (sent, deadline))
}
