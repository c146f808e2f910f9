//! The numbers of features.

use core::fmt;

/// The number of a feature (RFC 4340 section 6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureNumber(pub u8);

macro_rules! feature_numbers {
    ($($(#[$doc:meta])* $constant:ident = $number:literal, $name:literal;)*) => {
        impl FeatureNumber {
            $($(#[$doc])* pub const $constant: Self = Self($number);)*
        }

        impl fmt::Display for FeatureNumber {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Self::$constant => f.write_str($name),)*
                    Self(number) => write!(f, "feature {number}"),
                }
            }
        }
    };
}

feature_numbers! {
    /// Congestion Control ID.
    CCID = 1, "CCID";
    /// Allow Short Sequence Numbers.
    ALLOW_SHORT_SEQNOS = 2, "Allow Short Seqnos";
    /// Sequence Window.
    SEQUENCE_WINDOW = 3, "Sequence Window";
    /// ECN Incapable.
    ECN_INCAPABLE = 4, "ECN Incapable";
    /// Ack Ratio.
    ACK_RATIO = 5, "Ack Ratio";
    /// Send Ack Vector.
    SEND_ACK_VECTOR = 6, "Send Ack Vector";
    /// Send NDP Count.
    SEND_NDP_COUNT = 7, "Send NDP Count";
    /// Minimum Checksum Coverage.
    MINIMUM_CHECKSUM_COVERAGE = 8, "Minimum Checksum Coverage";
    /// Check Data Checksum.
    CHECK_DATA_CHECKSUM = 9, "Check Data Checksum";
    /// Send RTT Estimate (CCIDs 3 and 4; RFC 6323 section 3.2.2).
    SEND_RTT_ESTIMATE = 128, "Send RTT Estimate";
    /// Send Loss Event Rate (CCIDs 3 and 4; RFC 4342 section 8.4).
    SEND_LOSS_EVENT_RATE = 192, "Send Loss Event Rate";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_shown_by_its_name_or_else_its_number() {
        assert_eq!(
            FeatureNumber::SEND_RTT_ESTIMATE.to_string(),
            "Send RTT Estimate"
        );
        assert_eq!(FeatureNumber(10).to_string(), "feature 10");
    }
}
