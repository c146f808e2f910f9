//! Parameters of DualPI2, and the values derived from them.

use skywave_units::Duration;

/// Parameters of DualPI2, with the names of RFC 9332 Figure 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Config {
    /// The coupling factor, above zero.
    pub k: f64,
    /// The target delay of the Classic queue.
    pub target: Duration,
    /// `Tupdate`: the period of updates of the base probability; above zero.
    pub t_update: Duration,
    /// The integral gain, in Hz.
    pub alpha: f64,
    /// The proportional gain, in Hz.
    pub beta: f64,
    /// `p_Cmax`: the Classic probability from which on Classic packets are dropped even if they
    /// could be marked. Default: 1/k^2, at most 1.
    pub p_c_max: Option<f64>,
    /// `minTh`: the delay of the L4S queue above which its native AQM marks.
    pub min_th: Duration,
    /// The width of the ramp between no mark and always a mark; zero makes it a step (Note c).
    pub range: Duration,
    /// `Th_len`: while the L4S queue has at most this many packets, its native AQM does not mark.
    pub th_len: u32,
    /// The maximum packet size in bytes: the room that a packet needs to be accepted; at least 1.
    pub mtu: u32,
    /// How the two queues share the link.
    pub scheduler: DualPi2Scheduler,
}

/// How L4S packets precede Classic ones without starving them (RFC 9332 section 4.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DualPi2Scheduler {
    /// Weighted round robin: while both queues are busy, L4S sends this many bytes per Classic
    /// byte.
    Wrr {
        /// The weight of L4S relative to Classic.
        weight: u32,
    },
    /// Time-shifted FIFO: the packet that has waited longest, biased against Classic packets.
    TsFifo {
        /// The maximum extra delay of a Classic packet.
        tshift: Duration,
    },
}

impl Default for DualPi2Config {
    /// Returns the values of RFC 9332 Appendix A for the public Internet, with WRR.
    fn default() -> Self {
        Self {
            k: 2.0,
            target: Duration::from_millis(15),
            t_update: Duration::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            p_c_max: None,
            min_th: Duration::from_micros(800),
            range: Duration::from_micros(400),
            th_len: 1,
            mtu: 1500,
            scheduler: DualPi2Scheduler::Wrr { weight: 15 },
        }
    }
}

impl DualPi2Config {
    /// Returns p_Cmax (RFC 9332 Figure 2, line 11).
    pub(super) fn p_c_max(&self) -> f64 {
        let at_saturation = (1.0 / (self.k * self.k)).min(1.0);
        self.p_c_max.unwrap_or(at_saturation)
    }

    /// Returns p'_L for a delay of the L4S queue (RFC 9332 Figure 5, `laqm`).
    pub(super) fn native_probability(&self, delay: Duration) -> f64 {
        if delay >= self.min_th + self.range {
            1.0
        } else if delay > self.min_th {
            (delay - self.min_th).as_secs_f64() / self.range.as_secs_f64()
        } else {
            0.0
        }
    }
}
