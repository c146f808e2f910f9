//! The sending end: sequence numbers, windows and the retransmission timer.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use skywave_congestion::{AckSummary, RttEstimator, Window, WindowControl};
use skywave_units::{Duration, Instant};
use skywave_wire::tcp::{Flags, Segment, TcpOptions};
use skywave_wire::{Ecn, Payload};

use super::recovery::{OnDuplicate, OnProgress, Recovery};
use super::sequence::SequenceSpace;
use super::timer::Timer;
use super::{Ports, RecoveryExit, SenderConfig};
use crate::{Endpoint, Transmit};

/// The segment size of a peer that sends no MSS option (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;
/// The largest window scale shift (RFC 7323 section 2.3).
const MAX_WINDOW_SHIFT: u8 = 14;
/// RTO after a SYN had to be repeated (RFC 6298 step 5.7).
const RTO_AFTER_LOST_SYN: Duration = Duration::from_secs(3);
/// The end of a stream that has none: more than any run can send.
const UNLIMITED: u64 = 1 << 62;

/// The sending end of a TCP connection.
///
/// The application writes a number of bytes ([`Sender::write`]), or as many as will go
/// ([`Sender::write_unlimited`]); their values are synthetic. No list of segments is kept and
/// nothing is allocated: whatever is outstanding can be made again from its sequence numbers.
#[derive(Debug)]
pub struct Sender {
    config: SenderConfig,
    ports: Ports,
    window: Window,
    rtt: RttEstimator,
    recovery: Recovery,
    /// Retransmission, or probing of a closed window.
    timer: Timer,
    state: State,
    local: SequenceSpace,
    /// The sequence number that the peer sends next: it follows its SYN.
    remote_next: u32,
    /// SMSS: bytes of data in a full segment.
    smss: u64,
    /// The first byte not acknowledged (SND.UNA).
    una: u64,
    /// The next byte to send (SND.NXT); goes back to `una` after a timeout.
    nxt: u64,
    /// The byte after the last one ever sent.
    max: u64,
    /// The byte after the last one written; the FIN's place.
    end: u64,
    /// The receiver's window (SND.WND), in bytes.
    rwnd: u64,
    /// The largest that it has been.
    max_rwnd: u64,
    /// By how much the receiver's windows are shifted.
    window_shift: u8,
    /// Bytes acknowledged that do not make up a full segment yet.
    acked_rest: u64,
    /// Outstanding bytes that only limited transmit let out.
    limited: u64,
    /// The segment that is timed: the byte after it, and when it left.
    timed: Option<(u64, Instant)>,
    last_sent: Instant,
    /// When pacing lets the next segment go.
    paced_until: Option<Instant>,
    due: Due,
    /// The application has closed: a FIN follows the last byte.
    closing: bool,
    events: Events,
    counters: Counters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing has been sent.
    Closed,
    SynSent {
        repeated: bool,
    },
    Established,
    /// The peer has reset the connection, or our FIN has been acknowledged.
    Ended,
}

/// What is to be sent whatever the windows say.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    syn: bool,
    /// The first unacknowledged segment.
    retransmission: bool,
    /// A byte or more into a window that is closed or too small.
    probe: bool,
    /// An acknowledgement, unless a segment with data carries it.
    ack: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Events {
    connected: bool,
    all_acknowledged: bool,
    closed: bool,
    reset: bool,
}

/// Something that the application may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// Everything written so far has been acknowledged: a file has arrived.
    AllAcknowledged,
    /// The FIN has been acknowledged too.
    Closed,
    /// The peer has reset the connection; nothing more will be sent.
    Reset,
}

/// Data were written after [`Sender::close`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closing and takes no more data: write before `close`")]
pub struct WriteAfterClose;

#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    segments_sent: u64,
    bytes_sent: u64,
    segments_retransmitted: u64,
    bytes_retransmitted: u64,
    timeouts: u32,
    fast_retransmits: u32,
}

/// What a [`Sender`] has counted, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderStats {
    /// Segments sent, those without data included.
    pub segments_sent: u64,
    /// Bytes of data sent, retransmitted ones included.
    pub bytes_sent: u64,
    /// Segments with data or FIN that were sent again.
    pub segments_retransmitted: u64,
    /// Bytes of data in them.
    pub bytes_retransmitted: u64,
    /// Bytes of data acknowledged.
    pub bytes_acked: u64,
    /// Times that the retransmission timer expired, for the SYN too.
    pub timeouts: u32,
    /// Fast retransmits: recoveries that duplicate acknowledgements began.
    pub fast_retransmits: u32,
    /// cwnd in segments, without the temporary inflation of a recovery.
    pub cwnd: f64,
    /// ssthresh in segments; infinite where none has been set.
    pub ssthresh: f64,
    /// FlightSize: bytes sent and not acknowledged.
    pub flight: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Retransmission timeout, back-off included.
    pub rto: Duration,
}

