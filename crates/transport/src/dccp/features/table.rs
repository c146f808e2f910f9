//! The features of RFC 4340 section 6.4 (table 4) and of CCIDs 3 and 4: their numbers, rules and
//! values.

use skywave_wire::dccp::FeatureNumber;

use crate::dccp::ccid::{Ccid, Features};

/// A feature that this implementation understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// Congestion Control ID (section 10).
    Ccid,
    /// Allow Short Sequence Numbers (section 7.6.1).
    AllowShortSeqnos,
    /// Sequence Window (section 7.5.2).
    SequenceWindow,
    /// ECN Incapable (section 12.1).
    EcnIncapable,
    /// Ack Ratio (section 11.3).
    AckRatio,
    /// Send Ack Vector (section 11.5).
    SendAckVector,
    /// Send NDP Count (section 7.7.2).
    SendNdpCount,
    /// Minimum Checksum Coverage (section 9.2.1).
    MinimumChecksumCoverage,
    /// Check Data Checksum (section 9.3.1).
    CheckDataChecksum,
    /// Send Loss Event Rate of CCIDs 3 and 4 (RFC 4342 section 8.4).
    SendLossEventRate,
    /// Send RTT Estimate of CCIDs 3 and 4 (RFC 6323 section 3.2.2).
    SendRttEstimate,
}

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
    /// The other endpoint.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Here => Self::Peer,
            Self::Peer => Self::Here,
        }
    }
}

impl Feature {
    /// The features that only some CCIDs use.
    pub(crate) const OF_CCIDS: [Self; 2] = [Self::SendLossEventRate, Self::SendRttEstimate];

    /// The feature with this number, if it is supported.
    pub(crate) const fn from_number(number: FeatureNumber) -> Option<Self> {
        Some(match number {
            FeatureNumber::CCID => Self::Ccid,
            FeatureNumber::ALLOW_SHORT_SEQNOS => Self::AllowShortSeqnos,
            FeatureNumber::SEQUENCE_WINDOW => Self::SequenceWindow,
            FeatureNumber::ECN_INCAPABLE => Self::EcnIncapable,
            FeatureNumber::ACK_RATIO => Self::AckRatio,
            FeatureNumber::SEND_ACK_VECTOR => Self::SendAckVector,
            FeatureNumber::SEND_NDP_COUNT => Self::SendNdpCount,
            FeatureNumber::MINIMUM_CHECKSUM_COVERAGE => Self::MinimumChecksumCoverage,
            FeatureNumber::CHECK_DATA_CHECKSUM => Self::CheckDataChecksum,
            FeatureNumber::SEND_LOSS_EVENT_RATE => Self::SendLossEventRate,
            FeatureNumber::SEND_RTT_ESTIMATE => Self::SendRttEstimate,
            _ => return None,
        })
    }

    /// Its number.
    pub(crate) const fn number(self) -> FeatureNumber {
        match self {
            Self::Ccid => FeatureNumber::CCID,
            Self::AllowShortSeqnos => FeatureNumber::ALLOW_SHORT_SEQNOS,
            Self::SequenceWindow => FeatureNumber::SEQUENCE_WINDOW,
            Self::EcnIncapable => FeatureNumber::ECN_INCAPABLE,
            Self::AckRatio => FeatureNumber::ACK_RATIO,
            Self::SendAckVector => FeatureNumber::SEND_ACK_VECTOR,
            Self::SendNdpCount => FeatureNumber::SEND_NDP_COUNT,
            Self::MinimumChecksumCoverage => FeatureNumber::MINIMUM_CHECKSUM_COVERAGE,
            Self::CheckDataChecksum => FeatureNumber::CHECK_DATA_CHECKSUM,
            Self::SendLossEventRate => FeatureNumber::SEND_LOSS_EVENT_RATE,
            Self::SendRttEstimate => FeatureNumber::SEND_RTT_ESTIMATE,
        }
    }

    /// The location of the CCID that the feature belongs to, for a feature at `location`; `None`
    /// for features of all CCIDs. Features of a receiving half belong to the CCID of the data that
    /// the other endpoint sends (section 10.3).
    pub(crate) const fn ccid_location(self, location: Location) -> Option<Location> {
        match self {
            Self::SendLossEventRate => Some(location.other()),
            Self::SendRttEstimate => Some(location),
            _ => None,
        }
    }

    /// Whether the feature is in use: it is one of a CCID's own `features`, or one of every
    /// connection's.
    pub(crate) const fn is_of(self, features: Features) -> bool {
        match self {
            Self::SendLossEventRate => features.loss_event_rate,
            Self::SendRttEstimate => features.rtt_estimate,
            _ => true,
        }
    }

