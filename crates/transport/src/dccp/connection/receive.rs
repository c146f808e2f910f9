//! Processes a received packet: the sixteen steps of RFC 4340 section 8.5, one function each.
//!
//! Quoted comments are from the RFC's pseudocode. A step that ends with "drop packet and return"
//! breaks; all others continue.

use std::ops::ControlFlow;

use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::dccp::{Kind, OptionList, Packet, PacketType, ResetCode, SeqNo, ServiceCode};

use super::{Connection, Role, State};
use crate::dccp::ackvec::{Vector, vectors};
use crate::dccp::ccid::{HcReceiver, HcSender, ReceivedPacket};
use crate::dccp::{Event, Origin};

/// Whether to continue with the next step.
type Step = ControlFlow<()>;

/// What step 8 passes on to step 16.
struct Arrival {
    /// Whether this is the packet's first arrival.
    is_new: bool,
    /// Whether its data failed the Data Checksum.
    is_corrupted: bool,
}

const CONTINUE: Step = ControlFlow::Continue(());
const DROP: Step = ControlFlow::Break(());

impl Connection {
    /// Runs a packet through all steps.
    pub(super) fn process(&mut self, now: Instant, ecn: Ecn, packet: &mut Packet) {
        let _: Step = self.steps(now, ecn, packet);
    }

    fn steps(&mut self, now: Instant, ecn: Ecn, packet: &mut Packet) -> Step {
        let ecn = self.readable_ecn(ecn);
        self.step_1_check_header_basics(packet)?;
        self.step_2_check_ports_and_timewait(now, packet)?;
        let has_data = matches!(packet.kind, Kind::Data | Kind::DataAck { .. });
        if self.state == State::Open && has_data {
            // The remaining steps concern other states and types, which are far rarer.
            self.step_6_check_sequence_numbers(now, packet)?;
            let arrival = self.step_8_process_options(now, ecn, packet)?;
            self.step_16_process_data(packet, arrival);
            return CONTINUE;
        }
        self.step_3_process_listen(now, ecn, packet)?;
        self.step_4_prepare_request_numbers(now, packet)?;
        self.step_5_prepare_sync_numbers(now, packet)?;
        self.step_6_check_sequence_numbers(now, packet)?;
        self.step_7_check_unexpected_types(now, packet)?;
        let arrival = self.step_8_process_options(now, ecn, packet)?;
        self.step_9_process_reset(now, packet)?;
        self.step_10_finish_request(now, packet);
        self.step_11_process_respond(now, packet);
        self.step_12_process_partopen(now, packet);
        self.step_13_process_closereq(now, packet);
        self.step_14_process_close(now, packet)?;
        self.step_15_process_sync(now, packet);
        self.step_16_process_data(packet, arrival);
        CONTINUE
    }

    /// Hides ECN bits from an endpoint that cannot read them (section 12.1).
    pub(super) fn readable_ecn(&self, ecn: Ecn) -> Ecn {
        if self.config.ecn_incapable {
            Ecn::NotEct
        } else {
            ecn
        }
    }

    /// Performs "Step 1: Check header basics." Lengths and the checksum were checked when the
    /// packet was parsed.
    fn step_1_check_header_basics(&mut self, packet: &Packet) -> Step {
        let kind = packet.kind.packet_type();
        let may_be_short = matches!(
            kind,
            PacketType::Data | PacketType::Ack | PacketType::DataAck
        );
        if !(packet.extended || may_be_short) {
            return self.ignore();
        }
        CONTINUE
    }

    /// Performs "Step 2: Check ports and process TIMEWAIT state."
    fn step_2_check_ports_and_timewait(&mut self, now: Instant, packet: &Packet) -> Step {
        let is_ours = packet.destination_port == self.local_port
            && (self.state == State::Listen || packet.source_port == self.remote_port);
        // Ignore it silently, except in REQUEST state (RFC 5596 section 2.2.3). Its options and
        // data have no meaning.
        if packet.kind.packet_type() == PacketType::Listen {
            if is_ours {
                self.obey_listen();
            }
            return self.ignore();
        }
        if is_ours && !matches!(self.state, State::Closed | State::TimeWait) {
            return CONTINUE;
        }
        let nobody_listens = !is_ours && packet.kind.packet_type() == PacketType::Request;
        let code = if nobody_listens {
            ResetCode::CONNECTION_REFUSED
        } else {
            ResetCode::NO_CONNECTION
        };
        self.reset_stray(now, packet, code);
        self.ignore()
    }

