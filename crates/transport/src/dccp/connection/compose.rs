//! What stands in a packet that leaves.

use rand::Rng;
use skywave_units::Instant;
use skywave_wire::dccp::{DccpOption, Kind, OptionList, Packet, PacketType, ResetCode, SeqNo};
use skywave_wire::{Ecn, Payload};

use super::{Connection, State};
use crate::Transmit;
use crate::dccp::VectorKind;
use crate::dccp::ccid::{HcReceiver, HcSender, SentPacket};
use crate::dccp::timer::Timer;

/// Bytes of options that a data packet carries for its data: a Data Checksum, and a CCID's.
const DATA_OPTIONS: usize = 6 + 10;

/// Beyond this Sequence Window, 24-bit numbers are not used (section 7.6.2).
const SHORT_SEQNOS_WINDOW: u64 = 1 << 16;

/// Packets with acknowledgement options that are looked for in the peer's Ack Vectors. A sender of
/// data acknowledges acknowledgements about once in a window, so these last for many windows; an
/// endpoint that acknowledges more often has its packets acknowledged by number.
const CARRIERS: usize = 16;

/// Bytes of options that fit a DataAck, the longest of the packets that carry a CCID's options:
/// 255 words, less the header (sections 5.1 and 5.5).
const OPTIONS_ROOM: usize = 1020 - 24;

impl Connection {
    /// Numbers a packet, adds its options and tells everybody that it leaves.
    pub(super) fn build(&mut self, now: Instant, kind: Kind, payload: Payload) -> Transmit<Packet> {
        self.build_any(now, kind, payload)
    }

    /// As [`build`](Self::build), of a Data packet: most packets are, and have few of the parts.
    pub(super) fn build_data(&mut self, now: Instant, payload: Payload) -> Transmit<Packet> {
        self.build_any(now, Kind::Data, payload)
    }

    #[inline(always)]
    fn build_any(
        &mut self,
        now: Instant,
        mut kind: Kind,
        mut payload: Payload,
    ) -> Transmit<Packet> {
        let seq = self.seq.take_next();
        let packet_type = kind.packet_type();
        let ack = kind.ack();
        let mut options = OptionList::new();
        self.add_negotiation(now, packet_type, seq, &mut options);
        self.add_common(now, &mut options);
        if !self.cookies.is_empty() {
            options.extend(self.cookies.iter().cloned().map(DccpOption::InitCookie));
        }
        if let Some(ack) = ack {
            self.add_acknowledgement(now, packet_type, seq, ack, &mut options);
        }
        if let Kind::DataAck { ack } = kind
            && !self.fits_path(&options, payload.len())
        {
            // The options leave at once, the data by itself (section 14).
            self.send_queue.push_front(core::mem::take(&mut payload));
            self.waits_for_open = self.state == State::PartOpen;
            kind = Kind::Ack { ack };
        }
        let packet_type = kind.packet_type();
        let data = match packet_type {
            PacketType::Data | PacketType::DataAck => Some(payload.len() as u32),
            _ => None,
        };
        let mut ccval = 0;
        if data.is_some() {
            ccval = self.sender.ccval(now);
            self.sender.data_options(now, &mut options);
            if self.config.send_data_checksum {
                options.push(DccpOption::DataChecksum(payload.crc32c()));
            }
        }
        let is_sync = matches!(packet_type, PacketType::Sync | PacketType::SyncAck);
        if self.features.here.send_rtt_estimate && (data.is_some() || is_sync) {
            options.push(DccpOption::rtt_estimate(self.sender.srtt()));
        }
        let ecn = self.ecn(data.is_some());
        self.count_sent(packet_type, data, 1);
        if self.state == State::PartOpen {
            self.rearm_partopen(now);
        }
        self.sender.on_sent(
            now,
            &SentPacket {
                seq,
                data,
                ack,
                ecn,
                is_last: self.send_queue.is_empty(),
            },
        );
        let cscov = if data.is_some() {
            self.checksum_coverage(payload.len())
        } else {
            0
        };
        let mut packet = Packet {
            ccval,
            cscov,
            options,
            payload,
            ..self.empty_packet(kind, seq)
        };
        if self.uses_short_numbers(packet_type) {
            shorten(&mut packet);
        }
        Transmit { ecn, packet }
    }