    /// Its reconciliation rule.
    pub(crate) const fn rule(self) -> Rule {
        match self {
            Self::SequenceWindow | Self::AckRatio => Rule::NonNegotiable,
            _ => Rule::ServerPriority,
        }
    }

    /// Whether every DCCP must understand it (column "Req'd").
    pub(crate) const fn is_required(self) -> bool {
        matches!(
            self,
            Self::Ccid | Self::AllowShortSeqnos | Self::SequenceWindow
        )
    }

    /// Reads a non-negotiable value; `None` if its length or range is invalid.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<u64> {
        let (width, range) = match self {
            Self::SequenceWindow => (6, 32..1 << 46),
            // Section 6.6.8 calls an Ack Ratio of zero invalid; section 11.3 gives it a meaning
            // that no CCID here uses. Refuse it.
            Self::AckRatio => (2, 1..1 << 16),
            _ => (1, 0..1 << 8),
        };
        let value = bytes
            .iter()
            .fold(0u64, |value, &byte| (value << 8) | u64::from(byte));
        (bytes.len() == width && range.contains(&value)).then_some(value)
    }

    /// Writes one value.
    pub(crate) fn write(self, value: u64) -> skywave_wire::dccp::OptionBytes {
        let width = match self {
            Self::SequenceWindow => 6,
            Self::AckRatio => 2,
            _ => 1,
        };
        value.to_be_bytes()[8 - width..].iter().copied().collect()
    }
}

/// The values of all features at one location; initially those of table 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Values {
    /// Packets.
    pub(crate) sequence_window: u64,
    /// Data packets per acknowledgement.
    pub(crate) ack_ratio: u16,
    /// CCID number.
    pub(crate) ccid: u8,
    /// Zero or one.
    pub(crate) allow_short_seqnos: bool,
    /// Zero or one.
    pub(crate) ecn_incapable: bool,
    /// Zero or one.
    pub(crate) send_ack_vector: bool,
    /// Zero or one.
    pub(crate) send_ndp_count: bool,
    /// 0 to 15.
    pub(crate) minimum_checksum_coverage: u8,
    /// Zero or one.
    pub(crate) check_data_checksum: bool,
    /// Zero or one.
    pub(crate) send_loss_event_rate: bool,
    /// Zero or one.
    pub(crate) send_rtt_estimate: bool,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            sequence_window: 100,
            ack_ratio: 2,
            ccid: Ccid::INITIAL.0,
            allow_short_seqnos: false,
            ecn_incapable: false,
            send_ack_vector: false,
            send_ndp_count: false,
            minimum_checksum_coverage: 0,
            check_data_checksum: false,
            send_loss_event_rate: false,
            send_rtt_estimate: false,
        }
    }
}

impl Values {
    /// The value of `feature`, as a number.
    pub(crate) const fn get(&self, feature: Feature) -> u64 {
        match feature {
            Feature::Ccid => self.ccid as u64,
            Feature::AllowShortSeqnos => self.allow_short_seqnos as u64,
            Feature::SequenceWindow => self.sequence_window,
            Feature::EcnIncapable => self.ecn_incapable as u64,
            Feature::AckRatio => self.ack_ratio as u64,
            Feature::SendAckVector => self.send_ack_vector as u64,
            Feature::SendNdpCount => self.send_ndp_count as u64,
            Feature::MinimumChecksumCoverage => self.minimum_checksum_coverage as u64,
            Feature::CheckDataChecksum => self.check_data_checksum as u64,
            Feature::SendLossEventRate => self.send_loss_event_rate as u64,
            Feature::SendRttEstimate => self.send_rtt_estimate as u64,
        }
    }

    /// Sets `feature` to `value`, which must be valid.
    pub(crate) const fn set(&mut self, feature: Feature, value: u64) {
        match feature {
            Feature::Ccid => self.ccid = value as u8,
            Feature::AllowShortSeqnos => self.allow_short_seqnos = value != 0,
            Feature::SequenceWindow => self.sequence_window = value,
            Feature::EcnIncapable => self.ecn_incapable = value != 0,
            Feature::AckRatio => self.ack_ratio = value as u16,
            Feature::SendAckVector => self.send_ack_vector = value != 0,
            Feature::SendNdpCount => self.send_ndp_count = value != 0,
            Feature::MinimumChecksumCoverage => self.minimum_checksum_coverage = value as u8,
            Feature::CheckDataChecksum => self.check_data_checksum = value != 0,
            Feature::SendLossEventRate => self.send_loss_event_rate = value != 0,
            Feature::SendRttEstimate => self.send_rtt_estimate = value != 0,
        }
    }
}

/// Server-priority reconciliation (section 6.3.1); `None` if the lists share no entry.
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
