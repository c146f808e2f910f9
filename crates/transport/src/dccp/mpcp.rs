//! CCIDs 248, 249 and 250: VCP, DPCP and TPCP. They are CCID 2 with a window that obeys the routers'
//! load factor, told by one, two or three packets, instead of losses and marks. They are this
//! project's own; RFC 4340 section 10 leaves their numbers to experiments.
//!
//! - Data packets leave with the code point 01, low load; what carries no data leaves with 00, which
//!   routers let be.
//! - The receiver acknowledges as under CCID 2, but with Load Vectors instead of Ack Vectors: the
//!   same run-length cells with the code of each packet. They take no negotiation.
//! - A packet's place in its chain is its sequence number modulo the packets of a chain
//!   ([`place`]). Each packet has a number of its own, so no header has to be rewritten, and whatever
//!   is lost or overtaken, no place is mistaken.
//! - Both ends must be ECN capable.

use skywave_congestion::{ChainOrder, Mpcp, MpcpConfig, VcpConfig};
use skywave_wire::dccp::SeqNo;

use super::ackvec::VectorKind;
use super::{Config, ccid2};

/// The data-sending half of the CCID whose chains have `packets` packets, on a path with this Maximum
/// Packet Size.
pub(super) fn sender(config: &Config, packets: u8, mps: u32) -> ccid2::Sender {
    let window = Mpcp::new(MpcpConfig {
        vcp: VcpConfig {
            initial_cwnd: config.ccid2.initial_cwnd(mps),
            ..config.mpcp.vcp
        },
        packets,
        order: ChainOrder::SequenceNumbers,
        ..config.mpcp
    });
    let ratio = config.ack_ratio;
    ccid2::Sender::with_window(&config.ccid2, window.into(), ratio, VectorKind::Load)
}

/// The place of packet `seq` in a chain of `packets` packets: all that a router reads.
pub fn place(seq: SeqNo, packets: u8) -> u8 {
    (seq.get() % u64::from(packets.max(1))) as u8
}
