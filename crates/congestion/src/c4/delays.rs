//! The nominal max RTT (section 3.2). Times are in seconds.

/// gamma: the weight of a new measurement that is no extreme.
const GAMMA: f64 = 1.0 / 8.0;
/// Jitter is high if the running min RTT is less than this fraction of the nominal max RTT (section
/// 4.3.1).
const HIGH_JITTER: f64 = 2.0 / 5.0;

/// Estimates the longest round-trip time that the path has without a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delays {
    /// The nominal max RTT; `None` before the first sample.
    pub(super) nominal_max: Option<f64>,
    /// The running min RTT.
    pub(super) running_min: f64,
    era_max: f64,
    era_min: f64,
}

impl Delays {
    pub(super) const fn new() -> Self {
        Self {
            nominal_max: None,
            running_min: f64::INFINITY,
            era_max: 0.0,
            era_min: f64::INFINITY,
        }
    }

    /// Takes a round-trip time sample. The first is the nominal max RTT (section 4.2).
    pub(super) fn on_sample(&mut self, rtt: f64) {
        if self.nominal_max.is_none() {
            self.nominal_max = Some(rtt);
            self.running_min = rtt;
        }
        self.era_max = self.era_max.max(rtt);
        self.era_min = self.era_min.min(rtt);
    }

    /// Begins an era.
    pub(super) const fn start_era(&mut self) {
        self.era_max = 0.0;
        self.era_min = f64::INFINITY;
    }

    /// Updates the estimates at the end of an era whose packets were sent at no more than the
    /// nominal rate.
    pub(super) fn end_era(&mut self, max_jitter: f64) {
        let Some(nominal_max) = &mut self.nominal_max else {
            return;
        };
        if self.era_min.is_infinite() {
            return;
        }
        self.running_min = if self.era_min < self.running_min {
            self.era_min
        } else {
            self.running_min + GAMMA * (self.era_min - self.running_min)
        };
        let era_max = self.era_max.min(self.running_min + max_jitter);
        *nominal_max = if era_max > *nominal_max {
            era_max
        } else {
            *nominal_max + GAMMA * (era_max - *nominal_max)
        };
    }

    /// Returns whether the jitter is high (section 4.3.1).
    pub(super) fn are_jittery(&self) -> bool {
        self.nominal_max
            .is_some_and(|nominal_max| self.running_min < HIGH_JITTER * nominal_max)
    }

    /// Reduces the nominal max RTT by `beta`, but not below the running min RTT, lest each later
    /// sample be excessive.
    pub(super) fn reduce(&mut self, beta: f64) {
        if let Some(nominal_max) = &mut self.nominal_max {
            let least = self.running_min.min(*nominal_max);
            *nominal_max = (*nominal_max * (1.0 - beta)).max(least);
        }
    }
}