    /// Whether the path takes a DataAck with `options` and that much data.
    fn fits_path(&self, options: &OptionList, size: usize) -> bool {
        let options: usize = options.iter().map(DccpOption::encoded_len).sum();
        let header = PacketType::DataAck.fixed_header_len(true);
        let length = header + (options + DATA_OPTIONS).next_multiple_of(4) + size;
        length <= self.packet_limit()
    }

    /// Whether the Ack Vector fits behind `options`, together with what the CCID will add.
    fn has_room_for_vector(&self, options: &OptionList) -> bool {
        // Data Checksum, and the type and length of the Ack Vector's options.
        const OTHERS: usize = 6 + 3 * 2;
        let used = options.iter().map(DccpOption::encoded_len).sum::<usize>();
        let others = OTHERS + self.receiver.ack_options_len();
        used + self.ack_vector.len() + others <= OPTIONS_ROOM
    }

    /// Change and Confirm, on packets of the types that flow in every connection; never on Data
    /// (section 6).
    fn add_negotiation(
        &mut self,
        now: Instant,
        packet_type: PacketType,
        seq: SeqNo,
        options: &mut OptionList,
    ) {
        let has_ack = match packet_type {
            PacketType::Request => false,
            PacketType::Response | PacketType::Ack | PacketType::DataAck => true,
            _ => return,
        };
        if self.features.is_due() || (has_ack && self.features.is_repeating()) {
            self.features.emit(seq, has_ack, options);
            self.watch_negotiation(now);
        }
    }

    /// Options that every packet may carry: NDP Count and Timestamp Echo.
    fn add_common(&mut self, now: Instant, options: &mut OptionList) {
        if self.features.here.send_ndp_count && self.non_data_run > 0 {
            options.push(DccpOption::ndp_count(self.non_data_run));
        }
        if let Some(echo) = self.echo.take() {
            options.push(echo.option(now));
        }
    }

    /// What goes with an acknowledgement number.
    fn add_acknowledgement(
        &mut self,
        now: Instant,
        packet_type: PacketType,
        seq: SeqNo,
        ack: SeqNo,
        options: &mut OptionList,
    ) {
        // A Sync's and a SyncAck's number is not where an Ack Vector would start.
        if matches!(packet_type, PacketType::Sync | PacketType::SyncAck) {
            return;
        }
        if let Some(dropped) = &mut self.dropped {
            options.extend(dropped.option(ack, seq));
        }
        if packet_type == PacketType::Response {
            return;
        }
        let is_wanted =
            self.features.here.send_ack_vector || self.ack_vector.kind() != VectorKind::Ack;
        if is_wanted && self.has_room_for_vector(options) {
            self.ack_vector.options(options);
            self.ack_vector.sent(seq);
        }
        if self.carriers.len() == CARRIERS {
            self.carriers.pop_front();
        }
        self.carriers.push_back(seq);
        if matches!(packet_type, PacketType::Ack | PacketType::DataAck) {
            if self.is_slow {
                options.push(DccpOption::SlowReceiver);
            }
            self.receiver.ack_options(now, options);
            self.receiver.on_ack_sent(now);
            self.outbox.ack = false;
        }
    }