impl Sender {
    /// An endpoint that has nothing to send yet. Its initial sequence number is drawn from `seed`.
    pub fn new(config: SenderConfig, window: impl Into<Window>, ports: Ports, seed: u64) -> Self {
        Self {
            config,
            ports,
            window: window.into(),
            rtt: RttEstimator::new(config.rto),
            recovery: Recovery::new(config.recovery),
            timer: Timer::default(),
            state: State::Closed,
            local: SequenceSpace::new(SplitMix64::seed_from_u64(seed).next_u32()),
            remote_next: 0,
            smss: u64::from(config.segment_size.max(1)),
            una: 0,
            nxt: 0,
            max: 0,
            end: 1,
            rwnd: 0,
            max_rwnd: 0,
            window_shift: 0,
            acked_rest: 0,
            limited: 0,
            timed: None,
            last_sent: Instant::ZERO,
            paced_until: None,
            due: Due::default(),
            closing: false,
            events: Events::default(),
            counters: Counters::default(),
        }
    }

    /// Begins the handshake; writing does so as well.
    pub fn connect(&mut self) {
        if self.state == State::Closed {
            self.due.syn = true;
        }
    }

    /// Adds `bytes` bytes to the stream.
    pub fn write(&mut self, bytes: u64) -> Result<(), WriteAfterClose> {
        if self.closing {
            return Err(WriteAfterClose);
        }
        self.connect();
        self.end = self.end.saturating_add(bytes).min(UNLIMITED);
        Ok(())
    }

    /// Makes the stream endless: there is always something to send (ns-2's FTP).
    pub fn write_unlimited(&mut self) -> Result<(), WriteAfterClose> {
        self.write(UNLIMITED)
    }

    /// Lets a FIN follow the data. An endless stream ends where it stands: after what has been
    /// sent.
    pub fn close(&mut self) {
        self.connect();
        self.closing = true;
        if self.end == UNLIMITED {
            self.end = self.max.max(1);
        }
    }

    /// The next event, if something has happened.
    pub fn event(&mut self) -> Option<Event> {
        let events = &mut self.events;
        [
            (&mut events.connected, Event::Connected),
            (&mut events.all_acknowledged, Event::AllAcknowledged),
            (&mut events.closed, Event::Closed),
            (&mut events.reset, Event::Reset),
        ]
        .into_iter()
        .find_map(|(happened, event)| core::mem::take(happened).then_some(event))
    }

    /// Bytes of data in a full segment (SMSS), as the handshake left it.
    pub const fn segment_size(&self) -> u64 {
        self.smss
    }

    /// Counts, and the state of congestion control.
    pub fn stats(&self) -> SenderStats {
        let counters = &self.counters;
        SenderStats {
            segments_sent: counters.segments_sent,
            bytes_sent: counters.bytes_sent,
            segments_retransmitted: counters.segments_retransmitted,
            bytes_retransmitted: counters.bytes_retransmitted,
            bytes_acked: self.una.min(self.end).saturating_sub(1),
            timeouts: counters.timeouts,
            fast_retransmits: counters.fast_retransmits,
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
            flight: self.flight(),
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
        }
    }

    /// FlightSize, in bytes.
    const fn flight(&self) -> u64 {
        self.max - self.una
    }

    fn in_segments(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(self.smss)).unwrap_or(u32::MAX)
    }

    /// FlightSize when a loss is noticed, in segments. What limited transmit sent does not count
    /// (RFC 5681 section 3.2, step 2).
    fn flight_at_loss(&self) -> u32 {
        self.in_segments(self.flight() - self.limited)
    }

    /// The byte up to which cwnd, inflated or deflated by a recovery, lets us send.
    fn cwnd_end(&self) -> u64 {
        let cwnd = (self.window.cwnd() * self.smss as i64 as f64) as i64;
        let usable = cwnd.saturating_add(self.recovery.inflation());
        self.una.saturating_add(u64::try_from(usable).unwrap_or(0))
    }

    fn restart_timer(&mut self, now: Instant) {
        self.timer.restart(now + self.rtt.rto());
    }
}

