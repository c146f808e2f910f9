//! The arguments of calls to a control in Python, and its pacing: frozen objects, which Python code
//! can create too. Their documentation is what `help` shows; `make schema` copies it into
//! `python/skywave/_core.pyi`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skywave_congestion as congestion;
use skywave_units::{Duration, Instant};

/// A name without a path, as the macro's defaults have it.
const INFINITY: f64 = f64::INFINITY;

/// A frozen class of fields that Python reads; its constructor takes them by name, each with a
/// default.
macro_rules! value {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:tt,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq)]
        #[pyclass(frozen, eq, get_all, module = "skywave.control", skip_from_py_object)]
        pub(crate) struct $name {
            $($(#[$field_doc])* pub(super) $field: $type,)*
        }

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (*, $($field = $default,)*))]
            #[allow(clippy::too_many_arguments, reason = "all are given by name")]
            const fn new($($field: $type),*) -> Self {
                Self { $($field),* }
            }

            fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
                let fields = [$(shown(slf.as_any(), stringify!($field))?),*];
                Ok(format!("{}({})", stringify!($name), fields.join(", ")))
            }
        }
    };
}

fn shown(object: &Bound<'_, PyAny>, field: &str) -> PyResult<String> {
    Ok(format!("{field}={}", object.getattr(field)?.repr()?))
}

value!(
    /// What a control knows about its connection at the start.
    Context {
        /// Bytes of application data in a full packet.
        packet_size: u32 = 1000,
        /// The initial cwnd, and the upper bound of cwnd after an idle period, in packets.
        initial_cwnd: f64 = 4.0,
        /// The initial ssthresh, in packets; infinite for "arbitrarily high".
        initial_ssthresh: f64 = INFINITY,
        /// Whether the connection emulates ns-2 where that deviates from the RFCs.
        ns2: bool = false,
    }
);

value!(
    /// A data packet that is being sent.
    Sent {
        /// The time, in seconds.
        now_s: f64 = 0.0,
        /// The packet's number in sending order.
        ///
        /// For DCCP, the 48-bit sequence number, which wraps to zero. For TCP, the stream offset of
        /// the first byte, starting at 1; a retransmission has the same number.
        number: u64 = 0,
        /// Bytes of application data.
        size: u32 = 1000,
        /// Data packets in flight, including this one.
        in_flight: u32 = 1,
        /// Whether the application has no more data although cwnd has room.
        application_limited: bool = false,
    }
);

value!(
    /// A data packet acknowledged for the first time.
    AckedPacket {
        /// The packet's number, as in :class:`Sent`.
        number: u64 = 0,
        /// When the packet was sent, in seconds; for TCP, when it was last sent.
        sent_at_s: f64 = 0.0,
        /// How often the packet was sent; can exceed 1 only for TCP.
        transmissions: u32 = 1,
        /// The ECN field on arrival, as far as the protocol reports it; 3 is CE.
        ecn: u8 = 0,
    }
);

value!(
    /// A data packet found lost. It may turn out to be late; then it is acknowledged as well.
    LostPacket {
        /// When it was found lost, in seconds.
        now_s: f64 = 0.0,
        /// The packet's number, as in :class:`Sent`.
        number: u64 = 0,
        /// When the packet was sent, in seconds; for TCP, when it was last sent.
        sent_at_s: f64 = 0.0,
        /// How often the packet was sent; can exceed 1 only for TCP.
        transmissions: u32 = 1,
    }
);

value!(
    /// Data packets that one acknowledgement reports as marked.
    MarkedPackets {
        /// When the acknowledgement arrived, in seconds.
        now_s: f64 = 0.0,
        /// How many. For TCP, counted as ``newly_acked`` is: 0 for less than a full segment.
        packets: u32 = 1,
        /// Bytes of data in them; None for DCCP, which does not know.
        size: Option<u64> = None,
    }
);

value!(
    /// An acknowledgement.
    Ack {
        /// When the acknowledgement arrived, in seconds.
        now_s: f64 = 0.0,
        /// Data packets acknowledged for the first time.
        newly_acked: u32 = 1,
        /// How many of them were marked (CE); for TCP see ``ecn_echo``.
        marked: u32 = 0,
        /// Data packets in flight afterwards, as far as the sender knows.
        in_flight: u32 = 0,
        /// The Ack Ratio requested from the receiver, in packets per acknowledgement; 1 for TCP.
        ack_ratio: u32 = 1,
        /// A sample of the round-trip time, in seconds, if there is one.
        rtt_s: Option<f64> = None,
        /// A sample of the delivery rate, in bit/s, if measured (``Control.delivery_rate``).
        delivery_rate_bps: Option<u64> = None,
        /// Whether the application limited that sample: the path may be faster.
        delivery_limited: bool = false,
        /// Whether cwnd was not full, because of the application or the control's pacing.
        application_limited: bool = false,
        /// Whether it carried TCP's ECN-Echo; if so, cwnd must not grow (RFC 3168 section 6.1.2).
        ecn_echo: bool = false,
    }
);

