//! The trait implemented by every congestion control.

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::{DeliveryRate, MemberFailure, Pacing};

/// The data that a control needs beyond the summary of each acknowledgement. A transport keeps it
/// only on request, because it costs memory per packet. The transport asks once, when a connection
/// starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// Calls of [`Control::on_packet_acked`] and [`Control::on_packet_lost`] for each packet.
    pub packets: bool,
    /// [`Ack::delivery_rate`].
    pub delivery_rate: bool,
    /// Calls of [`Control::on_ack`] during a loss recovery too, and, with TCP's RACK-TLP, for
    /// acknowledgements that only report data out of order. The control then decides on cwnd in a
    /// recovery as well ([`Ack::recovering`]), instead of PRR (RFC 6937). DCCP always makes these
    /// calls.
    pub every_ack: bool,
    /// Calls of [`Control::on_ack`] for round-trip times that no other call gives: those of
    /// acknowledgements in a loss recovery, and with TCP's RACK-TLP of those that only report data
    /// out of order. [`Ack::newly_acked`] is zero in such a call.
    pub every_rtt: bool,
}

/// An outgoing data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// When it leaves.
    pub now: Instant,
    /// Its number in sending order. For DCCP it is the 48-bit sequence number, which wraps to zero
    /// after 2^48 - 1 (RFC 4340 section 3.1), so a later packet may have a lower number. For TCP it
    /// is the stream offset of the first byte, where the first byte of data is 1; it never wraps,
    /// and a retransmission has the same number.
    pub number: u64,
    /// Bytes of application data.
    pub bytes: u32,
    /// Data packets in flight, including this one.
    pub in_flight: u32,
    /// Whether the application has nothing more to send although cwnd has room.
    pub application_limited: bool,
}

impl Sent {
    /// Describes a packet sent by an application that has more to send.
    #[inline]
    pub const fn new(now: Instant, number: u64, bytes: u32, in_flight: u32) -> Self {
        Self {
            now,
            number,
            bytes,
            in_flight,
            application_limited: false,
        }
    }
}

/// A packet acknowledged for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AckedPacket {
    /// [`Sent::number`]. For a TCP segment retransmitted in different pieces, the number of its
    /// first transmission.
    pub number: u64,
    /// When it was sent; for TCP, last sent.
    pub sent_at: Instant,
    /// How often it was sent; more than once only for TCP. A packet sent more than once gives no
    /// round-trip time (Karn's rule, RFC 6298 section 3).
    pub transmissions: u32,
    /// The ECN bits with which it reached the receiver, as far as the protocol reports them.
    pub ecn: Ecn,
}

impl AckedPacket {
    /// Describes a packet that reached the receiver with `ecn`.
    #[inline]
    pub const fn new(number: u64, sent_at: Instant, transmissions: u32, ecn: Ecn) -> Self {
        Self {
            number,
            sent_at,
            transmissions,
            ecn,
        }
    }
}

/// A packet found lost. If it turns out to be merely late, it is acknowledged as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostPacket {
    /// When it was found lost.
    pub now: Instant,
    /// [`Sent::number`], as in [`AckedPacket::number`].
    pub number: u64,
    /// When it was sent; for TCP, last sent.
    pub sent_at: Instant,
    /// How often it was sent; more than once only for TCP.
    pub transmissions: u32,
}

impl LostPacket {
    /// Describes a packet found lost at `now`.
    pub const fn new(now: Instant, number: u64, sent_at: Instant, transmissions: u32) -> Self {
        Self {
            now,
            number,
            sent_at,
            transmissions,
        }
    }
}

/// Packets that one acknowledgement reports as marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MarkedPackets {
    /// When the acknowledgement arrived.
    pub now: Instant,
    /// The number of marked data packets. For TCP without Accurate ECN, the number of full segments
    /// acknowledged with ECN-Echo, counted like [`Ack::newly_acked`]: less than a segment counts as
    /// 0.
    pub packets: u32,
    /// Bytes of data in them, if the transport knows; DCCP does not.
    pub bytes: Option<u64>,
}