/// What arrives.
impl Sender {
    /// RFC 9293 section 3.10.7.3: SYN-SENT.
    fn on_syn_ack(&mut self, now: Instant, segment: &Segment, repeated: bool) {
        let flags = segment.flags;
        if !flags.contains(Flags::ACK) || segment.ack != self.local.wire(1) {
            return;
        }
        if flags.contains(Flags::RST) {
            return self.end_connection();
        }
        if !flags.contains(Flags::SYN) {
            return;
        }
        self.state = State::Established;
        self.events.connected = true;
        self.remote_next = segment.seq.wrapping_add(1);
        if self.config.syn_options {
            let mss = segment.options.mss.unwrap_or(DEFAULT_MSS);
            self.smss = u64::from(self.config.segment_size.min(mss).max(1));
            self.window_shift = segment
                .options
                .window_scale
                .unwrap_or(0)
                .min(MAX_WINDOW_SHIFT);
        }
        // RFC 7323 section 2.2: the window of a SYN is never scaled.
        self.rwnd = u64::from(segment.window);
        self.max_rwnd = self.rwnd;
        self.una = 1;
        self.nxt = 1;
        self.max = 1;
        self.timer.stop();
        self.due.ack = true;
        if repeated {
            // RFC 5681 section 3.1 and RFC 6298 step 5.7.
            self.window.limit_cwnd(1.0);
            if self.config.rto.initial < RTO_AFTER_LOST_SYN {
                let mut rto = self.config.rto;
                rto.initial = RTO_AFTER_LOST_SYN;
                self.rtt = RttEstimator::new(rto);
            }
        }
        self.sample_rtt(now, 1);
    }

    /// RFC 9293 section 3.10.7.4, for a peer that sends no data.
    fn on_segment(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        if flags.contains(Flags::RST) {
            if segment.seq == self.remote_next {
                self.end_connection();
            }
            return;
        }
        if flags.contains(Flags::SYN) {
            // The peer has not got our acknowledgement of its SYN.
            self.due.ack = true;
            return;
        }
        if !flags.contains(Flags::ACK) {
            return;
        }
        let Some(ack) = self.local.offset(segment.ack, self.una) else {
            return;
        };
        if ack > self.max {
            self.due.ack = true;
            return;
        }
        if ack < self.una {
            return;
        }
        let window = u64::from(segment.window) << self.window_shift;
        let same_window = window == self.rwnd;
        if self.rwnd == 0 && window > 0 && self.flight() > 0 {
            // What was a probe until now becomes a segment like any other.
            self.restart_timer(now);
        }
        self.rwnd = window;
        self.max_rwnd = self.max_rwnd.max(window);
        if ack > self.una {
            self.on_progress(now, ack);
        } else if same_window && window > 0 && self.flight() > 0 && segment.payload.is_empty() {
            // The definition of a duplicate acknowledgement: RFC 5681 section 2. What answers the
            // probe of a closed window is none.
            self.on_duplicate(now);
        }
    }

    fn on_progress(&mut self, now: Instant, ack: u64) {
        let acked = ack - self.una;
        let flight_before = self.flight();
        let unused = self.cwnd_end().saturating_sub(self.nxt);
        let all_acknowledged_before = self.una >= self.end;
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.limited = 0;
        let rtt = self.sample_rtt(now, ack);

        self.acked_rest += acked;
        let summary = AckSummary {
            now,
            newly_acked: u32::try_from(self.acked_rest / self.smss).unwrap_or(u32::MAX),
            flight_before: self.in_segments(flight_before),
            ack_ratio: 1,
            rtt,
            application_limited: unused >= self.smss,
        };
        self.acked_rest %= self.smss;

        let progress = self.recovery.on_progress(self.una, acked, self.smss);
        match progress {
            OnProgress::Ordinary => self.window.on_ack(&summary),
            OnProgress::Partial { .. } => self.on_partial(),
            OnProgress::Full => self.on_recovered(&summary),
        }
        if self.flight() == 0 {
            // RFC 6298 step 5.2.
            self.timer.stop();
        } else if !matches!(progress, OnProgress::Partial { first: false }) {
            // RFC 6298 step 5.3; RFC 6582 section 3.2 step 3 for recovery.
            self.restart_timer(now);
        }
        if self.una >= self.end && !all_acknowledged_before {
            self.events.all_acknowledged = true;
        }
        if self.closing && self.una > self.end {
            self.events.closed = true;
            self.state = State::Ended;
        }
    }

    fn on_partial(&mut self) {
        self.due.retransmission = true;
        if self.config.recovery_exit == RecoveryExit::Deflated {
            let deficit = self.recovery.take_deficit(self.smss);
            if deficit > 0 {
                let left = self.window.cwnd() - deficit as f64 / self.smss as f64;
                self.window.limit_cwnd(left);
            }
        }
    }

