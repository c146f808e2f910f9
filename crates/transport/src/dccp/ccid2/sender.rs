//! The data-sending half of CCID 2.

mod on_ack;

use skywave_congestion::{
    Aimd, AnyControl, Control, DeliverySampler, MemberFailure, Pacer, Pacing, RttEstimator, Sent,
};
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::SeqNo;

use super::ack_ratio::AckRatio;
use super::{AckOfAckRule, Config, IdleRule, Reductions, RttSampling};
use crate::dccp::ackvec::VectorKind;
use crate::dccp::ccid::{HcSender, Permit, ReceivedPacket, ReceivedTrain, SentPacket, SentTrain};
use crate::dccp::detection::{Scoreboard, Suspects};
use crate::dccp::timing::DEFAULT_RTT;
use crate::dccp::{Congestion, WindowStats};

/// The longest default delay of an acknowledgement by the peer (RFC 4340 section 11.3).
const PEER_DELAY: Duration = Duration::from_millis(200);

/// A snapshot of a [`Sender`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stats {
    /// Congestion window, in packets.
    pub(crate) cwnd: f64,
    /// Slow-start threshold, in packets.
    pub(crate) ssthresh: f64,
    /// Data packets outstanding.
    pub(crate) pipe: u32,
    /// Smoothed round-trip time.
    pub(crate) srtt: Option<Duration>,
    /// Transmit timeout, with back-off.
    pub(crate) rto: Duration,
    /// The Ack Ratio that suits the reverse path.
    pub(crate) ack_ratio: u16,
    /// Event counts so far.
    pub(crate) counts: Counts,
}

/// Event counts of a [`Sender`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Data packets acknowledged.
    pub(crate) acked: u64,
    /// Data packets inferred lost, not counting timeouts.
    pub(crate) lost: u64,
    /// Data packets reported marked.
    pub(crate) marked: u64,
    /// Data packets that the peer received and dropped.
    pub(crate) dropped_by_peer: u64,
    /// Reductions of cwnd for loss or marks.
    pub(crate) reductions: u64,
    /// Transmit timeouts.
    pub(crate) timeouts: u64,
    /// Acknowledgements with a wrong ECN Nonce Echo.
    pub(crate) bad_nonces: u64,
}

/// State that only some controls and paths need; kept apart so that an idle connection stays small.
#[derive(Debug, Default)]
struct Occasional {
    /// Used if the control paces.
    pacer: Pacer,
    /// Used if the control asks for delivery-rate samples.
    rate: Option<DeliverySampler>,
    /// Whether the send queue was empty after the last packet.
    nothing_waits: bool,
    /// Packets inferred lost at the last congestion event.
    suspects: Option<Suspects>,
    /// cwnd must not grow until this time, because the peer reported Slow Receiver.
    growth_held_until: Option<Instant>,
}

/// CCID 2's sender (RFC 4341 section 5): pipe against cwnd, one reduction per congestion event, the
/// transmit timeout, and the Ack Ratio.
#[derive(Debug)]
pub struct Sender {
    control: AnyControl,
    /// State that only some controls and paths need.
    occasional: Option<Box<Occasional>>,
    board: Scoreboard,
    rtt: RttEstimator,
    ack_ratio: AckRatio,

    sampling: RttSampling,
    /// Whether the control learns the round-trip time of every acknowledgement, even of those that the
    /// timeout does not sample.
    reports_every_rtt: bool,
    idle: IdleRule,
    awaits_delayed_acks: bool,
    ack_of_ack: AckOfAckRule,
    verify_nonce: bool,
    /// Whether packets are spread over the round trip while the control names no pacing.
    paces_window: bool,
    /// Whether each lost packet reduces cwnd, instead of each window with losses.
    reduces_per_packet: bool,

    /// The transmit timeout; armed while data is outstanding.
    timeout: Option<Instant>,
    /// The Ack Ratio the peer uses, as far as is known.
    ack_ratio_in_force: u16,
    /// Losses and marks of packets before this one belong to a congestion event already answered.
    event_start: SeqNo,
    /// Only packets from this one on give a round-trip time sample.
    sample_start: SeqNo,
    /// The newest packet that filled cwnd, or the one before the first packet. Later packets were
    /// application-limited.
    last_full: SeqNo,
    /// When data last left or was outstanding.
    last_active: Option<Instant>,
    /// Whether the peer has stopped reading (Drop Code 1).
    peer_stopped_listening: bool,

