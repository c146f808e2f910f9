//! ECN for TCP (RFC 3168).

use skywave_wire::Ecn;
use skywave_wire::tcp::Flags;

const ECE_CWR: Flags = Flags::ECE.union(Flags::CWR);

/// How a connection uses the two ECN bits of its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnUse {
    /// Not at all: packets cannot be marked.
    #[default]
    Off,
    /// RFC 3168: both ends agree in their SYNs, data is sent with ECT(0), and a mark is a
    /// congestion event.
    Rfc3168,
}

/// Why a segment with data or a FIN is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// First transmission.
    New,
    /// Retransmission.
    Again,
    /// Probe beyond the receiver's closed window.
    Probe,
}

/// The sending end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderEcn {
    usage: EcnUse,
    /// RFC 3168: marks of packets sent before this byte have been answered.
    answered_until: u64,
    /// RFC 3168: the next new segment announces that the window was reduced (CWR).
    cwr: bool,
}

impl SenderEcn {
    /// Creates the state for the wanted use; the handshake may disable it.
    pub(super) fn new(usage: EcnUse) -> Self {
        Self {
            usage,
            ..Self::default()
        }
    }

    /// Returns the flags of an ECN-setup SYN (RFC 3168 section 6.1.1).
    pub(super) fn syn_flags(&self) -> Flags {
        match self.usage {
            EcnUse::Rfc3168 => ECE_CWR,
            EcnUse::Off => Flags::default(),
        }
    }

    /// Disables ECN unless the SYN-ACK with these flags is an ECN-setup SYN-ACK.
    pub(super) fn on_syn_ack(&mut self, flags: Flags) {
        let agreed = flags.contains(Flags::ECE) && !flags.contains(Flags::CWR);
        if self.usage == EcnUse::Rfc3168 && !agreed {
            self.usage = EcnUse::Off;
        }
    }

    /// Returns the code point and the flags of a segment with data.
    #[inline(always)]
    pub(super) fn on_data(&mut self, sending: Sending) -> (Ecn, Flags) {
        match (self.usage, sending) {
            (EcnUse::Off, _) => (Ecn::NotEct, Flags::default()),
            (EcnUse::Rfc3168, Sending::New) => {
                let cwr = core::mem::take(&mut self.cwr);
                (Ecn::Ect0, if cwr { Flags::CWR } else { Flags::default() })
            }
            // These are not ECN-capable and do not announce a reduction (sections 6.1.2, 6.1.5 and
            // 6.1.6).
            (EcnUse::Rfc3168, Sending::Again | Sending::Probe) => (Ecn::NotEct, Flags::default()),
        }
    }

    /// Returns whether the flags of an acknowledgement echo a mark, answered or not.
    #[inline(always)]
    pub(super) fn is_echo(&self, flags: Flags) -> bool {
        self.usage == EcnUse::Rfc3168 && flags.contains(Flags::ECE)
    }

    /// Returns whether a mark echoed by an acknowledgement of everything before `ack` is still
    /// unanswered (section 6.1.2).
    pub(super) const fn is_unanswered(&self, ack: u64) -> bool {
        ack >= self.answered_until
    }

    /// Records a reduction of the window for a mark or a loss: marks of data sent before `max` are
    /// answered, and the peer is informed (section 6.1.2).
    pub(super) fn on_reduced(&mut self, max: u64) {
        self.answered_until = max + 1;
        self.cwr = true;
    }
}

/// The receiving end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceiverEcn {
    usage: EcnUse,
    /// RFC 3168: a mark has arrived and the sender has not yet acknowledged it with CWR.
    echoes: bool,
}

impl ReceiverEcn {
    /// Returns the state after a SYN with these flags, if the configuration permits `usage`.
    pub(super) fn accept(usage: EcnUse, syn: Flags) -> Self {
        let refused = usage == EcnUse::Rfc3168 && !syn.contains(ECE_CWR);
        Self {
            usage: if refused { EcnUse::Off } else { usage },
            ..Self::default()
        }
    }

    /// Returns the flag of an ECN-setup SYN-ACK.
    pub(super) fn syn_ack_flags(&self) -> Flags {
        match self.usage {
            EcnUse::Rfc3168 => Flags::ECE,
            EcnUse::Off => Flags::default(),
        }
    }