    fn on_recovered(&mut self, summary: &AckSummary) {
        match self.config.recovery_exit {
            RecoveryExit::FlightSize => {
                let flight = self.flight().max(self.smss) + self.smss;
                self.window.limit_cwnd(flight as f64 / self.smss as f64);
            }
            RecoveryExit::Ssthresh => {}
            RecoveryExit::Deflated => self.window.on_ack(summary),
        }
    }

    fn on_duplicate(&mut self, now: Instant) {
        match self.recovery.on_duplicate(self.una, self.max, self.smss) {
            OnDuplicate::Wait => {}
            OnDuplicate::FastRetransmit => {
                self.counters.fast_retransmits += 1;
                self.window.on_congestion(now, self.flight_at_loss());
                self.due.retransmission = true;
                self.timed = None;
                // The segment is sent now: its RTO counts from here (RFC 6298 section 5).
                self.restart_timer(now);
            }
        }
    }

    /// Takes a sample where the timed segment has been acknowledged. Segments that were sent again
    /// are never timed (Karn's rule, RFC 6298 section 3).
    fn sample_rtt(&mut self, now: Instant, ack: u64) -> Option<Duration> {
        let (_, sent_at) = self.timed.take_if(|(end, _)| *end <= ack)?;
        let rtt = now - sent_at;
        self.rtt.on_sample(sent_at, rtt);
        Some(rtt)
    }

    fn end_connection(&mut self) {
        self.state = State::Ended;
        self.events.reset = true;
        self.timer.stop();
    }

    /// RFC 6298 steps 5.4 to 5.6, RFC 5681 section 3.1, RFC 6582 section 3.2 step 4.
    fn on_timeout(&mut self, now: Instant) {
        self.counters.timeouts += 1;
        self.window.on_timeout(now, self.flight_at_loss());
        self.recovery.on_timeout(self.max);
        self.nxt = self.una;
        self.limited = 0;
        self.timed = None;
        self.due.retransmission = false;
        self.rtt.back_off();
        self.restart_timer(now);
    }

    /// RFC 9293 section 3.8.6.1: the window has been closed, or uselessly small, for an RTO.
    fn on_persist(&mut self, now: Instant) {
        self.timed = None;
        self.due.probe = self.una < self.end || self.closing;
        self.rtt.back_off();
        self.restart_timer(now);
    }
}

/// What leaves.
impl Sender {
    #[inline(always)]
    fn next_segment(&mut self, now: Instant) -> Option<Segment> {
        if core::mem::take(&mut self.due.retransmission) && self.flight() > 0 {
            let length = self.smss.min(self.end - self.una).min(self.flight());
            return Some(self.data_segment(now, self.una, length));
        }
        if core::mem::take(&mut self.due.probe) {
            let length = self.rwnd.clamp(1, self.smss).min(self.end - self.una);
            let probe = self.data_segment(now, self.una, length);
            // A closed window drops what it is probed with: it will be sent again.
            self.nxt = self.una;
            return Some(probe);
        }
        if let Some(length) = self.sendable(now) {
            return Some(self.data_segment(now, self.nxt, length));
        }
        core::mem::take(&mut self.due.ack)
            .then(|| self.segment(self.nxt, Flags::ACK, Payload::EMPTY, TcpOptions::default()))
    }

    /// The bytes of data that the next segment may carry; zero for a FIN alone.
    #[inline(always)]
    fn sendable(&mut self, now: Instant) -> Option<u64> {
        let remaining = self.end.checked_sub(self.nxt)?;
        if remaining == 0 {
            let fits = self.nxt < self.una + self.rwnd || self.flight() == 0;
            return (self.closing && fits).then_some(0);
        }
        if self.flight() == 0 && now - self.last_sent > self.rtt.rto() {
            // RFC 5681 section 4.1. A new connection has sent its SYN at most an RTO ago.
            self.window.on_restart(now);
        }
        let mut length = remaining.min(self.smss);
        let cwnd_end = self.cwnd_end();
        let mut allowed_end = cwnd_end;
        if self.config.limited_transmit && self.nxt == self.max {
            allowed_end += u64::from(self.recovery.limited_transmit()) * self.smss;
        }
        if self.nxt + length > allowed_end {
            return None;
        }
        let room = (self.una + self.rwnd).saturating_sub(self.nxt);
        if room < length {
            // RFC 9293 section 3.8.6.2.1: part of a segment only where it is worth it.
            if room == 0 || room < self.max_rwnd / 2 {
                if self.flight() == 0 {
                    self.timer.start_if_off(now + self.rtt.rto());
                }
                return None;
            }
            length = room;
        }
        self.paced_until = self.window.earliest_departure().filter(|&at| at > now);
        if self.paced_until.is_some() {
            return None;
        }
        if self.nxt == self.max && self.nxt + length > cwnd_end {
            self.limited += length;
        }
        Some(length)
    }

