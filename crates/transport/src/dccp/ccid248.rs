//! CCID 248, VCP: CCID 2 with a window that obeys the routers' load factor instead of losses and
//! marks. It is this project's own; RFC 4340 section 10 leaves its number to experiments.
//!
//! - Data packets leave with the code point 01, low load; what carries no data leaves with 00, which
//!   routers let be.
//! - The receiver acknowledges as under CCID 2, but with Load Vectors instead of Ack Vectors: the
//!   same run-length cells with the code of each packet. They take no negotiation.
//! - Both ends must be ECN capable.

use skywave_congestion::{Vcp, VcpConfig};

use super::ackvec::VectorKind;
use super::{Config, ccid2};

/// The data-sending half.
pub(super) fn sender(config: &Config) -> ccid2::Sender {
    let window = Vcp::new(VcpConfig {
        initial_cwnd: config.ccid2.initial_cwnd(config.mps),
        ..config.vcp
    });
    let ratio = config.ack_ratio;
    ccid2::Sender::with_window(&config.ccid2, window.into(), ratio, VectorKind::Load)
}
