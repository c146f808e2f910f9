//! Builds outgoing packets.

use skywave_units::Instant;
use skywave_wire::Payload;
use skywave_wire::dccp::{DccpOption, Kind, OptionList, Packet, PacketType, ResetCode, SeqNo};

use super::{Connection, State};
use crate::Transmit;
use crate::dccp::VectorKind;
use crate::dccp::ccid::{HcReceiver, HcSender, SentPacket};
use crate::dccp::timer::Timer;

/// The option bytes that data itself needs in a packet: a Data Checksum and a CCID's data options.
const DATA_OPTIONS: usize = 6 + 10;

/// The largest Sequence Window with which 24-bit numbers are used (section 7.6.2).
const SHORT_SEQNOS_WINDOW: u64 = 1 << 16;

/// The number of packets with acknowledgement options to look for in the peer's Ack Vectors. A data
/// sender acknowledges acknowledgements about once per window, so these cover many windows; the
/// packets of an endpoint that does so more often are acknowledged by number.
const CARRIERS: usize = 16;

/// The option bytes that fit a DataAck, which has the longest header of the packets that carry a
/// CCID's options: 255 words, minus the header (sections 5.1 and 5.5).
const OPTIONS_ROOM: usize = 1020 - 24;

impl Connection {
    /// Assigns a sequence number, adds options, and informs all parts of the connection that the
    /// packet leaves.
    pub(super) fn build(&mut self, now: Instant, kind: Kind, payload: Payload) -> Transmit<Packet> {
        self.build_any(now, kind, payload)
    }

    /// Builds a Data packet, as [`build`](Self::build) does. Most packets are Data packets, and few
    /// parts of the connection concern them.
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
        self.features.follow(self.seq.gsr, seq);
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
            // The options leave now, the data in its own packet (section 14).
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
        self.count_sent(now, packet_type, data, 1);
        if self.state == State::PartOpen {
            self.rearm_partopen(now);
            self.expect_end_of_partopen(now);
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
        if self.quick_start.is_some() {
            self.add_quick_start(now, seq, data.is_some());
        }
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
        if data.is_some() && self.discovery.is_some() {
            self.watch_sizes(now, seq, 1, packet.encoded_len());
        }
        Transmit { ecn, packet }
    }

    /// Returns whether a DataAck with `options` and `size` bytes of data fits the path.
    fn fits_path(&self, options: &OptionList, size: usize) -> bool {
        let options: usize = options.iter().map(DccpOption::encoded_len).sum();
        let header = PacketType::DataAck.fixed_header_len(true);
        let length = header + (options + DATA_OPTIONS).next_multiple_of(4) + size;
        length <= self.packet_limit()
    }

    /// Returns how many bytes of Ack Vector cells fit in `room` bytes of options, together with
    /// `options` and with what the CCID will add.
    fn room_for_cells(&self, room: usize, options: &OptionList) -> usize {
        // A Data Checksum, and the type and length bytes of the Ack Vector's options.
        const OTHERS: usize = 6 + 3 * 2;
        let used = options.iter().map(DccpOption::encoded_len).sum::<usize>();
        room.saturating_sub(used + OTHERS + self.receiver.ack_options_len())
    }

    /// Returns whether the Ack Vector fits the header of a packet.
    fn has_room_for_vector(&self, options: &OptionList) -> bool {
        self.ack_vector.len() <= self.room_for_cells(OPTIONS_ROOM, options)
    }

    /// Forgets the oldest packets if the Ack Vector is too long for the path: an Ack that no router
    /// carries reports nothing at all, and would be just as long the next time.
    fn fit_vector_to_path(&mut self, options: &OptionList) {
        let header = PacketType::DataAck.fixed_header_len(true);
        // Options are padded to whole words.
        let room = self.packet_limit().saturating_sub(header + 3);
        let cells = self.room_for_cells(room, options);
        self.ack_vector.keep_newest(cells);
    }

    /// Adds Change and Confirm options, on packet types that occur in every connection; never on
    /// Data (section 6).
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

    /// Adds the options that any packet may carry: NDP Count and Timestamp Echo.
    fn add_common(&mut self, now: Instant, options: &mut OptionList) {
        if self.features.here.send_ndp_count && self.non_data_run > 0 {
            options.push(DccpOption::ndp_count(self.non_data_run));
        }
        if let Some(echo) = self.echo.take() {
            options.push(echo.option(now));
        }
    }

    /// Adds the options that accompany an acknowledgement number.
    fn add_acknowledgement(
        &mut self,
        now: Instant,
        packet_type: PacketType,
        seq: SeqNo,
        ack: SeqNo,
        options: &mut OptionList,
    ) {
        // An Ack Vector cannot start at the acknowledgement number of a Sync or SyncAck.
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
        if is_wanted {
            self.fit_vector_to_path(options);
        }
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
            if let Some(exchange) = &mut self.quick_start {
                options.extend(exchange.take_response());
            }
            self.receiver.ack_options(now, options);
            self.receiver.on_ack_sent(now);
            self.outbox.ack = false;
        }
    }

    /// Counts `packets` sent, each with `data` bytes of data.
    pub(super) fn count_sent(
        &mut self,
        now: Instant,
        packet_type: PacketType,
        data: Option<u32>,
        packets: u64,
    ) {
        self.counters.packets_sent += packets;
        if let Some(bytes) = data {
            self.counters.data_packets_sent += packets;
            self.counters.bytes_sent += packets * u64::from(bytes);
            self.last_data = self.seq.gss;
            self.features.keep_ccid();
            self.expect_answer(now);
        }
        // Section 7.7: a Request or Response counts as a data packet, with or without data.
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

    /// Restarts the timer of section 8.1.5: "a roughly 200-millisecond timer, set every time a
    /// packet is transmitted in PARTOPEN".
    fn rearm_partopen(&mut self, now: Instant) {
        let interval = self
            .backoff
            .interval(self.config.partopen_retry, self.config.backoff_limit);
        self.timers.set(Timer::Retransmit, now + interval);
    }

    /// Returns CsCov of a data packet: partial only if the peer accepts it (section 9.2.1) and the
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

    /// Builds a Reset of this connection with the next sequence number.
    pub(super) fn build_reset(
        &mut self,
        now: Instant,
        code: ResetCode,
        data: [u8; 3],
    ) -> Box<Packet> {
        // Zero in REQUEST state, because there is nothing to acknowledge (section 8.1.1).
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

    /// Returns a packet to the peer without options or data.
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

/// Keeps only the low 24 bits of the sequence numbers (section 7.6).
fn shorten(packet: &mut Packet) {
    packet.extended = false;
    packet.seq = SeqNo::new(packet.seq.short().into());
    if let Kind::Ack { ack } | Kind::DataAck { ack } = &mut packet.kind {
        *ack = SeqNo::new(ack.short().into());
    }
}
