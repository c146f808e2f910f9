//! DCCP options as typed values (RFC 4340 section 5.8, RFC 4342, RFC 5622).

use skywave_units::Duration;
use smallvec::SmallVec;

use super::FeatureNumber;
use crate::quick_start::{QsNonce, RateField};

/// The options of one packet, in order. Most packets have at most two.
pub type OptionList = SmallVec<[DccpOption; 1]>;

/// The value of a variable-length option; at most 253 bytes fit an option.
pub type OptionBytes = SmallVec<[u8; 16]>;

/// Which half of a feature-negotiation pair an option belongs to (RFC 4340 section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FeatureSide {
    /// L: the feature is located at the sender of the option.
    Local,
    /// R: the feature is located at the receiver of the option.
    Remote,
}

/// A DCCP option.
///
/// An invalid value (for example a Timestamp of three bytes) is kept as [`DccpOption::Other`], like
/// any unknown type, so that decoding and encoding lose nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DccpOption {
    /// Type 0: a byte of padding.
    ///
    /// Only needed to put padding before or between options, as Linux does. Padding at the end, to
    /// a 32-bit boundary, is added when encoding and removed when decoding.
    Padding,
    /// Type 1: the next option must be understood (section 5.8.2).
    Mandatory,
    /// Type 2: the receiver cannot keep up (section 11.6).
    SlowReceiver,
    /// Types 32 and 34: requests a change of a feature (section 6.1).
    Change {
        /// L or R.
        side: FeatureSide,
        /// The feature.
        feature: FeatureNumber,
        /// A preference list (server-priority) or one value (non-negotiable).
        value: OptionBytes,
    },
    /// Types 33 and 35: answers a Change (section 6.2).
    Confirm {
        /// L or R.
        side: FeatureSide,
        /// The feature.
        feature: FeatureNumber,
        /// The agreed value, followed by the preference list; empty if refused.
        value: OptionBytes,
    },
    /// Type 36: server state stored by the client (section 8.1.4).
    InitCookie(OptionBytes),
    /// Type 37: non-data packets since the last data packet (section 7.7).
    NdpCount {
        /// The count, below 2^48.
        count: u64,
        /// The number of bytes that encode it: 1 to 6.
        width: u8,
    },
    /// Types 38 and 39: the state of each packet, newest first (section 11.4).
    AckVector {
        /// The ECN nonce echo: type 39 if true.
        nonce: bool,
        /// Cells: two bits of state, six of run length.
        cells: OptionBytes,
    },
    /// Type 40: received packets whose data was not delivered (section 11.7).
    DataDropped(OptionBytes),
    /// Type 41: the sender's clock, in units of 10 microseconds (section 13.1).
    Timestamp(u32),
    /// Type 42: returns a Timestamp (section 13.3).
    TimestampEcho {
        /// The Timestamp's value.
        echo: u32,
        /// Time between the Timestamp's arrival and this packet.
        elapsed: Option<ElapsedTime>,
    },
    /// Type 43: time since the arrival of the acknowledged packet (section 13.2).
    ElapsedTime(ElapsedTime),
    /// Type 44: CRC-32c of the data (section 9.3).
    DataChecksum(u32),
    /// Type 45: answers a Quick-Start request in the IP header of a received packet (RFC 5634
    /// section 2.2.1).
    QuickStartResponse {
        /// The rate that the path, and the receiver, allow.
        rate: RateField,
        /// The difference of IP TTL and QS TTL in the received packet, modulo 256.
        ttl_diff: u8,
        /// The QS Nonce of the received packet.
        nonce: QsNonce,
        /// The reserved bits: four, then two. Zero if we send it; otherwise ignored.
        reserved: u8,
    },
    /// Type 128: CCIDs 3 and 4, the sender's round-trip time (RFC 6323 section 3.2.1).
    RttEstimate {
        /// Microseconds, 24 bits; 0 if unknown, [`DccpOption::RTT_SPIKE`] above 16.7 s.
        micros: u32,
        /// The number of bytes that encode it: 1 to 3.
        width: u8,
    },
    /// Type 192: CCIDs 3 and 4, 1/p as seen by the receiver; all ones before the first loss (RFC
    /// 4342 section 8.5).
    LossEventRate(u32),
    /// Type 193: CCIDs 3 and 4, the loss intervals, newest first (RFC 4342 section 8.6).
    LossIntervals {
        /// The number of sequence numbers at the end that belong to no interval yet.
        skip_length: u8,
        /// Up to 28 intervals.
        intervals: SmallVec<[LossInterval; 1]>,
    },
    /// Type 194: CCIDs 3 and 4, bytes per second received (RFC 4342 section 8.3).
    ReceiveRate(u32),
    /// Type 195: CCID 4, packets dropped in each loss interval (RFC 5622 section 8.7). 24 bits
    /// each.
    DroppedPackets(SmallVec<[u32; 4]>),
    /// Type 200: the ECN code points with which packets arrived, newest first, in cells like an Ack
    /// Vector's ([`LoadVectorCell`](super::LoadVectorCell)). This project's own.
    LoadVector(OptionBytes),
    /// Any other type, or a known type with an invalid value.
    Other {
        /// Option type.
        kind: u8,
        /// The value; `None` for single-byte options, types 0 to 31.
        value: Option<OptionBytes>,
    },
    /// The rest of an option space, starting at the type of an option with an invalid length.
    /// Always last; receivers ignore it (RFC 4340 section 5.8).
    Malformed(OptionBytes),
}