    /// Performs "Step 3: Process LISTEN state", and steps 2a and 2b of RFC 5596 section 2.2.2.
    fn step_3_process_listen(&mut self, now: Instant, ecn: Ecn, packet: &Packet) -> Step {
        if !self.state.is_passive() {
            return CONTINUE;
        }
        let Kind::Request { service } = packet.kind else {
            self.reset_stray(now, packet, ResetCode::NO_CONNECTION);
            return self.ignore();
        };
        let is_offered = match self.state {
            State::Listen => self.config.service_codes.contains(&service),
            _ => service == self.service,
        };
        if service == ServiceCode::INVALID || !is_offered {
            self.reset_stray(now, packet, ResetCode::BAD_SERVICE_CODE);
            return self.ignore();
        }
        if ecn == Ecn::NotEct {
            self.ecn_path.fail();
        }
        self.enter_respond(now, packet.source_port, service);
        self.seq.start_receiving(packet.seq);
        CONTINUE
    }

    /// Performs "Step 4: Prepare sequence numbers in REQUEST."
    fn step_4_prepare_request_numbers(&mut self, now: Instant, packet: &Packet) -> Step {
        if self.state != State::Request {
            return CONTINUE;
        }
        if let Kind::Response { ack, .. } | Kind::Reset { ack, .. } = packet.kind
            && self.seq.ack_in_window(ack, self.windows())
        {
            self.seq.start_receiving(packet.seq);
            return CONTINUE;
        }
        // "Only Response and Reset are valid in REQUEST state." Our Request continues: the Reset
        // clears the peer's half-open connection (section 7.5.6).
        self.challenge_with_reset(now, packet);
        self.ignore()
    }

    /// Performs "Step 5: Prepare sequence numbers for Sync."
    fn step_5_prepare_sync_numbers(&mut self, now: Instant, packet: &Packet) -> Step {
        let (Kind::Sync { ack } | Kind::SyncAck { ack }) = packet.kind else {
            return CONTINUE;
        };
        // Section 7.5.3: a connection is active if it has received valid packets within the last
        // three round-trip times.
        let active = self.last_valid.is_some_and(|at| now - at <= self.rtt() * 3);
        if !self
            .seq
            .sync_is_valid(packet.seq, ack, self.windows(), active)
        {
            return self.ignore();
        }
        self.seq.update_gsr(packet.seq);
        CONTINUE
    }

    /// Performs "Step 6: Check sequence numbers."
    fn step_6_check_sequence_numbers(&mut self, now: Instant, packet: &mut Packet) -> Step {
        if !packet.extended {
            if !self.features.peer.allow_short_seqnos {
                return self.ignore();
            }
            packet.seq = SeqNo::extend(packet.seq.short(), self.seq.gsr);
            if let Kind::Ack { ack } | Kind::DataAck { ack } = &mut packet.kind {
                *ack = SeqNo::extend(ack.short(), self.seq.gss);
            }
        }
        let kind = packet.kind.packet_type();
        let ack = packet.kind.ack();
        let judged_in_step_5 = matches!(kind, PacketType::Sync | PacketType::SyncAck);
        if !judged_in_step_5 && !self.seq.is_valid(kind, packet.seq, ack, self.windows()) {
            let ack = if kind == PacketType::Reset {
                self.seq.gsr
            } else {
                packet.seq
            };
            self.send_sync(now, ack);
            return self.ignore();
        }
        self.seq.update_gsr(packet.seq);
        if let Some(ack) = ack
            && kind != PacketType::Sync
        {
            self.seq.update_gar(ack);
            if kind != PacketType::SyncAck {
                self.data_acked = self.data_acked.max(ack);
            }
        }
        self.features.follow(self.seq.gsr, self.seq.gss);
        self.last_valid = Some(now);
        CONTINUE
    }