impl MarkedPackets {
    /// Describes `packets` marked packets, reported at `now`.
    pub const fn new(now: Instant, packets: u32, bytes: Option<u64>) -> Self {
        Self {
            now,
            packets,
            bytes,
        }
    }
}

/// The summary of an acknowledgement, reported after its individual packets.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ack {
    /// When the acknowledgement arrived.
    pub now: Instant,
    /// Data packets acknowledged for the first time.
    pub newly_acked: u32,
    /// How many marked packets (CE) the acknowledgement reports, if the protocol counts them: DCCP
    /// and Accurate ECN do; TCP's other feedback only reports that some were, in [`Ack::ecn_echo`].
    /// With Accurate ECN it may exceed `newly_acked`, which counts full segments. See
    /// [`Control::on_packets_marked`] for all of them.
    pub marked: u32,
    /// Data packets in flight after the acknowledgement, as far as the sender knows; after a
    /// timeout, only those sent since.
    pub in_flight: u32,
    /// The Ack Ratio requested from the receiver, in data packets per acknowledgement; 1 for TCP.
    pub ack_ratio: u32,
    /// A round-trip time sample, if the acknowledgement gives one.
    pub rtt: Option<Duration>,
    /// The delivery rate up to this acknowledgement, if requested in [`Interests::delivery_rate`]
    /// and measurable. Samples of acknowledgements that are not reported, such as TCP's duplicates,
    /// are dropped; their data is included in later samples' [`DeliveryRate::total_delivered`].
    pub delivery_rate: Option<DeliveryRate>,
    /// Whether cwnd had room because the application or the control's own pacing limited the
    /// sender. [`DeliveryRate::is_application_limited`] says whether the application did.
    pub application_limited: bool,
    /// Whether the acknowledgement carried TCP's ECN-Echo. If so, cwnd must not grow (RFC 3168
    /// section 6.1.2). Accurate ECN has no such echo.
    pub ecn_echo: bool,
    /// Whether a loss recovery of TCP is in progress after the acknowledgement. Only controls that
    /// ask for [`Interests::every_ack`] see it.
    pub recovering: bool,
}

impl Ack {
    /// Describes an acknowledgement without marks or samples that arrives while cwnd is full, with
    /// an Ack Ratio of 1.
    #[inline]
    pub const fn new(now: Instant, newly_acked: u32, in_flight: u32) -> Self {
        Self {
            now,
            newly_acked,
            marked: 0,
            in_flight,
            ack_ratio: 1,
            rtt: None,
            delivery_rate: None,
            application_limited: false,
            ecn_echo: false,
            recovering: false,
        }
    }

    /// Returns whether the acknowledgement reports marks in either way, so that a window that answers
    /// marks like losses must not grow (RFC 3168 section 6.1.2).
    #[inline]
    pub const fn reports_marks(&self) -> bool {
        self.ecn_echo || self.marked > 0
    }
}

/// A detected loss: one congestion event, regardless of the number of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// When it was detected.
    pub now: Instant,
    /// Data packets outstanding at that time.
    pub in_flight: u32,
    /// How many packets are known to be lost, at least 1. Zero if the default [`Control::on_mark`]
    /// forwards a mark.
    pub lost: u32,
    /// Whether a retransmitted packet was lost again, so that the last reduction was not enough.
    /// Set only by TCP recoveries that can detect this.
    pub is_repeated: bool,
}

impl Loss {
    /// Returns `mark` as a loss, for a control that treats marks like losses.
    pub const fn of_mark(mark: &Mark) -> Self {
        Self::new(mark.now, mark.in_flight, 0)
    }

    /// Describes a loss of `lost` packets, none of which was a retransmission.
    #[inline]
    pub const fn new(now: Instant, in_flight: u32, lost: u32) -> Self {
        Self {
            now,
            in_flight,
            lost,
            is_repeated: false,
        }
    }
}

