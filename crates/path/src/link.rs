//! A link: a queue, a rate, a delay and a loss model.

use skywave_registry::MemberFailure;
use skywave_units::{Duration, Instant, Rate};

use crate::ring::Ring;
use crate::transmitter::Transmitter;
use crate::{
    Admission, AnyQueue, DropReason, DropTail, Dropped, Keeps, Limit, Loss, Packet,
    QuickStartRouter, Variation,
};

/// A simplex link with its queue at the sending end.
///
/// Packets in flight are kept in order of arrival, so a link's driver needs one timer per link
/// instead of one per packet: [`Link::deadline`] is the next arrival at the far end, and
/// [`Link::dequeue`] returns that packet. The link is a FIFO unless its [`Variation`] allows
/// overtaking.
///
/// At the end of each transmission, the link asks a queue that keeps packets for the next one. This
/// is a deadline too, so that the queue drops and marks at the right times. Each call first
/// performs everything that was due since the previous call, so the queue sees exact times even if
/// the driver is late.
#[derive(Debug)]
pub struct Link<P> {
    queue: AnyQueue<P>,
    /// `None` on most links, which then pay only a comparison.
    entrance: Option<Box<Entrance>>,
    wire: Wire<P>,
}

/// The parts that some links have in front of their queue.
#[derive(Debug, Default)]
struct Entrance {
    loss: Option<Box<dyn Loss + Send>>,
    quick_start: Option<QuickStartRouter>,
}

impl Entrance {
    /// Returns whether an arriving packet is lost.
    fn loses(&mut self, now: Instant, size: u32) -> bool {
        if let Some(loss) = &mut self.loss
            && loss.loses(now, size)
        {
            return true;
        }
        if let Some(router) = &mut self.quick_start {
            router.on_arrival(now, size);
        }
        false
    }
}

/// The part behind the queue.
#[derive(Debug)]
struct Wire<P> {
    transmitter: Transmitter,
    variation: Option<Box<Variation>>,
    /// Packets being transmitted or propagated, with their arrival times, in the order of those
    /// times.
    in_flight: Ring<(Instant, P)>,
    /// Whether to ask the queue for its next packet as soon as the link is free. Only used if the
    /// queue keeps packets, which most do not.
    asks: bool,
}

impl<P: Packet> Link<P> {
    /// Creates an idle link.
    pub fn new(queue: impl Into<AnyQueue<P>>, rate: Rate, delay: Duration) -> Self {
        Self {
            queue: queue.into(),
            entrance: None,
            wire: Wire {
                transmitter: Transmitter::constant(rate, delay),
                variation: None,
                in_flight: Ring::new(),
                asks: false,
            },
        }
    }

    /// Creates the far end of a link whose sending end is elsewhere: what arrives has been put on it
    /// by [`Link::carry`]. Allocates nothing.
    pub fn stand_in() -> Self {
        let queue = DropTail::new(Limit::Packets(0));
        Self::new(queue, Rate::from_bps(1), Duration::ZERO)
    }

    /// Replaces the queue, before any packet has entered the link.
    pub fn set_queue(&mut self, queue: impl Into<AnyQueue<P>>) {
        self.queue = queue.into();
    }

    /// Makes the link lose packets.
    pub fn losing(mut self, loss: Box<dyn Loss + Send>) -> Self {
        self.entrance.get_or_insert_default().loss = Some(loss);
        self
    }

    /// Makes the head of the link take part in Quick-Start.
    pub fn with_quick_start(mut self, router: QuickStartRouter) -> Self {
        self.entrance.get_or_insert_default().quick_start = Some(router);
        self
    }

    /// Returns the router that decides on Quick-Start requests, if the link supports Quick-Start.
    /// Let it decide before the packet with the request enters the link.
    #[inline(always)]
    pub fn quick_start(&mut self) -> Option<&mut QuickStartRouter> {
        self.entrance.as_mut()?.quick_start.as_mut()
    }

    /// Makes the link's rate and delay vary.
    pub fn varying(mut self, variation: Variation) -> Self {
        self.wire.transmitter = Transmitter::following(variation.trace());
        self.wire.variation = Some(Box::new(variation));
        self
    }