    /// The segment from `start`, with the FIN where it reaches the end of a closed stream.
    #[inline(always)]
    fn data_segment(&mut self, now: Instant, start: u64, length: u64) -> Segment {
        // A FIN beyond the receiver's window would be cut off, and only a timeout would bring it
        // back: it follows on its own.
        let fits = length == 0 || start + length < self.una + self.rwnd;
        let fin = self.closing && start + length == self.end && fits;
        let stop = start + length + u64::from(fin);
        self.counters.bytes_sent += length;
        if start < self.max {
            self.counters.segments_retransmitted += 1;
            self.counters.bytes_retransmitted += length;
        } else if self.timed.is_none() {
            self.timed = Some((stop, now));
        }
        // RFC 6298 step 5.1. With nothing outstanding, a timer that runs was to probe the window.
        if self.flight() == 0 {
            self.restart_timer(now);
        } else {
            self.timer.start_if_off(now + self.rtt.rto());
        }
        self.max = self.max.max(stop);
        self.nxt = self.nxt.max(stop);
        self.last_sent = now;
        self.due.ack = false;
        self.window.on_sent(now, self.in_segments(self.flight()));
        let mut flags = Flags::ACK;
        if fin {
            flags = flags.union(Flags::FIN);
        }
        if stop >= self.end {
            flags = flags.union(Flags::PSH);
        }
        let payload = Payload::Synthetic(u32::try_from(length).unwrap_or(u32::MAX));
        self.segment(start, flags, payload, TcpOptions::default())
    }

    fn syn(&mut self, now: Instant) -> Segment {
        let repeated = self.state != State::Closed;
        self.state = State::SynSent { repeated };
        self.due.syn = false;
        self.max = 1;
        self.timed = (!repeated).then_some((1, now));
        self.last_sent = now;
        self.timer.start_if_off(now + self.rtt.rto());
        let mut options = TcpOptions::default();
        if self.config.syn_options {
            options.mss = Some(self.config.segment_size);
            options.window_scale = Some(0);
        }
        self.segment(0, Flags::SYN, Payload::EMPTY, options)
    }

    #[inline(always)]
    fn segment(&self, seq: u64, flags: Flags, payload: Payload, options: TcpOptions) -> Segment {
        let acks = flags.contains(Flags::ACK);
        Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            seq: self.local.wire(seq),
            ack: if acks { self.remote_next } else { 0 },
            flags,
            window: u16::MAX,
            options,
            payload,
        }
    }
}

impl Endpoint for Sender {
    type Packet = Segment;

    fn receive(&mut self, now: Instant, _ecn: Ecn, segment: Segment) {
        match self.state {
            State::Established => self.on_segment(now, &segment),
            State::SynSent { repeated } => self.on_syn_ack(now, &segment, repeated),
            State::Closed | State::Ended => {}
        }
    }

    #[inline(always)]
    fn transmit(&mut self, now: Instant) -> Option<Transmit<Segment>> {
        self.paced_until = None;
        let packet = match self.state {
            State::Closed | State::SynSent { .. } if self.due.syn => self.syn(now),
            State::Established => self.next_segment(now)?,
            State::Closed | State::SynSent { .. } | State::Ended => return None,
        };
        self.counters.segments_sent += 1;
        Some(Transmit {
            ecn: Ecn::NotEct,
            packet,
        })
    }

    fn deadline(&self) -> Option<Instant> {
        match (self.timer.wake(), self.paced_until) {
            (Some(timer), Some(paced)) => Some(timer.min(paced)),
            (timer, paced) => timer.or(paced),
        }
    }

    fn expire(&mut self, now: Instant) {
        if !self.timer.fired(now) {
            return;
        }
        match self.state {
            State::SynSent { .. } => {
                self.counters.timeouts += 1;
                self.rtt.back_off();
                self.timed = None;
                self.due.syn = true;
                self.state = State::SynSent { repeated: true };
            }
            State::Established if self.rwnd == 0 || self.flight() == 0 => self.on_persist(now),
            State::Established => self.on_timeout(now),
            State::Closed | State::Ended => {}
        }
    }
}
