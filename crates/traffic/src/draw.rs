//! Times drawn from distributions, by inversion.

use rand::RngExt;
use skywave_units::{Duration, Random};

/// Draws an exponentially distributed time, of a mean in seconds.
pub(crate) fn exponential(mean_s: f64, random: &mut Random) -> Duration {
    Duration::from_secs_f64(-mean_s * exceeded(random).ln())
}

/// Draws from the Pareto distribution of this mean, `P{T > t} = (scale / t)^shape` for times above
/// `scale = mean (shape - 1) / shape`. The shape is above 1; otherwise no mean exists.
pub(crate) fn pareto(mean: Duration, shape: f64, random: &mut Random) -> Duration {
    let scale = mean.as_secs_f64() * (shape - 1.0) / shape;
    Duration::from_secs_f64(scale * exceeded(random).powf(-shape.recip()))
}

/// Draws the probability with which a time is exceeded, in (0, 1].
fn exceeded(random: &mut Random) -> f64 {
    1.0 - random.random::<f64>()
}