    /// Data packets sent since we last acknowledged anything.
    data_since_ack: u32,
    /// Whether the peer has acknowledged anything since we last did.
    has_unacked_ack: bool,
    /// Whether cwnd has changed since we last acknowledged anything
    /// ([`AckOfAckRule::OnWindowChange`]).
    window_changed: bool,
    /// When the peer last sent data; initially, when its first packet arrived.
    peer_data_at: Option<Instant>,

    counts: Counts,
}

impl Sender {
    /// Creates a sender with the window that `config` describes, for packets of up to `packet_size`
    /// bytes and an initial Ack Ratio of `ack_ratio`.
    pub(crate) fn new(config: &Config, packet_size: u32, ack_ratio: u16) -> Self {
        let control = Aimd::new(config.window(packet_size)).into();
        Self::with_control(config, control, ack_ratio, VectorKind::Ack)
    }

    /// Creates a sender with any congestion control, for a peer that sends vectors of `kind`. The
    /// window parameters of `config` are ignored.
    pub fn with_control(
        config: &Config,
        control: AnyControl,
        ack_ratio: u16,
        kind: VectorKind,
    ) -> Self {
        let samples_rate = control.interests().delivery_rate;
        Self {
            control,
            occasional: samples_rate.then(|| {
                Box::new(Occasional {
                    rate: Some(DeliverySampler::with_number_bits(SeqNo::MODULUS.ilog2())),
                    ..Occasional::default()
                })
            }),
            board: Scoreboard::new(kind),
            rtt: RttEstimator::new(config.rto),
            ack_ratio: AckRatio::new(config.ack_ratio, ack_ratio),
            sampling: config.rtt_sampling,
            reports_every_rtt: false,
            idle: config.idle,
            awaits_delayed_acks: config.awaits_delayed_acks,
            ack_of_ack: config.ack_of_ack,
            verify_nonce: config.verify_nonce,
            paces_window: false,
            reduces_per_packet: config.reductions == Reductions::PerPacket,
            timeout: None,
            ack_ratio_in_force: ack_ratio,
            event_start: SeqNo::ZERO,
            sample_start: SeqNo::ZERO,
            last_full: SeqNo::ZERO,
            last_active: None,
            peer_stopped_listening: false,
            data_since_ack: 0,
            has_unacked_ack: false,
            window_changed: false,
            peer_data_at: None,
            counts: Counts::default(),
        }
    }

    /// Sets whether the control learns the round-trip time of every acknowledgement, not only of those
    /// that the timeout samples. A sample per window may always be of the first packet of a burst, and so hide
    /// the queue that the burst builds.
    #[must_use]
    pub(crate) const fn with_every_rtt(mut self, every_rtt: bool) -> Self {
        self.reports_every_rtt = every_rtt;
        self
    }

    /// Sets whether packets are spread over the round trip while the control names no pacing.
    #[must_use]
    pub const fn with_pacing(mut self, paces_window: bool) -> Self {
        self.paces_window = paces_window;
        self
    }

    /// Returns a snapshot.
    pub(crate) fn stats(&self) -> Stats {
        Stats {
            cwnd: self.control.cwnd(),
            ssthresh: self.control.ssthresh(),
            pipe: self.board.pipe(),
            srtt: self.rtt.srtt(),
            rto: self.rtt.rto(),
            ack_ratio: self.ack_ratio.get(),
            counts: self.counts,
        }
    }

    /// Returns whether pipe has reached cwnd.
    fn is_full(&self) -> bool {
        f64::from(self.board.pipe()) + 1.0 > self.control.cwnd()
    }

    fn occasional(&mut self) -> &mut Occasional {
        self.occasional.get_or_insert_default()
    }

    /// Returns the earliest time at which pacing permits the next packet; `None` for now.
    fn earliest_departure(&self) -> Option<Instant> {
        self.occasional.as_ref()?.pacer.earliest_departure()
    }

    /// Initialises the sequence numbers that later packets are compared with.
    fn start(&mut self, first: SeqNo) {
        self.event_start = first;
        self.sample_start = first;
        self.last_full = first.previous();
        self.ack_ratio.start(first);
    }

