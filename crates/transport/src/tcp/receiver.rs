//! The receiving end: reassembly and acknowledgement.

use std::num::NonZeroU64;
use std::sync::Arc;

use arrayvec::ArrayVec;
use rand_xoshiro::SplitMix64;
use skywave_units::rand_core::{Rng, SeedableRng};
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::{AccurateEcn, Flags, SackBlock, Segment, TcpOptions, Timestamps};
use skywave_wire::{Ecn, Payload};

use super::ecn::ReceiverEcn;
use super::reassembly::{Arrival, Range, Reassembly};
use super::receive_window::RightSizing;
use super::sequence::SequenceSpace;
use super::timer::Timer;
use super::timestamps::{self, Stamps};
use super::{Header, Ports, ReceiverConfig, ReceiverExtension};
use crate::{End, Transmit};

/// The longest permitted delay of an acknowledgement (RFC 5681 section 4.2).
const MAX_ACK_DELAY: Duration = Duration::from_millis(500);

/// The SACK blocks that fit the options (RFC 2018 section 3).
const MAX_SACK_BLOCKS: usize = 4;

/// The SACK blocks for which timestamps leave room, and the option of Accurate ECN, and both.
const SACK_BLOCKS_WITH_STAMPS: u8 = 3;
const SACK_BLOCKS_WITH_COUNTERS: u8 = 3;
const SACK_BLOCKS_WITH_BOTH: u8 = 2;

/// The receiving end of a TCP connection.
///
/// It accepts one connection, delivers the stream in order and acknowledges it: immediately if data
/// is out of order or fills a gap, otherwise every second segment (RFC 5681 section 4.2). The
/// application reads everything at once, so the window never closes. Received bytes are counted,
/// not stored.
#[derive(Debug)]
pub struct Receiver {
    config: Arc<ReceiverConfig>,
    ports: Ports,
    /// Our own sequence numbers: only a SYN is ever sent in this direction.
    local: SequenceSpace,
    connection: Option<Connection>,
    /// The offset after the sender's FIN, once the FIN has been seen.
    end: Option<NonZeroU64>,
    /// Timestamps, if configured.
    stamps: Option<Box<AckStamps>>,
    delay: Timer,
    ecn: ReceiverEcn,
    extension: Option<Box<Extension>>,
    stats: ReceiverStats,
}

/// A header extension. Few receivers have one, so all the others keep a thin pointer.
#[derive(Debug)]
struct Extension(Box<dyn ReceiverExtension + Send>);

#[derive(Debug)]
struct Connection {
    remote: SequenceSpace,
    received: Reassembly,
    /// The window scale shift of announced windows.
    window_shift: u8,
    /// The receive window, in bytes.
    window: u32,
    right_sizing: Option<Box<RightSizing>>,
    /// Whether a segment has shown that our SYN-ACK arrived.
    established: bool,
    due: Due,
    /// Segments that are still to be acknowledged at once.
    quick_acks: u16,
    /// If SACK options are sent, what they report.
    reports: Option<Box<Reports>>,
}

/// The receiver's timestamps.
#[derive(Debug)]
struct AckStamps {
    stamps: Stamps,
    /// Whether the sender agrees to them.
    is_agreed: bool,
    /// Last.ACK.sent.
    acked: u64,
    /// The last echo that gave a round-trip time.
    timed: u32,
}

impl AckStamps {
    /// Starts a clock with this offset.
    const fn new(offset: u32) -> Self {
        Self {
            stamps: Stamps::new(offset),
            is_agreed: false,
            acked: 1,
            timed: 0,
        }
    }

    /// Begins a connection, whose SYN has these timestamps, if any. What an earlier one left does not
    /// apply.
    fn accept(&mut self, now: Instant, syn: Option<Timestamps>) {
        *self = Self {
            stamps: self.stamps.restarted(),
            is_agreed: syn.is_some(),
            acked: 1,
            timed: 0,
        };
        if let Some(syn) = syn {
            self.stamps.on_value(now, syn.value);
        }
    }

