//! This crate's controls, by name.

use crate::{
    Controls, CubicParameters, RenoParameters, VegasParameters, no_controls, register_control,
};

/// The controls of this crate.
pub fn built_in_controls() -> Controls {
    let mut controls = no_controls();
    let set = &mut controls;
    register_control::<RenoParameters>(set, "reno", "RFC 5681.");
    register_control::<CubicParameters>(set, "cubic", "RFC 9438.");
    register_control::<VegasParameters>(set, "vegas", "Brakmo and Peterson 1995: by delay.");
    controls
}
