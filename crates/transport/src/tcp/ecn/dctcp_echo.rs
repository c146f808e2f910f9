//! The receiver's echo of DCTCP (RFC 8257 section 3.2).

use skywave_wire::Ecn;
use skywave_wire::tcp::Flags;

/// Echoes a mark in the acknowledgements of marked packets only.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct DctcpEcho {
    /// DCTCP.CE: whether the last packet was marked.
    ce: bool,
    /// What to acknowledge first, with the other value of DCTCP.CE, because its packets arrived
    /// before the change.
    earlier: Option<u64>,
}

impl DctcpEcho {
    /// Handles data. `before` is the acknowledgement number before it, if an acknowledgement is
    /// being delayed. Returns whether it must be acknowledged at once.
    pub(super) fn on_data(&mut self, ecn: Ecn, before: Option<u64>) -> bool {
        let has_changed = self.ce != ecn.is_ce();
        if has_changed {
            self.ce = ecn.is_ce();
            self.earlier = before;
        }
        has_changed
    }

    /// See [`ReceiverEcn::take_earlier`](super::ReceiverEcn::take_earlier).
    pub(super) fn take_earlier(&mut self) -> Option<(u64, Flags)> {
        let earlier = self.earlier.take()?;
        Some((earlier, echo(!self.ce)))
    }

    pub(super) const fn flags(&self) -> Flags {
        echo(self.ce)
    }
}

const fn echo(ce: bool) -> Flags {
    if ce { Flags::ECE } else { Flags::from_bits(0) }
}
