//! The sending end of Accurate ECN (draft-ietf-tcpm-accurate-ecn-34).
//!
//! Omissions: the receiver sends no data, so the option is on the acknowledgement of its SYN-ACK
//! only, not on the first data segment, for which data would have to shrink (section 3.2.3.2.1
//! permits that). CE in the flags of a SYN-ACK has no response, since the SYN is not ECN-capable
//! (section 3.2.2.2). An ACE field of zero is not taken for one that was zeroed (section 3.2.2.4 leaves
//! the test open), because a few lost acknowledgements have the same effect.

use skywave_congestion::Ect;
use skywave_wire::Ecn;
use skywave_wire::tcp::{AccurateEcn, AccurateEcnOrder, Flags, TcpOptions};

use super::ace::{self, ACE, Answer, DIVACE};
use super::echo::Echo;

/// SYNs that ask for Accurate ECN; later ones do without ECN (section 3.1.4.1).
const ASKING_SYNS: u8 = 2;
/// The initial values of the counters (section 3.2.1).
pub(super) const INITIAL_PACKETS: u32 = 5;
pub(super) const INITIAL_BYTES: u32 = 1;
/// SAFETY_FACTOR of appendix A.2.2.
const SAFETY_FACTOR: u64 = 2;

/// Counts the marks that the receiver reports. The names of counters are the draft's, without `s.`.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct AccurateSender {
    code: Ect,
    syns: u8,
    /// Whether data may be ECN-capable: not if the path changes the ECN field.
    is_capable: bool,
    /// Marks of packets sent before this byte have been answered.
    pub(super) answered_until: u64,
    /// The receiver's count of marked packets, modulo 8.
    cep: u32,
    /// The receiver's count of marked bytes, modulo 2^24.
    ceb: u32,
    option: OptionState,
    /// The bytes that had been acknowledged or SACKed when the counters were last read.
    delivered: u64,
    /// Segments delivered, and whether marks were counted, since the option was last read.
    since_option: (u32, bool),
    /// r.cep of this end: how many marked packets have arrived; the SYN-ACK is the only one that
    /// can.
    received: u32,
    /// The code point of the last SYN-ACK, until it is reported.
    syn_ack: Option<Ecn>,
}

/// Whether the peer's option arrives (sections 3.2.3.2.3 and 3.2.3.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionState {
    Absent,
    Present,
    /// Its first counters were zero, so something on the path has cleared them.
    Zeroed,
}

impl AccurateSender {
    pub(super) const fn new(code: Ect) -> Self {
        Self {
            code,
            syns: 0,
            is_capable: true,
            answered_until: 0,
            cep: INITIAL_PACKETS,
            ceb: 0,
            option: OptionState::Absent,
            delivered: 1,
            since_option: (0, false),
            received: INITIAL_PACKETS,
            syn_ack: None,
        }
    }

    /// Returns the flags of the next SYN.
    pub(super) fn syn_flags(&mut self) -> Flags {
        self.syns = self.syns.saturating_add(1);
        if self.syns <= ASKING_SYNS {
            ACE
        } else {
            Flags::default()
        }
    }

    /// Returns the code point of data.
    pub(super) const fn code(&self) -> Ect {
        self.code
    }

    /// Handles the first SYN-ACK, if the peer counts marks. It arrived with the code point `ecn`;
    /// `syn` is that with which the SYN, which is not ECN-capable, arrived.
    pub(super) fn agree(&mut self, syn: Option<Ecn>, ecn: Ecn, option: Option<&AccurateEcn>) {
        // Section 3.2.2.3: a change of a packet that is not ECN-capable.
        self.is_capable = syn.is_none_or(|syn| syn == Ecn::NotEct);
        let first = option.and_then(|option| option.counters.first());
        self.option = match first {
            None => OptionState::Absent,
            Some(0) => OptionState::Zeroed,
            Some(_) => OptionState::Present,
        };
        self.on_syn_ack(ecn);
    }

    /// Notes the code point of a SYN-ACK, to report it.
    pub(super) fn on_syn_ack(&mut self, ecn: Ecn) {
        self.syn_ack = Some(ecn);
        if ecn.is_ce() {
            // Once, regardless of their number (section 3.2.2.2).
            self.received = INITIAL_PACKETS + 1;
        }
    }

