//! The sending end: sequence numbers, windows and the retransmission timer.
//!
//! `control` is the congestion control, `receiving` handles acknowledgements and timeouts,
//! `sending` chooses the next segment, `jitter` delays it, and `validation` applies what the
//! validation of cwnd decides.

mod control;
mod jitter;
mod receiving;
mod sending;
mod validation;

use std::sync::Arc;

use rand_xoshiro::SplitMix64;
use skywave_congestion::{Control, Interests, Pacer, RttEstimator};
use skywave_units::rand_core::{Rng, SeedableRng};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::tcp::Segment;

pub use self::control::SenderControl;
use self::jitter::SendJitter;
use super::algorithm::AnyLossRecovery;
use super::ecn::SenderEcn;
use super::limited::LimitedTime;
use super::sent_log::Keeps;
use super::sequence::{Position, SequenceSpace};
use super::timer::Timer;
use super::timestamps::Stamps;
use super::window_validation::WindowValidation;
use super::{Ports, RecoveryAlgorithm, ReducedWindow, SenderConfig};
use crate::end::earlier;
use crate::{End, Transmit};

/// The end of an endless stream: more than any run can send.
const UNLIMITED: u64 = 1 << 62;

/// The sending end of a TCP connection.
///
/// The application writes a number of bytes ([`Sender::write`]) or an endless stream
/// ([`Sender::write_unlimited`]); the contents are synthetic. Outstanding segments are recreated
/// from sequence numbers, so none are stored, unless the control or the recovery needs each
/// segment's sending time.
#[derive(Debug)]
pub struct Sender {
    config: Arc<SenderConfig>,
    ports: Ports,
    control: SenderControl,
    pacer: Pacer,
    rtt: RttEstimator,
    loss: AnyLossRecovery,
    ecn: SenderEcn,
    /// The ECN bits of the next segment.
    code: Ecn,
    /// The ECN bits last reported by a header extension.
    echo: Ecn,
    /// Timer for retransmission, or for probing a closed window.
    timer: Timer,
    state: State,
    local: SequenceSpace,
    /// The peer's next sequence number: the one after its SYN.
    remote_next: u32,
    /// SMSS: bytes of data in a full segment.
    smss: u64,
    /// The first unacknowledged byte (SND.UNA).
    una: u64,
    /// The next byte to send (SND.NXT); goes back to `una` after a timeout.
    nxt: u64,
    /// The byte after the last one ever sent.
    max: u64,
    /// The byte after the last one written, which is the FIN's offset.
    end: u64,
    /// The receiver's window (SND.WND), in bytes.
    rwnd: u32,
    /// The largest value of `rwnd` so far.
    max_rwnd: u32,
    /// Whether cwnd or the application, not `rwnd`, decided on the next segment.
    fits_window: bool,
    /// The window scale shift of the receiver's windows.
    window_shift: u8,
    /// The window that this end announces, as encoded in the header.
    window_field: u16,
    /// Acknowledged bytes that do not add up to a full segment yet.
    acked_rest: u32,
    /// Whether the control asks for every acknowledgement.
    every_ack: bool,
    /// Whether it asks for every round-trip time.
    every_rtt: bool,
    /// maxFS: the largest FlightSize since the last reduction of cwnd, in segments.
    max_flight: u32,
    /// Outstanding bytes sent only by limited transmit.
    limited: u32,
    /// Segments released by the last acknowledgement of a recovery.
    released: u16,
    /// The timed segment: the byte after it, and when it was sent.
    timed: Option<(u64, Instant)>,
    last_sent: Instant,
    /// The time until which new data is held back, after a mark arrived with a window of one
    /// segment.
    marked_until: Instant,
    /// When `marked_until` or pacing permits the next segment, if one could otherwise leave now.
    held_until: Option<Instant>,
    /// Delays of data that the window permits, if configured.
    jitter: Option<Box<SendJitter>>,
    /// Validation of cwnd, if configured.
    validation: Option<Box<WindowValidation>>,
    /// Timestamps, unless the peer refuses them.
    stamps: Option<Box<Stamps>>,
    due: Due,
    /// Whether the application has closed: a FIN follows the last byte.
    closing: bool,
    events: Events,
    counters: Counters,
}

