//! Members of a user's own in Rust, compiled into an extension of their own.
//!
//! A shared library that is loaded at run time would be no way for them: Rust has no stable ABI, so
//! a trait object from another compiler, or from another version of a crate, is undefined behaviour
//! that nothing detects. A C interface would have to repeat each trait, and each packet would cross
//! it. So a crate of the user's depends on this one, registers its members, and is compiled together
//! with it: the compiler checks everything, and the members are as fast as built-in ones.

use std::sync::OnceLock;

use skywave_scenario::{Backend, Registry};

/// Members of your own, which every run that starts in Python knows.
pub trait Members {
    /// Registers them, with the functions that register the built-in ones.
    fn register<B: Backend>(registry: &mut Registry<B>);
}

struct Own {
    simulator: fn(&mut skywave_sim::Registry),
    #[cfg(all(feature = "emulate", target_os = "linux"))]
    emulator: fn(&mut skywave_emulate::Registry),
}

static OWN: OnceLock<Own> = OnceLock::new();

/// Makes registries contain these members, if they contain none of a user yet.
pub(crate) fn set<M: Members>() {
    OWN.get_or_init(|| Own {
        simulator: M::register,
        #[cfg(all(feature = "emulate", target_os = "linux"))]
        emulator: M::register,
    });
}

/// Returns the registry of simulations.
pub(crate) fn registry() -> skywave_sim::Registry {
    let mut registry = skywave_sim::Registry::default();
    if let Some(own) = OWN.get() {
        (own.simulator)(&mut registry);
    }
    registry
}

/// Returns the registry of emulated links.
#[cfg(all(feature = "emulate", target_os = "linux"))]
pub(crate) fn emulator_registry() -> skywave_emulate::Registry {
    let mut registry = skywave_emulate::Registry::default();
    if let Some(own) = OWN.get() {
        (own.emulator)(&mut registry);
    }
    registry
}
