//! VCP and MPCP: routers write how busy their links are into the two ECN bits of packets, and senders
//! obey.
//!
//! - VCP: Xia, Subramanian, Stoica and Kalyanaraman, "One More Bit Is Enough" (2005 and 2008), as
//!   Chen, Yang and Hong restate it (2010, appendix).
//! - MPCP: Li and Yousefi'zadeh, "MPCP: Multi Packet Congestion-control Protocol" (2009). Several
//!   packets in a row, a chain, tell a finer load factor: DPCP has two, TPCP three. With one packet
//!   it is VCP.
//!
//! The way through it:
//!
//! - [`load`] is what routers measure and the codes in which they say it; routers and senders share
//!   it, so a threshold is written once.
//! - [`Mpcp`] is the sender's control, [`SenderParameters`] what can be set on it.
//! - [`Router`] is the queue at the head of a link, [`RouterParameters`] what can be set on it.
//! - `tcp` is how codes and places in a chain travel in TCP's header, `ccids` how they travel over
//!   DCCP: CCIDs 248 (VCP), 249 (DPCP) and 250 (TPCP).
//!
//! All of it is plugged in from outside, as any other protocol could be: no other crate knows of load
//! factors. [`register`] enters it where a scenario looks for it, [`ccids`] where a socket does.

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
pub use control::{
    Acts, AdditiveScaling, AfterDecrease, ChainOrder, Mpcp, MpcpConfig, OnLoss, VcpConfig,
};
pub use parameters::{
    ActsParameter, AfterDecreaseParameter, OnLossParameter, Rules, SenderParameters,
};
pub use router::{QueueAverageParameter, Router, RouterParameters};

use skywave_path::{Packet, Queues};
use skywave_transport::dccp::mechanism::CcidKinds;
use skywave_transport::tcp::TcpControls;

/// Enters the queue discipline `vcp`, the control `vcp` of TCP, and CCIDs 248 to 250.
pub fn register<P: Packet + Send + 'static>(
    queues: &mut Queues<P>,
    tcp_controls: &mut TcpControls,
    ccids: &mut CcidKinds,
) {
    router::register(queues);
    tcp::register(tcp_controls);
    ccids::register(ccids);
}

/// The name of the codes that its routers write into the ECN field; their variant is the number of
/// packets in a chain.
pub const CODES: &str = "load factor";

/// Whether a sender whose chains have `packets` packets gets along with routers that write `codes`.
/// `falls_back`: it does without them where there are none.
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
            "no router on its way speaks VCP, so its multiplicative increase would have no end: give \
             a link queue = { vcp = .. }, or the flow vcp = { fallback = true }"
                .to_owned(),
        );
    }
    match chains.find(|&chain| chain != 1 && packets != 1 && chain != packets) {
        None => Ok(()),
        Some(chain) => Err(format!(
            "its chains have {packets} packets, those of a router on its way {chain}: give both the \
             same `chain`, or one of them 1 (VCP)"
        )),
    }
}