    /// Handles a packet that arrives at the sending end. Returns whether [`Link::deadline`] may
    /// have changed.
    ///
    /// # Errors
    /// [`Dropped`] if the loss model lost the packet or the queue refused it.
    #[inline(always)]
    pub fn enqueue(&mut self, now: Instant, packet: P) -> Result<bool, Dropped<P>> {
        if let Some(entrance) = &mut self.entrance
            && entrance.loses(now, packet.size())
        {
            return Err(Dropped {
                packet,
                reason: DropReason::Loss,
            });
        }
        let AnyQueue::DropTail(queue) = &mut self.queue else {
            return self.enqueue_managed(now, packet);
        };
        let packet = queue.enqueue(now, self.wire.transmitter.free_at(), packet)?;
        Ok(self.wire.hand_on(now, packet))
    }

    /// Does what [`Link::enqueue`] does, for queues other than drop-tail. Out of line, because most
    /// links have no managed queue, and a choice among all kinds would cost each of their packets
    /// more than the queue itself.
    #[inline(never)]
    fn enqueue_managed(&mut self, now: Instant, packet: P) -> Result<bool, Dropped<P>> {
        let wire = &mut self.wire;
        let free_at = wire.transmitter.free_at();
        let packet = match &mut self.queue {
            AnyQueue::DropTail(queue) => queue.enqueue(now, free_at, packet)?,
            AnyQueue::Red(queue) => queue.enqueue(now, free_at, packet)?,
            AnyQueue::Admission(queue) => queue.enqueue(now, free_at, packet)?,
            AnyQueue::Keeps(queue) => return wire.enqueue_kept(&mut **queue, now, packet),
        };
        Ok(wire.hand_on(now, packet))
    }

    /// Tells the link that its queue has released a packet by itself. Only for a queue that
    /// [keeps](Link::keeps) packets.
    pub fn ask_again(&mut self, now: Instant) {
        if let AnyQueue::Keeps(queue) = &mut self.queue {
            // What it released before belongs to the time at which the link became free.
            self.wire.ask(&mut **queue, now);
            if !self.wire.asks {
                self.wire.transmitter.wait_until(now);
                self.wire.asks = true;
                self.wire.ask(&mut **queue, now);
            }
        }
    }

    /// Returns a packet that has arrived at the far end by `now`.
    pub fn dequeue(&mut self, now: Instant) -> Option<P> {
        self.start_kept(now);
        let in_flight = &mut self.wire.in_flight;
        let arrived = in_flight.pop_front_if(|(arrival, _)| *arrival <= now);
        arrived.map(|(_, packet)| packet)
    }

    /// Removes and returns the next packet that arrives at the far end before `end`, and when it does.
    ///
    /// On a link that [keeps](Link::keeps) packets, only those count whose transmission has begun: use
    /// [`Link::dequeue`].
    #[inline(always)]
    pub fn dequeue_before(&mut self, end: Instant) -> Option<(Instant, P)> {
        debug_assert!(!self.keeps(), "its queue has to be asked");
        let in_flight = &mut self.wire.in_flight;
        in_flight.pop_front_if(|(arrival, _)| *arrival < end)
    }

    /// Puts a packet in flight that has entered the link elsewhere. It arrives at `arrival`, after
    /// packets in flight that arrive at the same time.
    pub fn carry(&mut self, arrival: Instant, packet: P) {
        let in_flight = &mut self.wire.in_flight;
        let overtakes = in_flight.back().is_some_and(|last| last.0 > arrival);
        in_flight.push_back((arrival, packet));
        if overtakes {
            self.wire.overtake();
        }
    }

    /// Returns whether the queue keeps packets, so that it may drop them after accepting them.
    #[inline(always)]
    pub const fn keeps(&self) -> bool {
        matches!(self.queue, AnyQueue::Keeps(_))
    }

    /// Returns a packet that the queue accepted and then dropped. If the link [keeps](Link::keeps)
    /// packets, call this after each [`Link::enqueue`], [`Link::dequeue`] and [`Link::expire`]
    /// until it returns `None`.
    pub fn dropped(&mut self) -> Option<Dropped<P>> {
        match &mut self.queue {
            AnyQueue::Keeps(queue) => queue.dropped(),
            AnyQueue::DropTail(_) | AnyQueue::Red(_) | AnyQueue::Admission(_) => None,
        }
    }

