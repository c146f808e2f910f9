//! The receiving end.

use skywave_wire::Ecn;
use skywave_wire::tcp::{AccurateEcn, Flags};

use super::accurate_receiver::AccurateReceiver;
use super::ace;
use super::dctcp_echo::DctcpEcho;
use super::{ECE_CWR, EcnUse};

/// The receiving end of ECN.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) enum ReceiverEcn {
    #[default]
    Off,
    Rfc3168 {
        /// A mark has arrived and the sender has not yet acknowledged it with CWR.
        echoes: bool,
    },
    Dctcp(Box<DctcpEcho>),
    Accurate(Box<AccurateReceiver>),
}

impl ReceiverEcn {
    /// Returns the state after a SYN with these flags that arrived with the code point `ecn`, if
    /// the configuration permits `usage` (RFC 3168 section 6.1.1; draft-ietf-tcpm-accurate-ecn-34
    /// sections 3.1.1 to 3.1.3).
    pub(in crate::tcp) fn accept(usage: EcnUse, syn: Flags, ecn: Ecn) -> Self {
        let is_classic = syn.contains(ECE_CWR);
        match (usage, ace::count_in(syn)) {
            (EcnUse::Off, _) | (EcnUse::Accurate(_), 0) => Self::Off,
            (EcnUse::Rfc3168, _) if is_classic => Self::Rfc3168 { echoes: false },
            (EcnUse::Dctcp, _) if is_classic => Self::Dctcp(Box::default()),
            (EcnUse::Rfc3168 | EcnUse::Dctcp, _) => Self::Off,
            (EcnUse::Accurate(_), 0b011) => Self::Rfc3168 { echoes: false },
            (EcnUse::Accurate(_), _) => Self::Accurate(Box::new(AccurateReceiver::new(ecn))),
        }
    }

    /// Handles a repeated SYN.
    #[cold]
    pub(in crate::tcp) fn on_syn_again(&mut self, ecn: Ecn) {
        if let Self::Accurate(accurate) = self {
            accurate.on_syn_again(ecn);
        }
    }

    /// Returns the flags of the next SYN-ACK, and its option.
    #[cold]
    pub(in crate::tcp) fn on_syn_ack(&mut self) -> (Flags, Option<Box<AccurateEcn>>) {
        match self {
            Self::Off => (Flags::default(), None),
            Self::Rfc3168 { .. } | Self::Dctcp(_) => (Flags::ECE, None),
            Self::Accurate(accurate) => accurate.on_syn_ack(),
        }
    }

    /// Handles a segment with `bytes` of data. `before` is the acknowledgement number before
    /// it, if an acknowledgement is being delayed. Returns whether it must be acknowledged at once.
    #[inline(always)]
    pub(in crate::tcp) fn on_data(
        &mut self,
        ecn: Ecn,
        flags: Flags,
        bytes: u32,
        before: Option<u64>,
    ) -> bool {
        match self {
            Self::Off => false,
            Self::Rfc3168 { echoes } => {
                // RFC 3168 section 6.1.3: CWR ends the echo of earlier marks, but not of this
                // segment's own mark.
                *echoes = ecn.is_ce() || (*echoes && !flags.contains(Flags::CWR));
                false
            }
            Self::Dctcp(echo) => echo.on_data(ecn, before),
            Self::Accurate(accurate) => accurate.on_data(ecn, bytes),
        }
    }

    /// Handles a segment without data, which RFC 3168 does not count.
    pub(in crate::tcp) fn on_control(&mut self, ecn: Ecn) {
        if let Self::Accurate(accurate) = self {
            accurate.on_control(ecn);
        }
    }

    /// Takes the acknowledgement number that an earlier acknowledgement must still report, with its
    /// flags.
    #[inline(always)]
    pub(in crate::tcp) fn take_earlier(&mut self) -> Option<(u64, Flags)> {
        match self {
            Self::Off | Self::Rfc3168 { .. } | Self::Accurate(_) => None,
            Self::Dctcp(echo) => echo.take_earlier(),
        }
    }

    /// Returns the ECN flags of an acknowledgement.
    #[inline(always)]
    pub(in crate::tcp) fn ack_flags(&self) -> Flags {
        match self {
            Self::Rfc3168 { echoes: true } => Flags::ECE,
            Self::Off | Self::Rfc3168 { echoes: false } => Flags::default(),
            Self::Dctcp(echo) => echo.flags(),
            Self::Accurate(accurate) => accurate.flags(),
        }
    }

    /// Returns the option of an acknowledgement that is sent now. Boxed, so that a segment without
    /// it can stay in registers.
    #[inline(always)]
    pub(in crate::tcp) fn on_ack(&mut self) -> Option<Box<AccurateEcn>> {
        match self {
            Self::Off | Self::Rfc3168 { .. } | Self::Dctcp(_) => None,
            Self::Accurate(accurate) => accurate.on_ack(),
        }
    }

    /// Returns the bytes of heap memory in use.
    pub(in crate::tcp) fn heap_size(&self) -> usize {
        match self {
            Self::Off | Self::Rfc3168 { .. } => 0,
            Self::Dctcp(echo) => size_of_val(&**echo),
            Self::Accurate(accurate) => size_of_val(&**accurate),
        }
    }
}