/// A time in units of 10 microseconds, with its encoded width (RFC 4340 section 13.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElapsedTime {
    /// Two bytes: up to 0.65535 s.
    Short(u16),
    /// Four bytes: up to 12 hours.
    Long(u32),
}

impl ElapsedTime {
    /// Converts `elapsed` to units of 10 microseconds, rounding down so that it is never
    /// overstated. Uses the short form if possible (at most 0.65535 s; section 13.2). From
    /// 42949.67295 s on the result is the greatest value, which stands for any longer time.
    pub fn from_duration(elapsed: Duration) -> Self {
        let units = elapsed.as_micros() / 10;
        u16::try_from(units).map_or_else(
            |_| Self::Long(u32::try_from(units).unwrap_or(u32::MAX)),
            Self::Short,
        )
    }

    /// Returns the time.
    pub fn as_duration(self) -> Duration {
        Duration::from_micros(10 * u64::from(self.units()))
    }

    /// Returns the time in units of 10 microseconds.
    pub const fn units(self) -> u32 {
        match self {
            Self::Short(units) => units as u32,
            Self::Long(units) => units,
        }
    }
}

/// One loss interval of a Loss Intervals option (RFC 4342 section 8.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossInterval {
    /// Sequence numbers in the lossless part. 24 bits.
    pub lossless_length: u32,
    /// The nonce echo of the lossless part.
    pub nonce: bool,
    /// Sequence numbers in the lossy part. 23 bits.
    pub loss_length: u32,
    /// Sequence numbers of the interval that carried data. 24 bits.
    pub data_length: u32,
}

impl DccpOption {
    /// Creates an NDP Count in the fewest bytes, as section 7.7 requires; counts of 2^48 or more
    /// are clamped.
    pub fn ndp_count(count: u64) -> Self {
        let count = count.min((1 << 48) - 1);
        let bits = u64::BITS - count.leading_zeros();
        Self::NdpCount {
            count,
            width: bits.div_ceil(8).max(1) as u8,
        }
    }

    /// The RTT Estimate value for a round-trip time beyond its range (RFC 6323 section 3.2.1).
    pub const RTT_SPIKE: u32 = 0xff_ffff;

    /// Creates an RTT Estimate in the fewest bytes, rounded up to whole microseconds (RFC 6323
    /// section 3.2.1).
    pub fn rtt_estimate(rtt: Option<Duration>) -> Self {
        let micros = rtt.map_or(0, |rtt| {
            let micros = rtt
                .as_nanos()
                .div_ceil(1_000)
                .clamp(1, Self::RTT_SPIKE.into());
            micros as u32
        });
        let bits = u32::BITS - micros.leading_zeros();
        Self::RttEstimate {
            micros,
            width: bits.div_ceil(8).max(1) as u8,
        }
    }

