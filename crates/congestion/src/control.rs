//! The one trait of every congestion control.

use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::{DeliveryRate, Pacing};

/// What a control asks a transport to keep and to report beyond the summary of each
/// acknowledgement, because keeping it costs memory for each packet. A transport asks once, when a
/// connection begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// [`Control::on_packet_acked`] for each packet.
    pub packets: bool,
    /// [`Ack::delivery_rate`].
    pub delivery_rate: bool,
}

/// A data packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When.
    pub now: Instant,
    /// Its place in the order of sending. For DCCP the sequence number of 48 bits, which begins anew
    /// at zero after 2^48 - 1 (RFC 4340 section 3.1), so that a later packet may have a lower one.
    /// For TCP the offset of its first byte in the stream, the first byte of data having 1: it never
    /// wraps, and a retransmission has it again.
    pub number: u64,
    /// Bytes of application data.
    pub bytes: u32,
    /// Data packets in flight, this one included.
    pub in_flight: u32,
    /// Whether the application has nothing more to send although cwnd has room.
    pub application_limited: bool,
}

/// One packet that has just been acknowledged for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckedPacket {
    /// [`Sent::number`]; of a TCP segment that was sent again in other pieces, that with which it was
    /// sent first.
    pub number: u64,
    /// When it was sent; for TCP when it was sent last.
    pub sent_at: Instant,
    /// How often it was sent: more than once for TCP only. What was sent more than once gives no
    /// round-trip time (Karn's rule, RFC 6298 section 3).
    pub transmissions: u32,
    /// The ECN bits it carried when it reached the receiver, as far as the protocol reports them.
    pub ecn: Ecn,
}

/// What one acknowledgement brought, after its packets were reported one by one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// When the acknowledgement arrived.
    pub now: Instant,
    /// Data packets acknowledged for the first time.
    pub newly_acked: u32,
    /// How many of them it reports as marked (CE), where the protocol tells which were: DCCP. TCP
    /// only says that some were, by [`Ack::ecn_echo`].
    pub marked: u32,
    /// Data packets in flight after it, as far as the sender knows; after a timeout, those sent
    /// since.
    pub in_flight: u32,
    /// Data packets per acknowledgement that the receiver was asked for (DCCP's Ack Ratio; 1 for
    /// TCP).
    pub ack_ratio: u32,
    /// A round-trip time sample, where the acknowledgement gave one.
    pub rtt: Option<Duration>,
    /// How fast data was delivered up to this acknowledgement, where [`Interests::delivery_rate`] and
    /// it can be told. Samples of acknowledgements that are not reported, such as TCP's duplicates,
    /// are not kept; what they delivered is in the later ones' [`DeliveryRate::total_delivered`].
    pub delivery_rate: Option<DeliveryRate>,
    /// Whether cwnd was not full: the application held the sender back, or the control's own pacing.
    /// Whether it was the application says [`DeliveryRate::is_application_limited`].
    pub application_limited: bool,
    /// Whether it carried TCP's ECN-Echo: cwnd does not grow by it (RFC 3168 section 6.1.2).
    pub ecn_echo: bool,
}

/// A loss that has been noticed: one congestion event, however many packets it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When it was noticed.
    pub now: Instant,
    /// Data packets outstanding then.
    pub in_flight: u32,
    /// How many packets are known to be lost, at least 1. Zero where [`Control::on_mark`] hands a
    /// mark on.
    pub lost: u32,
    /// Whether a packet was lost that had been sent again before, so that the last reduction was
    /// not enough. Only a TCP recovery that can tell says so.
    pub is_repeated: bool,
}

/// Marks that have been noticed, without a loss: one congestion event, however many packets were
/// marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When they were noticed.
    pub now: Instant,
    /// Data packets outstanding then.
    pub in_flight: u32,
    /// How many packets are known to be marked, at least 1.
    pub marked: u32,
}

/// A congestion control: how much may be in flight, and how fast it may leave.
///
/// A transport tells it what happens to packets, and asks for cwnd and the pacing. Loss *detection*
/// and *recovery* (Tahoe, Reno, NewReno, SACK; DCCP's pipe and Ack Vector) belong to the
/// transports, so every transport runs with every control.
///
/// The contract, which the tests of the feature `contract` hold a control to:
///
/// - Windows are in packets (segments of full size for TCP), finite, and above zero. They need not
///   be whole.
/// - Only [`Control::on_ack`] and [`Control::on_packet_acked`] let cwnd grow, and
///   [`Control::on_spurious_loss`] gives back at most what the last loss took. All else leaves at most
///   what was there before or in flight, or 2 packets.
/// - A control survives any order of calls, with times that do not decrease.
///
/// `examples/own_control.rs` is one that lives outside this project's crates.
pub trait Control {
    /// What it wants to be told that a transport would not keep without being asked.
    fn interests(&self) -> Interests {
        Interests::default()
    }

    /// A data packet leaves.
    fn on_sent(&mut self, sent: &Sent) {
        let _ = sent;
    }

    /// A data packet was acknowledged for the first time. Called for each packet of an
    /// acknowledgement, then [`Control::on_ack`] once. TCP calls it only
    /// where something needs a log of segments: [`Interests`], or a recovery that times them.
    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        let _ = packet;
    }

    /// An acknowledgement has been taken in whole.
    fn on_ack(&mut self, ack: &Ack);

    /// Packets were lost; called at most once per window of data.
    fn on_loss(&mut self, loss: &Loss);

    /// Packets were marked, and none was lost; called at most once per window of data. By default
    /// the answer is that to a loss (RFC 3168 section 5).
    fn on_mark(&mut self, mark: &Mark) {
        self.on_loss(&Loss {
            now: mark.now,
            in_flight: mark.in_flight,
            lost: 0,
            is_repeated: false,
        });
    }

    /// The retransmission timer (TCP) or the CCID's timeout expired, with `in_flight` packets
    /// outstanding.
    fn on_timeout(&mut self, now: Instant, in_flight: u32);

    /// What was taken for a loss was none: all packets of the last congestion event have arrived
    /// after all. CCID 2 can tell from its Ack Vectors; TCP here cannot.
    fn on_spurious_loss(&mut self, now: Instant) {
        let _ = now;
    }

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

    /// Lowers cwnd to at most `limit` packets, or to 1 where that is less, and leaves ssthresh as it is: a loss recovery has
    /// ended with less in flight than cwnd allows, and the difference must not leave as a burst
    /// (RFC 6582 section 3.2, step 3, full acknowledgments).
    fn limit_cwnd(&mut self, limit: f64);

    /// Congestion window, in packets.
    fn cwnd(&self) -> f64;

    /// Slow-start threshold, in packets; infinite where none has been set.
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    /// How packets are spread over time; `None` where they leave as soon as cwnd lets them. Asked
    /// for after each packet that leaves.
    fn pacing(&self) -> Option<Pacing> {
        None
    }

    /// Tells `record` the values inside that explain what it does, each by a name with its unit
    /// (`"bandwidth_bps"`, `"alpha"`), so that they can be recorded over time.
    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        let _ = record;
    }
}
