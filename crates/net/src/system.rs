//! System calls, and the types that they need.

pub(crate) mod alarm;
pub(crate) mod batch;
pub(crate) mod clock;
pub(crate) mod incoming;
pub(crate) mod network_error;
pub(crate) mod raw;
pub(crate) mod registered;
pub(crate) mod sender;
pub(crate) mod socket;
