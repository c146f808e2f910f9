//! Samples of the rate at which the network delivers data.
//!
//! Implements draft-cheng-iccrg-delivery-rate-estimation as incorporated in draft-ietf-ccwg-bbr
//! (August 2026), section "Delivery Rate Samples"; names in comments are from that section. Data is
//! counted in bytes of application data.

use core::cmp::Ordering;
use std::collections::VecDeque;

use skywave_units::{Duration, Instant, Rate};

/// The delivery rate between the sending of a packet and its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryRate {
    /// RS.delivered: bytes delivered in `interval`.
    pub delivered: u64,
    /// RS.interval: the time in which these bytes were sent or the time in which they were
    /// acknowledged, whichever is longer.
    pub interval: Duration,
    /// RS.prior_delivered: bytes delivered before the packet was sent. A round ends when a packet
    /// sent after its start is acknowledged.
    pub prior_delivered: u64,
    /// C.delivered: bytes delivered so far.
    pub total_delivered: u64,
    /// RS.is_app_limited: whether the application, not the network, may have been the bottleneck,
    /// so that the path may be faster.
    pub is_application_limited: bool,
}

impl DeliveryRate {
    /// Returns RS.delivery_rate.
    pub fn rate(&self) -> Rate {
        let bits = u128::from(self.delivered) * 8 * 1_000_000_000;
        let nanos = u128::from(self.interval.as_nanos().max(1));
        Rate::from_bps(u64::try_from(bits / nanos).unwrap_or(u64::MAX))
    }
}

/// Takes delivery-rate samples. Report each packet sent and acknowledged, timeouts, and times when
/// the application has nothing to send.
///
/// It remembers packets from the first one that is neither acknowledged nor forgotten
/// ([`DeliverySampler::forget_before`]).
#[derive(Clone, Debug, Default)]
pub struct DeliverySampler {
    /// The number of bits of a `u64` that packet numbers do not use.
    unused_bits: u32,
    /// C.delivered and C.delivered_time.
    delivered: u64,
    delivered_at: Instant,
    /// C.first_send_time.
    first_sent_at: Instant,
    /// C.app_limited: samples are application-limited until this many bytes are delivered.
    limited_until: Option<u64>,
    /// C.min_rtt.
    min_rtt: Option<Duration>,
    /// Sent packets, by number.
    packets: VecDeque<Packet>,
    /// C.inflight.
    in_flight: u64,
    /// The newest packet of the current acknowledgement.
    newest: Option<Newest>,
}

/// P: the state when a packet was sent.
#[derive(Clone, Copy, Debug)]
struct Packet {
    number: u64,
    bytes: u32,
    sent_at: Instant,
    first_sent_at: Instant,
    delivered: u64,
    delivered_at: Instant,
    is_application_limited: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    /// Given up after a timeout; it may still arrive.
    GivenUp,
    Acked,
}

#[derive(Clone, Copy, Debug)]
struct Newest {
    packet: Packet,
    ack_elapsed: Duration,
}

impl DeliverySampler {
    /// Creates a sampler for packet numbers of `bits` bits, at most 64, that wrap to zero. All
    /// remembered packets must lie within half of the number space. [`DeliverySampler::default`]
    /// has 64 bits, which never wrap in practice.
    pub fn with_number_bits(bits: u32) -> Self {
        Self {
            unused_bits: 64 - bits.clamp(1, 64),
            ..Self::default()
        }
    }

    /// Records a packet that leaves (OnPacketSent). `number` increases from packet to packet; a
    /// retransmission keeps its number. `bytes` counts application data. Data that has already been
    /// acknowledged is not counted again.
    pub fn on_sent(&mut self, now: Instant, number: u64, bytes: u32) {
        let place = self.find(number);
        if place.is_ok_and(|index| self.packets[index].state == State::Acked) {
            return;
        }
        if self.in_flight == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        let packet = Packet {
            number,
            bytes,
            sent_at: now,
            first_sent_at: self.first_sent_at,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            is_application_limited: self.limited_until.is_some(),
            state: State::InFlight,
        };
        match place {
            Ok(index) => {
                let before = core::mem::replace(&mut self.packets[index], packet);
                self.take_out(&before);
            }
            Err(index) => self.packets.insert(index, packet),
        }
        self.in_flight += u64::from(bytes);
    }