    /// Returns when [`Link::dequeue`] must next be called: when a packet arrives at the far end, or
    /// when the link asks a queue that keeps packets for the next one.
    pub fn deadline(&self) -> Option<Instant> {
        if self.keeps() {
            return self.wire.arrival_or_question();
        }
        self.wire.next_arrival()
    }

    /// Advances the link to `now`, starting all transmissions due by then.
    pub fn expire(&mut self, now: Instant) {
        match &mut self.queue {
            AnyQueue::DropTail(queue) => queue.expire(now),
            AnyQueue::Red(queue) => queue.expire(now),
            AnyQueue::Admission(queue) => queue.expire(now),
            AnyQueue::Keeps(queue) => self.wire.ask(&mut **queue, now),
        }
    }

    /// Returns the number of packets in the queue. Call [`Link::expire`] first for the current
    /// value.
    pub fn queued_packets(&self) -> usize {
        match &self.queue {
            AnyQueue::DropTail(queue) => queue.packets(),
            AnyQueue::Red(queue) => queue.packets(),
            AnyQueue::Admission(queue) => queue.packets(),
            AnyQueue::Keeps(queue) => queue.packets(),
        }
    }

    /// Returns the number of bytes in the queue. Call [`Link::expire`] first for the current value.
    pub fn queued_bytes(&self) -> u64 {
        match &self.queue {
            AnyQueue::DropTail(queue) => queue.bytes(),
            AnyQueue::Red(queue) => queue.bytes(),
            AnyQueue::Admission(queue) => queue.bytes(),
            AnyQueue::Keeps(queue) => queue.bytes(),
        }
    }

    /// Passes the names and values of the queue's internal variables to `record` (RED's average,
    /// PIE's drop probability), as of the last packet that arrived or left. Does not advance the
    /// link.
    pub fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        match &self.queue {
            AnyQueue::DropTail(queue) => queue.admission().inner_values(record),
            AnyQueue::Red(queue) => queue.admission().inner_values(record),
            AnyQueue::Admission(queue) => queue.admission().inner_values(record),
            AnyQueue::Keeps(queue) => queue.inner_values(record),
        }
    }

    /// Returns why the queue or the loss model can no longer decide, or `None` as long as both can.
    pub fn failure(&self) -> Option<MemberFailure> {
        let losses = self
            .entrance
            .as_ref()
            .and_then(|entrance| entrance.loss.as_ref());
        let lost = losses.and_then(|loss| loss.failure());
        lost.or_else(|| self.queue.failure())
    }

    /// Returns the average rate from time zero to `end`, in bits per second.
    pub fn mean_rate(&self, end: Instant) -> Rate {
        match &self.wire.variation {
            Some(variation) => variation.mean_rate(end),
            None => self.wire.transmitter.rate(),
        }
    }

    /// Returns a time that every packet spends on the link at least, from its arrival at the sending
    /// end to that at the far end: the propagation delay. Zero if the link decides about packets
    /// after their arrival ([keeps](Link::keeps) them), or if it follows a trace.
    pub fn lookahead(&self) -> Duration {
        let is_constant = self.wire.variation.as_ref().is_none_or(|v| v.is_constant());
        if self.keeps() || !is_constant {
            return Duration::ZERO;
        }
        self.wire.transmitter.delay()
    }

    /// Starts transmissions of kept packets for which the link has become free by `now`.
    #[inline(always)]
    fn start_kept(&mut self, now: Instant) {
        if let AnyQueue::Keeps(queue) = &mut self.queue {
            self.wire.ask(&mut **queue, now);
        }
    }
}

impl<P: Packet> Wire<P> {
    /// Sends a packet when the link becomes free. Returns whether that packet is the next to
    /// arrive: it is the only one in flight, or overtakes all others.
    #[inline(always)]
    fn hand_on(&mut self, now: Instant, packet: P) -> bool {
        let was_empty = self.in_flight.is_empty();
        self.transmitter.wait_until(now);
        let overtakes_all = self.send(packet);
        was_empty | overtakes_all
    }

    fn enqueue_kept(
        &mut self,
        queue: &mut dyn Keeps<P>,
        now: Instant,
        packet: P,
    ) -> Result<bool, Dropped<P>> {
        self.ask(queue, now);
        queue.enqueue(now, packet)?;
        self.asks = true;
        self.transmitter.wait_until(now);
        self.ask(queue, now);
        Ok(true)
    }