    /// Performs "Step 7: Check for unexpected packet types."
    fn step_7_check_unexpected_types(&mut self, now: Instant, packet: &Packet) -> Step {
        let after_handshake =
            self.state >= State::Open && self.seq.osr.is_some_and(|osr| !packet.seq.is_before(osr));
        let unexpected = match packet.kind.packet_type() {
            PacketType::CloseReq => self.role == Role::Server,
            PacketType::Response => self.role == Role::Server || after_handshake,
            PacketType::Request => self.role == Role::Client || after_handshake,
            PacketType::Data => self.state == State::Respond,
            _ => false,
        };
        if unexpected {
            self.send_sync(now, packet.seq);
            return self.ignore();
        }
        CONTINUE
    }

    /// Performs "Step 8: Process options and mark acknowledgeable."
    fn step_8_process_options(
        &mut self,
        now: Instant,
        ecn: Ecn,
        packet: &Packet,
    ) -> ControlFlow<(), Arrival> {
        self.count_received(now, carried_data(packet), ecn, 1);
        let ndp_count = self.process_options(now, packet)?;
        let is_new = self.ack_vector.record(packet.seq, ecn);
        if !is_new {
            self.counters.duplicates += 1;
        }
        let is_corrupted = self.is_corrupted(packet);
        let ack = match packet.kind {
            // These numbers do not say what was received (section 5.7), or say what was refused
            // (section 8.3.1).
            Kind::Sync { .. } => None,
            Kind::Reset { code, .. } if code == ResetCode::NO_CONNECTION => None,
            kind => kind.ack(),
        };
        if let Some(ack) = ack {
            self.judge_acknowledgement(now, ack, &packet.options)?;
            self.take_in_acks_of_acks(ack, &packet.options);
            if let Some(discovery) = &mut self.discovery {
                discovery.acked(ack);
            }
            self.validate_ecn(ack, &packet.options);
        }
        let received = ReceivedPacket {
            seq: packet.seq,
            is_new,
            ack,
            data: carried_data(packet),
            is_corrupted,
            ccval: packet.ccval,
            ecn,
            ndp_count,
            options: &packet.options,
        };
        self.receiver.on_received(now, &received);
        self.sender.on_received(now, &received);
        if self.quick_start.is_some() {
            self.heed_quick_start(now, is_new, ack, &packet.options);
        }
        self.heed_congestion_control(now);
        ControlFlow::Continue(Arrival {
            is_new,
            is_corrupted,
        })
    }

    /// Lets congestion control act on what it has just learned.
    pub(super) fn heed_congestion_control(&mut self, now: Instant) {
        if let Some(rtt) = self.sender.srtt() {
            self.receiver.on_rtt(rtt);
        }
        if self.sender.peer_stopped_listening() && !self.peer_not_listening {
            self.peer_not_listening = true;
            self.discard_queued();
            self.events.push_back(Event::PeerNotListening);
        }
        self.declare_wishes(now);
    }

    /// Performs "Step 9: Process Reset."
    fn step_9_process_reset(&mut self, now: Instant, packet: &Packet) -> Step {
        let Kind::Reset { code, .. } = packet.kind else {
            return CONTINUE;
        };
        self.counters.resets_received += 1;
        self.enter_timewait(now);
        self.events.push_back(Event::Closed {
            code,
            origin: Origin::Remote,
        });
        DROP
    }

    /// Performs "Step 10: Process REQUEST state (second part)."
    fn step_10_finish_request(&mut self, now: Instant, packet: &Packet) {
        if self.state == State::Request
            && let Kind::Response { ack, .. } = packet.kind
        {
            self.sample_handshake(ack, now);
            self.enter_partopen(now);
        }
    }

    /// Performs "Step 11: Process RESPOND state."
    fn step_11_process_respond(&mut self, now: Instant, packet: &Packet) {
        if self.state != State::Respond {
            return;
        }
        if packet.kind.packet_type() == PacketType::Request {
            if self.handshake.has_begun() {
                self.ecn_path.fail();
            }
            self.outbox.response = true;
            return;
        }
        if let Some(ack) = packet.kind.ack() {
            self.sample_handshake(ack, now);
        }
        self.seq.osr = Some(packet.seq);
        self.enter_open(now);
        self.events.push_back(Event::Connected);
    }

