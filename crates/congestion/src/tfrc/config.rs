//! Configuration of TFRC.

use skywave_units::{Duration, Rate};

use super::FeedbackSchedule;

/// How much may leave in the first round-trip time, and after an idle period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitialWindow {
    /// min(4 s, max(2 s, 4380 bytes)) (RFC 5348 section 4.2, RFC 4342 section 5).
    Rfc3390,
    /// This many packets; one in RFC 3448 section 4.3.
    Packets(u32),
}

/// How the sender determines s, its packet size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentSize {
    /// The mean over the last four loss intervals (RFC 5348 section 4.1).
    Mean,
    /// This many bytes: every packet counts as this size.
    Fixed(u32),
}

/// How reports, and their absence, change the allowed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SenderRules {
    /// RFC 5348 sections 4.3 and 4.4: the limit is twice the greatest X_recv of two round-trip
    /// times, and is not lowered by data-limited intervals.
    Rfc5348,
    /// RFC 3448 sections 4.3 and 4.4: the limit is twice the latest X_recv.
    Rfc3448,
}

/// The rate from which the first loss interval is derived (section 6.3.1 of either document).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FirstInterval {
    /// The greatest X_recv so far (RFC 5348).
    GreatestReceiveRate,
    /// X_recv over the latest round-trip time (RFC 3448).
    LatestReceiveRate,
}

/// How a receiver measures X_recv when data arrives after more than a round-trip time without any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AfterSilence {
    /// X_recv covers the latest round-trip time (RFC 5348 section 6.2). It is then at least one packet
    /// per round-trip time, so it never keeps a sender at the minimum rate of one packet per 64 s.
    /// Window counters that may have wrapped give no round-trip time.
    RoundTrip,
    /// X_recv covers the time since the latest report (RFC 4342 section 8.3, on RFC 3448). Window
    /// counters are used unchanged, as in ns-2.
    SinceReport,
}

/// How the mean treats loss intervals that have not occurred yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnseenIntervals {
    /// They are ignored: the weights are those of existing intervals (section 5.4 of either
    /// document).
    LeftOut,
    /// They count as length zero, as in ns-2.35's DCCP module. After the first loss event p is up
    /// to six times too large, and it is correct only after eight loss events.
    OfLengthZero,
}

/// The weight of a report in the averages of the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Smoothing {
    /// The same for each report: the past keeps the weight q (RFC 5348 section 4.3). The averages
    /// react faster if there are more reports per round-trip time.
    PerReport,
    /// Proportional to the fraction of a round-trip time since the previous report. With N reports
    /// per round-trip time, the past keeps q^(1/N) at each, that is, q over all of them. Never less
    /// than q.
    PerRoundTrip,
}

/// The small-packet variant, TFRC-SP (RFC 4828).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallPackets {
    /// s of the throughput equation, in bytes.
    pub nominal_size: u32,
    /// H, the header bytes counted per packet.
    pub header: u32,
    /// The minimum interval between data packets.
    pub min_interval: Duration,
}

impl SmallPackets {
    /// Returns the parameters of RFC 4828 section 3: segments of 1460 bytes, headers of 40 bytes,
    /// 10 ms.
    pub const fn rfc4828() -> Self {
        Self {
            nominal_size: 1460,
            header: 40,
            min_interval: Duration::from_millis(10),
        }
    }
}

/// Parameters of a TFRC sender and receiver.
///
/// The default is [`Config::rfc5348`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How the sender reacts to reports.
    pub rules: SenderRules,
    /// How much may leave in the first round-trip time.
    pub initial_window: InitialWindow,
    /// Whether a round-trip time measured in the handshake ends the initial rate of one packet per
    /// second (RFC 5348 section 4.2).
    pub uses_handshake_rtt: bool,
    /// How s is determined.
    pub segment_size: SegmentSize,
    /// q: the weight of the past in the mean round-trip time (section 4.3). Between 0 and 1.
    pub rtt_weight: f64,
    /// Oscillation prevention (section 4.5): q2, the weight of the past in the long-term average of
    /// the round-trip time. While the round-trip time is above that average, packets leave more
    /// slowly. `None` disables it; q should then be low
    /// ([`Config::without_oscillation_prevention`]).
    pub oscillation_prevention: Option<f64>,
    /// Whether q and q2 apply per report or per round-trip time.
    pub smoothing: Smoothing,
    /// For how many round-trip times unused permission to send is kept, to be used as a burst
    /// (section 4.6): 0 to 1. If this is less than a packet's interval, [`SenderRules::Rfc5348`]
    /// cannot detect that the application is the bottleneck.
    pub max_credit: f64,
    /// An upper bound of the sending rate.
    pub max_rate: Option<Rate>,
    /// The rate to request from the path with Quick-Start, headers included: with the first data
    /// packet and after idle periods (RFC 5634 section 3.2.1). `None` disables Quick-Start.
    pub quick_start: Option<Rate>,

    /// History discounting (section 5.5): the lower bound of the discount factor. `None` disables
    /// it.
    pub discounting: Option<f64>,
    /// How the first loss interval is derived.
    pub first_interval: FirstInterval,
    /// The interval that X_recv covers after a silence.
    pub after_silence: AfterSilence,
    /// How the mean treats intervals that have not occurred yet.
    pub unseen_intervals: UnseenIntervals,
    /// When the receiver sends reports.
    pub feedback: FeedbackSchedule,

    /// TFRC-SP.
    pub small_packets: Option<SmallPackets>,
}

impl Config {
    /// Returns the parameters of RFC 5348.
    pub const fn rfc5348() -> Self {
        Self {
            rules: SenderRules::Rfc5348,
            initial_window: InitialWindow::Rfc3390,
            uses_handshake_rtt: true,
            segment_size: SegmentSize::Mean,
            rtt_weight: 0.9,
            oscillation_prevention: Some(0.9),
            smoothing: Smoothing::PerReport,
            max_credit: 1.0,
            max_rate: None,
            quick_start: None,
            discounting: Some(0.25),
            first_interval: FirstInterval::GreatestReceiveRate,
            after_silence: AfterSilence::RoundTrip,
            unseen_intervals: UnseenIntervals::LeftOut,
            feedback: FeedbackSchedule::WindowCounter,
            small_packets: None,
        }
    }

    /// Returns the parameters of RFC 3448, as simulated in the literature of its time and partly
    /// implemented in Linux.
    pub const fn rfc3448() -> Self {
        Self {
            rules: SenderRules::Rfc3448,
            initial_window: InitialWindow::Packets(1),
            uses_handshake_rtt: false,
            max_credit: 0.0,
            discounting: Some(0.5),
            first_interval: FirstInterval::LatestReceiveRate,
            after_silence: AfterSilence::SinceReport,
            ..Self::rfc5348()
        }
    }

    /// Returns the parameters of RFC 3448 as in ns-2.35's DCCP module, which has no history
    /// discounting.
    pub const fn ns2() -> Self {
        Self {
            unseen_intervals: UnseenIntervals::OfLengthZero,
            discounting: None,
            ..Self::rfc3448()
        }
    }

    /// Disables section 4.5 and sets the low weight of the past in the mean round-trip time that
    /// the RFC then recommends.
    #[must_use]
    pub const fn without_oscillation_prevention(self) -> Self {
        Self {
            oscillation_prevention: None,
            rtt_weight: 0.1,
            ..self
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::rfc5348()
    }
}