    /// Returns the time since the sender's last segment answered an acknowledgement of ours, once
    /// for each acknowledgement, in whole ticks. Zero ticks are no round trip.
    fn take_rtt(&mut self, now: Instant, echo: u32) -> Option<Duration> {
        if echo == self.timed {
            return None;
        }
        self.timed = echo;
        let rtt = self.stamps.since(now, echo);
        rtt.filter(|rtt| !rtt.is_zero())
    }
}

/// Returns the timestamps, if the sender agrees to them.
fn agreed(stamps: &Option<Box<AckStamps>>) -> Option<&AckStamps> {
    stamps.as_deref().filter(|own| own.is_agreed)
}

/// Returns the same to change.
fn agreed_mut(stamps: &mut Option<Box<AckStamps>>) -> Option<&mut AckStamps> {
    stamps.as_deref_mut().filter(|own| own.is_agreed)
}

/// What SACK options report.
#[derive(Debug, Default)]
struct Reports {
    /// The start of each range of out-of-order data, most recent first: the order of SACK blocks.
    recent: ArrayVec<u64, MAX_SACK_BLOCKS>,
    /// A duplicate segment that the next acknowledgement reports (RFC 2883).
    duplicate: Option<Range>,
}

impl Reports {
    fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.duplicate.is_none()
    }
}

/// The segment to send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Nothing,
    SynAck,
    Ack,
}

/// Counters of a [`Receiver`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiverStats {
    /// Bytes delivered in order.
    pub bytes_delivered: u64,
    /// Segments with data or a FIN received.
    pub segments_received: u64,
    /// Of those, segments that contained nothing new.
    pub duplicates: u64,
    /// Of those, segments that lay beyond a gap.
    pub out_of_order: u64,
    /// Acknowledgements sent, SYN-ACKs included.
    pub acks_sent: u64,
}

impl Receiver {
    /// Creates a listening endpoint. Its initial sequence number and the offset of its timestamp
    /// clock are drawn from `seed`. Endpoints can share a configuration.
    pub fn new(config: impl Into<Arc<ReceiverConfig>>, ports: Ports, seed: u64) -> Self {
        let config = config.into();
        let mut rng = SplitMix64::seed_from_u64(seed);
        let local = SequenceSpace::new(rng.next_u32());
        let has_stamps = config.timestamps && config.syn_options;
        Self {
            config,
            ports,
            local,
            stamps: has_stamps.then(|| Box::new(AckStamps::new(rng.next_u32()))),
            connection: None,
            end: None,
            delay: Timer::default(),
            ecn: ReceiverEcn::default(),
            extension: None,
            stats: ReceiverStats::default(),
        }
    }

    /// Adds the receiver's half of a header extension. The peer must have the sender's half.
    pub fn with_extension(mut self, extension: Box<dyn ReceiverExtension + Send>) -> Self {
        self.extension = Some(Box::new(Extension(extension)));
        self
    }

    /// Returns the counters so far.
    pub const fn stats(&self) -> ReceiverStats {
        self.stats
    }

