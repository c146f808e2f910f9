//! Reasons why a run in real time has no results.

use std::io;

use skywave_emulate::EmulateError;
use skywave_sim::RunError;
use thiserror::Error;

/// Why a run in real time has no results.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The system refuses something that a run needs.
    #[error(transparent)]
    Emulate(#[from] EmulateError),
    /// The kernel does not have the congestion control of a flow.
    #[error(
        "flow \"{flow}\": the kernel has no congestion control \"{control}\"; it has {available}"
    )]
    Control {
        /// The flow.
        flow: String,
        /// The name of the control.
        control: String,
        /// The controls that the kernel has.
        available: String,
    },
    /// The kernel does not have DCCP with the CCID of a flow.
    #[error(
        "flow \"{flow}\": the kernel has no DCCP with CCID {ccid} (Linux has had none since version \
         6.16): run it with --virtual-time, in the kernel linux-dccp, which `make virtual-kernel` builds"
    )]
    Ccid {
        /// The flow.
        flow: String,
        /// The CCID.
        ccid: u8,
    },
    /// A queue of the kernel cannot be opened.
    #[error("the queue of link \"{link}\": {source}")]
    Queue {
        /// The link.
        link: String,
        /// Why.
        source: EmulateError,
    },
    /// A connection of the kernel failed.
    #[error("flow \"{flow}\": the kernel's connection failed: {source}")]
    Connection {
        /// The flow.
        flow: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A device or a socket failed.
    #[error("a device failed: {0}")]
    Device(#[from] io::Error),
}
