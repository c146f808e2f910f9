//! VCP and MPCP: routers write the load factor of their links into the two ECN bits of packets, and
//! senders adjust their windows to it.
//!
//! - VCP: Xia, Subramanian, Stoica and Kalyanaraman, "One More Bit Is Enough" (2005 and 2008), as
//!   restated by Chen, Yang and Hong (2010, appendix).
//! - MPCP: Li and Yousefi'zadeh, "MPCP: Multi Packet Congestion-control Protocol" (2009). Several
//!   consecutive packets, a chain, carry a finer load factor: two in DPCP, three in TPCP. With one
//!   packet it is VCP.
//!
//! Modules and main types:
//!
//! - [`load`]: what routers measure, and the codes that represent it. Routers and senders share
//!   this module, so each threshold is defined once.
//! - [`Mpcp`] is the sender's congestion control; [`SenderParameters`] are its parameters.
//! - [`Router`] is the queue at the head of a link; [`RouterParameters`] are its parameters.
//! - `tcp` carries codes and positions in TCP's header. `ccids` carries them over DCCP: CCIDs 248
//!   (VCP), 249 (DPCP) and 250 (TPCP).
//!
//! Everything is plugged in from outside, as any other protocol could be: no other crate knows
//! about load factors. [`register`] adds it to the simulator's registries, [`ccids`] to the CCIDs
//! of sockets.

mod ccids;
mod chain;
mod control;
pub mod load;
mod parameters;
mod router;
mod tcp;
#[cfg(test)]
mod testing;

pub use ccids::{LoadFactor, ccids};
pub use chain::ChainOrder;
pub use control::{
    Acts, AdditiveScaling, AfterDecrease, GrowthPer, Mpcp, MpcpConfig, OnLoss, Start, VcpConfig,
};
pub use parameters::{
    ActsParameter, AfterDecreaseParameter, GrowthParameter, OnLossParameter, OrderParameter, Rules,
    SenderParameters, StartParameter,
};
pub use router::{QueueAverageParameter, Router, RouterParameters};

use skywave_path::{Packet, Queues};
use skywave_transport::dccp::mechanism::CcidKinds;
use skywave_transport::tcp::TcpControls;

/// Registers the queue discipline `vcp`, the TCP control `vcp`, and CCIDs 248 to 250.
pub fn register<P: Packet + Send + 'static>(
    queues: &mut Queues<P>,
    tcp_controls: &mut TcpControls,
    ccids: &mut CcidKinds,
) {
    router::register(queues);
    tcp::register(tcp_controls);
    ccids::register(ccids);
}

/// The name of the codes that the routers write into the ECN field. Their variant is the length of
/// a chain.
pub const CODES: &str = "load factor";

/// Checks that a sender with chains of `packets` packets works with routers that write `codes`.
/// `falls_back` says whether it can do without such routers.
fn check_routers(
    packets: u8,
    falls_back: bool,
    codes: &[(&'static str, u32)],
) -> Result<(), String> {
    let packets = u32::from(packets);
    let mut chains = codes
        .iter()
        .filter(|(name, _)| *name == CODES)
        .map(|&(_, chain)| chain)
        .peekable();
    if chains.peek().is_none() && !falls_back {
        return Err(
            "no router on its path supports VCP, so its multiplicative increase would never end: give \
             a link queue = { vcp = .. }, or the flow vcp = { fallback = true }"
                .to_owned(),
        );
    }
    match chains.find(|&chain| chain != 1 && packets != 1 && chain != packets) {
        None => Ok(()),
        Some(chain) => Err(format!(
            "its chains have {packets} packets, but a router on its path expects {chain}: give both \
             the same `chain`, or one of them 1 (VCP)"
        )),
    }
}