    /// Returns whether the sender has closed and everything before its FIN has been delivered.
    pub fn is_finished(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| {
            self.end.map(NonZeroU64::get) == Some(connection.received.next())
        })
    }

    /// Returns the bytes of heap memory in use, without the configuration: those for the gaps that
    /// there have been at once, for SACK, for an autotuned window and for timestamps.
    pub fn heap_size(&self) -> usize {
        let connection = self.connection.as_ref().map_or(0, Connection::heap_size);
        let stamps = self.stamps.as_deref().map_or(0, size_of_val);
        connection + self.ecn.heap_size() + stamps
    }

    /// Handles a SYN in LISTEN (RFC 9293 section 3.10.7.2).
    #[cold]
    #[inline(never)]
    fn accept(&mut self, now: Instant, ecn: Ecn, syn: Segment) {
        let config = &self.config;
        let window = config.window;
        let scaling = config.syn_options && syn.options.window_scale.is_some();
        let permits_sack =
            config.sack_blocks > 0 && (syn.options.sack_permitted || !config.syn_options);
        let right_sizing = window.right_sizing(config.max_segment_size, config.quick_acks > 0);
        if let Some(own) = &mut self.stamps {
            own.accept(now, syn.options.timestamps);
        }
        self.connection = Some(Connection {
            remote: SequenceSpace::new(syn.seq),
            received: Reassembly::new(1),
            window_shift: if scaling { window.shift() } else { 0 },
            window: window.initial(),
            right_sizing: right_sizing.map(Box::new),
            established: false,
            due: Due::SynAck,
            quick_acks: config.quick_acks,
            reports: permits_sack.then(Box::default),
        });
        self.ecn = ReceiverEcn::accept(self.config.ecn, syn.flags, ecn);
    }

    /// Handles a segment as in RFC 9293 section 3.10.7.4, for a receiver that sends no data.
    #[inline(always)]
    fn on_segment(&mut self, now: Instant, ecn: Ecn, mut segment: Segment) {
        if let Some(extension) = &mut self.extension {
            let header = extension.0.read(Header::of(&segment), self.local.wire(1));
            header.put_into(&mut segment);
        }
        let Some(connection) = &mut self.connection else {
            return;
        };
        let next = connection.received.next();
        let offset = connection.remote.offset(segment.seq, next);
        if segment.flags.contains(Flags::RST) {
            if offset == Some(next) {
                self.connection = None;
                self.end = None;
                self.delay.stop();
            }
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            // Either the sender did not get our SYN-ACK, or this is a stray old SYN, which is
            // answered with a plain acknowledgement.
            let repeated = offset == Some(0) && !connection.established;
            connection.due = if repeated { Due::SynAck } else { Due::Ack };
            if repeated {
                self.ecn.on_syn_again(ecn);
                if let (Some(own), Some(peer)) =
                    (agreed_mut(&mut self.stamps), segment.options.timestamps)
                {
                    own.stamps.on_value(now, peer.value);
                }
            }
            return;
        }
        if !segment.flags.contains(Flags::ACK) || segment.ack != self.local.wire(1) {
            return;
        }
        if !connection.established {
            connection.on_established(now);
        }
        let Some(start) = offset else { return };
        let length = segment.payload.len() as u64;
        let fin = segment.flags.contains(Flags::FIN);
        if let Some(own) = agreed_mut(&mut self.stamps) {
            let end = start + length + u64::from(fin);
            let range = Range { start, end };
            let Some(peer) = segment.options.timestamps else {
                return;
            };
            if own.stamps.is_old(now, peer.value) {
                if range.start < range.end {
                    self.stats.segments_received += 1;
                    self.stats.duplicates += 1;
                }
                connection.on_old(range, &self.config);
                return;
            }
            connection.on_stamps(now, own, peer, range);
        }
        if length == 0 && !fin {
            self.ecn.on_control(ecn);
            // The end of the handshake. Any other empty segment asks for our state.
            if start != next {
                connection.due = Due::Ack;
            }
            return;
        }
        self.stats.segments_received += 1;
        let before = self.delay.wake().map(|_| next);
        let is_urgent = (self.ecn).on_data(ecn, segment.flags, length as u32, before);
        if let Some(extension) = &mut self.extension {
            extension.0.on_data(ecn);
        }
        let limit = next + u64::from(connection.window);
        let stop = start + length + u64::from(fin);
        if fin && stop <= limit {
            self.end = NonZeroU64::new(stop);
        }
        let range = Range {
            start,
            end: stop.min(limit),
        };
        let arrival = connection.received.insert(range);
        if let Some(reports) = &mut connection.reports {
            if arrival == Arrival::Duplicate && self.config.dsack {
                reports.duplicate = Some(range);
            }
            if arrival == Arrival::OutOfOrder || !reports.recent.is_empty() {
                connection.note_arrival(range);
            }
        }
        let grows = connection.adjust_window(now, arrival, self.config.window.max());
        let finished = self.end.map(NonZeroU64::get) == Some(connection.received.next());
        let delivered = connection.received.next() - 1 - u64::from(finished);
        self.stats.bytes_delivered = delivered;
        match arrival {
            Arrival::Duplicate => {
                self.stats.duplicates += 1;
                connection.quick_acks = self.config.quick_acks;
            }
            Arrival::OutOfOrder => self.stats.out_of_order += 1,
            Arrival::InOrder | Arrival::FilledGap => {}
        }
        // Linux sets the lowest bit, so that other quick acknowledgements do not add up with these.
        connection.quick_acks |= u16::from(grows);
        let is_pushed = segment.flags.contains(Flags::PSH) && self.config.quick_acks > 0;
        match self.config.delayed_ack {
            Some(delay)
                if arrival == Arrival::InOrder
                    && !is_urgent
                    && !is_pushed
                    && !finished
                    && connection.quick_acks == 0
                    && self.delay.wake().is_none()
                    && !self
                        .extension
                        .as_ref()
                        .is_some_and(|extension| extension.0.acks_at_once()) =>
            {
                self.delay.restart(now + delay.min(MAX_ACK_DELAY));
            }
            _ => {
                connection.quick_acks = connection.quick_acks.saturating_sub(1);
                connection.due = Due::Ack;
            }
        }
    }

    #[cold]
    fn syn_ack(
        &self,
        now: Instant,
        connection: &Connection,
        flags: Flags,
        accurate_ecn: Option<Box<AccurateEcn>>,
    ) -> Segment {
        let stamps = agreed(&self.stamps);
        let options = if self.config.syn_options {
            let option = stamps.map_or(0, |_| timestamps::LENGTH);
            TcpOptions {
                mss: Some(self.config.max_segment_size.saturating_add(option)),
                timestamps: stamps.map(|own| own.stamps.option(now)),
                window_scale: (connection.window_shift > 0).then_some(connection.window_shift),
                sack_permitted: connection.reports.is_some(),
                accurate_ecn: accurate_ecn.map(|option| *option),
                ..TcpOptions::default()
            }
        } else {
            TcpOptions::default()
        };
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        self.segment(
            0,
            connection.remote.wire(1),
            Flags::SYN.union(flags),
            connection.window_field(0),
            options,
        )
    }

    #[inline(always)]
    fn ack(&self, now: Instant, connection: &Connection, next: u64, flags: Flags) -> Segment {
        let ack = connection.remote.wire(next);
        let window = connection.window_field(connection.window_shift);
        let options = TcpOptions {
            timestamps: agreed(&self.stamps).map(|own| own.stamps.option(now)),
            ..TcpOptions::default()
        };
        self.segment(1, ack, flags, window, options)
    }

    /// Builds an acknowledgement that reports out-of-order data, or counters of marks.
    #[inline(always)]
    fn sack(
        &self,
        now: Instant,
        connection: &Connection,
        flags: Flags,
        accurate_ecn: Option<Box<AccurateEcn>>,
    ) -> Segment {
        let ack = connection.remote.wire(connection.received.next());
        let window = connection.window_field(connection.window_shift);
        let stamps = agreed(&self.stamps);
        let most = match (stamps, &accurate_ecn) {
            (None, None) => u8::MAX,
            (Some(_), None) => SACK_BLOCKS_WITH_STAMPS,
            (None, Some(_)) => SACK_BLOCKS_WITH_COUNTERS,
            (Some(_), Some(_)) => SACK_BLOCKS_WITH_BOTH,
        };
        let options = TcpOptions {
            sack: *connection.sack_blocks(self.config.sack_blocks.min(most)),
            timestamps: stamps.map(|own| own.stamps.option(now)),
            accurate_ecn: accurate_ecn.map(|option| *option),
            ..TcpOptions::default()
        };
        self.segment(1, ack, flags, window, options)
    }

    #[inline(always)]
    fn segment(
        &self,
        seq: u64,
        ack: u32,
        flags: Flags,
        window: u16,
        options: TcpOptions,
    ) -> Segment {
        Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            seq: self.local.wire(seq),
            ack,
            flags: flags.union(Flags::ACK),
            window,
            checksum_offset: 0,
            identification: 0,
            options,
            payload: Payload::EMPTY,
        }
    }
}

