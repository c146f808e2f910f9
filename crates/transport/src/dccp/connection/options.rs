//! Processes the options of a received packet (step 8 of RFC 4340 section 8.5; sections 5.8 and 6).

use std::ops::ControlFlow;

use skywave_units::Instant;
use skywave_wire::dccp::{DccpOption, OptionOwner, OptionType, Packet, PacketType, ResetCode};

use super::{Connection, State};
use crate::dccp::Ccid;
use crate::dccp::ccid::{HcReceiver, HcSender};
use crate::dccp::features::{Changed, Context, Feature, Location};
use crate::dccp::half::Sender;
use crate::dccp::timing::PendingEcho;

/// The Init Cookie bytes that fit a packet together with everything else a client in PARTOPEN must
/// send: three options of maximum length.
const COOKIES_MAX: usize = 3 * 255;

impl Connection {
    /// Processes all options and returns the NDP Count, if present. Breaks if an option has reset
    /// the connection.
    pub(super) fn process_options(
        &mut self,
        now: Instant,
        packet: &Packet,
    ) -> ControlFlow<(), Option<u64>> {
        let kind = packet.kind.packet_type();
        // The cookies of a late, earlier Response do not match our acknowledgement number.
        let takes_cookies =
            kind == PacketType::Response && self.state < State::Open && packet.seq == self.seq.gsr;
        if packet.options.is_empty() && !takes_cookies {
            return ControlFlow::Continue(None);
        }
        let mut ndp_count = None;
        let mut mandatory = false;
        let mut negotiated = false;
        let mut cookies = Vec::new();
        let mut cookie_room = COOKIES_MAX;
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
                DccpOption::Change { .. } | DccpOption::Confirm { .. } => {
                    negotiated = true;
                    let context = Context {
                        seq: packet.seq,
                        ack: packet.kind.ack(),
                        mandatory,
                    };
                    let answer = self
                        .features
                        .on_option(&self.config, self.role, context, option);
                    match answer {
                        Ok(Some(changed)) => self.feature_changed(changed),
                        Ok(None) => {}
                        Err(refusal) => {
                            return self.reset_for_option(now, refusal.reset_code(), option);
                        }
                    }
                    true
                }
                DccpOption::InitCookie(cookie) if takes_cookies => {
                    let Some(rest) = cookie_room.checked_sub(option.encoded_len()) else {
                        return self.reset_for_option(now, ResetCode::OPTION_ERROR, option);
                    };
                    cookie_room = rest;
                    cookies.push(cookie.clone());
                    true
                }
                DccpOption::NdpCount { count, .. } => {
                    ndp_count = Some(*count);
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
                // The CCIDs read these; without an acknowledgement number they mean nothing.
                DccpOption::AckVector { .. }
                | DccpOption::DataDropped(_)
                | DccpOption::ElapsedTime(_)
                | DccpOption::QuickStartResponse { .. } => packet.kind.ack().is_some(),
                DccpOption::RttEstimate { .. } => self.features.peer.send_rtt_estimate,
                DccpOption::Other { .. }
                    if option.option_type() == OptionType::RTT_ESTIMATE
                        && self.features.peer.send_rtt_estimate =>
                {
                    // RFC 6323 section 3.3: Data 1 to 3 are the option's first three bytes,
                    // including its length.
                    let [kind, first, _] = option.reset_data();
                    let length = option.encoded_len() as u8;
                    self.reset(now, ResetCode::OPTION_ERROR, [kind, length, first]);
                    return ControlFlow::Break(());
                }
                // From the peer's receiving half to our sending half, whichever CCID is in force
                // (section 10.3).
                option if option.option_type().owner() == OptionOwner::HcReceiver => {
                    packet.kind.ack().is_some() && self.sender.reads(option)
                }
                DccpOption::DataChecksum(_) => self.checks_data(),
                DccpOption::Padding | DccpOption::TimestampEcho { .. } => true,
                // Options of other CCIDs, unknown types, invalid lengths, misplaced cookies.
                _ => false,
            };
            if mandatory && !understood {
                return self.reset_for_option(now, ResetCode::MANDATORY_ERROR, option);
            }
            mandatory = false;
        }
        if mandatory {
            // Section 5.8.2: no option follows it.
            return self.reset_for_option(now, ResetCode::OPTION_ERROR, &DccpOption::Mandatory);
        }
        if negotiated {
            self.features.packet_processed(packet.seq);
            self.features.ask_for_ccids(&self.config);
            self.watch_negotiation(now);
        }
        if takes_cookies {
            self.cookies = cookies.into();
        }
        ControlFlow::Continue(ndp_count)
    }

    /// Returns whether received Data Checksums are checked (section 9.3.1).
    pub(super) fn checks_data(&self) -> bool {
        self.config.check_data_checksum || self.features.here.check_data_checksum
    }

    fn feature_changed(&mut self, changed: Changed) {
        let Changed { feature, location } = changed;
        match (feature, location) {
            (Feature::AckRatio, Location::Here) => {
                self.sender.on_ack_ratio(self.features.here.ack_ratio);
            }
            (Feature::AckRatio, Location::Peer) => {
                self.receiver.on_ack_ratio(self.features.peer.ack_ratio);
            }
            (Feature::SendLossEventRate, Location::Here) => {
                let wanted = self.features.here.send_loss_event_rate;
                self.receiver.on_send_loss_event_rate(wanted);
            }
            (Feature::SendRttEstimate, Location::Peer) => {
                let is_sent = self.features.peer.send_rtt_estimate;
                self.receiver.on_send_rtt_estimate(is_sent);
            }
            (Feature::Ccid, Location::Here) => self.change_sender(),
            (Feature::Ccid, Location::Peer) => self.change_receiver(),
            // Their values are read when packets are sent or received.
            (Feature::SendLossEventRate, Location::Peer)
            | (Feature::SendRttEstimate, Location::Here)
            | (
                Feature::AllowShortSeqnos
                | Feature::SequenceWindow
                | Feature::EcnIncapable
                | Feature::SendAckVector
                | Feature::SendNdpCount
                | Feature::MinimumChecksumCoverage
                | Feature::CheckDataChecksum,
                _,
            ) => {}
        }
    }

    /// Restarts congestion control of our data with the CCID in force.
    pub(super) fn change_sender(&mut self) {
        let ccid = Ccid(self.features.here.ccid);
        if let Some(sender) = Sender::of(ccid, &self.config, self.mps()) {
            self.sender = sender;
            self.sender.on_ack_ratio(self.features.here.ack_ratio);
        }
        if let Some(rtt) = self.handshake.rtt {
            self.sender.on_handshake_rtt(rtt);
        }
    }

    /// Restarts congestion control of the peer's data with the CCID in force.
    pub(super) fn change_receiver(&mut self) {
        let ccid = Ccid(self.features.peer.ccid);
        if let Some(mechanism) = self.config.ccids.get(ccid) {
            self.ack_vector.set_kind(mechanism.row().vector);
            let ack_ratio = self.features.peer.ack_ratio;
            self.receiver = mechanism.receiver(&self.config.half_context(self.mps(), ack_ratio));
            let wanted = self.features.here.send_loss_event_rate;
            self.receiver.on_send_loss_event_rate(wanted);
        }
        if let Some(rtt) = self.handshake.rtt {
            self.receiver.on_rtt(rtt);
        }
    }

    /// Resets the connection because of `option`, which the Reset quotes (section 5.6).
    fn reset_for_option<T>(
        &mut self,
        now: Instant,
        code: ResetCode,
        option: &DccpOption,
    ) -> ControlFlow<(), T> {
        self.reset(now, code, option.reset_data());
        ControlFlow::Break(())
    }
}
