//! The one trait of every window algorithm.

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

/// One packet that has just been acknowledged for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckedPacket {
    /// Its place in the order of sending: DCCP's sequence number; for TCP the offset of its first
    /// byte in the stream.
    pub seq: u64,
    /// When it was sent; for TCP when it was sent last.
    pub sent_at: Instant,
    /// How often it was sent: more than once for TCP only. What was sent more than once gives no
    /// round-trip time (Karn's rule, RFC 6298 section 3).
    pub transmissions: u32,
    /// The ECN bits it carried when it reached the receiver, as far as the protocol reports them.
    pub ecn: Ecn,
}

/// What one acknowledgement brought, after its packets were reported one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSummary {
    /// When the acknowledgement arrived.
    pub now: Instant,
    /// Data packets acknowledged for the first time.
    pub newly_acked: u32,
    /// Data packets in flight after it, as far as the sender knows; after a timeout, those sent
    /// since.
    pub in_flight: u32,
    /// Data packets per acknowledgement that the receiver was asked for (DCCP's Ack Ratio; 1 for
    /// TCP).
    pub ack_ratio: u32,
    /// A round-trip time sample, where the acknowledgement gave one: of the last packet that it
    /// acknowledges, where [`WindowControl::wants_packets`].
    pub rtt: Option<Duration>,
    /// Whether the sender was held back by the application rather than by cwnd.
    pub application_limited: bool,
    /// Whether it carried TCP's ECN-Echo: cwnd does not grow by it (RFC 3168 section 6.1.2). Protocols
    /// that tell which packets were marked say so in [`AckedPacket::ecn`].
    pub ecn_echo: bool,
}

/// A window algorithm: how much may be in flight.
///
/// It is told of packets sent and acknowledged one by one, of loss or marks at most once per
/// window, and of timeouts; it answers with cwnd. Loss *detection* and *recovery* (Tahoe, Reno,
/// NewReno, SACK; DCCP's pipe and Ack Vector) belong to the transports. So every transport runs
/// with every algorithm.
///
/// Windows are real-valued and in packets (segments of full size for TCP).
pub trait WindowControl {
    /// A data packet leaves at `now`; `in_flight` counts it.
    fn on_sent(&mut self, now: Instant, in_flight: u32) {
        let _ = (now, in_flight);
    }

    /// Whether it has use for [`WindowControl::on_packet_acked`]. A transport that would have to
    /// keep a record of its packets only for that (TCP) asks once, when a connection begins, and
    /// keeps none where the answer is no.
    fn wants_packets(&self) -> bool {
        false
    }

    /// A data packet was acknowledged for the first time. Called for each packet of an
    /// acknowledgement, then [`WindowControl::on_ack`] once.
    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        let _ = packet;
    }

    /// An acknowledgement says with which ECN bits a packet came, and in its header at which place
    /// of a chain that was; called before its packets are reported, and for duplicates too. Only a
    /// transport says so whose packets have no sequence numbers to tell places by: TCP under MPCP.
    fn on_feedback(&mut self, now: Instant, place: u8, code: Ecn) {
        let _ = (now, place, code);
    }

    /// The place in a chain of MPCP that the header of the next packet is to tell; asked once for
    /// each packet, by such a transport.
    fn next_place(&mut self) -> u8 {
        0
    }

    /// An acknowledgement has been taken in whole.
    fn on_ack(&mut self, ack: &AckSummary);

    /// Packets were lost or marked; called at most once per window of data. `in_flight` is the
    /// number of data packets outstanding when it was noticed.
    fn on_congestion(&mut self, now: Instant, in_flight: u32);

    /// Packets were marked, and none was lost; called instead of [`WindowControl::on_congestion`] by
    /// transports that tell the two apart, for algorithms that do.
    fn on_mark(&mut self, now: Instant, in_flight: u32) {
        self.on_congestion(now, in_flight);
    }

    /// A packet was lost that had been sent again before: the first reduction was not enough. At
    /// most once per window of data; only a recovery that can tell says so.
    fn on_repeated_congestion(&mut self, now: Instant, in_flight: u32) {
        self.on_congestion(now, in_flight);
    }

    /// Duplicate acknowledgements let `packets` more into flight than cwnd allows, and the transport
    /// leaves it to the window to grow by them: only the recovery of ns-2's Vegas does.
    fn on_inflated(&mut self, packets: u32) {
        let _ = packets;
    }

    /// What [`WindowControl::on_inflated`] has added ends. It need not be called: ns-2's Vegas forgets
    /// to, where nothing has been added since a retransmission.
    fn on_deflated(&mut self) {}

    /// The retransmission timer (TCP) or the CCID's timeout expired.
    fn on_timeout(&mut self, now: Instant, in_flight: u32);

    /// The sender has been idle and starts afresh (RFC 5681 section 4.1).
    fn on_restart(&mut self, now: Instant) {
        let _ = now;
    }

    /// The receiving host could not keep up, whatever the network did: leave slow start, and take
    /// `dropped` packets off cwnd, one for each that it dropped in its buffer (RFC 4341 section
    /// 5.2; zero for DCCP's Slow Receiver).
    fn on_receiver_overload(&mut self, now: Instant, dropped: u32) {
        let _ = (now, dropped);
    }

    /// Lowers cwnd to at most `limit` packets and leaves ssthresh as it is: a loss recovery has
    /// ended with less in flight than cwnd allows, and the difference must not leave as a burst
    /// (RFC 6582 section 3.2, step 3, full acknowledgments).
    fn limit_cwnd(&mut self, limit: f64) {
        let _ = limit;
    }

    /// Congestion window, in packets.
    fn cwnd(&self) -> f64;

    /// Slow-start threshold, in packets; infinite where none has been set.
    fn ssthresh(&self) -> f64;

    /// Pacing: the earliest time at which the next data packet may leave; `None` for at once.
    fn earliest_departure(&self) -> Option<Instant> {
        None
    }
}
