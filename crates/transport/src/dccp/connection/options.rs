//! The options of a received packet (step 8 of RFC 4340 section 8.5; sections 5.8 and 6).

use std::ops::ControlFlow;

use skywave_units::Instant;
use skywave_wire::dccp::{DccpOption, ElapsedTime, Packet, PacketType, ResetCode};

use super::{Connection, State};
use crate::dccp::ccid::HcReceiver;
use crate::dccp::features::{Changed, Feature, Location, Received, Refusal};
use crate::dccp::timing::PendingEcho;

/// What the options say to the rest of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Digest {
    /// NDP Count.
    pub(super) ndp_count: Option<u64>,
}

impl Connection {
    /// Goes through the options in order. Breaks when one of them has reset the connection.
    pub(super) fn process_options(
        &mut self,
        now: Instant,
        packet: &Packet,
    ) -> ControlFlow<(), Digest> {
        let kind = packet.kind.packet_type();
        let mut digest = Digest::default();
        let mut mandatory = false;
        let mut negotiated = false;
        let mut cookies = Vec::new();
        for option in &packet.options {
            if kind == PacketType::Data && !option.is_allowed_on_data() {
                continue;
            }
            let understood = match option {
                DccpOption::Mandatory if mandatory => {
                    return self.reset_for_option(now, ResetCode::OPTION_ERROR, option);
                }
                DccpOption::Mandatory => {
                    mandatory = true;
                    continue;
                }
                DccpOption::Change {
                    side,
                    feature,
                    value,
                }
                | DccpOption::Confirm {
                    side,
                    feature,
                    value,
                } => {
                    negotiated = true;
                    let received = Received {
                        seq: packet.seq,
                        ack: packet.kind.ack(),
                        side: *side,
                        feature: *feature,
                        value,
                        mandatory,
                    };
                    let answer = match option {
                        DccpOption::Change { .. } => {
                            self.features.on_change(&self.config, self.role, &received)
                        }
                        _ => self.features.on_confirm(self.role, &received),
                    };
                    match answer {
                        Ok(Some(changed)) => self.feature_changed(changed),
                        Ok(None) => {}
                        Err(Refusal::OptionError) => {
                            return self.reset_for_option(now, ResetCode::OPTION_ERROR, option);
                        }
                        Err(Refusal::MandatoryError) => {
                            return self.reset_for_option(now, ResetCode::MANDATORY_ERROR, option);
                        }
                    }
                    true
                }
                DccpOption::InitCookie(cookie) => {
                    let expected = kind == PacketType::Response && self.state < State::Open;
                    if expected {
                        cookies.push(cookie.clone());
                    }
                    expected
                }
                DccpOption::NdpCount { count, .. } => {
                    digest.ndp_count = Some(*count);
                    true
                }
                DccpOption::Timestamp(value) => {
                    self.echo = Some(PendingEcho {
                        value: *value,
                        arrived: now,
                    });
                    true
                }
                DccpOption::SlowReceiver => {
                    self.counters.slow_receiver_reports += 1;
                    true
                }
                // For the CCIDs; without an acknowledgement number they mean nothing.
                DccpOption::AckVector { .. }
                | DccpOption::DataDropped(_)
                | DccpOption::ElapsedTime(_) => packet.kind.ack().is_some(),
                DccpOption::DataChecksum(_) => self.checks_data(),
                DccpOption::Padding | DccpOption::TimestampEcho { .. } => true,
                // Options of other CCIDs, unknown types and impossible lengths.
                _ => false,
            };
            if mandatory && !understood {
                return self.reset_for_option(now, ResetCode::MANDATORY_ERROR, option);
            }
            mandatory = false;
        }
        if mandatory {
            // Section 5.8.2: nothing follows it.
            return self.reset_for_option(now, ResetCode::OPTION_ERROR, &DccpOption::Mandatory);
        }
        if negotiated {
            self.features.packet_processed(packet.seq);
            self.watch_negotiation(now);
        }
        if kind == PacketType::Response && self.state < State::Open {
            self.cookies = cookies;
        }
        ControlFlow::Continue(digest)
    }

    /// Whether received Data Checksums are checked (section 9.3.1).
    pub(super) fn checks_data(&self) -> bool {
        self.config.check_data_checksum || self.features.here.check_data_checksum
    }

    fn feature_changed(&mut self, changed: Changed) {
        if let Changed {
            feature: Feature::AckRatio,
            location: Location::Peer,
        } = changed
        {
            self.receiver.on_ack_ratio(self.features.peer.ack_ratio);
        }
    }

    /// Resets the connection because of `option`; Data 1 to 3 are its type and first two bytes
    /// (section 5.6).
    fn reset_for_option<T>(
        &mut self,
        now: Instant,
        code: ResetCode,
        option: &DccpOption,
    ) -> ControlFlow<(), T> {
        let [first, second] = first_bytes(option);
        self.reset(now, code, [option.type_number(), first, second]);
        ControlFlow::Break(())
    }
}

/// The first two bytes of an option's data, zero where it has fewer.
fn first_bytes(option: &DccpOption) -> [u8; 2] {
    let of_slice = |bytes: &[u8]| {
        [
            bytes.first().copied().unwrap_or_default(),
            bytes.get(1).copied().unwrap_or_default(),
        ]
    };
    let of_word = |word: u32| of_slice(&word.to_be_bytes());
    match option {
        DccpOption::Change { feature, value, .. } | DccpOption::Confirm { feature, value, .. } => {
            [feature.0, value.first().copied().unwrap_or_default()]
        }
        DccpOption::InitCookie(bytes) | DccpOption::DataDropped(bytes) => of_slice(bytes),
        DccpOption::AckVector { cells, .. } => of_slice(cells),
        DccpOption::Other {
            value: Some(value), ..
        } => of_slice(value),
        DccpOption::DataChecksum(word)
        | DccpOption::LossEventRate(word)
        | DccpOption::ReceiveRate(word) => of_word(*word),
        DccpOption::LossIntervals {
            skip_length,
            intervals,
        } => {
            let lossless = intervals
                .first()
                .map_or(0, |interval| interval.lossless_length);
            [*skip_length, (lossless >> 16) as u8]
        }
        DccpOption::DroppedPackets(counts) => {
            let count = counts.first().copied().unwrap_or_default();
            [(count >> 16) as u8, (count >> 8) as u8]
        }
        DccpOption::ElapsedTime(elapsed) => match elapsed {
            ElapsedTime::Short(units) => units.to_be_bytes(),
            ElapsedTime::Long(units) => of_word(*units),
        },
        _ => [0; 2],
    }
}
