//! The TCPs of ns-2.35, exactly, behind the same interfaces as the RFCs'.

mod newreno;
mod sack1;
mod vegas;

pub(super) use self::newreno::NewReno;
pub(super) use self::sack1::{Sack1Detection, Sack1Recovery};
pub(super) use self::vegas::VegasDetection;