    /// Returns whether a SYN-ACK waits for an acknowledgement without data.
    pub(super) const fn owes_report(&self) -> bool {
        self.syn_ack.is_some()
    }

    /// Returns the flags of a pure acknowledgement, and its options.
    pub(super) fn on_pure_ack(&mut self) -> (Flags, TcpOptions) {
        match self.syn_ack.take() {
            None => (ace::of_count(self.received), TcpOptions::default()),
            Some(ecn) => {
                let order = match self.code {
                    Ect::Zero => AccurateEcnOrder::Ect0First,
                    Ect::One => AccurateEcnOrder::Ect1First,
                };
                let option = AccurateEcn {
                    order,
                    counters: core::iter::once(INITIAL_BYTES).collect(),
                };
                let options = TcpOptions {
                    accurate_ecn: Some(option),
                    ..TcpOptions::default()
                };
                (ace::of_handshake(ecn), options)
            }
        }
    }

    /// Returns the code point and the flags of data, which is ECN-capable if `is_new`.
    #[inline(always)]
    pub(super) const fn on_data(&self, is_new: bool) -> (Ecn, Flags) {
        let ecn = match self.code {
            Ect::Zero => Ecn::Ect0,
            Ect::One => Ecn::Ect1,
        };
        let is_capable = is_new && self.is_capable;
        let ecn = if is_capable { ecn } else { Ecn::NotEct };
        (ecn, ace::of_count(self.received))
    }

    /// Reads the counters of an acknowledgement after which `delivered` bytes are acknowledged or
    /// SACKed. Returns the marks that it reports (sections 3.2.2.5.2 and 3.2.3.1, appendix A).
    pub(super) fn on_ack(
        &mut self,
        flags: Flags,
        option: Option<&AccurateEcn>,
        delivered: u64,
        smss: u64,
    ) -> Option<Echo> {
        let newly = delivered.saturating_sub(self.delivered);
        if newly == 0 {
            // A later acknowledgement has superseded it, or it is a duplicate without SACK, whose marks
            // the next acknowledgement of new data reports.
            return None;
        }
        self.delivered = delivered;
        let packets = u32::try_from(newly / smss).unwrap_or(u32::MAX);
        let marked = (ace::count_in(flags) + DIVACE - self.cep) % DIVACE;
        // The field may have cycled.
        let most = packets - packets.saturating_sub(marked) % DIVACE;
        let most = most.max(marked);
        let bytes = option.and_then(|option| self.read(option));
        let marked = match bytes {
            Some(bytes) if is_plausible(bytes, marked, most, smss) => marked,
            Some(_) | None => most,
        };
        self.cep = (self.cep + marked) % DIVACE;
        let (delivered, has_marks) = self.since_option;
        let since_option = (delivered.saturating_add(packets), has_marks || marked > 0);
        if bytes.is_some_and(|bytes| bytes > 0) && !since_option.1 && since_option.0 < DIVACE {
            // Section 3.2.3.3: too little was delivered for a cycle of the field, so something on the
            // path has changed one of the two.
            self.is_capable = false;
        }
        self.since_option = if bytes.is_some() {
            (0, false)
        } else {
            since_option
        };
        (marked > 0).then_some(Echo {
            packets: Some(marked),
            bytes: bytes.map(u64::from),
        })
    }

    /// Returns by how much the count of marked bytes has grown.
    fn read(&mut self, option: &AccurateEcn) -> Option<u32> {
        if self.option == OptionState::Zeroed {
            return None;
        }
        self.option = OptionState::Present;
        // A counter that has never changed is left out.
        let bytes = option.ce().unwrap_or(self.ceb).wrapping_sub(self.ceb) % AccurateEcn::MODULUS;
        self.ceb = (self.ceb + bytes) % AccurateEcn::MODULUS;
        Some(bytes)
    }
}

/// Returns whether `marked` packets, rather than `most`, can contain so many bytes (appendix A.2.2).
fn is_plausible(bytes: u32, marked: u32, most: u32, smss: u64) -> bool {
    let (bytes, marked, most) = (u64::from(bytes), u64::from(marked), u64::from(most));
    most <= marked || bytes <= smss * marked && bytes * SAFETY_FACTOR < smss * most
}

impl Answer {
    /// Returns whether the answer is that the peer counts marks.
    pub(super) const fn is_accurate(self) -> bool {
        matches!(self, Self::Accurate(_))
    }
}
