//! The values this endpoint wants for each feature, derived from its configuration.

use skywave_wire::dccp::OptionBytes;

use super::table::{Feature, Location};
use crate::dccp::Config;
use crate::dccp::ccid::{Ccid, Row};

/// Returns the values of a server-priority feature that this endpoint accepts, most preferred
/// first, if `ccid` is in force for the data it sends.
pub(crate) fn preferences(
    config: &Config,
    feature: Feature,
    location: Location,
    ccid: Ccid,
) -> OptionBytes {
    let yes_or_no = |wanted| if wanted { &[1, 0][..] } else { &[0][..] };
    let list: &[u8] = match (feature, location) {
        (Feature::Ccid, Location::Here) => return ccids(&config.sender_ccids),
        (Feature::Ccid, Location::Peer) => return ccids(&config.receiver_ccids),
        (Feature::AllowShortSeqnos, _) => yes_or_no(config.allow_short_seqnos),
        (Feature::EcnIncapable, Location::Here) => {
            if config.ecn_incapable {
                &[1]
            } else {
                &[0]
            }
        }
        (Feature::EcnIncapable, Location::Peer) => &[0, 1],
        (Feature::SendAckVector, Location::Here) => yes_or_no(config.send_ack_vector),
        (Feature::SendAckVector, Location::Peer) => {
            if config.ccids.row(ccid).features.ack_vector {
                &[1]
            } else {
                &[0, 1]
            }
        }
        (Feature::SendLossEventRate, _) | (Feature::SendRttEstimate, Location::Here) => &[1, 0],
        (Feature::SendRttEstimate, Location::Peer) => {
            if config.request_rtt_estimate {
                &[1, 0]
            } else {
                &[0, 1]
            }
        }
        (Feature::SendNdpCount, Location::Here) => &[1, 0],
        (Feature::SendNdpCount, Location::Peer) => {
            if config.request_ndp_count || counts_lost_data(config) {
                &[1, 0]
            } else {
                &[0, 1]
            }
        }
        (Feature::MinimumChecksumCoverage, location) => return coverages(config, location),
        (Feature::CheckDataChecksum, Location::Here) => yes_or_no(config.check_data_checksum),
        (Feature::CheckDataChecksum, Location::Peer) => &[1, 0],
        (Feature::SequenceWindow | Feature::AckRatio, _) => &[],
    };
    list.iter().copied().collect()
}

/// Returns whether the peer's data may use a CCID that counts lost data packets by sequence number.
fn counts_lost_data(config: &Config) -> bool {
    let mut rows = config
        .receiver_ccids
        .iter()
        .map(|&ccid| config.ccids.row(ccid));
    rows.any(|row| row.features.ndp_count)
}

/// Returns the list without duplicates, so that it fits an option.
fn ccids(list: &[Ccid]) -> OptionBytes {
    let mut numbers = OptionBytes::new();
    for number in list.iter().map(|ccid| ccid.0) {
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}

/// Returns the values of `ours` in the order of `theirs`; those that are only in `ours` come last.
pub(crate) fn in_order_of(theirs: &[u8], ours: &[u8]) -> OptionBytes {
    let shared = theirs.iter().filter(|value| ours.contains(value));
    let others = ours.iter().filter(|value| !theirs.contains(value));
    let mut ordered = OptionBytes::new();
    for &value in shared.chain(others) {
        if !ordered.contains(&value) {
            ordered.push(value);
        }
    }
    ordered
}

/// Returns the values of Minimum Checksum Coverage. For this endpoint: none smaller than the
/// configured coverage. For the peer: values that accept the coverage we send come first.
fn coverages(config: &Config, location: Location) -> OptionBytes {
    match location {
        Location::Here => match config.minimum_checksum_coverage {
            0 => OptionBytes::from_slice(&[0]),
            minimum => (minimum..16).chain([0]).collect(),
        },
        Location::Peer => {
            let sent = config.checksum_coverage.min(15);
            (1..=sent).rev().chain([0]).chain(sent + 1..16).collect()
        }
    }
}

/// Returns the Changes that open a connection: feature, location, value, and whether the Change is
/// Mandatory.
pub(crate) fn opening_changes(
    wishes: &Config,
) -> impl Iterator<Item = (Feature, Location, OptionBytes, bool)> + '_ {
    use Feature::*;
    use Location::*;
    // Connections begin with the initial CCID: who prefers it need not ask for it.
    let initial = crate::dccp::Ccid::INITIAL;
    let prefers_initial = |list: &[crate::dccp::Ccid]| list.first() == Some(&initial);
    let negotiated = [
        (Ccid, Here, !prefers_initial(&wishes.sender_ccids)),
        (Ccid, Peer, !prefers_initial(&wishes.receiver_ccids)),
        (AllowShortSeqnos, Here, wishes.allow_short_seqnos),
        (EcnIncapable, Here, wishes.ecn_incapable),
        (SendAckVector, Peer, prefers_initial(&wishes.sender_ccids)),
        (SendNdpCount, Peer, wishes.request_ndp_count),
        (
            MinimumChecksumCoverage,
            Here,
            wishes.minimum_checksum_coverage > 0,
        ),
        (MinimumChecksumCoverage, Peer, wishes.checksum_coverage > 0),
        (CheckDataChecksum, Peer, wishes.send_data_checksum),
    ];
    let declared = [
        (
            SequenceWindow,
            wishes.sequence_window,
            wishes.sequence_window != 100,
        ),
        (AckRatio, wishes.ack_ratio.into(), wishes.ack_ratio != 2),
    ];
    let negotiated =
        negotiated
            .into_iter()
            .filter(|&(.., wanted)| wanted)
            .map(move |(feature, location, _)| {
                let list = preferences(wishes, feature, location, initial);
                // If the initial value of table 4 is not acceptable, the peer must agree or reset
                // (sections 6.6.9 and 12.1).
                let mandatory = match feature {
                    Ccid => !list.contains(&initial.0),
                    EcnIncapable | SendAckVector => true,
                    _ => false,
                };
                (feature, location, list, mandatory)
            });
    let declared = declared
        .into_iter()
        .filter(|&(.., wanted)| wanted)
        .map(|(feature, value, _)| (feature, Here, feature.write(value), false));
    negotiated.chain(declared)
}

/// Returns the Changes to send once the CCID of the data sent from `location` is settled; earlier
/// ones might be taken for another CCID's (section 10.3). Each comes with the feature's location
/// and whether the peer must agree.
pub(crate) fn changes_for_ccid(
    row: &Row,
    location: Location,
) -> impl Iterator<Item = (Feature, Location, bool)> {
    use Feature::*;
    use Location::*;
    let features = row.features;
    let changes = match location {
        Here => [
            (features.ack_vector, SendAckVector, Peer, true),
            (features.loss_event_rate, SendLossEventRate, Peer, false),
            (false, SendNdpCount, Here, false),
        ],
        // The peer should ask for what its CCID 2 requires, but Linux does not if it offers several
        // CCIDs.
        Peer => [
            (features.ack_vector, SendAckVector, Here, false),
            (features.ndp_count, SendNdpCount, Peer, false),
            (features.rtt_estimate, SendRttEstimate, Peer, false),
        ],
    };
    changes
        .into_iter()
        .filter_map(|(has_it, feature, at, mandatory)| has_it.then_some((feature, at, mandatory)))
}