value!(
    /// What was acknowledged, marked and lost in about one round-trip time.
    ///
    /// A round ends with the acknowledgement of a packet sent after the round began.
    RoundTrip {
        /// When the round's last acknowledgement arrived, in seconds.
        now_s: f64 = 0.0,
        /// The length of the round, in seconds.
        duration_s: f64 = 0.1,
        /// Data packets acknowledged for the first time.
        newly_acked: u32 = 1,
        /// Bytes of application data delivered.
        acked_bytes: u64 = 1000,
        /// How many packets were marked (CE); for TCP see ``ecn_echo``.
        marked: u32 = 0,
        /// How many packets were detected as lost.
        lost: u32 = 0,
        /// Data packets in flight at the end of the round.
        in_flight: u32 = 0,
        /// The number of round-trip time samples.
        rtt_samples: u32 = 1,
        /// The smallest sample, in seconds.
        rtt_min_s: Option<f64> = None,
        /// The mean of the samples, in seconds.
        rtt_mean_s: Option<f64> = None,
        /// The last sample of the delivery rate, in bit/s; it covers about a round-trip time.
        delivery_rate_bps: Option<u64> = None,
        /// Whether the application limited that sample: the path may be faster.
        delivery_limited: bool = false,
        /// Whether cwnd was not full at any of the acknowledgements.
        application_limited: bool = false,
        /// Whether any acknowledgement carried TCP's ECN-Echo.
        ecn_echo: bool = false,
    }
);

value!(
    /// Loss of packets: one congestion event.
    Loss {
        /// When the loss was detected, in seconds.
        now_s: f64 = 0.0,
        /// Data packets outstanding at that time.
        in_flight: u32 = 0,
        /// How many packets are known to be lost; 0 if ``on_mark`` calls ``on_loss`` by default.
        lost: u32 = 1,
        /// Whether a retransmission was lost too; only some recoveries of TCP can tell.
        is_repeated: bool = false,
    }
);

value!(
    /// Marked packets, none of them lost: one congestion event.
    Mark {
        /// When the marks were detected, in seconds.
        now_s: f64 = 0.0,
        /// Data packets outstanding at that time.
        in_flight: u32 = 0,
        /// How many packets are known to be marked.
        marked: u32 = 1,
    }
);

value!(
    /// The retransmission timer (TCP) or the timeout of the CCID expired.
    Timeout {
        /// The time, in seconds.
        now_s: f64 = 0.0,
        /// Data packets outstanding at that time.
        in_flight: u32 = 0,
    }
);

/// How fast packets may leave: ``quantum`` packets at a time, ``interval_s`` seconds apart.
///
/// Packets here are full ones, as large as the largest that the connection has sent. Smaller
/// ones take less of the interval, in proportion to their bytes of data, and more of them leave
/// together.
///
/// Raises:
///     ValueError: If the interval is not within 0 to 3600 s, or the quantum is 0.
#[derive(Clone, Copy, PartialEq)]
#[pyclass(frozen, eq, get_all, module = "skywave.control", skip_from_py_object)]
pub(crate) struct Pacing {
    /// The time from one quantum to the next, in seconds.
    interval_s: f64,
    /// How many full packets may leave together.
    quantum: u32,
}

#[pymethods]
impl Pacing {
    #[new]
    #[pyo3(signature = (interval_s, quantum = 1))]
    fn new(interval_s: f64, quantum: u32) -> PyResult<Self> {
        let is_time = (0.0..=LONGEST_INTERVAL_S).contains(&interval_s);
        if !is_time {
            return Err(PyValueError::new_err(format!(
                "interval_s is {interval_s}: give seconds from 0 to {LONGEST_INTERVAL_S}"
            )));
        }
        if quantum == 0 {
            return Err(PyValueError::new_err("quantum is 0: give 1 packet or more"));
        }
        Ok(Self {
            interval_s,
            quantum,
        })
    }

