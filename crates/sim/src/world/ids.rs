//! Identifiers of flows and of their ends.

use core::ops::Range;

/// A flow: its index in [`Scenario::flows`](crate::Scenario::flows).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(u32);

/// An end of a flow. Hosts are numbered flow by flow, each flow's sender before its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(u32);

/// Where a host is attached to the network: packets leave from a port and arrive at one.
///
/// Each host has a single port, and both have the same number. Only [`PortId::of`] and
/// [`PortId::host`] rely on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PortId(u32);

impl FlowId {
    /// Returns the flow with this index.
    #[inline(always)]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Returns the flow's index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the end that sends data.
    #[inline(always)]
    pub const fn sender(self) -> HostId {
        HostId(2 * self.0)
    }

    /// Returns the end that receives data.
    #[inline(always)]
    pub const fn receiver(self) -> HostId {
        HostId(2 * self.0 + 1)
    }

    /// Returns the indices of both ends in a table of hosts, sender first.
    pub(crate) const fn ends(self) -> Range<usize> {
        let first = self.sender().index();
        first..first + 2
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

impl HostId {
    /// Returns the host with this index.
    #[inline(always)]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Returns the host's index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the flow it is an end of.
    #[inline(always)]
    pub const fn flow(self) -> FlowId {
        FlowId(self.0 / 2)
    }

    /// Returns the other end of its flow.
    #[inline(always)]
    pub const fn peer(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// Returns whether it is its flow's sender.
    #[inline(always)]
    pub const fn is_sender(self) -> bool {
        self.0.is_multiple_of(2)
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

impl PortId {
    #[inline(always)]
    pub(crate) const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Returns the port of a host.
    #[inline(always)]
    pub(crate) const fn of(host: HostId) -> Self {
        Self(host.0)
    }

    /// Returns the host that is attached to it.
    #[inline(always)]
    pub(crate) const fn host(self) -> HostId {
        HostId(self.0)
    }

    #[inline(always)]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) const fn get(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_two_ends_that_are_no_other_flows() {
        for flow in [0, 1, 7, u32::MAX / 2].map(FlowId::new) {
            let (sender, receiver) = (flow.sender(), flow.receiver());
            assert!(sender.is_sender() && !receiver.is_sender());
            assert_eq!((sender.flow(), receiver.flow()), (flow, flow));
            assert_eq!((sender.peer(), receiver.peer()), (receiver, sender));
            assert_eq!(flow.ends(), sender.index()..receiver.index() + 1);
        }
        assert_eq!(FlowId::new(1).sender(), HostId::new(2));
    }
}