/// Detected marks without a loss: one congestion event, regardless of the number of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// When they were detected.
    pub now: Instant,
    /// Data packets outstanding at that time.
    pub in_flight: u32,
    /// How many packets are known to be marked, at least 1.
    pub marked: u32,
}

impl Mark {
    /// Describes `marked` marks.
    #[inline]
    pub const fn new(now: Instant, in_flight: u32, marked: u32) -> Self {
        Self {
            now,
            in_flight,
            marked,
        }
    }
}

/// Returns the part of `in_flight` packets that the path has sustained: at most `cwnd`.
///
/// FlightSize includes packets that selective or duplicate acknowledgements have already reported,
/// and packets sent in response to them. After a long recovery it exceeds cwnd, and a fraction of
/// it would not be a reduction. RFC 5681 section 3.1 asks for no more than half of FlightSize, RFC
/// 9438 section 4.6 for a reduced cwnd.
pub(crate) fn borne(in_flight: u32, cwnd: f64) -> f64 {
    f64::from(in_flight).min(cwnd)
}

/// Returns a parameter clamped to `least..=most`; `least` if it is not a number.
pub(crate) const fn within(value: f64, least: f64, most: f64) -> f64 {
    if value >= least {
        value.min(most)
    } else {
        least
    }
}

/// Returns a window of `cwnd` bytes lowered to at most `limit` packets of `size` bytes each, or to one
/// if `limit` is less ([`Control::limit_cwnd`]).
pub(crate) fn lowered(cwnd: f64, limit: f64, size: f64) -> f64 {
    let limit = limit.max(1.0);
    let bytes = limit * size;
    // The product may be rounded up, and the window must not exceed the limit by that.
    let is_above = bytes / size > limit;
    cwnd.min(if is_above { bytes.next_down() } else { bytes })
}

/// Decides how much data may be in flight, and how fast it may leave.
///
/// A transport reports what happens to packets, and asks for cwnd and pacing. Loss *detection* and
/// *recovery* (Tahoe, Reno, NewReno, SACK; DCCP's pipe and Ack Vector) belong to the transports, so
/// every transport runs with every control.
///
/// Every control must satisfy this contract, which the `contract` feature tests:
///
/// - Windows are in packets (full-size segments for TCP), finite and above zero. They need not be
///   integers.
/// - Only [`Control::on_ack`] and [`Control::on_packet_acked`] may increase cwnd, except that
///   [`Control::on_handshake`] may set the initial window, and [`Control::on_spurious_loss`] may undo
///   the reduction of the last loss, but no more. After any other call, such as a response to congestion, cwnd is at most the larger of its previous value
///   and 2 packets, RFC 5681's minimum ssthresh.
/// - A control handles calls in any order, with times that never decrease.
///
/// See `examples/own_control.rs` for a control defined outside this project's crates.
pub trait Control {
    /// Returns the additional data that this control needs.
    fn interests(&self) -> Interests {
        Interests::default()
    }

    /// Reports the round-trip time of the connection's handshake, before any data is sent. TCP calls
    /// it unless a SYN was retransmitted; DCCP does not.
    fn on_handshake(&mut self, rtt: Duration) {
        let _ = rtt;
    }

    /// Reports that a data packet leaves.
    fn on_sent(&mut self, sent: &Sent) {
        let _ = sent;
    }