/// Returns the records that the log must keep for a recovery and a control.
fn keeps(recovery: RecoveryAlgorithm, interests: Interests) -> Keeps {
    let keeps = recovery.keeps();
    Keeps {
        times: keeps.times || interests.packets || interests.delivery_rate,
        rates: interests.delivery_rate,
        ..keeps
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing has been sent.
    Closed,
    SynSent,
    /// The SYN was sent more than once.
    SynRepeated,
    Established,
    /// The peer reset the connection, or our FIN was acknowledged.
    Ended,
}

/// The segments to send regardless of the windows.
#[derive(Clone, Copy, Debug, Default)]
struct Due {
    syn: bool,
    /// The first unacknowledged segment.
    retransmission: bool,
    /// A byte or more into a window that is closed or too small; also a segment that ns-2's Vegas
    /// sends early.
    probe: bool,
    /// A tail loss probe (RFC 8985 section 7).
    tail_loss_probe: bool,
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

/// A change that the application may want to know about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// Everything written so far has been acknowledged, such as a complete file.
    AllAcknowledged,
    /// The FIN has been acknowledged too.
    Closed,
    /// The peer reset the connection; nothing more will be sent.
    Reset,
}

/// The error of a write after [`Sender::close`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closing and accepts no more data; write before `close`")]
pub struct WriteAfterClose;

#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    segments_sent: u64,
    bytes_sent: u64,
    segments_retransmitted: u64,
    bytes_retransmitted: u64,
    timeouts: u32,
    fast_retransmits: u32,
    receive_window_limited: LimitedTime,
}

/// Counters and state of a [`Sender`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SenderStats {
    /// Segments sent, including those without data.
    pub segments_sent: u64,
    /// Bytes of data sent, including retransmissions.
    pub bytes_sent: u64,
    /// Segments with data or a FIN that were retransmitted.
    pub segments_retransmitted: u64,
    /// Bytes of data in them.
    pub bytes_retransmitted: u64,
    /// Bytes of data acknowledged.
    pub bytes_acked: u64,
    /// Expirations of the retransmission timer, including for the SYN.
    pub timeouts: u32,
    /// Fast recoveries: started by duplicate acknowledgements or by SACKs, not by a timeout.
    pub fast_retransmits: u32,
    /// How long new data waited only because it did not fit the receiver's window, until the last
    /// event (as Linux's `tcpi_rwnd_limited`). Recoveries with SACK do not count.
    pub receive_window_limited: Duration,
    /// cwnd in segments, without the temporary inflation of a recovery.
    pub cwnd: f64,
    /// ssthresh in segments; infinite if unset.
    pub ssthresh: f64,
    /// FlightSize: bytes sent and not yet acknowledged.
    pub flight: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Retransmission timeout, back-off included.
    pub rto: Duration,
}

impl Sender {
    /// Creates an endpoint with nothing to send yet. Its initial sequence number, the offset of its
    /// timestamp clock and its jitter are drawn from `seed`. Endpoints can share a configuration.
    pub fn new(
        config: impl Into<Arc<SenderConfig>>,
        control: impl Into<SenderControl>,
        ports: Ports,
        seed: u64,
    ) -> Self {
        let (config, control) = (config.into(), control.into());
        let mut rng = SplitMix64::seed_from_u64(seed);
        let interests = control.interests();
        let keeps = keeps(config.recovery, interests);
        let loss = (config.recovery).build(keeps, config.recovery_options(interests.every_ack));
        let local = SequenceSpace::new(rng.next_u32());
        let has_stamps = config.timestamps && config.syn_options;
        let stamps = has_stamps.then(|| Box::new(Stamps::new(rng.next_u32())));
        let jitter = (!config.send_jitter.is_zero())
            .then(|| Box::new(SendJitter::new(config.send_jitter, rng)));
        let validation = config
            .cwnd_validation
            .then(|| Box::new(WindowValidation::new(control.cwnd())));
        Self {
            ports,
            control,
            pacer: Pacer::default(),
            rtt: RttEstimator::new(config.rto),
            loss,
            ecn: SenderEcn::new(config.ecn),
            code: Ecn::NotEct,
            echo: Ecn::NotEct,
            timer: Timer::default(),
            state: State::Closed,
            local,
            remote_next: 0,
            smss: u64::from(config.segment_size.max(1)),
            una: 0,
            nxt: 0,
            max: 0,
            end: 1,
            rwnd: 0,
            max_rwnd: 0,
            fits_window: true,
            window_shift: 0,
            // RFC 7323 section 2.2: the window of a SYN is never scaled.
            window_field: config.window.field(0),
            acked_rest: 0,
            every_ack: interests.every_ack,
            every_rtt: interests.every_rtt,
            max_flight: 0,
            limited: 0,
            released: 0,
            timed: None,
            last_sent: Instant::ZERO,
            marked_until: Instant::ZERO,
            held_until: None,
            jitter,
            validation,
            stamps,
            due: Due::default(),
            closing: false,
            events: Events::default(),
            counters: Counters::default(),
            config,
        }
    }