impl Connection {
    fn heap_size(&self) -> usize {
        let reports = self.reports.as_deref().map_or(0, size_of_val);
        let right_sizing = self.right_sizing.as_deref().map_or(0, size_of_val);
        self.received.heap_size() + reports + right_sizing
    }

    /// Handles the first segment that shows that our SYN-ACK arrived.
    #[cold]
    fn on_established(&mut self, now: Instant) {
        self.established = true;
        if let Some(right_sizing) = &mut self.right_sizing {
            right_sizing.on_established(now);
        }
    }

    /// Handles an old duplicate (RFC 7323 section 5.3, step R1). What it repeats is reported (RFC 2883).
    #[cold]
    fn on_old(&mut self, range: Range, config: &ReceiverConfig) {
        self.due = Due::Ack;
        let known = Range {
            start: range.start,
            end: range.end.min(self.received.next()),
        };
        if known.start >= known.end {
            return;
        }
        self.quick_acks = config.quick_acks;
        if let Some(reports) = &mut self.reports
            && config.dsack
        {
            reports.duplicate = Some(known);
        }
    }

    /// Handles the timestamps of a segment with this range that is not old.
    fn on_stamps(&mut self, now: Instant, own: &mut AckStamps, peer: Timestamps, range: Range) {
        let next = self.received.next();
        let is_in_window = range.end >= next && range.start <= next + u64::from(self.window);
        if is_in_window && range.start <= own.acked {
            own.stamps.on_value(now, peer.value);
        }
        if let Some(right_sizing) = &mut self.right_sizing
            && right_sizing.is_long(range.end - range.start)
            && let Some(rtt) = own.take_rtt(now, peer.echo)
        {
            right_sizing.on_rtt(rtt);
        }
    }

