//! Processes the application data of a received packet (step 16 of RFC 4340 section 8.5; sections
//! 9.2, 9.3 and 11.7).

use skywave_wire::Payload;
use skywave_wire::dccp::{DccpOption, Packet, PacketType, SeqNo};

use super::receive::carried_data;
use super::{Connection, Datagram};
use crate::dccp::data_dropped::DropCode;

impl Connection {
    /// Delivers the data to the application, or drops it and reports the reason to the peer.
    pub(super) fn accept_data(&mut self, packet: &mut Packet, is_corrupted: bool) {
        if carried_data(packet).is_none() {
            // Section 9.3: data is checked on packets of every type, and corruption is always
            // reported.
            if is_corrupted {
                self.drop_data(packet.seq, DropCode::Corrupt);
            }
            return;
        }
        let in_handshake = matches!(
            packet.kind.packet_type(),
            PacketType::Request | PacketType::Response
        );
        let may_not =
            (in_handshake && self.handshake_data_settled) || !self.accepts_coverage(packet.cscov);
        let refusal = if may_not {
            Some(DropCode::ProtocolConstraints)
        } else {
            self.refusal(is_corrupted, packet.payload.len())
        };
        match refusal {
            Some(code) => self.drop_data(packet.seq, code),
            None => {
                if is_corrupted {
                    self.report(packet.seq, DropCode::DeliveredCorrupt);
                }
                self.handshake_data_settled |= in_handshake;
                self.deliver(core::mem::take(&mut packet.payload), is_corrupted);
            }
        }
    }

    /// Delivers or drops data like [`accept_data`](Self::accept_data), for a Data packet without
    /// options whose checksum covers the data.
    #[inline(always)]
    pub(super) fn accept_plain_data(&mut self, seq: SeqNo, data: Payload) {
        match self.refusal(false, data.len()) {
            Some(code) => self.drop_data(seq, code),
            None => self.deliver(data, false),
        }
    }

    /// Returns the reason to refuse `bytes` of data, if any: the application takes none now, or the
    /// data is corrupted.
    #[inline(always)]
    fn refusal(&self, is_corrupted: bool, bytes: usize) -> Option<DropCode> {
        if !self.ecn_is_settled() {
            Some(DropCode::ProtocolConstraints)
        } else if !self.is_listening {
            Some(DropCode::NotListening)
        } else if is_corrupted && !self.config.deliver_corrupted {
            Some(DropCode::Corrupt)
        } else if !self.receive_queue.has_room(self.receive_limit(), bytes) {
            Some(DropCode::ReceiveBuffer)
        } else {
            None
        }
    }

    #[inline(always)]
    fn deliver(&mut self, payload: Payload, corrupted: bool) {
        self.counters.datagrams_delivered += 1;
        self.receive_queue
            .push_back(Datagram { payload, corrupted });
    }

    /// Returns whether the data fails its Data Checksum (section 9.3.1).
    pub(super) fn is_corrupted(&self, packet: &Packet) -> bool {
        self.checks_data()
            && packet.options.iter().any(|option| {
                matches!(option, DccpOption::DataChecksum(sum)
                    if *sum != packet.payload.crc32c())
            })
    }

    /// Returns whether the packet satisfies Minimum Checksum Coverage (section 9.2.1).
    const fn accepts_coverage(&self, cscov: u8) -> bool {
        let minimum = self.features.here.minimum_checksum_coverage;
        cscov == 0 || (minimum > 0 && cscov >= minimum)
    }

    /// Returns whether the peer knows our ECN capability. An ECN-incapable endpoint accepts no data
    /// before that (section 12.1).
    fn ecn_is_settled(&self) -> bool {
        !self.config.ecn_incapable || self.features.here.ecn_incapable
    }

    #[cold]
    fn drop_data(&mut self, seq: SeqNo, code: DropCode) {
        self.counters.datagrams_dropped += 1;
        self.report(seq, code);
    }

    fn report(&mut self, seq: SeqNo, code: DropCode) {
        self.dropped
            .get_or_insert_default()
            .record(seq, code, self.seq.gss);
    }
}
