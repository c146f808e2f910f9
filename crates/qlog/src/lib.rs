//! qlog files of connections, for [qvis](https://qvis.quictools.info) and other tools that were made
//! for QUIC.
//!
//! A [`Trace`] writes one connection, as one of its ends sees it, as a sequence of JSON texts (RFC
//! 7464, file name `*.sqlog`): each [`Packet`] sent and received, and the [`Metrics`] of congestion
//! control when they change. The simulator and the sockets both write through it.
//!
//! qlog describes QUIC (draft-ietf-quic-qlog-main-schema-02, which qvis reads; it does not read
//! later drafts). DCCP and TCP are expressed in these terms:
//!
//! - `transport:packet_sent` and `transport:packet_received`. Each packet has the type `1RTT`,
//!   because QUIC numbers the packets of each type separately whereas DCCP has one sequence for all
//!   types. The packet number is the sequence number, extended to 48 bits (RFC 4340 section 7.6);
//!   for TCP, it is that of the segment's first byte. `raw.length` counts the bytes from the
//!   transport's header on, `raw.payload_length` the data.
//! - An acknowledgement is a frame `ack`. Its ranges are what a DCCP Ack Vector reports as
//!   received, or the acknowledgement number alone; for TCP, the number of the last byte
//!   acknowledged. Data is a frame `datagram`.
//! - Everything for which QUIC has no name is in the event's own field `skywave`: `type` is the
//!   packet's type, such as `DCCP-DataAck`, and `ecn` the ECN field of its IP header, such as
//!   `ECT(0)`.
//! - `recovery:metrics_updated`, with `smoothed_rtt` in milliseconds, `pacing_rate` in bits per
//!   second, and `congestion_window`, `ssthresh` and `bytes_in_flight` in bytes. CCID 2 counts
//!   packets, so these are packets times the mean data of the packets sent so far; the exact values
//!   are in `cwnd_packets`, `ssthresh_packets` and `packets_in_flight`. `lost_packets` and
//!   `timeouts` count since the connection began. An unknown or infinite value is absent.
//! - `recovery:loss_timer_updated`, `expired`: a timeout.
//! - `generic:internal_warning`: events are missing here because the writer was too slow.

mod packet;
mod trace;

pub use packet::{Metrics, Packet, Window};
pub use trace::{About, Trace, VantagePoint};