    /// The ECN bits of a packet (section 12): a nonce on data where that is wanted, and a code of its
    /// own under CCIDs whose routers write such. What shares those routers without being data must
    /// not look as if it had one.
    pub(super) fn ecn(&mut self, is_data: bool) -> Ecn {
        let ours = self.sender.row().data_ecn;
        let has_theirs = self.ack_vector.kind() == VectorKind::Load;
        if self.config.ecn_incapable || self.features.peer.ecn_incapable {
            Ecn::NotEct
        } else if ours.is_some() || has_theirs {
            ours.filter(|_| is_data).unwrap_or_default()
        } else if is_data && self.config.ecn_nonces && self.rng.next_u64() & 1 == 1 {
            Ecn::Ect1
        } else {
            Ecn::Ect0
        }
    }

    /// Counts `packets` that leave, each with that much data.
    pub(super) fn count_sent(&mut self, packet_type: PacketType, data: Option<u32>, packets: u64) {
        self.counters.packets_sent += packets;
        if let Some(bytes) = data {
            self.counters.data_packets_sent += packets;
            self.counters.bytes_sent += packets * u64::from(bytes);
        }
        // Section 7.7: a Request or Response counts as a data packet, whatever it carries.
        let counts_as_data = matches!(
            packet_type,
            PacketType::Request | PacketType::Response | PacketType::Data | PacketType::DataAck
        );
        self.non_data_run = if counts_as_data {
            0
        } else {
            self.non_data_run + packets
        };
    }

    /// Section 8.1.5: "a roughly 200-millisecond timer, set every time a packet is transmitted in
    /// PARTOPEN".
    fn rearm_partopen(&mut self, now: Instant) {
        let interval = self
            .backoff
            .interval(self.config.partopen_retry, self.config.backoff_limit);
        self.timers.set(Timer::Retransmit, now + interval);
    }

    /// CsCov of a data packet: partial only where the peer accepts it (section 9.2.1) and the
    /// data is at least that long.
    fn checksum_coverage(&self, size: usize) -> u8 {
        let wanted = self.config.checksum_coverage.min(15);
        let minimum = self.features.peer.minimum_checksum_coverage;
        let accepted = wanted > 0 && minimum > 0 && wanted >= minimum;
        let fits = (usize::from(wanted).saturating_sub(1)) * 4 <= size;
        if accepted && fits { wanted } else { 0 }
    }

    fn uses_short_numbers(&self, packet_type: PacketType) -> bool {
        matches!(
            packet_type,
            PacketType::Data | PacketType::Ack | PacketType::DataAck
        ) && self.features.here.allow_short_seqnos
            && self.features.here.sequence_window <= SHORT_SEQNOS_WINDOW
            && self.features.peer.sequence_window <= SHORT_SEQNOS_WINDOW
    }

    /// A Reset of this connection, numbered now.
    pub(super) fn build_reset(
        &mut self,
        now: Instant,
        code: ResetCode,
        data: [u8; 3],
    ) -> Box<Packet> {
        // Zero in REQUEST state, where there is nothing to acknowledge (section 8.1.1).
        let ack = self.ack_number();
        let seq = self.seq.take_next();
        let mut options = OptionList::new();
        self.add_common(now, &mut options);
        options.extend(self.cookies.iter().cloned().map(DccpOption::InitCookie));
        Box::new(Packet {
            options,
            ..self.empty_packet(Kind::Reset { ack, code, data }, seq)
        })
    }

    /// A packet to the peer with neither options nor data.
    #[inline(always)]
    pub(super) fn empty_packet(&self, kind: Kind, seq: SeqNo) -> Packet {
        Packet {
            source_port: self.local_port,
            destination_port: self.remote_port,
            ccval: 0,
            cscov: 0,
            extended: true,
            seq,
            kind,
            options: OptionList::new(),
            payload: Payload::EMPTY,
        }
    }
}

/// Leaves only the low 24 bits of the numbers (section 7.6).
fn shorten(packet: &mut Packet) {
    packet.extended = false;
    packet.seq = SeqNo::new(packet.seq.low24().into());
    if let Kind::Ack { ack } | Kind::DataAck { ack } = &mut packet.kind {
        *ack = SeqNo::new(ack.low24().into());
    }
}
