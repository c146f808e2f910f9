//! The arguments of calls to a control in Python, and its pacing: frozen objects, which Python code
//! can create too. `python/skywave/_core.pyi` documents the fields.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skywave_congestion as congestion;
use skywave_units::{Duration, Instant};

/// A frozen class of fields that Python reads; its constructor takes them by name, each with a
/// default.
macro_rules! value {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq)]
        #[pyclass(frozen, eq, get_all, module = "skywave.control", skip_from_py_object)]
        pub(crate) struct $name {
            $(pub(super) $field: $type,)*
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
    /// The properties of a connection at its start.
    Context {
        packet_size: u32 = 1000,
        initial_cwnd: f64 = 4.0,
        initial_ssthresh: f64 = f64::INFINITY,
        ns2: bool = false,
    }
);

value!(
    /// A data packet that leaves.
    Sent {
        now_s: f64 = 0.0,
        number: u64 = 0,
        size: u32 = 1000,
        in_flight: u32 = 1,
        application_limited: bool = false,
    }
);

value!(
    /// A data packet that has been acknowledged.
    AckedPacket {
        number: u64 = 0,
        sent_at_s: f64 = 0.0,
        transmissions: u32 = 1,
        ecn: u8 = 0,
    }
);

value!(
    /// A data packet that has been found lost.
    LostPacket {
        now_s: f64 = 0.0,
        number: u64 = 0,
        sent_at_s: f64 = 0.0,
        transmissions: u32 = 1,
    }
);

value!(
    /// Data packets that an acknowledgement reports as marked.
    MarkedPackets {
        now_s: f64 = 0.0,
        packets: u32 = 1,
        size: Option<u64> = None,
    }
);

value!(
    /// An acknowledgement.
    Ack {
        now_s: f64 = 0.0,
        newly_acked: u32 = 1,
        marked: u32 = 0,
        in_flight: u32 = 0,
        ack_ratio: u32 = 1,
        rtt_s: Option<f64> = None,
        delivery_rate_bps: Option<u64> = None,
        delivery_limited: bool = false,
        application_limited: bool = false,
        ecn_echo: bool = false,
    }
);

value!(
    /// What was acknowledged, marked and lost in a round-trip time.
    RoundTrip {
        now_s: f64 = 0.0,
        duration_s: f64 = 0.1,
        newly_acked: u32 = 1,
        acked_bytes: u64 = 1000,
        marked: u32 = 0,
        lost: u32 = 0,
        in_flight: u32 = 0,
        rtt_samples: u32 = 1,
        rtt_min_s: Option<f64> = None,
        rtt_mean_s: Option<f64> = None,
        delivery_rate_bps: Option<u64> = None,
        delivery_limited: bool = false,
        application_limited: bool = false,
        ecn_echo: bool = false,
    }
);

value!(
    /// One congestion event: packets were lost.
    Loss {
        now_s: f64 = 0.0,
        in_flight: u32 = 0,
        lost: u32 = 1,
        is_repeated: bool = false,
    }
);

value!(
    /// One congestion event: packets were marked.
    Mark {
        now_s: f64 = 0.0,
        in_flight: u32 = 0,
        marked: u32 = 1,
    }
);

value!(
    /// The retransmission timer has expired.
    Timeout {
        now_s: f64 = 0.0,
        in_flight: u32 = 0,
    }
);

/// How fast packets may leave: the number that leave together, and the time until the next ones.
#[derive(Clone, Copy, PartialEq)]
#[pyclass(frozen, eq, get_all, module = "skywave.control", skip_from_py_object)]
pub(crate) struct Pacing {
    interval_s: f64,
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
