//! The receiver: when to report, and what (RFC 5348 section 6, RFC 4342 section 10.3).

use skywave_units::{Duration, Instant};

use super::counter::{CounterClock, may_have_wrapped};
use super::equation;
use super::history::{Arrival, Clock, History};
use super::interval::{Averaging, LossInterval};
use super::receive_rate::ReceiveRate;
use super::{AfterSilence, Config, DEFAULT_RTT, FeedbackSchedule, FirstInterval};

/// Window counter increments between reports: a round-trip time.
const REPORT_COUNTS: u64 = 4;

/// The minimum rate, in packets per round-trip time, that the first loss interval represents
/// (section 6.3.1).
const LEAST_FIRST_RATE: f64 = 0.5;

/// The contents of a report, apart from loss intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// X_recv in bytes per second; zero in the first report.
    pub receive_rate: f64,
    /// p; zero before the first loss event.
    pub loss_event_rate: f64,
}

/// A TFRC receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    schedule: FeedbackSchedule,
    first_interval: FirstInterval,
    after_silence: AfterSilence,
    averaging: Averaging,
    /// `None` before the first packet.
    history: Option<History>,
    counter: CounterClock,
    /// The number and arrival of the newest data packet.
    newest_data: Option<(u64, Instant)>,
    rate: ReceiveRate,
    /// The last reported rate and the greatest one so far, in packets per second.
    latest_rate: f64,
    greatest_rate: f64,
    /// The round-trip time from other sources.
    known_rtt: Option<Duration>,
    /// The sender's own round-trip time, which takes precedence.
    sender_rtt: Option<Duration>,
    reported: Option<Reported>,
    /// Whether there is something to report: new data, or new losses.
    is_fresh: bool,
    is_due: bool,
    timer: Option<Instant>,
}

/// The latest report.
#[derive(Clone, Copy, Debug)]
struct Reported {
    at: Instant,
    /// The window counter at that time.
    count: u64,
    p: f64,
}

impl Receiver {
    /// Creates a receiver that has received nothing yet.
    pub fn new(config: &Config) -> Self {
        Self {
            schedule: config.feedback,
            first_interval: config.first_interval,
            after_silence: config.after_silence,
            averaging: Averaging {
                discounting: config.discounting,
                counts_losses: config.small_packets.is_some(),
                unseen: config.unseen_intervals,
            },
            history: None,
            counter: CounterClock::default(),
            newest_data: None,
            rate: ReceiveRate::default(),
            latest_rate: 0.0,
            greatest_rate: 0.0,
            known_rtt: None,
            sender_rtt: None,
            reported: None,
            is_fresh: false,
            is_due: false,
            timer: None,
        }
    }

    /// Sets the round-trip time from a source other than this direction's data: data in the other
    /// direction, or the handshake.
    pub fn on_rtt(&mut self, rtt: Duration) {
        self.known_rtt = Some(rtt);
    }

    /// Sets the sender's own round-trip time. While it is `Some`, it overrides all others (RFC 6323
    /// section 3.3).
    pub const fn on_sender_rtt(&mut self, rtt: Option<Duration>) {
        self.sender_rtt = rtt;
    }

    /// Returns the round-trip time used by this receiver.
    pub fn rtt(&self) -> Duration {
        self.sender_rtt
            .or(self.counter.rtt())
            .or(self.known_rtt)
            .unwrap_or(DEFAULT_RTT)
    }

