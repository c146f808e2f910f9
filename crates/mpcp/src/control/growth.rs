//! How much acknowledged packets increase the window.

use super::{AdditiveScaling, MpcpConfig, VcpConfig};
use crate::load::{Level, Zone};

/// Both increases, scaled to the round-trip time R so that flows with different R grow equally over
/// time (Chen et al. 2010, equations A3 and A4).
#[derive(Clone, Debug)]
pub(super) struct Growth {
    /// R / t_rho.
    intervals: f64,
    /// The increase of cwnd per packet acknowledged under VCP's low load.
    multiplicative: f64,
    /// The increase of cwnd per cwnd of packets acknowledged under VCP's high load.
    additive: f64,
}

impl Growth {
    pub(super) fn new(config: &VcpConfig, rtt: f64) -> Self {
        let intervals = rtt / config.interval.as_secs_f64();
        let exponent = intervals.min(config.multiplicative_limit);
        Self {
            intervals,
            multiplicative: compound(config.multiplicative, exponent),
            additive: config.additive
                * match config.additive_scaling {
                    // min((R / t_rho)^2, sigma_AI)
                    AdditiveScaling::Capped { limit } => (intervals * intervals).min(limit),
                    AdditiveScaling::Tails => tails(rtt / 0.1),
                },
        }
    }

    /// Returns the increase for `packets` packets acknowledged under low load.
    pub(super) fn multiplicative(&self, packets: u32) -> f64 {
        f64::from(packets) * self.multiplicative
    }

    /// Returns the increase of `cwnd` for `packets` packets acknowledged under high load.
    pub(super) fn additive(&self, packets: u32, cwnd: f64) -> f64 {
        f64::from(packets) * self.additive / cwnd
    }

    /// Returns the increase of `cwnd` for `packets` packets acknowledged under a level carried by a
    /// chain, whose increase is `xi`. Applies both increases together, as in the model that VCP
    /// simplifies.
    pub(super) fn of_chain(&self, config: &MpcpConfig, xi: f64, packets: u32, cwnd: f64) -> f64 {
        let vcp = &config.vcp;
        let (exponent, additive) = if config.is_limited {
            (self.intervals.min(vcp.multiplicative_limit), self.additive)
        } else {
            let intervals = self.intervals;
            (intervals, vcp.additive * intervals * intervals)
        };
        // mu is xi at VCP's low load, up to 80 %; other levels scale in proportion.
        let xi = vcp.multiplicative * xi / Level::begin(Zone::Low).increase();
        let growth = compound(xi, exponent) + additive / cwnd;
        f64::from(packets) * growth.min(1.0)
    }
}

/// Returns (1 + xi)^(R / t_rho) - 1: the growth per R that equals growth by xi per t_rho.
fn compound(xi: f64, intervals: f64) -> f64 {
    (1.0 + xi).powf(intervals) - 1.0
}

/// Returns 0.2 x, x^2 or 25 + (x - 5), depending on x.
fn tails(x: f64) -> f64 {
    if x <= 0.2 {
        0.2 * x
    } else if x <= 5.0 {
        x * x
    } else {
        20.0 + x
    }
}