    /// Adjusts the window, but only when the acknowledgement number changes: an acknowledgement
    /// with another window is not a duplicate (RFC 5681 section 2). Returns whether the segment has
    /// made it grow.
    #[inline(always)]
    fn adjust_window(&mut self, now: Instant, arrival: Arrival, max: u32) -> bool {
        let Some(right_sizing) = &mut self.right_sizing else {
            return false;
        };
        if !matches!(arrival, Arrival::InOrder | Arrival::FilledGap) {
            return false;
        }
        let before = self.window;
        self.window = right_sizing.on_segment(before);
        let grows = self.window > before;
        let next = self.received.next();
        self.window = right_sizing.on_delivered(now, next, self.window, max);
        grows
    }

    /// Notes that an acknowledgement has been sent, and whether it was the last one due.
    #[inline(always)]
    fn on_sent(&mut self, now: Instant, is_last: bool, reports_duplicates: bool) {
        if self.due == Due::SynAck
            && let Some(right_sizing) = &mut self.right_sizing
        {
            right_sizing.on_syn_ack(now);
        }
        if !is_last {
            return;
        }
        self.due = Due::Nothing;
        if let Some(reports) = &mut self.reports
            && reports_duplicates
        {
            reports.duplicate = None;
        }
    }

    /// Returns the window to announce, as encoded in the header.
    #[inline(always)]
    fn window_field(&self, shift: u8) -> u16 {
        u16::try_from(self.window >> shift).unwrap_or(u16::MAX)
    }

    /// Returns whether there is anything to SACK.
    fn has_news(&self) -> bool {
        self.reports
            .as_ref()
            .is_some_and(|reports| !reports.is_empty())
    }

