//! What can be chosen about TFRC.

use skywave_units::{Duration, Rate};

use super::FeedbackSchedule;

/// How much may leave in the first round-trip time, which is also what an idle period leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitialWindow {
    /// min(4 s, max(2 s, 4380 bytes)) (RFC 5348 section 4.2, RFC 4342 section 5).
    Rfc3390,
    /// This many packets; RFC 3448 section 4.3 has one.
    Packets(u32),
}

/// How the sender comes to know s, the size of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SegmentSize {
    /// The mean over the last four loss intervals (RFC 5348 section 4.1).
    Mean,
    /// So many bytes, whatever is sent: each packet counts as one of this size.
    Fixed(u32),
}

/// How reports and their absence change the allowed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SenderRules {
    /// RFC 5348 sections 4.3 and 4.4: the limit is twice the greatest X_recv of two round-trip
    /// times, and intervals in which the application was the limit do not lower it.
    Rfc5348,
    /// RFC 3448 sections 4.3 and 4.4: the limit is twice the latest X_recv.
    Rfc3448,
}

/// The rate that the first loss interval is made to give (section 6.3.1 of either document).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FirstInterval {
    /// The greatest X_recv so far (RFC 5348).
    GreatestReceiveRate,
    /// X_recv over the latest round-trip time (RFC 3448).
    LatestReceiveRate,
}

/// What the mean of the loss intervals makes of those that have not been seen yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnseenIntervals {
    /// Nothing: the weights are those of the intervals that there are (section 5.4 of either
    /// document).
    LeftOut,
    /// They are of length zero, as in ns-2.35's DCCP module: after the first loss event p is up to six
    /// times as great, and right only after eight loss events.
    OfLengthZero,
}

/// What a report weighs in the means of the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Smoothing {
    /// Each report alike: the past keeps the weight q (RFC 5348 section 4.3). More reports in a
    /// round-trip time make means that follow sooner.
    PerReport,
    /// By the share of a round-trip time that it comes after the one before: with N reports in one
    /// the past keeps q^(1/N) at each, which is q over all of them. Never less than q.
    PerRoundTrip,
}

/// The small-packet variant, TFRC-SP (RFC 4828).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallPackets {
    /// s of the throughput equation, in bytes.
    pub nominal_size: u32,
    /// H, bytes of headers that each packet is charged with.
    pub header: u32,
    /// The least time between two data packets.
    pub min_interval: Duration,
}

impl SmallPackets {
    /// RFC 4828 section 3: 1460-byte segments, 40 bytes of headers, 10 ms.
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
    /// How much leaves in the first round-trip time.
    pub initial_window: InitialWindow,
    /// Whether a round-trip time measured while the connection was set up ends the time of one
    /// packet per second (RFC 5348 section 4.2).
    pub uses_handshake_rtt: bool,
    /// s.
    pub segment_size: SegmentSize,
    /// q: the weight of the past in the mean round-trip time (section 4.3). In 0 to 1.
    pub rtt_weight: f64,
    /// Whether packets leave more slowly while the round-trip time is above its mean (section
    /// 4.5), and q2, the weight of the past in that mean. Where this is `None`, q should be low
    /// ([`Config::without_oscillation_prevention`]).
    pub oscillation_prevention: Option<f64>,
    /// Whether q and q2 hold for each report or for each round-trip time.
    pub smoothing: Smoothing,
    /// The most round-trip times for which unused permission to send is kept, as a burst (section
    /// 4.6): 0 to 1. Less than a packet's interval hides from [`SenderRules::Rfc5348`] that the
    /// application is the limit.
    pub max_credit: f64,
    /// The sender goes no faster than this.
    pub max_rate: Option<Rate>,

    /// History discounting (section 5.5), and the least that is left of an old interval's weight.
    pub discounting: Option<f64>,
    /// What the first loss interval is made of.
    pub first_interval: FirstInterval,
    /// How many intervals the mean is taken over at first.
    pub unseen_intervals: UnseenIntervals,
    /// When the receiver reports.
    pub feedback: FeedbackSchedule,

    /// TFRC-SP.
    pub small_packets: Option<SmallPackets>,
}

impl Config {
    /// RFC 5348.
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
            discounting: Some(0.25),
            first_interval: FirstInterval::GreatestReceiveRate,
            unseen_intervals: UnseenIntervals::LeftOut,
            feedback: FeedbackSchedule::WindowCounter,
            small_packets: None,
        }
    }

    /// RFC 3448: what the literature of its time simulated, and Linux in part.
    pub const fn rfc3448() -> Self {
        Self {
            rules: SenderRules::Rfc3448,
            initial_window: InitialWindow::Packets(1),
            uses_handshake_rtt: false,
            max_credit: 0.0,
            discounting: Some(0.5),
            first_interval: FirstInterval::LatestReceiveRate,
            ..Self::rfc5348()
        }
    }

    /// RFC 3448 as ns-2.35's DCCP module has it, which knows no history discounting.
    pub const fn ns2() -> Self {
        Self {
            unseen_intervals: UnseenIntervals::OfLengthZero,
            discounting: None,
            ..Self::rfc3448()
        }
    }

    /// The same without section 4.5, and with the low weight of the past in the mean round-trip
    /// time that it then advises.
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
