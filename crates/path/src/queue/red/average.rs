//! RED's average queue.

use skywave_units::Duration;

/// An exponentially weighted moving average over arrivals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Average {
    value: f64,
    weight: f64,
    /// The link's rate in packets of mean size per second.
    packets_per_second: f64,
}

impl Average {
    pub(super) const fn new(weight: f64, packets_per_second: f64) -> Self {
        Self {
            value: 0.0,
            weight,
            packets_per_second,
        }
    }

    pub(super) const fn value(&self) -> f64 {
        self.value
    }

    /// Updates the average for a packet that finds `length` waiting. After an `idle` time, the
    /// average decays as if packets of mean size had arrived at the link's rate meanwhile, each at
    /// an empty queue.
    pub(super) fn update(&mut self, length: u64, idle: Option<Duration>) {
        let keep = 1.0 - self.weight;
        if let Some(idle) = idle {
            let missed = (self.packets_per_second * idle.as_secs_f64()) as i32;
            if missed > 0 {
                self.value *= keep.powi(missed);
            }
        }
        self.value = self.value * keep + self.weight * length as f64;
    }
}
