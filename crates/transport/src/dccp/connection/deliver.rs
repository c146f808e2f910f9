//! Application data of a received packet (step 16 of RFC 4340 section 8.5; sections 9.2, 9.3 and
//! 11.7).

use skywave_wire::dccp::{DccpOption, Packet, PacketType};

use super::receive::carried_data;
use super::{Connection, Datagram};
use crate::dccp::data_dropped::DropCode;

impl Connection {
    /// Gives the data to the application, or drops it and lets the peer know why.
    pub(super) fn accept_data(&mut self, packet: &mut Packet, is_corrupted: bool) {
        if carried_data(packet).is_none() {
            // Section 9.3: checked on packets of every type, and reported all the same.
            if is_corrupted {
                self.drop_data(packet, DropCode::Corrupt);
            }
            return;
        }
        let in_handshake = matches!(
            packet.kind.packet_type(),
            PacketType::Request | PacketType::Response
        );
        let may_not = (in_handshake && self.handshake_data_settled)
            || !self.accepts_coverage(packet.cscov)
            || !self.ecn_is_settled();
        if may_not {
            self.drop_data(packet, DropCode::ProtocolConstraints);
        } else if !self.is_listening {
            self.drop_data(packet, DropCode::NotListening);
        } else if is_corrupted && !self.config.deliver_corrupted {
            self.drop_data(packet, DropCode::Corrupt);
        } else if self.receive_queue.len() >= self.config.receive_queue {
            self.drop_data(packet, DropCode::ReceiveBuffer);
        } else {
            if is_corrupted {
                self.report(packet, DropCode::DeliveredCorrupt);
            }
            self.handshake_data_settled |= in_handshake;
            self.counters.datagrams_delivered += 1;
            self.receive_queue.push_back(Datagram {
                payload: core::mem::take(&mut packet.payload),
                corrupted: is_corrupted,
            });
        }
    }

    /// Whether the data fails its Data Checksum (section 9.3.1).
    pub(super) fn is_corrupted(&self, packet: &Packet) -> bool {
        self.checks_data()
            && packet.options.iter().any(|option| {
                matches!(option, DccpOption::DataChecksum(sum)
                    if *sum != packet.payload.crc32c())
            })
    }

    /// Minimum Checksum Coverage (section 9.2.1).
    const fn accepts_coverage(&self, cscov: u8) -> bool {
        let minimum = self.features.here.minimum_checksum_coverage;
        cscov == 0 || (minimum > 0 && cscov >= minimum)
    }

    /// An endpoint that cannot do ECN takes no data before its peer knows (section 12.1).
    fn ecn_is_settled(&self) -> bool {
        !self.config.ecn_incapable || self.features.here.ecn_incapable
    }

    fn drop_data(&mut self, packet: &Packet, code: DropCode) {
        self.counters.datagrams_dropped += 1;
        self.report(packet, code);
    }

    fn report(&mut self, packet: &Packet, code: DropCode) {
        self.dropped
            .get_or_insert_default()
            .record(packet.seq, code, self.seq.gss);
    }
}