    /// Handles the first arrival of a packet. Report packets without data too: they use sequence
    /// numbers.
    pub fn on_arrival(&mut self, arrival: &Arrival) {
        let averaging = self.averaging;
        let history = self
            .history
            .get_or_insert_with(|| History::new(arrival.seq, averaging));
        let had_data = history.has_data();
        if let Some(bytes) = arrival.data {
            self.is_fresh = true;
            let rtt = self.rtt();
            let skips = self.after_silence == AfterSilence::RoundTrip;
            if skips {
                let window = self.schedule.window(rtt, self.latest_rate);
                self.rate.skip_silence(arrival.at, window);
            }
            // An empty packet counts as one byte here, as it does in s. A rate of zero would keep a
            // sender of empty packets at the minimum rate.
            self.rate.on_arrival(arrival.at, bytes.max(1));
            if self
                .newest_data
                .is_none_or(|(newest, _)| arrival.seq > newest)
            {
                let wraps = skips
                    && self.newest_data.is_some_and(|(newest, at)| {
                        may_have_wrapped(arrival.seq - newest, arrival.at - at, rtt)
                    });
                self.newest_data = Some((arrival.seq, arrival.at));
                self.counter.on_arrival(arrival.at, arrival.counter, wraps);
            }
        }
        let rtt = self.rtt();
        let clock = self
            .sender_rtt
            .map_or(Clock::WindowCounter, Clock::Arrivals);
        let Some(history) = &mut self.history else {
            return;
        };
        let news = history.on_arrival(clock, arrival);
        if news.first_loss_event {
            let length = self.first_length(arrival.at, had_data);
            if let Some(history) = &mut self.history {
                history.seed(length);
            }
        }
        self.is_fresh |= news.losses;
        self.is_due |= news.loss_event
            || news.removed_event
            || (news.losses && self.loss_event_rate() > self.reported.map_or(0.0, |last| last.p));
        if arrival.data.is_some() {
            self.schedule_report(arrival.at, rtt);
        }
    }

    /// Returns the length of the first loss interval (section 6.3.1).
    fn first_length(&self, now: Instant, had_data: bool) -> f64 {
        let rtt = self.rtt();
        let now = self.rate.rates(now, rtt).packets;
        let rate = match self.first_interval {
            _ if !had_data => 0.0,
            FirstInterval::GreatestReceiveRate => now.max(self.greatest_rate),
            FirstInterval::LatestReceiveRate => now,
        };
        let packets = (rate * rtt.as_secs_f64()).max(LEAST_FIRST_RATE);
        1.0 / equation::loss_event_rate(packets)
    }

    fn schedule_report(&mut self, now: Instant, rtt: Duration) {
        let Some(last) = self.reported else {
            // Section 6.3: the first data packet is reported immediately.
            self.is_due = true;
            return;
        };
        // A round-trip time from the sender takes precedence over its window counter here too.
        let interval = self.schedule.interval(rtt, self.latest_rate);
        match interval.or(self.sender_rtt) {
            None => self.is_due |= self.counter.count() >= last.count + REPORT_COUNTS,
            Some(interval) => {
                let at = last.at + interval;
                self.is_due |= at <= now;
                self.timer = (!self.is_due).then_some(at);
            }
        }
    }

    /// Returns whether a report should leave now.
    pub const fn report_due(&self) -> bool {
        self.is_due
    }

    /// Returns the report to send at `now`, or `None` if no data has arrived and no loss has been
    /// detected since the last one (section 6.2).
    pub fn report(&mut self, now: Instant) -> Option<Report> {
        self.is_due = false;
        self.timer = None;
        if !core::mem::take(&mut self.is_fresh) {
            return None;
        }
        let rtt = self.rtt();
        let window = self.schedule.window(rtt, self.latest_rate);
        let rates = self.rate.rates(now, window);
        self.rate.mark(now, rtt);
        let is_first = self.reported.is_none();
        let report = Report {
            receive_rate: if is_first { 0.0 } else { rates.bytes },
            loss_event_rate: self.loss_event_rate(),
        };
        if !is_first {
            self.latest_rate = rates.packets;
            self.greatest_rate = self.greatest_rate.max(rates.packets);
        }
        self.reported = Some(Reported {
            at: now,
            count: self.counter.count(),
            p: report.loss_event_rate,
        });
        Some(report)
    }

    /// Returns p, or zero before the first loss event.
    pub fn loss_event_rate(&self) -> f64 {
        self.history.as_ref().map_or(0.0, History::loss_event_rate)
    }

    /// Returns the loss intervals, newest first; there are none before the first packet.
    pub fn intervals(&self) -> impl Iterator<Item = &LossInterval> {
        self.history.iter().flat_map(History::intervals)
    }

    /// Returns the last sequence number that belongs to an interval. Later ones may belong to a
    /// loss event that is not certain yet.
    pub fn settled(&self) -> Option<u64> {
        self.history.as_ref().map(History::settled)
    }

    /// Returns when [`Receiver::expire`] must be called.
    pub const fn deadline(&self) -> Option<Instant> {
        self.timer
    }

    /// Handles the feedback timer: makes a report due if data has arrived.
    pub fn expire(&mut self, now: Instant) {
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            self.is_due |= self.is_fresh;
        }
    }
}

#[cfg(test)]
mod tests;