    /// Creates a Timestamp for a clock that reads `since_start`: units of 10 microseconds, modulo
    /// 2^32 (section 13.1).
    pub const fn timestamp(since_start: Duration) -> Self {
        Self::Timestamp((since_start.as_micros() / 10) as u32)
    }

    /// Returns whether the option may appear on a DCCP-Data packet, as [its
    /// type](super::OptionType::is_allowed_on_data) may. An option with an invalid length may not.
    pub fn is_allowed_on_data(&self) -> bool {
        !matches!(self, Self::Malformed(_)) && self.option_type().is_allowed_on_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D13-2
    #[test]
    fn d13_2_elapsed_time_is_rounded_down_and_as_short_as_it_can_be() {
        for (nanos, expected) in [
            (0, ElapsedTime::Short(0)),
            (9_999, ElapsedTime::Short(0)),
            (19_999, ElapsedTime::Short(1)),
            (499_999_999, ElapsedTime::Short(49_999)),
            (655_350_000, ElapsedTime::Short(65_535)),
            (655_359_999, ElapsedTime::Short(65_535)),
            (655_360_000, ElapsedTime::Long(65_536)),
            (42_949_672_950_000, ElapsedTime::Long(u32::MAX)),
            (u64::MAX, ElapsedTime::Long(u32::MAX)),
        ] {
            let elapsed = Duration::from_nanos(nanos);
            assert_eq!(ElapsedTime::from_duration(elapsed), expected, "{nanos} ns");
            assert!(
                expected.as_duration() <= elapsed,
                "{nanos} ns is overstated"
            );
        }
    }

    // D7.7-1 (smallest format)
    #[test]
    fn ndp_count_takes_the_fewest_bytes() {
        for (count, width) in [
            (0, 1),
            (255, 1),
            (256, 2),
            (0xff_ffff, 3),
            (1 << 24, 4),
            ((1 << 48) - 1, 6),
        ] {
            assert_eq!(
                DccpOption::ndp_count(count),
                DccpOption::NdpCount { count, width }
            );
        }
        assert_eq!(
            DccpOption::ndp_count(u64::MAX),
            DccpOption::ndp_count((1 << 48) - 1)
        );
    }

    // E-1
    #[test]
    fn e_1_rtt_estimates_are_rounded_up_and_as_short_as_they_can_be() {
        for (nanos, micros, width) in [
            (None, 0, 1),
            (Some(0), 1, 1),
            (Some(1), 1, 1),
            (Some(255_000), 255, 1),
            (Some(255_001), 256, 2),
            (Some(65_536_000), 65_536, 3),
            (Some(16_777_214_000), 0xff_fffe, 3),
            (Some(16_777_214_001), DccpOption::RTT_SPIKE, 3),
            (Some(u64::MAX), DccpOption::RTT_SPIKE, 3),
        ] {
            assert_eq!(
                DccpOption::rtt_estimate(nanos.map(Duration::from_nanos)),
                DccpOption::RttEstimate { micros, width },
                "{nanos:?} ns"
            );
        }
    }

    #[test]
    fn timestamps_wrap() {
        assert_eq!(
            DccpOption::timestamp(Duration::from_micros(25)),
            DccpOption::Timestamp(2)
        );
        let wrapped = Duration::from_micros(10 * ((1 << 32) + 7));
        assert_eq!(DccpOption::timestamp(wrapped), DccpOption::Timestamp(7));
    }

    // D5.8-4: table 3 of RFC 4340.
    #[test]
    fn d5_8_4_data_packets_carry_few_options() {
        let allowed = |kind: u8| {
            let value = (kind >= 32).then(OptionBytes::new);
            DccpOption::Other { kind, value }.is_allowed_on_data()
        };
        let refused: Vec<u8> = (0..=127).filter(|&kind| !allowed(kind)).collect();
        assert_eq!(refused, [1, 32, 33, 34, 35, 36, 38, 39, 40, 43]);
        assert!(!DccpOption::LossEventRate(1).is_allowed_on_data());
        assert!(!DccpOption::Malformed(OptionBytes::new()).is_allowed_on_data());
    }
}