    /// Starts transmissions from `queue` for which the link has become free by `now`.
    #[inline(never)]
    fn ask(&mut self, queue: &mut dyn Keeps<P>, now: Instant) {
        while self.asks && self.transmitter.free_at() <= now {
            match queue.dequeue(self.transmitter.free_at()) {
                Some(packet) => {
                    self.send(packet);
                }
                None => self.asks = false,
            }
        }
    }

    fn next_arrival(&self) -> Option<Instant> {
        self.in_flight.front().map(|&(arrival, _)| arrival)
    }

    #[inline(never)]
    fn arrival_or_question(&self) -> Option<Instant> {
        let question = self.asks.then_some(self.transmitter.free_at());
        self.next_arrival().into_iter().chain(question).min()
    }

    /// Sends a packet at the end of the last transmission. Returns whether it overtakes all others.
    #[inline(always)]
    fn send(&mut self, packet: P) -> bool {
        let size = packet.size();
        let (arrival, overtaking) = match self.transmitter.repeat(size) {
            Some(ends) => (ends + self.transmitter.delay(), false),
            None => self.transmit(size),
        };
        self.in_flight.push_back((arrival, packet));
        overtaking && self.overtake()
    }

    /// Returns when a packet arrives, and whether it may overtake others. Called for a packet of a
    /// different size than the last one, or for any packet if the link varies.
    #[inline(never)]
    fn transmit(&mut self, size: u32) -> (Instant, bool) {
        let Some(variation) = &mut self.variation else {
            let ends = self.transmitter.transmit(size).ends;
            return (ends + self.transmitter.delay(), false);
        };
        let rest_before = self.transmitter.rest();
        let transmission = self.transmitter.transmit(size);
        let rests = (rest_before, self.transmitter.rest());
        let arrival = variation.arrival(transmission, rests, self.transmitter.delay());
        (arrival, variation.is_overtaking())
    }