    /// Return pacing at a rate, in full packets, with an interval of at most an hour.
    ///
    /// Raises:
    ///     ValueError: If the rate is not above 0.
    #[staticmethod]
    #[pyo3(signature = (packets_per_s, quantum = 1))]
    fn at_rate(packets_per_s: f64, quantum: u32) -> PyResult<Self> {
        let is_rate = packets_per_s > 0.0;
        if !is_rate {
            return Err(PyValueError::new_err(format!(
                "packets_per_s is {packets_per_s}: give a rate above 0"
            )));
        }
        let interval_s = (f64::from(quantum) / packets_per_s).min(LONGEST_INTERVAL_S);
        Self::new(Duration::from_secs_f64(interval_s).as_secs_f64(), quantum)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let fields = [
            shown(slf.as_any(), "interval_s")?,
            shown(slf.as_any(), "quantum")?,
        ];
        Ok(format!("Pacing({})", fields.join(", ")))
    }
}

/// The longest time that pacing may delay a packet: beyond it, a connection practically stops.
const LONGEST_INTERVAL_S: f64 = 3600.0;

impl Pacing {
    /// Returns the same for full packets with `packet_size` bytes of data.
    pub(super) fn in_bytes(self, packet_size: u32) -> congestion::Pacing {
        let interval = Duration::from_secs_f64(self.interval_s);
        congestion::Pacing::of_packets(interval, self.quantum, packet_size)
    }
}

impl From<&congestion::ControlContext> for Context {
    fn from(context: &congestion::ControlContext) -> Self {
        Self {
            packet_size: context.packet_size,
            initial_cwnd: context.initial_cwnd,
            initial_ssthresh: context.initial_ssthresh,
            ns2: context.ns2,
        }
    }
}

impl From<&congestion::Sent> for Sent {
    fn from(sent: &congestion::Sent) -> Self {
        Self {
            now_s: sent.now.as_secs_f64(),
            number: sent.number,
            size: sent.bytes,
            in_flight: sent.in_flight,
            application_limited: sent.application_limited,
        }
    }
}

impl From<&congestion::AckedPacket> for AckedPacket {
    fn from(packet: &congestion::AckedPacket) -> Self {
        Self {
            number: packet.number,
            sent_at_s: packet.sent_at.as_secs_f64(),
            transmissions: packet.transmissions,
            ecn: packet.ecn as u8,
        }
    }
}

impl From<&congestion::LostPacket> for LostPacket {
    fn from(packet: &congestion::LostPacket) -> Self {
        Self {
            now_s: packet.now.as_secs_f64(),
            number: packet.number,
            sent_at_s: packet.sent_at.as_secs_f64(),
            transmissions: packet.transmissions,
        }
    }
}

impl From<&congestion::MarkedPackets> for MarkedPackets {
    fn from(marked: &congestion::MarkedPackets) -> Self {
        Self {
            now_s: marked.now.as_secs_f64(),
            packets: marked.packets,
            size: marked.bytes,
        }
    }
}

impl From<&congestion::Ack> for Ack {
    fn from(ack: &congestion::Ack) -> Self {
        Self {
            now_s: ack.now.as_secs_f64(),
            newly_acked: ack.newly_acked,
            marked: ack.marked,
            in_flight: ack.in_flight,
            ack_ratio: ack.ack_ratio,
            rtt_s: ack.rtt.map(Duration::as_secs_f64),
            delivery_rate_bps: ack.delivery_rate.map(|sample| sample.rate().as_bps()),
            delivery_limited: ack
                .delivery_rate
                .is_some_and(|sample| sample.is_application_limited),
            application_limited: ack.application_limited,
            ecn_echo: ack.ecn_echo,
        }
    }
}

impl From<&congestion::Loss> for Loss {
    fn from(loss: &congestion::Loss) -> Self {
        Self {
            now_s: loss.now.as_secs_f64(),
            in_flight: loss.in_flight,
            lost: loss.lost,
            is_repeated: loss.is_repeated,
        }
    }
}

impl From<&congestion::Mark> for Mark {
    fn from(mark: &congestion::Mark) -> Self {
        Self {
            now_s: mark.now.as_secs_f64(),
            in_flight: mark.in_flight,
            marked: mark.marked,
        }
    }
}

impl Timeout {
    pub(super) fn at(now: Instant, in_flight: u32) -> Self {
        Self::new(now.as_secs_f64(), in_flight)
    }
}

/// Adds the classes to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Context>()?;
    module.add_class::<Sent>()?;
    module.add_class::<AckedPacket>()?;
    module.add_class::<LostPacket>()?;
    module.add_class::<MarkedPackets>()?;
    module.add_class::<Ack>()?;
    module.add_class::<RoundTrip>()?;
    module.add_class::<Loss>()?;
    module.add_class::<Mark>()?;
    module.add_class::<Timeout>()?;
    module.add_class::<Pacing>()
}
