//! The memory of a flow.

use skywave_transport::tcp::{Receiver, Sender};

#[test]
fn a_thousand_flows_fit_in_little_memory() {
    // Flows share their configuration. What else is allocated is for gaps, SACK, autotuning, jitter
    // and some controls and recoveries.
    assert!(size_of::<Sender>() + size_of::<Receiver>() < 680);
}