    /// Moves the last packet ahead of those that arrive later. Returns whether it is then the first
    /// one.
    #[cold]
    fn overtake(&mut self) -> bool {
        let is_later = |other: &(Instant, P), last: &(Instant, P)| other.0 > last.0;
        self.in_flight.move_back_ahead(is_later) == 0
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use rand::SeedableRng;
    use skywave_units::Random;

    use super::*;
    use crate::contract::Parcel;
    use crate::{CoDel, CoDelConfig, LossKind, PacketLossSpec, QuickStartRouter};

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Creates a link on which 1000 bytes take 10 ms, with a propagation delay of 100 ms.
    fn link(limit: u32) -> Link<Parcel> {
        let queue = DropTail::new(Limit::Packets(limit));
        Link::new(queue, Rate::from_bps(800_000), Duration::from_millis(100))
    }

    #[test]
    fn a_packet_takes_its_transmission_time_and_the_delay() {
        let mut link = link(5);
        assert_eq!(link.enqueue(ms(1), Parcel::new(1, 1000)), Ok(true));
        assert_eq!(link.deadline(), Some(ms(111)));
        assert_eq!(link.dequeue(ms(110)), None);
        assert_eq!(link.dequeue(ms(111)).map(|parcel| parcel.id), Some(1));
        assert_eq!(link.deadline(), None);
    }

    #[test]
    fn a_packet_from_elsewhere_arrives_in_order() {
        let mut far_end = Link::<Parcel>::stand_in();
        for (id, arrival) in [(1, 5), (2, 7), (3, 7), (4, 6)] {
            far_end.carry(ms(arrival), Parcel::new(id, 1000));
        }
        let arrived: Vec<_> = iter::from_fn(|| far_end.dequeue_before(ms(8))).collect();
        let arrived: Vec<_> = arrived
            .iter()
            .map(|(at, parcel)| (*at, parcel.id))
            .collect();
        assert_eq!(arrived, [(ms(5), 1), (ms(6), 4), (ms(7), 2), (ms(7), 3)]);
    }

    #[test]
    fn packets_follow_each_other_at_the_rate() {
        let mut link = link(5);
        for id in 1..=3 {
            assert_eq!(link.enqueue(ms(0), Parcel::new(id, 1000)), Ok(id == 1));
        }
        let mut arrivals = Vec::new();
        while let Some(at) = link.deadline() {
            arrivals.push((at, link.dequeue(at).unwrap().id));
        }
        assert_eq!(arrivals, [(ms(110), 1), (ms(120), 2), (ms(130), 3)]);
    }

    #[test]
    fn the_packet_in_transmission_does_not_wait_in_the_queue() {
        let mut link = link(1);
        assert!(link.enqueue(ms(0), Parcel::new(1, 1000)).is_ok());
        assert!(link.enqueue(ms(0), Parcel::new(2, 1000)).is_ok());
        assert!(link.enqueue(ms(9), Parcel::new(3, 1000)).is_err());
        // The place of a transmission that ends at this instant is free.
        assert!(link.enqueue(ms(10), Parcel::new(4, 1000)).is_ok());
        assert_eq!(link.queued_packets(), 1);
    }

    #[test]
    fn an_idle_link_sends_at_once() {
        let mut link = link(1);
        assert!(link.enqueue(ms(0), Parcel::new(1, 1000)).is_ok());
        assert!(link.enqueue(ms(500), Parcel::new(2, 1000)).is_ok());
        assert_eq!(link.dequeue(ms(500)).map(|parcel| parcel.id), Some(1));
        assert_eq!(link.deadline(), Some(ms(610)));
    }

    #[test]
    fn a_queue_that_keeps_packets_is_asked_when_a_transmission_ends() {
        let queue = AnyQueue::keeps(CoDel::new(Limit::Unlimited, CoDelConfig::default()));
        let rate = Rate::from_bps(800_000);
        let delay = Duration::from_millis(100);
        let mut link = Link::new(queue, rate, delay);
        for id in 1..=30 {
            assert_eq!(link.enqueue(ms(0), Parcel::new(id, 1000)), Ok(true));
        }
        assert_eq!(link.deadline(), Some(ms(10)));
        let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
        while let Some(now) = link.deadline() {
            arrived.extend(link.dequeue(now).map(|parcel| (now, parcel.id)));
            dropped.extend(link.dropped().map(|dropped| (now, dropped.packet.id)));
        }
        // The second packet has waited 10 ms, which is above the target. An interval of 100 ms
        // later, the 12th is the first to be dropped, and the next one takes its place.
        assert_eq!(dropped[0], (ms(110), 12));
        assert_eq!(arrived[..2], [(ms(110), 1), (ms(120), 2)]);
        assert_eq!(arrived[10..12], [(ms(210), 11), (ms(220), 13)]);
        assert_eq!(arrived.len() + dropped.len(), 30);
    }

    #[test]
    fn only_a_queue_that_keeps_packets_drops_them_later() {
        let rate = Rate::from_bps(800_000);
        let codel = CoDel::<Parcel>::new(Limit::Unlimited, CoDelConfig::default());
        assert!(Link::new(AnyQueue::keeps(codel), rate, Duration::ZERO).keeps());
        assert!(!link(5).keeps());
    }

    #[test]
    fn the_mean_rate_of_a_constant_link_is_its_rate() {
        assert_eq!(link(5).mean_rate(ms(7)), Rate::from_bps(800_000));
    }

    #[test]
    fn only_a_link_with_a_router_takes_part_in_quick_start() {
        let rate = Rate::from_bps(800_000);
        let router = QuickStartRouter::new(rate, 0.9, Random::seed_from_u64(0));
        assert!(link(5).quick_start().is_none());
        assert!(link(5).with_quick_start(router).quick_start().is_some());
    }

    #[test]
    fn lost_packets_use_no_bandwidth() {
        let queue = DropTail::new(Limit::Unlimited);
        let random = Random::seed_from_u64(0);
        let loss = PacketLossSpec(vec![1]).build(random);
        let mut link =
            Link::new(queue, Rate::from_bps(800_000), Duration::from_millis(100)).losing(loss);
        let lost = link.enqueue(ms(0), Parcel::new(1, 1000)).unwrap_err();
        assert_eq!(lost.reason, DropReason::Loss);
        assert_eq!(link.enqueue(ms(0), Parcel::new(2, 1000)), Ok(true));
        assert_eq!(link.deadline(), Some(ms(110)));
    }
}