    /// Handles a segment with data.
    #[inline(always)]
    pub(super) fn on_data(&mut self, ecn: Ecn, flags: Flags) {
        match self.usage {
            EcnUse::Off => {}
            EcnUse::Rfc3168 => {
                // Section 6.1.3: CWR ends the echo of earlier marks, but not of this segment's own
                // mark.
                self.echoes = ecn.is_ce() || (self.echoes && !flags.contains(Flags::CWR));
            }
        }
    }

    /// Returns the ECN flags of an acknowledgement.
    #[inline(always)]
    pub(super) fn ack_flags(&self) -> Flags {
        match self.usage {
            EcnUse::Off => Flags::default(),
            EcnUse::Rfc3168 if self.echoes => Flags::ECE,
            EcnUse::Rfc3168 => Flags::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreed() -> (SenderEcn, ReceiverEcn) {
        let mut sender = SenderEcn::new(EcnUse::Rfc3168);
        let receiver = ReceiverEcn::accept(EcnUse::Rfc3168, sender.syn_flags());
        sender.on_syn_ack(receiver.syn_ack_flags());
        (sender, receiver)
    }

    /// RFC 3168 section 6.1: the receiver echoes a mark until CWR arrives; the sender responds once
    /// per window.
    #[test]
    fn a_mark_is_echoed_until_it_is_answered() {
        let (mut sender, mut receiver) = agreed();
        assert_eq!(sender.on_data(Sending::New), (Ecn::Ect0, Flags::default()));
        receiver.on_data(Ecn::Ce, Flags::ACK);
        for _ in 0..2 {
            assert_eq!(receiver.ack_flags(), Flags::ECE);
            receiver.on_data(Ecn::Ect0, Flags::ACK);
        }
        assert!(sender.is_echo(Flags::ECE) && sender.is_unanswered(11));
        sender.on_reduced(101);
        assert!(!sender.is_unanswered(21));
        assert_eq!(
            sender.on_data(Sending::Again),
            (Ecn::NotEct, Flags::default())
        );
        let (ecn, cwr) = sender.on_data(Sending::New);
        assert_eq!((ecn, cwr), (Ecn::Ect0, Flags::CWR));
        receiver.on_data(ecn, cwr);
        assert_eq!(receiver.ack_flags(), Flags::default());
        assert!(sender.is_unanswered(102), "an echo in the next window");
    }

    /// RFC 3168 section 6.1.2: CWR reports every reduction, including one for a loss.
    #[test]
    fn a_reduction_for_a_loss_is_told_too() {
        let (mut sender, _) = agreed();
        sender.on_reduced(101);
        assert!(!sender.is_unanswered(101));
        assert_eq!(sender.on_data(Sending::Again).1, Flags::default());
        assert_eq!(sender.on_data(Sending::New).1, Flags::CWR);
        assert_eq!(sender.on_data(Sending::New).1, Flags::default());
    }

    /// RFC 3168 section 6.1.6: a window probe carries neither ECT nor CWR; the next new segment
    /// does.
    #[test]
    fn a_window_probe_says_nothing() {
        let (mut sender, _) = agreed();
        sender.on_reduced(101);
        assert_eq!(
            sender.on_data(Sending::Probe),
            (Ecn::NotEct, Flags::default())
        );
        assert_eq!(sender.on_data(Sending::New), (Ecn::Ect0, Flags::CWR));
    }

    /// RFC 3168 section 6.1.1: ECN is used only if both ends agree.
    #[test]
    fn ecn_needs_both_ends() {
        let mut sender = SenderEcn::new(EcnUse::Rfc3168);
        let receiver = ReceiverEcn::accept(EcnUse::Off, sender.syn_flags());
        sender.on_syn_ack(receiver.syn_ack_flags());
        assert_eq!(sender.on_data(Sending::New).0, Ecn::NotEct);
        // A SYN-ACK that returns both flags comes from a host that reflects unknown bits.
        let mut sender = SenderEcn::new(EcnUse::Rfc3168);
        sender.on_syn_ack(ECE_CWR);
        assert_eq!(sender.on_data(Sending::New).0, Ecn::NotEct);
        let plain = SenderEcn::new(EcnUse::Off);
        let mut receiver = ReceiverEcn::accept(EcnUse::Rfc3168, plain.syn_flags());
        receiver.on_data(Ecn::Ce, Flags::ACK);
        assert_eq!(receiver.ack_flags(), Flags::default());
    }
}
