//! What a trace records.

use skywave_transport::dccp::{Congestion, Stats};
use skywave_units::{Duration, Rate};
use skywave_wire::Ecn;
use skywave_wire::dccp::{self, AckState, AckVectorCell, DccpOption};

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its type, such as `DCCP-DataAck`.
    pub kind: &'static str,
    /// The sequence number; `None` if the protocol has none.
    pub seq: Option<u64>,
    /// The packets that it acknowledges, as inclusive ranges, the latest first.
    pub acked: Vec<(u64, u64)>,
    /// Whether `seq` and `acked` have only the low 24 bits of DCCP's numbers.
    pub is_short: bool,
    /// Bytes from the transport's header on.
    pub length: u32,
    /// Bytes of application data.
    pub data: u32,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
}

impl Packet {
    /// Describes a DCCP packet.
    pub fn dccp(packet: &dccp::Packet, ecn: Ecn) -> Self {
        Self {
            kind: packet.kind.packet_type().name(),
            seq: Some(packet.seq.get()),
            acked: acked(packet),
            is_short: !packet.extended,
            length: packet.encoded_len() as u32,
            data: packet.payload.len() as u32,
            ecn,
        }
    }
}

/// Returns the packets that `packet` acknowledges: those that its Ack Vectors report as received
/// (RFC 4340 section 11.4), or that of its acknowledgement number.
fn acked(packet: &dccp::Packet) -> Vec<(u64, u64)> {
    let Some(ack) = packet.kind.ack() else {
        return Vec::new();
    };
    let vectors = packet.options.iter().filter_map(|option| match option {
        DccpOption::AckVector { cells, .. } => Some(cells),
        _ => None,
    });
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    let mut next = ack;
    for &byte in vectors.flat_map(|cells| cells.iter()) {
        let cell = AckVectorCell::from_byte(byte);
        let first = next.sub(u64::from(cell.packets()) - 1);
        if matches!(
            cell.state(),
            AckState::Received | AckState::ReceivedEcnMarked
        ) {
            match ranges.last_mut() {
                Some((lowest, _)) if *lowest == next.next().get() => *lowest = first.get(),
                _ => ranges.push((first.get(), next.get())),
            }
        }
        next = first.previous();
    }
    if ranges.is_empty() {
        ranges.push((ack.get(), ack.get()));
    }
    ranges
}

/// The state of congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// The window, for window-based control.
    pub window: Option<Window>,
    /// The rate at which packets may leave, for rate-based control.
    pub pacing_rate: Option<Rate>,
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Timeouts since the connection began.
    pub timeouts: u64,
    /// Data packets known to have been lost since the connection began; `None` if the sender does
    /// not learn of losses.
    pub lost: Option<u64>,
}

/// The state of window-based control, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold; may be infinite.
    pub ssthresh: f64,
    /// Outstanding packets, as the sender estimates them.
    pub pipe: u32,
}

impl From<&Stats> for Metrics {
    fn from(stats: &Stats) -> Self {
        let (window, pacing_rate, lost) = match stats.congestion {
            Congestion::Window(window) => {
                let lost = window.lost;
                let window = Window {
                    cwnd: window.cwnd,
                    ssthresh: window.ssthresh,
                    pipe: window.pipe,
                };
                (Some(window), None, Some(lost))
            }
            Congestion::Rate(rate) => (None, Some(rate.rate), None),
            _ => (None, None, None),
        };
        Self {
            window,
            pacing_rate,
            srtt: stats.srtt,
            timeouts: stats.timeouts,
            lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use skywave_wire::Payload;
    use skywave_wire::dccp::{Kind, OptionList, SeqNo};

    use super::*;

    fn ack(seq: u64, vector: &[(AckState, u8)]) -> dccp::Packet {
        let cells = vector.iter().map(|&(state, packets)| {
            let cell = AckVectorCell::new(state, packets).expect("1 to 64 packets");
            cell.byte()
        });
        let cells: Vec<u8> = cells.collect();
        let mut options = OptionList::new();
        if !cells.is_empty() {
            options.push(DccpOption::AckVector {
                nonce: false,
                cells: cells.as_slice().into(),
            });
        }
        dccp::Packet {
            source_port: 1,
            destination_port: 2,
            ccval: 0,
            cscov: 0,
            extended: true,
            seq: SeqNo::new(7),
            kind: Kind::Ack {
                ack: SeqNo::new(seq),
            },
            options,
            payload: Payload::EMPTY,
        }
    }

    // RFC 4340 section 11.4: the cells go back from the acknowledgement number.
    #[test]
    fn an_ack_vector_acknowledges_what_it_reports_as_received() {
        use AckState::{NotYetReceived, Received, ReceivedEcnMarked};
        let example = [
            (Received, 1),
            (NotYetReceived, 1),
            (Received, 4),
            (ReceivedEcnMarked, 1),
            (Received, 6),
        ];
        let packet = Packet::dccp(&ack(100, &example), Ecn::Ect0);
        assert_eq!(packet.acked, [(100, 100), (88, 98)]);
        assert_eq!((packet.kind, packet.seq), ("DCCP-Ack", Some(7)));
        let without = Packet::dccp(&ack(100, &[]), Ecn::Ect0);
        assert_eq!(without.acked, [(100, 100)]);
    }
}