    /// Returns the out-of-order range that contains `offset`.
    fn range_of(&self, offset: u64) -> Option<Range> {
        let beyond = self.received.beyond();
        let index = beyond.partition_point(|range| range.end <= offset);
        beyond
            .get(index)
            .copied()
            .filter(|range| range.start <= offset)
    }

    /// Orders the SACK blocks as in RFC 2018 section 4: the first block contains the newest
    /// segment, even a duplicate; the most recently reported blocks follow.
    fn note_arrival(&mut self, data: Range) {
        let newest = self.range_of(data.start);
        let Some(mut reports) = self.reports.take() else {
            return;
        };
        let recent = &mut reports.recent;
        recent.retain(|offset| {
            let range = self.range_of(*offset);
            range.is_some() && range != newest
        });
        if newest.is_some() {
            if recent.is_full() {
                recent.pop();
            }
            recent.insert(0, data.start);
        }
        self.reports = Some(reports);
    }

    /// Returns the SACK blocks, boxed so that a segment without them can stay in registers.
    #[cold]
    fn sack_blocks(&self, limit: u8) -> Box<ArrayVec<SackBlock, MAX_SACK_BLOCKS>> {
        let reports = self.reports.as_deref();
        let duplicate = reports.and_then(|reports| reports.duplicate);
        let recent = reports.map_or(&[][..], |reports| &reports.recent);
        let ranges = recent.iter().filter_map(|&offset| self.range_of(offset));
        let ranges = duplicate.into_iter().chain(ranges);
        let block = |range: Range| SackBlock {
            left: self.remote.wire(range.start),
            right: self.remote.wire(range.end),
        };
        Box::new(ranges.take(usize::from(limit)).map(block).collect())
    }
}

impl End for Receiver {
    type Packet = Segment;

    // Inlined, so that a driver that knows a segment has no options does not pay for them.
    #[inline(always)]
    fn receive(&mut self, now: Instant, ecn: Ecn, segment: Segment) {
        if self.connection.is_some() {
            self.on_segment(now, ecn, segment);
        } else if segment.flags.contains(Flags::SYN)
            && !segment.flags.contains(Flags::ACK)
            && !segment.flags.contains(Flags::RST)
        {
            self.accept(now, ecn, segment);
        }
    }

    #[inline(always)]
    fn transmit(&mut self, now: Instant) -> Option<Transmit<Segment>> {
        let connection = self.connection.as_ref()?;
        let mut next = connection.received.next();
        let mut is_last = true;
        let packet = match connection.due {
            Due::Nothing => return None,
            Due::SynAck => {
                let (flags, accurate_ecn) = self.ecn.on_syn_ack();
                self.syn_ack(now, connection, flags, accurate_ecn)
            }
            Due::Ack => {
                if let Some((earlier, flags)) = self.ecn.take_earlier() {
                    (next, is_last) = (earlier, false);
                    self.ack(now, connection, next, flags)
                } else {
                    let flags = self.ecn.ack_flags();
                    let accurate_ecn = self.ecn.on_ack();
                    let mut ack = if connection.has_news() || accurate_ecn.is_some() {
                        self.sack(now, connection, flags, accurate_ecn)
                    } else {
                        self.ack(now, connection, next, flags)
                    };
                    if let Some(extension) = &mut self.extension {
                        extension.0.write(Header::of(&ack)).put_into(&mut ack);
                    }
                    ack
                }
            }
        };
        if is_last {
            self.delay.stop();
        }
        if let Some(own) = agreed_mut(&mut self.stamps) {
            own.acked = next;
        }
        if let Some(connection) = &mut self.connection {
            connection.on_sent(now, is_last, self.config.dsack);
        }
        self.stats.acks_sent += 1;
        Some(Transmit {
            ecn: Ecn::NotEct,
            packet,
        })
    }

    fn deadline(&self) -> Option<Instant> {
        self.delay.wake()
    }

    fn expire(&mut self, now: Instant) {
        if self.delay.fired(now)
            && let Some(connection) = &mut self.connection
        {
            connection.due = Due::Ack;
        }
    }
}