    /// Starts the handshake. Writing does so too.
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
        self.note_application_limit();
        self.end = self.end.saturating_add(bytes).min(UNLIMITED);
        Ok(())
    }

    /// Makes the stream endless: there is always something to send (ns-2's FTP).
    pub fn write_unlimited(&mut self) -> Result<(), WriteAfterClose> {
        self.write(UNLIMITED)
    }

    /// Ends the stream with a FIN after the data. An endless stream ends after the data already
    /// sent.
    pub fn close(&mut self) {
        self.connect();
        self.closing = true;
        if self.end == UNLIMITED {
            self.end = self.max.max(1);
        }
    }

    /// Returns the next event, if any.
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

    /// Returns whether the connection is over: the FIN was acknowledged, or the peer reset it.
    pub fn is_over(&self) -> bool {
        self.state == State::Ended
    }

    /// Returns whether everything written has been acknowledged.
    pub const fn is_idle(&self) -> bool {
        self.una >= self.end
    }

    /// Returns the bytes of data in a full segment (SMSS), as agreed in the handshake.
    pub const fn segment_size(&self) -> u64 {
        self.smss
    }

    /// Returns counters and the state of congestion control.
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
            receive_window_limited: counters.receive_window_limited.total(),
            cwnd: self.control.cwnd(),
            ssthresh: self.control.ssthresh(),
            flight: self.flight(),
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
        }
    }

    /// Returns the congestion control.
    pub const fn control(&self) -> &SenderControl {
        &self.control
    }

    /// Returns the bytes of heap memory in use, without the configuration and the control: zero for
    /// most algorithms without timestamps.
    pub fn heap_size(&self) -> usize {
        let jitter = self.jitter.as_deref().map_or(0, size_of_val);
        let validation = self.validation.as_deref().map_or(0, size_of_val);
        let stamps = self.stamps.as_deref().map_or(0, size_of_val);
        self.loss.heap_size() + self.ecn.heap_size() + jitter + validation + stamps
    }

    const fn position(&self) -> Position {
        Position {
            una: self.una,
            max: self.max,
            smss: self.smss,
        }
    }

    /// Returns the byte after the last one that the receiver's window permits.
    #[inline(always)]
    fn window_end(&self) -> u64 {
        self.una + u64::from(self.rwnd)
    }

    /// Returns FlightSize, in bytes.
    const fn flight(&self) -> u64 {
        self.max - self.una
    }

    fn in_segments(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(self.smss)).unwrap_or(u32::MAX)
    }

    /// Returns FlightSize in segments when a loss is detected, or the receiver's window if so
    /// configured. Segments sent by limited transmit do not count (RFC 5681 section 3.2, step 2).
    fn flight_at_loss(&self) -> u32 {
        self.in_segments(match self.config.reduced {
            ReducedWindow::Flight => self.flight() - u64::from(self.limited),
            ReducedWindow::Receiver => u64::from(self.rwnd),
        })
    }

    /// Returns cwnd in bytes.
    #[inline(always)]
    fn cwnd(&self) -> i64 {
        (self.control.cwnd() * self.smss as i64 as f64) as i64
    }

    /// Returns the byte up to which cwnd, as inflated or deflated by a recovery, permits sending.
    #[inline(always)]
    fn cwnd_end(&self) -> u64 {
        let usable = self.cwnd().saturating_add(self.loss.inflation(self.nxt));
        self.una.saturating_add(u64::try_from(usable).unwrap_or(0))
    }

    fn restart_timer(&mut self, now: Instant) {
        self.timer.restart(now + self.rtt.rto());
    }
}

impl End for Sender {
    type Packet = Segment;

    // Inlined, so that a driver that knows a segment has no options does not pay for them.
    #[inline(always)]
    fn receive(&mut self, now: Instant, ecn: Ecn, segment: Segment) {
        match self.state {
            State::Established => self.on_segment(now, ecn, segment),
            State::SynSent | State::SynRepeated => self.on_syn_ack(now, ecn, segment),
            State::Closed | State::Ended => {}
        }
    }

    #[inline(always)]
    fn transmit(&mut self, now: Instant) -> Option<Transmit<Segment>> {
        self.held_until = None;
        let packet = if self.state == State::Established {
            self.next_segment(now)?
        } else if self.due.syn && self.state != State::Ended {
            self.syn(now)
        } else {
            return None;
        };
        self.counters.segments_sent += 1;
        Some(Transmit {
            ecn: core::mem::take(&mut self.code),
            packet,
        })
    }

    fn deadline(&self) -> Option<Instant> {
        let is_open = self.state == State::Established;
        let jitter = self.jitter.as_ref().filter(|_| is_open);
        let jitter = jitter.and_then(|jitter| jitter.wake());
        let loss = self.loss.deadline().filter(|_| is_open);
        let own = earlier(self.timer.wake(), self.held_until);
        earlier(own, earlier(jitter, loss))
    }

    fn expire(&mut self, now: Instant) {
        if self.loss.deadline().is_some_and(|at| at <= now) {
            self.note_application_limit();
            self.on_loss_deadline(now);
        }
        if !self.timer.fired(now) {
            return;
        }
        self.note_application_limit();
        match self.state {
            State::SynSent | State::SynRepeated => {
                self.counters.timeouts += 1;
                self.rtt.back_off();
                self.timed = None;
                self.due.syn = true;
                self.state = State::SynRepeated;
            }
            State::Established if self.rwnd == 0 || self.flight() == 0 => self.on_persist(now),
            State::Established => self.on_timeout(now),
            State::Closed | State::Ended => {}
        }
    }
}

#[cfg(test)]
mod tests;
