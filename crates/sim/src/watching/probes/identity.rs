//! The meaning of the columns that say which packet a row is about.

pub(super) const PACKET: &str = "The number of the packet: all flows' packets are numbered from 0 in the order in which they are sent, as ns-2's traces do. A retransmission is another packet.";
pub(super) const KIND: &str =
    "The type of the packet, such as `TCP data`, `TCP ACK`, `DCCP-Data` or `UDP`.";
pub(super) const SEQ: &str = "Its sequence number: of a DCCP packet, or of the first byte of a TCP segment; 0 for UDP, which has none.";
pub(super) const BYTES: &str = "Its size, headers included.";