    /// Marks samples of data sent from now on as application-limited, until everything now in
    /// flight is delivered.
    ///
    /// Call it whenever the application has nothing more to send, cwnd has room, and no lost data
    /// is waiting for retransmission. Because that can begin at any time, the draft checks for it
    /// (CheckIfAppLimited):
    /// - whenever the application writes, before the data is queued;
    /// - at each acknowledgement, before processing it;
    /// - when a timer that may send data expires, before handling it.
    ///
    /// A transport may also check after each packet sent.
    pub fn mark_application_limited(&mut self) {
        self.limited_until = Some((self.delivered + self.in_flight).max(1));
    }

    /// Reports a retransmission timeout (TCP) or a timeout of the CCID: nothing is in flight any
    /// more. The next packet starts a new flight, so that its sample excludes the preceding
    /// silence.
    ///
    /// Packets that still arrive count as delivered.
    pub fn on_timeout(&mut self) {
        for packet in &mut self.packets {
            if packet.state == State::InFlight {
                packet.state = State::GivenUp;
            }
        }
        self.in_flight = 0;
    }

    /// Records a packet acknowledged cumulatively or selectively (UpdateRateSample); repeated
    /// reports of a packet are ignored. Call [`DeliverySampler::sample`] once after all packets of
    /// an acknowledgement.
    pub fn on_acked(&mut self, now: Instant, number: u64) {
        let Ok(index) = self.find(number) else { return };
        let packet = self.packets[index];
        if packet.state == State::Acked {
            return;
        }
        self.packets[index].state = State::Acked;
        self.take_out(&packet);
        self.delivered += u64::from(packet.bytes);
        self.delivered_at = now;
        let is_newest = self.newest.is_none_or(|newest| {
            let newest = newest.packet;
            let by_number = || self.order(packet.number, newest.number);
            let order = packet.sent_at.cmp(&newest.sent_at).then_with(by_number);
            order.is_gt()
        });
        if is_newest {
            self.newest = Some(Newest {
                packet,
                ack_elapsed: now - packet.delivered_at,
            });
            self.first_sent_at = packet.sent_at;
        }
    }

    /// Takes a sample after all packets of an acknowledgement have been reported
    /// (GenerateRateSample). `rtt` is the acknowledgement's round-trip time sample. Returns `None`
    /// if nothing was acknowledged, or if the interval is less than the minimum round-trip time,
    /// which makes it meaningless.
    pub fn sample(&mut self, rtt: Option<Duration>) -> Option<DeliveryRate> {
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.limited_until.take_if(|until| self.delivered > *until);
        let is_acked = |first: &mut Packet| first.state == State::Acked;
        while self.packets.pop_front_if(is_acked).is_some() {}
        let Newest {
            packet,
            ack_elapsed,
        } = self.newest.take()?;
        let interval = ack_elapsed.max(packet.sent_at - packet.first_sent_at);
        if interval.is_zero() || self.min_rtt.is_some_and(|least| interval < least) {
            return None;
        }
        Some(DeliveryRate {
            delivered: self.delivered - packet.delivered,
            interval,
            prior_delivered: packet.delivered,
            total_delivered: self.delivered,
            is_application_limited: packet.is_application_limited,
        })
    }

    /// Reports that packets before `number` are no longer in flight: they were lost, or the peer
    /// can no longer report them.
    pub fn forget_before(&mut self, number: u64) {
        while let Some(first) = self.packets.front().copied() {
            if self.order(first.number, number).is_ge() {
                break;
            }
            self.packets.pop_front();
            self.take_out(&first);
        }
    }

    /// Returns the bytes of heap memory in use.
    pub fn heap_size(&self) -> usize {
        self.packets.capacity() * size_of::<Packet>()
    }

    /// Removes `packet` from the packets in flight.
    fn take_out(&mut self, packet: &Packet) {
        if packet.state == State::InFlight {
            self.in_flight -= u64::from(packet.bytes);
        }
    }

    fn find(&self, number: u64) -> Result<usize, usize> {
        match self.packets.back() {
            Some(last) if self.order(last.number, number).is_lt() => Err(self.packets.len()),
            _ => self
                .packets
                .binary_search_by(|packet| self.order(packet.number, number)),
        }
    }