    /// Reports a data packet acknowledged for the first time. Called for each packet of an
    /// acknowledgement, before one call of [`Control::on_ack`]. TCP calls it only if it keeps a log
    /// of segments: for [`Interests`], or for a recovery that times them.
    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        let _ = packet;
    }

    /// Reports a lost data packet. Called at most once per transmission, before the call of
    /// [`Control::on_loss`] or [`Control::on_timeout`] that the loss causes. Losses found later in
    /// the same window of data cause neither call. TCP calls it under the conditions of
    /// [`Control::on_packet_acked`]. DCCP retransmits nothing, so its timeout reports no packets:
    /// later acknowledgements show which are lost.
    fn on_packet_lost(&mut self, packet: &LostPacket) {
        let _ = packet;
    }

    /// Reports the marks of an acknowledgement. It is called for every acknowledgement that reports
    /// marks, before [`Control::on_ack`] and before the [`Control::on_mark`] that it may cause;
    /// further marks in the same window of data cause no [`Control::on_mark`]. This lets a control
    /// respond to the number of marked packets, as DCTCP does (RFC 8257).
    ///
    /// DCCP and Accurate ECN report each marked packet once. DCTCP's receivers echo a mark in the
    /// acknowledgements of marked packets (RFC 8257 section 3.2). RFC 3168's repeat it in all acknowledgements
    /// until CWR arrives (RFC 3168 section 6.1.3), so everything acknowledged in the meantime
    /// counts as marked: an upper bound.
    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        let _ = marked;
    }

    /// Reports an acknowledgement, after its individual packets.
    fn on_ack(&mut self, ack: &Ack);

    /// Reports lost packets; called at most once per window of data.
    fn on_loss(&mut self, loss: &Loss);

    /// Reports marked packets when none was lost; called at most once per window of data. By
    /// default, a mark is treated like a loss (RFC 3168 section 5).
    fn on_mark(&mut self, mark: &Mark) {
        self.on_loss(&Loss::of_mark(mark));
    }

    /// Reports that the retransmission timer (TCP) or the CCID's timeout expired with `in_flight`
    /// packets outstanding.
    fn on_timeout(&mut self, now: Instant, in_flight: u32);

    /// Reports that the last loss or timeout was spurious: all packets of the last congestion event
    /// have arrived, or were on their way when the timer expired. CCID 2 detects such losses with
    /// its Ack Vectors, TCP such timeouts with F-RTO (RFC 5682).
    fn on_spurious_loss(&mut self, now: Instant) {
        let _ = now;
    }

    /// Reports that the sender restarts after being idle (RFC 5681 section 4.1).
    fn on_restart(&mut self, now: Instant) {
        let _ = now;
    }

    /// Reports that the receiving host, not the network, cannot keep up. The control should leave
    /// slow start and reduce cwnd by `dropped` packets, one per packet dropped in the host's buffer
    /// (RFC 4341 section 5.2; zero for DCCP's Slow Receiver).
    fn on_receiver_overload(&mut self, now: Instant, dropped: u32) {
        let _ = (now, dropped);
    }

    /// Lowers cwnd to at most `limit` packets (or 1, if `limit` is less) and leaves ssthresh
    /// unchanged. Called when a loss recovery ends with less in flight than cwnd permits, to
    /// prevent a burst (RFC 6582 section 3.2, step 3, full acknowledgments).
    fn limit_cwnd(&mut self, limit: f64);

    /// Lowers cwnd to at most `cwnd` packets and sets ssthresh to `ssthresh` packets, as congestion
    /// window validation decides (RFC 7661 sections 4.4.1 and 4.4.3). A control without ssthresh only
    /// lowers cwnd, as it does by default.
    fn on_validation(&mut self, cwnd: f64, ssthresh: f64) {
        let _ = ssthresh;
        self.limit_cwnd(cwnd);
    }

    /// Returns the congestion window, in packets.
    fn cwnd(&self) -> f64;

    /// Returns the slow-start threshold, in packets; infinite if unset.
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    /// Returns how to spread packets over time, or `None` to send as soon as cwnd permits. Called
    /// after each packet sent.
    fn pacing(&self) -> Option<Pacing> {
        None
    }

    /// Passes the control's internal values to `record`, each with a name that includes its unit
    /// (`"bandwidth_bps"`, `"alpha"`), so that they can be plotted over time.
    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        let _ = record;
    }

    /// Returns why the control can no longer decide, or `None` as long as it can. A failed control
    /// must still satisfy the contract. On a failure, DCCP resets the connection; a simulation
    /// ends.
    fn failure(&self) -> Option<MemberFailure> {
        None
    }
}