    /// Performs "Step 12: Process PARTOPEN state."
    fn step_12_process_partopen(&mut self, now: Instant, packet: &Packet) {
        let kind = packet.kind.packet_type();
        if self.state == State::PartOpen {
            match kind {
                PacketType::Response => self.outbox.ack = true,
                PacketType::Sync => {}
                _ => {
                    self.seq.osr = Some(packet.seq);
                    self.enter_open(now);
                }
            }
        } else if let Kind::Ack { ack } = packet.kind
            && self.role == Role::Server
            && self.state == State::Open
        {
            // The client is then in PARTOPEN, and stays there until one of our packets shows that
            // the handshake is complete.
            self.outbox.ack |= self.handshake.has_ended_with(ack, now);
        }
    }

    /// Performs "Step 13: Process CloseReq."
    fn step_13_process_closereq(&mut self, now: Instant, packet: &Packet) {
        if packet.kind.packet_type() == PacketType::CloseReq && self.state < State::CloseReq {
            self.enter_closing(now);
        }
    }

    /// Performs "Step 14: Process Close."
    fn step_14_process_close(&mut self, now: Instant, packet: &Packet) -> Step {
        if packet.kind.packet_type() == PacketType::Close {
            self.reset(now, ResetCode::CLOSED, [0; 3]);
            return DROP;
        }
        CONTINUE
    }

    /// Performs "Step 15: Process Sync."
    fn step_15_process_sync(&mut self, now: Instant, packet: &Packet) {
        match packet.kind {
            Kind::Sync { .. } => {
                self.counters.syncs_received += 1;
                self.outbox.sync_ack = Some(packet.seq);
            }
            Kind::SyncAck { ack } => self.sync_acked(now, ack),
            _ => {}
        }
    }

    /// Performs "Step 16: Process data."
    fn step_16_process_data(&mut self, packet: &mut Packet, arrival: Arrival) {
        // Duplicates, and packets too old to be recognised as such, deliver no data.
        if arrival.is_new {
            self.accept_data(packet, arrival.is_corrupted);
        }
    }

    /// Forgets acknowledgement state that the peer has (section 11.1): state carried by one of our
    /// packets that this packet acknowledges, by number or in its Ack Vector.
    fn take_in_acks_of_acks(&mut self, ack: SeqNo, options: &OptionList) {
        let carriers = &self.carriers;
        let carrier = vectors(self.sender.row().vector, ack, options)
            .flat_map(Vector::runs)
            .take_while(|run| {
                let oldest = carriers.front();
                oldest.is_some_and(|oldest| !run.newest.is_before(*oldest))
            })
            .filter(|run| run.code.is_some())
            .find_map(|run| {
                let in_run = |carrier: &&SeqNo| carrier.is_within(run.oldest(), run.newest);
                carriers.iter().rev().find(in_run).copied()
            })
            .unwrap_or(ack);
        self.carriers.retain(|other| other.is_after(carrier));
        self.ack_vector.acked(carrier);
        if let Some(dropped) = &mut self.dropped {
            dropped.acked(carrier);
        }
    }

    /// Counts and drops a packet that failed a check.
    fn ignore(&mut self) -> Step {
        self.counters.invalid_packets += 1;
        DROP
    }

    /// Counts `packets` received, each with `data` bytes of data.
    pub(super) fn count_received(
        &mut self,
        now: Instant,
        data: Option<u32>,
        ecn: Ecn,
        packets: u64,
    ) {
        self.counters.packets_received += packets;
        if ecn.is_ce() {
            self.counters.ce_received += packets;
        }
        if let Some(bytes) = data {
            self.counters.data_packets_received += packets;
            self.counters.bytes_received += packets * u64::from(bytes);
            self.liveness.on_data_received(now);
        }
    }
}

/// Returns the number of bytes of application data; `None` if there is no datagram. An empty data
/// area is an empty datagram on Data and DataAck, but none on Request and Response (section 5.4).
pub(super) fn carried_data(packet: &Packet) -> Option<u32> {
    let length = u32::try_from(packet.payload.len()).unwrap_or(u32::MAX);
    match packet.kind {
        Kind::Data | Kind::DataAck { .. } => Some(length),
        Kind::Request { .. } | Kind::Response { .. } if length > 0 => Some(length),
        _ => None,
    }
}