    /// Compares `number` with `other` in circular arithmetic.
    fn order(&self, number: u64, other: u64) -> Ordering {
        let distance = number.wrapping_sub(other) << self.unused_bits;
        (distance as i64).cmp(&0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// 1000 bytes leave and are acknowledged every millisecond, 100 ms later: 8 Mbit/s.
    #[test]
    fn a_steady_flow_is_measured_as_fast_as_it_is() {
        let mut sampler = DeliverySampler::default();
        let mut last = None;
        for now in 0..400_u64 {
            if let Some(number) = now.checked_sub(100) {
                sampler.on_acked(ms(now), number);
                last = sampler.sample(Some(Duration::from_millis(100)));
            }
            sampler.on_sent(ms(now), now, 1000);
        }
        let last = last.unwrap();
        assert_eq!(last.rate(), Rate::from_bps(8_000_000));
        assert_eq!(last.total_delivered, 300_000);
        assert!(!last.is_application_limited);
    }

    /// Acknowledgements that arrive together do not indicate a faster path: the longer of the two
    /// intervals counts.
    #[test]
    fn compressed_acknowledgements_do_not_exaggerate() {
        let mut sampler = DeliverySampler::default();
        for now in 0..100 {
            sampler.on_sent(ms(now), now, 1000);
        }
        for number in 0..100 {
            sampler.on_acked(ms(199), number);
        }
        let sample = sampler.sample(Some(Duration::from_millis(100))).unwrap();
        assert_eq!(sample.interval, Duration::from_millis(199));
        // The path was empty before, so the time to fill it counts.
        assert_eq!(sample.delivered, 100_000);
    }

    #[test]
    fn an_interval_below_the_least_round_trip_time_says_nothing() {
        let mut sampler = DeliverySampler::default();
        sampler.on_sent(ms(0), 1, 1000);
        sampler.on_acked(ms(100), 1);
        assert!(sampler.sample(Some(Duration::from_millis(100))).is_some());
        sampler.on_sent(ms(100), 2, 1000);
        sampler.on_acked(ms(150), 2);
        assert_eq!(sampler.sample(None), None);
    }

    #[test]
    fn what_the_application_held_back_is_marked_until_it_is_through() {
        let mut sampler = DeliverySampler::default();
        let rtt = Some(Duration::from_millis(10));
        sampler.on_sent(ms(0), 1, 1000);
        sampler.mark_application_limited();
        sampler.on_sent(ms(5), 2, 1000);
        sampler.on_sent(ms(6), 3, 1000);
        let limited = [(10, 1), (15, 2), (16, 3)].map(|(at, number)| {
            sampler.on_acked(ms(at), number);
            sampler.sample(rtt).unwrap().is_application_limited
        });
        assert_eq!(limited, [false, true, true]);
        sampler.on_sent(ms(20), 4, 1000);
        sampler.on_acked(ms(30), 4);
        assert!(!sampler.sample(rtt).unwrap().is_application_limited);
    }

    /// The draft's C.app_limited is C.delivered plus the bytes in flight, and ends once C.delivered
    /// is greater.
    #[test]
    fn the_mark_lasts_until_more_than_the_flight_is_delivered() {
        let mut sampler = DeliverySampler::default();
        let rtt = Some(Duration::from_millis(10));
        for number in 1..=5 {
            sampler.on_sent(ms(0), number, 1000);
        }
        for number in 1..=2 {
            sampler.on_acked(ms(10), number);
        }
        sampler.sample(rtt);
        // 2000 bytes were delivered, and 3000 are in flight.
        sampler.mark_application_limited();
        let mut is_limited = |acked, number| {
            sampler.on_acked(ms(10 * acked), acked);
            sampler.sample(rtt);
            sampler.on_sent(ms(10 * acked), number, 1000);
            sampler.on_acked(ms(10 * acked + 10), number);
            sampler.sample(rtt).unwrap().is_application_limited
        };
        assert!(is_limited(3, 6), "3000 bytes delivered");
        assert!(is_limited(4, 7), "5000, with number 6");
        assert!(!is_limited(5, 8), "7000");
    }

    #[test]
    fn what_is_lost_or_sent_again_is_not_counted_twice() {
        let mut sampler = DeliverySampler::default();
        for number in 1..=3 {
            sampler.on_sent(ms(number), number, 1000);
        }
        sampler.on_sent(ms(20), 2, 1000);
        assert_eq!(sampler.in_flight, 3000);
        sampler.on_acked(ms(30), 2);
        sampler.on_acked(ms(31), 2);
        assert_eq!(sampler.sample(None).unwrap().total_delivered, 1000);
        sampler.forget_before(4);
        assert_eq!((sampler.in_flight, sampler.packets.len()), (0, 0));
        sampler.on_acked(ms(40), 3);
        assert_eq!(sampler.sample(None), None);
    }

    /// Packets sent after a timeout form a new flight, which excludes the idle time.
    #[test]
    fn after_a_timeout_nothing_is_in_flight() {
        let rtt = Some(Duration::from_millis(100));
        let mut sampler = DeliverySampler::default();
        for number in 0..10 {
            sampler.on_sent(ms(number), number, 1000);
        }
        sampler.on_acked(ms(100), 0);
        sampler.sample(rtt).unwrap();
        sampler.on_timeout();
        assert_eq!(sampler.in_flight, 0);
        sampler.on_sent(ms(2000), 1, 1000);
        sampler.on_sent(ms(2000), 2, 1000);
        sampler.on_acked(ms(2100), 1);
        sampler.on_acked(ms(2100), 2);
        let sample = sampler.sample(rtt).unwrap();
        assert_eq!((sample.delivered, sample.interval), (2000, ms(100) - ms(0)));
        // A packet given up that arrives late counts as delivered, but not as in flight.
        sampler.on_acked(ms(2200), 3);
        assert_eq!(sampler.sample(None).unwrap().total_delivered, 4000);
        assert_eq!(sampler.in_flight, 0);
        assert_eq!(sampler.packets.len(), 6);
    }

    #[test]
    fn what_was_acknowledged_and_is_sent_again_is_not_counted_again() {
        let mut sampler = DeliverySampler::default();
        for number in 1..=3 {
            sampler.on_sent(ms(0), number, 1000);
        }
        sampler.on_acked(ms(10), 2);
        sampler.sample(None).unwrap();
        for number in 1..=3 {
            sampler.on_sent(ms(20), number, 1000);
        }
        assert_eq!(sampler.in_flight, 2000);
        for number in 1..=3 {
            sampler.on_acked(ms(30), number);
        }
        assert_eq!(sampler.sample(None).unwrap().total_delivered, 3000);
        assert_eq!((sampler.in_flight, sampler.packets.len()), (0, 0));
    }

    /// DCCP's sequence numbers: packets are found before, at and after the wrap, even if
    /// acknowledged out of order.
    #[test]
    fn numbers_may_wrap() {
        const MODULUS: u64 = 1 << 48;
        let mut sampler = DeliverySampler::with_number_bits(48);
        let number = |index: u64| (MODULUS - 50 + index) % MODULUS;
        let mut last = None;
        for now in 0..200_u64 {
            if now >= 10 && now % 2 == 0 {
                sampler.on_acked(ms(now), number(now - 9));
                sampler.on_acked(ms(now), number(now - 10));
                last = sampler.sample(Some(Duration::from_millis(9)));
                assert!(sampler.packets.len() <= 9, "{}", sampler.packets.len());
            }
            sampler.on_sent(ms(now), number(now), 1000);
        }
        let last = last.unwrap();
        assert_eq!(last.total_delivered, 190_000);
        assert_eq!(last.rate(), Rate::from_bps(8_000_000));
        assert_eq!(sampler.in_flight, 10_000);
        sampler.forget_before(number(195));
        assert_eq!((sampler.in_flight, sampler.packets.len()), (5000, 5));
        // The packet before the wrap is forgotten.
        let mut sampler = DeliverySampler::with_number_bits(48);
        sampler.on_sent(ms(0), number(49), 1000);
        sampler.on_sent(ms(0), number(50), 1000);
        sampler.forget_before(0);
        assert_eq!((sampler.in_flight, sampler.packets.len()), (1000, 1));
    }
    #[test]
    fn memory_grows_with_the_packets_in_flight() {
        let mut sampler = DeliverySampler::default();
        assert_eq!(sampler.heap_size(), 0);
        for number in 0..1000 {
            sampler.on_sent(ms(0), number, 1000);
        }
        // At least a number and a time for each.
        let least = 1000 * (size_of::<u64>() + size_of::<Instant>());
        assert!(
            (least..8 * least).contains(&sampler.heap_size()),
            "{} bytes",
            sampler.heap_size()
        );
    }
}