    fn on_data_sent(&mut self, now: Instant, packet: &SentPacket) {
        let pipe = self.board.pipe();
        let is_first_out = pipe == 1;
        let idle = self.last_active.map_or(Duration::ZERO, |last| now - last);
        if is_first_out && self.idle == IdleRule::Restart && idle > self.rtt.rto() {
            self.control.on_restart(now);
        }
        self.last_active = Some(now);
        let is_full = self.is_full();
        self.tell_sent(now, packet, pipe, packet.is_last && !is_full);
        if is_full {
            self.last_full = packet.seq;
        }
        // A packet that makes an acknowledgement due ends the allowance for a delayed one.
        let due = now + self.patience();
        self.timeout = Some(self.timeout.map_or(due, |timeout| timeout.min(due)));
    }

    #[inline(always)]
    fn tell_sent(
        &mut self,
        now: Instant,
        packet: &SentPacket,
        in_flight: u32,
        application_limited: bool,
    ) {
        let mut sent = Sent::new(
            now,
            packet.seq.get(),
            packet.data.unwrap_or_default(),
            in_flight,
        );
        sent.application_limited = application_limited;
        self.control.on_sent(&sent);
        let pacing = self
            .control
            .pacing()
            .or_else(|| self.pacing_of_window(sent.bytes));
        if pacing.is_none() && self.occasional.is_none() {
            return;
        }
        let occasional = self.occasional();
        occasional.pacer.on_sent(now, sent.bytes, pacing);
        if let Some(rate) = &mut occasional.rate {
            rate.on_sent(now, sent.number, sent.bytes);
            if application_limited {
                rate.mark_application_limited();
            }
            occasional.nothing_waits = packet.is_last;
        }
    }

    /// Returns the pacing of a window whose control names none. It counts packets of
    /// any size, as cwnd does.
    #[inline(always)]
    fn pacing_of_window(&self, bytes: u32) -> Option<Pacing> {
        if !self.paces_window {
            return None;
        }
        let srtt = self.rtt.srtt()?;
        Some(Pacing::of_window(self.control.cwnd(), bytes, srtt))
    }

    /// Returns how long outstanding data may stay unacknowledged before the timeout (RFC 4341
    /// section 5).
    ///
    /// The peer delays the acknowledgement of fewer packets than the Ack Ratio. TCP's samples
    /// include that delay, so its RTO allows for it; our samples exclude it thanks to Elapsed Time,
    /// so it is added here.
    fn patience(&self) -> Duration {
        let rto = self.rtt.rto();
        let ratio = self.ack_ratio.get().max(self.ack_ratio_in_force);
        let may_be_delayed = self.awaits_delayed_acks && self.board.pipe() < ratio.into();
        if !may_be_delayed {
            return rto;
        }
        match (self.rtt.srtt(), self.rtt.rttvar()) {
            (Some(srtt), Some(rttvar)) => rto.max(srtt + rttvar * 4 + PEER_DELAY),
            _ => rto,
        }
    }

    fn rtt_or_default(&self) -> Duration {
        self.rtt.srtt().unwrap_or(DEFAULT_RTT)
    }

    /// Returns whether the peer has sent no data for long enough to count as quiescent (RFC 4341
    /// section 6.2.1).
    fn peer_is_quiescent(&self, now: Instant) -> bool {
        let period = DEFAULT_RTT.max(self.rtt_or_default() * 2);
        self.peer_data_at.is_some_and(|last| now - last >= period)
    }
}

impl HcSender for Sender {
    fn may_send(&self, now: Instant, _bytes: u32) -> Permit {
        if self.peer_stopped_listening || self.is_full() {
            return Permit::Blocked;
        }
        match self.earliest_departure() {
            Some(at) if at > now => Permit::At(at),
            _ => Permit::Now,
        }
    }

    /// Returns what cwnd, the pacing quantum and the next acknowledgement of acknowledgements leave
    /// room for.
    fn may_send_together(&self, now: Instant, bytes: u32) -> u64 {
        if self.peer_stopped_listening || self.ack_of_ack_due() {
            return 0;
        }
        let cwnd = self.control.cwnd();
        let mut room = (cwnd - f64::from(self.board.pipe())) as u64;
        let pacer = self.occasional.as_ref().map(|it| &it.pacer);
        if let Some(burst) = pacer.and_then(|it| it.burst(now, bytes)) {
            room = room.min(burst.into());
        }
        match self.ack_of_ack {
            AckOfAckRule::OncePerWindow if self.has_unacked_ack => {
                room.min((cwnd - f64::from(self.data_since_ack)).ceil() as u64)
            }
            AckOfAckRule::OncePerWindow | AckOfAckRule::OnWindowChange => room,
        }
    }

