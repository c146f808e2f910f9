//! Packets that belong to no connection (RFC 4340 section 8.3.1).

use skywave_units::Instant;
use skywave_wire::Payload;
use skywave_wire::dccp::{Kind, OptionList, Packet, ResetCode, SeqNo};

use super::timer::RateLimit;

/// Answers packets that belong to no connection with Resets, at a limited rate (RFC 4340 sections
/// 8.1.3 and 8.3.1).
///
/// A [`Connection`](super::Connection) does this for packets passed to it. A driver that keeps a
/// table of connections uses this for packets that match none.
#[derive(Clone, Debug, Default)]
pub struct Strays {
    limit: RateLimit,
}

impl Strays {
    /// Returns the Reset in response to `packet`; `None` if `packet` is itself a Reset, or if
    /// `per_second` Resets have left within this second.
    pub fn answer(
        &mut self,
        now: Instant,
        packet: &Packet,
        code: ResetCode,
        per_second: u32,
    ) -> Option<Packet> {
        if matches!(packet.kind, Kind::Reset { .. }) || !self.limit.allows(now, per_second) {
            return None;
        }
        // Short numbers have only the low 24 bits: the upper ones stay zero.
        let seq = packet.kind.ack().map_or(SeqNo::ZERO, SeqNo::next);
        let seq = if packet.extended {
            seq
        } else {
            SeqNo::new(seq.short().into())
        };
        // A Packet Error quotes the packet's type (section 5.6).
        let data = match code {
            ResetCode::PACKET_ERROR => [packet.kind.packet_type() as u8, 0, 0],
            _ => [0; 3],
        };
        Some(bare_reset(packet, seq, code, data))
    }

    /// Returns whether another Reset without a connection may leave, and counts it if so.
    pub(super) const fn allows(&mut self, now: Instant, per_second: u32) -> bool {
        self.limit.allows(now, per_second)
    }
}

/// Creates a Reset in response to `packet`, outside any connection.
pub(super) fn bare_reset(packet: &Packet, seq: SeqNo, code: ResetCode, data: [u8; 3]) -> Packet {
    Packet {
        source_port: packet.destination_port,
        destination_port: packet.source_port,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq,
        kind: Kind::Reset {
            ack: packet.seq,
            code,
            data,
        },
        options: OptionList::new(),
        payload: Payload::EMPTY,
    }
}
