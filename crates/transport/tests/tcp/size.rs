//! The memory of a flow.

use skywave_transport::tcp::{Receiver, Sender};

#[test]
fn a_thousand_flows_fit_in_little_memory() {
    // Neither allocates in steady state, so the types' sizes are the whole memory.
    assert!(size_of::<Sender>() + size_of::<Receiver>() < 1024);
}
