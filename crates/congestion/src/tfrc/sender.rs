//! The sender's allowed rate (RFC 5348 and RFC 3448, sections 4.2 to 4.5).

use skywave_units::{Duration, Instant, Rate};

use super::data_limited::DataLimited;
use super::pacing::{Pace, Pacing};
use super::quick_start::{HEADERS, QuickStart};
use super::receive_set::ReceiveSet;
use super::segment_size::SegmentSizes;
use super::{Config, InitialWindow, SenderRules, Smoothing, T_MBI, equation};

/// The nofeedback timer before the first report, until it first expires (section 4.2).
const FIRST_TIMEOUT: Duration = Duration::from_secs(2);

/// How many initial windows may leave before the first report or the first expiration of the
/// nofeedback timer: as many as section 4.4 permits per expiration later, when the timer is 4 R.
const UNREPORTED_WINDOWS: f64 = 4.0;

/// Shorter round-trip times are rounded up to this, because rates are divided by them.
const MIN_RTT: Duration = Duration::from_micros(10);

/// Longer round-trip times are clamped to this: 2 MSL (RFC 4340 section 3.4), which no packet
/// outlives. Only a peer that acknowledges long-gone packets produces them, and the nofeedback
/// timer waits for four of them.
const MAX_RTT: Duration = Duration::from_secs(240);

/// RFC 3448 section 4.4: "X_recv is less than four packets per round-trip time".
const RFC3448_IDLE_PACKETS: f64 = 4.0;

/// A report, as seen by the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// When the newest packet known to the receiver was sent.
    pub sent_at: Instant,
    /// t_delay: how long the receiver held it before reporting.
    pub delay: Duration,
    /// X_recv in bytes per second.
    pub receive_rate: f64,
    /// p; zero before the first loss event.
    pub loss_event_rate: f64,
    /// Whether it is the first report of a loss event. A rising p implies one too.
    pub loss_event: bool,
    /// Whether `receive_rate` was lowered because the receiver cannot keep up. It then replaces all
    /// earlier rates.
    pub receiver_limited: bool,
}

/// The state of a [`Sender`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// X_inst, the instantaneous sending rate; equals X without `oscillation_prevention`.
    pub rate: Rate,
    /// X: the allowed rate.
    pub allowed_rate: Rate,
    /// X_recv, the latest reported receive rate.
    pub receive_rate: Rate,
    /// p.
    pub loss_event_rate: f64,
    /// R.
    pub rtt: Option<Duration>,
    /// Reports processed.
    pub reports: u64,
    /// Reports of a new loss event.
    pub loss_events: u64,
    /// Expirations of the nofeedback timer that lowered the rate.
    pub timeouts: u64,
}

/// A TFRC sender: decides when packets may leave.
///
/// A receiver that reports nothing gets at most four initial windows of RFC 5348 section 4.2, the
/// sender's first flight, in the first 2 s. Then the nofeedback timer halves the rate, and expires
/// again after max(4 R, 2 s / X) (section 4.4): a further 4 to 5 windows follow within a few
/// round-trip times, and then two packets per expiration, at intervals that double to 128 s. RFC
/// 5348 has no bound on the first flight: its initial rate W_init / R would last for 2 s, however
/// short R is. An honest receiver reports the first packet at once (section 6.2), and meets the
/// bound only if all its reports of four round-trip times are lost or late. Without a round-trip
/// time from the handshake, X is one packet per second and no bound is needed. A rate approved by
/// Quick-Start ends by its own rules.
#[derive(Clone, Debug)]
pub struct Sender {
    config: Config,
    sizes: SegmentSizes,
    pacing: Pacing,
    limited: DataLimited,
    /// X, in bytes per second; `None` while it is the initial rate.
    x: Option<f64>,
    /// X_inst / X (section 4.5).
    slowdown: f64,
    /// R, and the average of the samples' square roots, in seconds.
    rtt: Option<f64>,
    sqrt_rtt: Option<f64>,
    /// The shortest time from any packet to its acknowledgement, the receiver's delay included.
    least_rtt: Option<Duration>,
    /// X_recv_set; `None` before the first data packet.
    receive_set: Option<ReceiveSet>,
    /// As reported.
    receive_rate: f64,
    p: f64,
    reported_at: Option<Instant>,
    /// tld.
    doubled_at: Option<Instant>,
    /// Present while X is an approved rate.
    quick_start: Option<QuickStart>,
    /// Whether to request a rate with the next data packet.
    asks: bool,
    /// `loss_events` when a rate was last requested.
    loss_events_then: u64,
    /// The nofeedback timer.
    timer: Option<Instant>,
    /// Whether data has left since the timer was set.
    sent_since_timer: bool,
    reports: u64,
    loss_events: u64,
    timeouts: u64,
}