    fn on_sent(&mut self, now: Instant, packet: &SentPacket) {
        if self.last_active.is_none() {
            self.start(packet.seq);
        }
        self.board.on_sent(now, packet);
        if packet.data.is_some() {
            self.data_since_ack = self.data_since_ack.saturating_add(1);
            self.on_data_sent(now, packet);
        }
        if packet.ack.is_some() {
            self.data_since_ack = 0;
            self.has_unacked_ack = false;
            self.window_changed = false;
        }
    }

    fn on_train_sent(&mut self, now: Instant, train: &SentTrain) {
        let Some(last) = train.last() else { return };
        // Only counts differ between packets, so the state after the last one is the state after
        // all.
        let before = u32::try_from(train.count - 1).unwrap_or(u32::MAX);
        for (pipe, index) in (self.board.pipe() + 1..=self.board.pipe() + before).zip(0..) {
            self.tell_sent(now, &train.packet(index), pipe, false);
        }
        self.board.on_data_following(now, train.ecn, before);
        self.data_since_ack = self.data_since_ack.saturating_add(before);
        self.on_sent(now, &last);
    }

    /// Lowers cwnd so that it allows as many bytes as before: it counts packets.
    fn on_larger_packets(&mut self, before: u32, after: u32) {
        let ratio = f64::from(before) / f64::from(after.max(before));
        self.control.limit_cwnd(self.control.cwnd() * ratio);
    }

    fn on_received(&mut self, now: Instant, packet: &ReceivedPacket<'_>) {
        self.ack_ratio.observe(packet);
        if packet.data.is_some() || self.peer_data_at.is_none() {
            self.peer_data_at = Some(now);
        }
        if let Some(ack) = packet.ack {
            self.on_ack(now, ack, packet);
        }
    }

    fn on_false_ack(&mut self, now: Instant) {
        self.reduce_as_if_marked(now);
    }

    fn on_train_received(&mut self, now: Instant, train: &ReceivedTrain) {
        self.ack_ratio.observe_train(train);
        self.peer_data_at = Some(now);
    }

    fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    fn ack_ratio(&self) -> Option<u16> {
        Some(self.ack_ratio.get())
    }

    /// Returns five times cwnd (RFC 4340 section 7.5.2), but at least the feature's initial 100.
    fn sequence_window(&self) -> Option<u64> {
        Some((self.control.cwnd() as u64).saturating_mul(5).max(100))
    }

    fn ack_of_ack_due(&self) -> bool {
        self.has_unacked_ack
            && match self.ack_of_ack {
                AckOfAckRule::OncePerWindow => {
                    f64::from(self.data_since_ack) >= self.control.cwnd()
                }
                AckOfAckRule::OnWindowChange => self.window_changed,
            }
    }

    fn on_ack_ratio(&mut self, ratio: u16) {
        self.ack_ratio_in_force = ratio;
    }

    fn congestion(&self) -> Congestion {
        let stats = self.stats();
        Congestion::Window(WindowStats {
            cwnd: stats.cwnd,
            ssthresh: stats.ssthresh,
            pipe: stats.pipe,
            acked: stats.counts.acked,
            lost: stats.counts.lost,
            marked: stats.counts.marked,
            dropped_by_peer: stats.counts.dropped_by_peer,
        })
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        self.control.inner_values(record);
    }

    #[inline(always)]
    fn failure(&self) -> Option<MemberFailure> {
        self.control.failure()
    }

    fn timeouts(&self) -> u64 {
        self.counts.timeouts
    }

    fn peer_stopped_listening(&self) -> bool {
        self.peer_stopped_listening
    }

    fn deadline(&self) -> Option<Instant> {
        self.timeout
    }

    fn expire(&mut self, now: Instant) {
        if self.timeout.is_none_or(|at| at > now) {
            return;
        }
        self.timeout = None;
        self.counts.timeouts += 1;
        self.control.on_timeout(now, self.board.pipe());
        self.rtt.back_off();
        self.board.on_timeout();
        if let Some(occasional) = &mut self.occasional {
            occasional.suspects = None;
            if let Some(rate) = &mut occasional.rate {
                rate.on_timeout();
                // Acknowledgements do this too, but none may arrive for a long time.
                rate.forget_before(self.board.first().get());
            }
        }
        let next = self.board.next();
        self.event_start = next;
        self.ack_ratio.on_timeout(self.control.cwnd(), next);
    }
}

#[cfg(test)]
mod tests;
