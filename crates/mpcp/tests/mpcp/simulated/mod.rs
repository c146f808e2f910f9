//! VCP and MPCP in the simulator: routers and senders together, with physics verified.

mod errors;
mod mpcp;
mod vcp;