impl Sender {
    /// Creates a sender that has sent nothing yet.
    pub const fn new(config: Config) -> Self {
        Self {
            sizes: SegmentSizes::new(config.segment_size),
            asks: config.quick_start.is_some(),
            config,
            pacing: Pacing::new(),
            limited: DataLimited::new(),
            x: None,
            slowdown: 1.0,
            rtt: None,
            sqrt_rtt: None,
            least_rtt: None,
            receive_set: None,
            receive_rate: 0.0,
            p: 0.0,
            reported_at: None,
            doubled_at: None,
            quick_start: None,
            loss_events_then: 0,
            timer: None,
            sent_since_timer: false,
            reports: 0,
            loss_events: 0,
            timeouts: 0,
        }
    }

    /// Returns the current state.
    pub fn stats(&self) -> Stats {
        Stats {
            rate: rate(self.x_inst()),
            allowed_rate: rate(self.x()),
            receive_rate: rate(self.receive_rate),
            loss_event_rate: self.p,
            rtt: self.rtt(),
            reports: self.reports,
            loss_events: self.loss_events,
            timeouts: self.timeouts,
        }
    }

    /// Returns R, or `None` before the first sample.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt.map(Duration::from_secs_f64)
    }

    /// Returns the number of data packets per round-trip time at the allowed rate.
    pub fn packets_per_rtt(&self) -> f64 {
        self.x_inst() * self.rtt.unwrap_or(0.0) / self.sizes.mean()
    }

    /// Returns the packet size s, in bytes.
    pub fn segment_size(&self) -> f64 {
        self.sizes.mean()
    }

    /// Reports the round-trip time measured in the handshake, which ends the initial rate of one
    /// packet per second (section 4.2).
    pub fn on_handshake_rtt(&mut self, rtt: Duration) {
        self.note_least_rtt(rtt);
        if self.config.uses_handshake_rtt && self.reports == 0 {
            self.rtt = Some(rtt.clamp(MIN_RTT, MAX_RTT).as_secs_f64());
        }
    }

    /// Returns when the next data packet may leave; `now` or earlier means now.
    pub fn earliest_departure(&self, now: Instant) -> Instant {
        let paced = self.pacing.next(now, self.pace());
        match self.timer {
            Some(expires) if self.has_sent_first_flight() => paced.max(expires),
            _ => paced,
        }
    }

    /// Returns whether nothing more may leave before the first report or the first expiration of
    /// the nofeedback timer.
    fn has_sent_first_flight(&self) -> bool {
        self.awaits_first_report()
            && self.quick_start.is_none()
            && self.rtt.is_some()
            && self.sizes.sent() >= UNREPORTED_WINDOWS * self.initial_window()
    }

    /// Returns whether there has been neither a report nor an expiration of the nofeedback timer
    /// that counts.
    const fn awaits_first_report(&self) -> bool {
        self.reports == 0 && self.timeouts == 0
    }

    /// Reports that a data packet of `bytes` leaves.
    pub fn on_sent(&mut self, now: Instant, bytes: u32) {
        self.sizes.on_sent(bytes);
        if self.receive_set.is_none() {
            self.start(now);
        }
        if self.pacing.on_sent(now, self.pace()) {
            let rtt = self.rtt().unwrap_or_default();
            self.limited.on_all_sent(now, rtt);
        }
        if self.timer.is_none() {
            self.set_timer(now);
        }
        self.sent_since_timer = true;
        if let Some(quick_start) = &mut self.quick_start {
            quick_start.on_sent(now);
        }
    }

    /// Returns the rate to request from the path with the data packet that has just been reported,
    /// headers included (RFC 5634 section 3.2.1), or `None` for no request. If a rate is returned,
    /// a request for it must be sent.
    ///
    /// A request is made at the start and after each idle period in which the nofeedback timer
    /// expires, unless the rate is allowed already. No request is made after application-limited
    /// periods, although that section permits one.
    pub fn quick_start_request(&mut self) -> Option<Rate> {
        if !core::mem::take(&mut self.asks) {
            return None;
        }
        let packet = self.sizes.mean() + HEADERS;
        let with_headers = |bytes: f64| bytes * packet / self.sizes.mean();
        let mut wanted = self.config.quick_start?.as_bps() as f64 / 8.0;
        if self.p > 0.0 {
            // "MUST NOT exceed the TFRC-controlled sending rate when this is bounded by the current
            // loss event rate."
            wanted = wanted.min(with_headers(self.x_equation()));
        }
        if let Some(small) = self.config.small_packets {
            // CCID 4: at most 100 packets per second (section 3.3.1).
            wanted = wanted.min(packet / small.min_interval.as_secs_f64().max(1e-9));
        }
        self.loss_events_then = self.loss_events;
        (wanted > with_headers(self.x())).then(|| rate(wanted))
    }

    /// Reports that the path has approved `approved`, headers included, for the latest
    /// [request](Sender::quick_start_request). Enters the Quick-Start Mode if that is more than the
    /// allowed rate, and no loss or mark has been reported since the request (RFC 5634 section
    /// 3.2.3).
    pub fn on_quick_start(&mut self, now: Instant, approved: Rate) {
        let s = self.sizes.mean();
        // Equation 2.
        let qs_sendrate = self.cap(approved.as_bps() as f64 / 8.0 * s / (s + HEADERS));
        let x = self.x();
        let Some(rtt) = self.rtt() else {
            return;
        };
        if self.loss_events == self.loss_events_then && qs_sendrate > x {
            self.quick_start = Some(QuickStart::new(now, qs_sendrate, x, rtt));
            self.x = Some(qs_sendrate);
        }
    }

    fn start(&mut self, now: Instant) {
        self.receive_set = Some(ReceiveSet::new(now));
        if self.rtt.is_some() {
            self.doubled_at = Some(now);
        }
    }

    /// Handles a report: the steps of section 4.3. Ignores a report that arrives before any data
    /// was sent.
    pub fn on_feedback(&mut self, now: Instant, report: &Feedback) {
        if self.receive_set.is_none() {
            return;
        }
        let sample = self.without_delay(now - report.sent_at, report.delay);
        let had_rtt = self.rtt.is_some();
        self.sample_rtt(now, sample.clamp(MIN_RTT, MAX_RTT).as_secs_f64());
        let loss_event = report.loss_event || report.loss_event_rate > self.p;
        if loss_event {
            self.loss_events += 1;
            self.sizes.on_loss_event();
        }
        self.reports += 1;
        self.reported_at = Some(now);
        self.p = report.loss_event_rate.clamp(0.0, 1.0);
        self.receive_rate = report.receive_rate.max(0.0);
        let limit = self.take_in_receive_rate(now, report, loss_event);
        if !self.keeps_approved_rate(now, report, loss_event) {
            self.update_rate(now, limit, !had_rtt);
        }
        self.set_timer(now);
    }

    /// Returns whether X stays the rate approved by Quick-Start after this report. Congestion, or
    /// the end of the Validation Phase, returns to the rate of section 4.3 (RFC 5634 sections 3.2.4
    /// and 3.2.5).
    fn keeps_approved_rate(&mut self, now: Instant, report: &Feedback, loss_event: bool) -> bool {
        let Some(quick_start) = &mut self.quick_start else {
            return false;
        };
        let is_validated = quick_start.on_feedback(now, report.sent_at);
        if loss_event || report.receiver_limited || is_validated {
            self.quick_start = None;
        }
        self.quick_start.is_some()
    }

    /// Ends Quick-Start without feedback on all Quick-Start Packets (RFC 5634 section 3.2.4).
    fn abandon_approved_rate(&mut self, now: Instant, quick_start: QuickStart) {
        self.quick_start = None;
        let before = quick_start.rate_before;
        if quick_start.heard {
            let receive_rate = self.receive_set.as_ref().map_or(0.0, ReceiveSet::max);
            self.x = Some(quick_start.rate.min(2.0 * receive_rate).max(before));
            return;
        }
        self.x = Some(before.min(quick_start.rate / 2.0));
        self.set_timer(now);
    }

    /// Records a time from a packet to its acknowledgement, and returns the shortest so far.
    fn note_least_rtt(&mut self, time: Duration) -> Duration {
        let least = self.least_rtt.map_or(time, |least| least.min(time));
        self.least_rtt = Some(least);
        least
    }

    /// Subtracts the receiver's delay from a sample, but leaves at least half the shortest time
    /// between any packet and its acknowledgement.
    ///
    /// Rates are inversely proportional to R, so a receiver that exaggerates its delay would choose
    /// its rate. QUIC leaves all of the shortest time (RFC 9002 section 5.3). Honest receivers that
    /// report by a timer would meet that bound whenever the path becomes faster, because each of
    /// their reports is delayed. Half allows for a path that becomes twice as fast, and gives a
    /// lying receiver at most twice the rate.
    fn without_delay(&mut self, time: Duration, delay: Duration) -> Duration {
        time.saturating_sub(delay)
            .max(self.note_least_rtt(time) / 2)
    }

    /// Updates the round-trip time as in steps 1 and 2, and as in section 4.5.
    fn sample_rtt(&mut self, now: Instant, sample: f64) {
        let share = self.share_of_round_trip(now);
        let average = |mean: f64, weight: f64, sample: f64| {
            let weight = weight.powf(share);
            weight * mean + (1.0 - weight) * sample
        };
        let known = self.rtt.filter(|_| self.reports > 0);
        self.rtt = Some(known.map_or(sample, |mean| average(mean, self.config.rtt_weight, sample)));
        if let Some(weight) = self.config.oscillation_prevention {
            let root = sample.sqrt();
            let mean = self
                .sqrt_rtt
                .map_or(root, |mean| average(mean, weight, root));
            self.sqrt_rtt = Some(mean);
            self.slowdown = mean / root;
        }
    }

    /// Returns the fraction of a round-trip time that a report at `now` represents in the averages.
    fn share_of_round_trip(&self, now: Instant) -> f64 {
        match (self.config.smoothing, self.reported_at, self.rtt) {
            (Smoothing::PerRoundTrip, Some(last), Some(rtt)) => {
                ((now - last).as_secs_f64() / rtt).min(1.0)
            }
            _ => 1.0,
        }
    }

    /// Updates X_recv_set with the receive rate and returns recv_limit: the first half of step 4.
    fn take_in_receive_rate(&mut self, now: Instant, report: &Feedback, loss_event: bool) -> f64 {
        let rtt = self.rtt().unwrap_or_default();
        let was_limited = self.limited.on_feedback(report.sent_at, rtt);
        let rate = self.receive_rate;
        let Some(set) = &mut self.receive_set else {
            return f64::INFINITY;
        };
        if report.receiver_limited || self.config.rules == SenderRules::Rfc3448 {
            set.replace(now, rate);
        } else if was_limited && rate > 0.0 {
            if loss_event {
                set.halve();
                set.maximize(now, 0.85 * rate);
                return set.max();
            }
            set.maximize(now, rate);
        } else {
            set.update(now, rtt, rate);
        }
        2.0 * set.max()
    }

    /// Updates X, the second half of step 4.
    fn update_rate(&mut self, now: Instant, recv_limit: f64, first_rtt: bool) {
        let rtt = self.rtt().unwrap_or_default();
        let x = self.x();
        let x = if self.p > 0.0 {
            self.x_equation().min(recv_limit).max(self.least_rate())
        } else if first_rtt && self.config.rules == SenderRules::Rfc5348 {
            self.doubled_at = Some(now);
            self.initial_rate()
        } else if self.doubled_at.is_none_or(|at| now - at >= rtt) {
            self.doubled_at = Some(now);
            (2.0 * x).min(recv_limit).max(self.initial_rate())
        } else {
            x
        };
        self.x = Some(self.cap(x));
    }

    /// Returns when [`Sender::expire`] must be called.
    pub fn deadline(&self) -> Option<Instant> {
        let validation = self.quick_start.as_ref().map(QuickStart::deadline);
        self.timer.into_iter().chain(validation).min()
    }

    /// Handles the nofeedback timer (section 4.4), and the end of Quick-Start's Validation Phase.
    pub fn expire(&mut self, now: Instant) {
        if let Some(quick_start) = self.quick_start
            && self.deadline().is_some_and(|at| at <= now)
        {
            self.abandon_approved_rate(now, quick_start);
        }
        if self.timer.is_none_or(|at| at > now) {
            return;
        }
        self.timer = None;
        self.asks |= !self.sent_since_timer && self.config.quick_start.is_some();
        if self.is_idle_and_slow() {
            // Nothing changes while nothing is sent: sending restarts the timer.
            return;
        }
        self.timeouts += 1;
        match self.config.rules {
            _ if self.reports == 0 => self.halve(),
            SenderRules::Rfc5348 => self.on_timeout(now),
            SenderRules::Rfc3448 => self.on_timeout_rfc3448(now),
        }
        self.set_timer(now);
    }

    /// Returns whether the sender has been idle and its rate is no higher than the rate after an
    /// idle period.
    fn is_idle_and_slow(&self) -> bool {
        if self.sent_since_timer {
            return false;
        }
        let Some(rtt) = self.rtt else {
            return true;
        };
        let recover_rate = self.initial_rate();
        let receive_rate = self.receive_set.as_ref().map_or(0.0, ReceiveSet::max);
        match self.config.rules {
            SenderRules::Rfc5348 if self.p > 0.0 => receive_rate < recover_rate,
            SenderRules::Rfc5348 => self.x() < 2.0 * recover_rate,
            SenderRules::Rfc3448 => receive_rate < RFC3448_IDLE_PACKETS * self.sizes.mean() / rtt,
        }
    }

    fn halve(&mut self) {
        self.x = Some((self.x() / 2.0).max(self.least_rate()));
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.p <= 0.0 {
            self.halve();
            return;
        }
        let equation = self.x_equation();
        let least = self.least_rate();
        let Some(set) = &mut self.receive_set else {
            return;
        };
        // Update_Limits.
        let receive_rate = set.max();
        let limit = if equation > 2.0 * receive_rate {
            receive_rate
        } else {
            equation / 2.0
        };
        let limit = limit.max(least);
        set.replace(now, limit / 2.0);
        self.update_rate(now, limit, false);
    }

    fn on_timeout_rfc3448(&mut self, now: Instant) {
        let equation = self.x_equation();
        let least = self.least_rate();
        let Some(set) = &mut self.receive_set else {
            return;
        };
        let receive_rate = set.latest();
        let receive_rate = if equation > 2.0 * receive_rate {
            (receive_rate / 2.0).max(least / 2.0)
        } else {
            equation / 4.0
        };
        set.replace(now, receive_rate);
        self.update_rate(now, 2.0 * receive_rate, false);
    }

    /// Sets the nofeedback timer: to 2 s at first (section 4.2), then to max(4 R, 2 s / X) (step 2
    /// of section 4.4).
    fn set_timer(&mut self, now: Instant) {
        let two_packets = Duration::from_secs_f64(2.0 * self.sizes.mean() / self.x());
        let after = if self.awaits_first_report() {
            two_packets.max(FIRST_TIMEOUT)
        } else {
            two_packets.max(self.rtt().unwrap_or_default() * 4)
        };
        self.timer = Some(now + after);
        self.sent_since_timer = false;
    }

    /// Returns X before the reduction of section 4.5; s per second while nothing is known.
    fn x(&self) -> f64 {
        self.x
            .unwrap_or_else(|| self.cap(self.initial_rate()))
            .max(self.least_rate())
    }

    /// Returns X_inst; never more than an approved rate in use (RFC 5634 section 2.3.1).
    fn x_inst(&self) -> f64 {
        let approved = self.quick_start.map_or(f64::INFINITY, |used| used.rate);
        (self.x() * self.slowdown)
            .min(approved)
            .max(self.least_rate())
    }

    /// Returns initial_rate (section 4.2); one packet per second before the first round-trip time.
    fn initial_rate(&self) -> f64 {
        let Some(rtt) = self.rtt else {
            return self.sizes.mean();
        };
        self.initial_window() / rtt
    }

    /// Returns W_init, in bytes.
    fn initial_window(&self) -> f64 {
        let s = self.sizes.largest();
        match self.config.initial_window {
            InitialWindow::Rfc3390 => (4.0 * s).min((2.0 * s).max(4380.0)),
            InitialWindow::Packets(packets) => f64::from(packets.max(1)) * s,
        }
    }

    /// Returns X_Bps; infinite before the first loss.
    fn x_equation(&self) -> f64 {
        let s = self.sizes.mean();
        let rtt = self.rtt.unwrap_or_default();
        match self.config.small_packets {
            None => equation::throughput(s, rtt, self.p),
            Some(small) => {
                let headers = s / (s + f64::from(small.header));
                equation::throughput(small.nominal_size.into(), rtt, self.p) * headers
            }
        }
    }

    /// Returns s / t_mbi: one packet per 64 seconds.
    fn least_rate(&self) -> f64 {
        self.sizes.mean() / T_MBI
    }

    fn cap(&self, x: f64) -> f64 {
        let max_rate = self.config.max_rate;
        max_rate.map_or(x, |max| x.min(max.as_bps() as f64 / 8.0))
    }

    fn pace(&self) -> Pace {
        let credit = self.config.max_credit.clamp(0.0, 1.0) * self.rtt.unwrap_or(0.0);
        let credit = Duration::from_secs_f64(credit);
        let interval = Duration::from_secs_f64(self.sizes.mean() / self.x_inst());
        Pace {
            interval,
            // Permission saved at a lower rate would leave as a burst at the approved one, and
            // Quick-Start Packets must be paced (RFC 5634 section 3.2.3).
            credit: if self.quick_start.is_some() {
                credit.min(interval)
            } else {
                credit
            },
            min_interval: self
                .config
                .small_packets
                .map_or(Duration::ZERO, |small| small.min_interval),
        }
    }
}

/// Converts bytes per second to a rate.
fn rate(bytes: f64) -> Rate {
    Rate::from_bps((bytes * 8.0).round() as u64)
}

#[cfg(test)]
mod tests;
