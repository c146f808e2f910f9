//! The sending end.

use skywave_congestion::Ect;
use skywave_wire::Ecn;
use skywave_wire::tcp::{AccurateEcn, Flags, TcpOptions};

use super::accurate_sender::AccurateSender;
use super::ace::Answer;
use super::echo::Echo;
use super::{ECE_CWR, EcnUse};

/// Why a segment with data or a FIN is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Sending {
    /// First transmission.
    New,
    /// Retransmission.
    Again,
    /// Probe beyond the receiver's closed window.
    Probe,
}

/// The sending end of ECN.
#[derive(Clone, Debug)]
pub(in crate::tcp) enum SenderEcn {
    Off,
    /// RFC 3168, whose echo RFC 8257 refines.
    Echoes {
        /// Marks of packets sent before this byte have been answered.
        answered_until: u64,
        /// The next new segment announces that the window was reduced (CWR).
        cwr: bool,
    },
    Accurate(Box<AccurateSender>),
}

impl SenderEcn {
    const ECHOES: Self = Self::Echoes {
        answered_until: 0,
        cwr: false,
    };

    /// Creates the state for the wanted use; the handshake may disable it.
    pub(in crate::tcp) fn new(usage: EcnUse) -> Self {
        match usage {
            EcnUse::Off => Self::Off,
            EcnUse::Rfc3168 | EcnUse::Dctcp => Self::ECHOES,
            EcnUse::Accurate(code) => Self::Accurate(Box::new(AccurateSender::new(code))),
        }
    }

    /// Returns the flags of the next SYN: an ECN-setup SYN of RFC 3168 section 6.1.1, or one that
    /// asks for Accurate ECN.
    pub(in crate::tcp) fn syn_flags(&mut self) -> Flags {
        match self {
            Self::Off => Flags::default(),
            Self::Echoes { .. } => ECE_CWR,
            Self::Accurate(accurate) => accurate.syn_flags(),
        }
    }

    /// Handles the first SYN-ACK, which arrived with the code point `ecn`: disables what the peer
    /// does not agree to.
    pub(in crate::tcp) fn on_first_syn_ack(
        &mut self,
        flags: Flags,
        ecn: Ecn,
        option: Option<&AccurateEcn>,
    ) {
        match self {
            Self::Off => {}
            Self::Echoes { .. } => {
                if !flags.contains(Flags::ECE) || flags.contains(Flags::CWR) {
                    *self = Self::Off;
                }
            }
            Self::Accurate(accurate) => match Answer::in_flags(flags) {
                Answer::Accurate(syn) => accurate.agree(syn, ecn, option),
                Answer::Classic if accurate.code() == Ect::Zero => *self = Self::ECHOES,
                Answer::Classic | Answer::None => *self = Self::Off,
            },
        }
    }

    /// Handles another SYN-ACK.
    #[cold]
    pub(in crate::tcp) fn on_syn_ack_again(&mut self, flags: Flags, ecn: Ecn) {
        if let Self::Accurate(accurate) = self
            && Answer::in_flags(flags).is_accurate()
        {
            accurate.on_syn_ack(ecn);
        }
    }

    /// Returns whether a pure acknowledgement must be sent even if data could carry it.
    #[inline(always)]
    pub(in crate::tcp) fn owes_pure_ack(&self) -> bool {
        match self {
            Self::Off | Self::Echoes { .. } => false,
            Self::Accurate(accurate) => accurate.owes_report(),
        }
    }

    /// Returns the flags and options of an acknowledgement without data.
    pub(in crate::tcp) fn on_pure_ack(&mut self) -> (Flags, TcpOptions) {
        match self {
            Self::Off | Self::Echoes { .. } => Default::default(),
            Self::Accurate(accurate) => accurate.on_pure_ack(),
        }
    }

    /// Returns the code point and the flags of a segment with data. Retransmissions and probes are
    /// not ECN-capable, and do not announce a reduction (RFC 3168 sections 6.1.2, 6.1.5 and 6.1.6).
    #[inline(always)]
    pub(in crate::tcp) fn on_data(&mut self, sending: Sending) -> (Ecn, Flags) {
        let is_new = sending == Sending::New;
        match self {
            Self::Off => (Ecn::NotEct, Flags::default()),
            Self::Echoes { cwr, .. } if is_new => {
                let cwr = core::mem::take(cwr);
                (Ecn::Ect0, if cwr { Flags::CWR } else { Flags::default() })
            }
            Self::Echoes { .. } => (Ecn::NotEct, Flags::default()),
            Self::Accurate(accurate) => accurate.on_data(is_new),
        }
    }

    /// Returns the marks that an acknowledgement reports, answered or not. `delivered` returns how
    /// many bytes of the stream are acknowledged or SACKed after it.
    #[inline(always)]
    pub(in crate::tcp) fn on_ack(
        &mut self,
        flags: Flags,
        option: Option<&AccurateEcn>,
        smss: u64,
        delivered: impl FnOnce() -> u64,
    ) -> Option<Echo> {
        match self {
            Self::Off => None,
            Self::Echoes { .. } => flags.contains(Flags::ECE).then_some(Echo {
                packets: None,
                bytes: None,
            }),
            Self::Accurate(accurate) => accurate.on_ack(flags, option, delivered(), smss),
        }
    }

    /// Returns whether a mark echoed by an acknowledgement of everything before `ack` is still
    /// unanswered (RFC 3168 section 6.1.2).
    pub(in crate::tcp) fn is_unanswered(&self, ack: u64) -> bool {
        match self {
            Self::Off => false,
            Self::Echoes { answered_until, .. } => ack >= *answered_until,
            Self::Accurate(accurate) => ack >= accurate.answered_until,
        }
    }

    /// Records a reduction of the window for a mark or a loss: marks of data sent before `max` are
    /// answered, and the peer is informed (RFC 3168 section 6.1.2).
    pub(in crate::tcp) fn on_reduced(&mut self, max: u64) {
        self.answer_until(max + 1, true);
    }

    /// Records that the last reduction was undone: marks of data sent before it want an answer again.
    #[cold]
    pub(in crate::tcp) fn on_undone(&mut self) {
        self.answer_until(0, false);
    }

    /// Sets up to which byte marks are answered, and whether RFC 3168's CWR says so.
    fn answer_until(&mut self, until: u64, says_so: bool) {
        match self {
            Self::Off => {}
            Self::Echoes {
                answered_until,
                cwr,
            } => {
                *answered_until = until;
                *cwr = says_so;
            }
            Self::Accurate(accurate) => accurate.answered_until = until,
        }
    }

    /// Returns the bytes of heap memory in use.
    pub(in crate::tcp) fn heap_size(&self) -> usize {
        match self {
            Self::Off | Self::Echoes { .. } => 0,
            Self::Accurate(accurate) => size_of_val(&**accurate),
        }
    }
}
