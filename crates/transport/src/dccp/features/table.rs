//! The features of RFC 4340 section 6.4 (table 4) and of CCIDs 3 and 4: their numbers, rules and
//! values. Each is a row of one table.
//!
//! To add a feature, add a row, and what it means: in the preferences, and where the compiler says.

use std::ops::Range;

use skywave_wire::dccp::{FeatureNumber, OptionBytes};

use crate::dccp::ccid::{Ccid, Features};

/// How two endpoints agree on a value (section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The first entry of the server's list that is also in the client's list. All such features
    /// have one-byte values.
    ServerPriority,
    /// The feature location decides alone.
    NonNegotiable,
}

/// Where a feature is located. Each feature exists twice per connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// At this endpoint.
    Here,
    /// At the peer.
    Peer,
}

impl Location {
    /// Returns the other endpoint.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Here => Self::Peer,
            Self::Peer => Self::Here,
        }
    }
}

/// The half-connection's end that a feature of a CCID is located at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    /// That which sends data.
    Sender,
    /// That which receives data.
    Receiver,
}

/// Converts a number to a value of this type.
macro_rules! value {
    (bool, $number:ident) => {
        $number != 0
    };
    ($type:ident, $number:ident) => {
        $number as $type
    };
}

macro_rules! features {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $number:ident, $required:ident, $rule:ident, $bytes:literal, $range:expr,
            $field:ident: $type:ident = $initial:expr $(, $half:ident: $flag:ident)?;
    )*) => {
        /// A feature that this implementation understands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Feature {
            $($(#[$doc])* $variant,)*
        }

        impl Feature {
            /// All features.
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the feature with this number, if it is supported.
            pub(crate) const fn from_number(number: FeatureNumber) -> Option<Self> {
                match number {
                    $(FeatureNumber::$number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns its number.
            pub(crate) const fn number(self) -> FeatureNumber {
                match self {
                    $(Self::$variant => FeatureNumber::$number,)*
                }
            }

            /// Returns the location of the CCID that the feature belongs to, for a feature at
            /// `location`; `None` for features of all CCIDs. Features of a receiving half belong to
            /// the CCID of the data that the other endpoint sends (section 10.3).
            pub(crate) const fn ccid_location(self, location: Location) -> Option<Location> {
                match self {
                    $($(Self::$variant => Some(Half::$half.location_of_sender(location)),)?)*
                    _ => None,
                }
            }

            /// Returns whether the feature is in use: it is one of a CCID's own `features`, or one
            /// of every connection's.
            pub(crate) const fn is_of(self, features: Features) -> bool {
                match self {
                    $($(Self::$variant => features.$flag,)?)*
                    _ => true,
                }
            }

            /// Returns its reconciliation rule.
            pub(crate) const fn rule(self) -> Rule {
                match self {
                    $(Self::$variant => Rule::$rule,)*
                }
            }

            /// Returns whether every DCCP must understand it (column "Req'd").
            pub(crate) const fn is_required(self) -> bool {
                match self {
                    $(Self::$variant => $required,)*
                }
            }

            /// Returns the bytes of a value.
            const fn width(self) -> usize {
                match self {
                    $(Self::$variant => $bytes,)*
                }
            }

            /// Returns the valid values.
            const fn range(self) -> Range<u64> {
                match self {
                    $(Self::$variant => $range,)*
                }
            }
        }

        /// The values of all features at one location; initially those of table 4.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct Values {
            $($(#[$doc])* pub(crate) $field: $type,)*
        }

        impl Default for Values {
            fn default() -> Self {
                Self {
                    $($field: $initial,)*
                }
            }
        }

        impl Values {
            /// Returns the value of `feature`, as a number.
            pub(crate) const fn get(&self, feature: Feature) -> u64 {
                match feature {
                    $(Feature::$variant => self.$field as u64,)*
                }
            }

            /// Sets `feature` to `value`, which must be valid.
            pub(crate) const fn set(&mut self, feature: Feature, value: u64) {
                match feature {
                    $(Feature::$variant => self.$field = value!($type, value),)*
                }
            }
        }
    };
}

/// The column "Req'd" of table 4.
const Y: bool = true;
const N: bool = false;

// Feature = its number, whether it is required, its rule, the bytes of a value, its range,
//     its field of Values: type = initial value, where it is located: the flag of CCIDs that have it;
// A feature without the last two is one of every CCID.
features! {
    /// Congestion Control ID (section 10).
    Ccid = CCID, Y, ServerPriority, 1, 0..1 << 8,
        ccid: u8 = Ccid::INITIAL.0;
    /// Allow Short Sequence Numbers (section 7.6.1).
    AllowShortSeqnos = ALLOW_SHORT_SEQNOS, Y, ServerPriority, 1, 0..1 << 8,
        allow_short_seqnos: bool = false;
    /// Sequence Window (section 7.5.2), in packets.
    SequenceWindow = SEQUENCE_WINDOW, Y, NonNegotiable, 6, 32..1 << 46,
        sequence_window: u64 = 100;
    /// ECN Incapable (section 12.1).
    EcnIncapable = ECN_INCAPABLE, N, ServerPriority, 1, 0..1 << 8,
        ecn_incapable: bool = false;
    /// Ack Ratio (section 11.3): data packets per acknowledgement. Section 6.6.8 calls zero invalid;
    /// section 11.3 gives it a meaning that no CCID here uses. It is refused.
    AckRatio = ACK_RATIO, N, NonNegotiable, 2, 1..1 << 16,
        ack_ratio: u16 = 2;
    /// Send Ack Vector (section 11.5).
    SendAckVector = SEND_ACK_VECTOR, N, ServerPriority, 1, 0..1 << 8,
        send_ack_vector: bool = false;
    /// Send NDP Count (section 7.7.2).
    SendNdpCount = SEND_NDP_COUNT, N, ServerPriority, 1, 0..1 << 8,
        send_ndp_count: bool = false;
    /// Minimum Checksum Coverage (section 9.2.1), 0 to 15.
    MinimumChecksumCoverage = MINIMUM_CHECKSUM_COVERAGE, N, ServerPriority, 1, 0..1 << 8,
        minimum_checksum_coverage: u8 = 0;
    /// Check Data Checksum (section 9.3.1).
    CheckDataChecksum = CHECK_DATA_CHECKSUM, N, ServerPriority, 1, 0..1 << 8,
        check_data_checksum: bool = false;
    /// Send RTT Estimate of CCIDs 3 and 4 (RFC 6323 section 3.2.2).
    SendRttEstimate = SEND_RTT_ESTIMATE, N, ServerPriority, 1, 0..1 << 8,
        send_rtt_estimate: bool = false, Sender: rtt_estimate;
    /// Send Loss Event Rate of CCIDs 3 and 4 (RFC 4342 section 8.4).
    SendLossEventRate = SEND_LOSS_EVENT_RATE, N, ServerPriority, 1, 0..1 << 8,
        send_loss_event_rate: bool = false, Receiver: loss_event_rate;
}

impl Half {
    /// Returns where the data's sender is, if this half is at `location`.
    const fn location_of_sender(self, location: Location) -> Location {
        match self {
            Self::Sender => location,
            Self::Receiver => location.other(),
        }
    }
}

impl Feature {
    /// Reads a non-negotiable value; `None` if its length or range is invalid.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<u64> {
        let value = bytes
            .iter()
            .fold(0u64, |value, &byte| (value << 8) | u64::from(byte));
        (bytes.len() == self.width() && self.range().contains(&value)).then_some(value)
    }

    /// Writes one value.
    pub(crate) fn write(self, value: u64) -> OptionBytes {
        let bytes = value.to_be_bytes();
        OptionBytes::from_slice(&bytes[bytes.len() - self.width()..])
    }
}

/// Performs server-priority reconciliation (section 6.3.1); `None` if the lists share no entry.
pub(crate) fn reconcile(server: &[u8], client: &[u8]) -> Option<u8> {
    server.iter().copied().find(|value| client.contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D6-3: server-priority reconciliation.
    #[test]
    fn server_priority_takes_the_servers_first_shared_entry() {
        let cases: [(&[u8], &[u8], Option<u8>); 6] = [
            (&[3, 2, 1], &[2, 3, 1], Some(3)), // the example of section 6.5
            (&[2, 3, 1], &[3, 2, 1], Some(2)),
            (&[4, 2], &[2, 3], Some(2)),
            (&[2], &[3], None),
            (&[], &[3], None),
            (&[1, 0], &[0], Some(0)),
        ];
        for (server, client, value) in cases {
            assert_eq!(reconcile(server, client), value, "{server:?} {client:?}");
        }
    }

    /// D6-5: numbers, rules, widths and initial values of table 4, of RFC 4342's table 2 and RFC
    /// 6323's.
    #[test]
    fn table_4() {
        let rows = [
            (1, Rule::ServerPriority, 2, true),
            (2, Rule::ServerPriority, 0, true),
            (3, Rule::NonNegotiable, 100, true),
            (4, Rule::ServerPriority, 0, false),
            (5, Rule::NonNegotiable, 2, false),
            (6, Rule::ServerPriority, 0, false),
            (7, Rule::ServerPriority, 0, false),
            (8, Rule::ServerPriority, 0, false),
            (9, Rule::ServerPriority, 0, false),
            (128, Rule::ServerPriority, 0, false),
            (192, Rule::ServerPriority, 0, false),
        ];
        for (number, rule, initial, required) in rows {
            let feature = Feature::from_number(FeatureNumber(number)).unwrap();
            assert_eq!(feature.number(), FeatureNumber(number));
            assert_eq!(feature.rule(), rule, "{number}");
            assert_eq!(Values::default().get(feature), initial, "{number}");
            assert_eq!(feature.is_required(), required, "{number}");
        }
        for unknown in [0, 10, 127, 129, 191, 193, 255] {
            assert_eq!(Feature::from_number(FeatureNumber(unknown)), None);
        }
    }

    /// D7.5-2 and D6-4: ranges of the non-negotiable values.
    #[test]
    fn ranges_of_non_negotiable_values() {
        let window = |value: u64| {
            let bytes = Feature::SequenceWindow.write(value);
            Feature::SequenceWindow.read(&bytes)
        };
        assert_eq!(window(31), None);
        assert_eq!(window(32), Some(32));
        assert_eq!(window((1 << 46) - 1), Some((1 << 46) - 1));
        assert_eq!(window(1 << 46), None);
        // The encoding of section 6.5: Change L(Sequence Window, 1024) = 32,9,3,0,0,0,0,4,0.
        assert_eq!(
            Feature::SequenceWindow.write(1024).as_slice(),
            [0, 0, 0, 0, 4, 0]
        );
        assert_eq!(Feature::SequenceWindow.read(&[4, 0]), None, "wrong length");
        assert_eq!(Feature::AckRatio.read(&[0, 0]), None);
        assert_eq!(Feature::AckRatio.read(&[0, 1]), Some(1));
        assert_eq!(Feature::AckRatio.read(&[3]), None);
        assert_eq!(Feature::AckRatio.read(&[0; 64]), None);
    }
}
