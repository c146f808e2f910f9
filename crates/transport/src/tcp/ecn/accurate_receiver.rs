//! The receiving end of Accurate ECN (draft-ietf-tcpm-accurate-ecn-34).
//!
//! Omission: a SYN of RFC 3168 that follows one of Accurate ECN does not reset the connection
//! (section 3.1.5); it gets the answer of the first.

use skywave_wire::Ecn;
use skywave_wire::tcp::{AccurateEcn, AccurateEcnOrder, Flags};

use super::accurate_sender::{INITIAL_BYTES, INITIAL_PACKETS};
use super::ace;

/// The number of marked packets that triggers an acknowledgement: "n" of section 3.2.2.5.1.
const MARKS_PER_ACK: u8 = 2;

/// Counts what arrives. The names of counters are the draft's, without `r.`; the byte counters are
/// modulo 2^24.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct AccurateReceiver {
    /// The code point of the latest SYN.
    syn: Ecn,
    syn_acks: u8,
    cep: u32,
    ceb: u32,
    e0b: u32,
    e1b: u32,
    /// Whether the byte counters of ECT(0), CE and ECT(1) have ever changed.
    has: Seen,
    /// The code point of the last packet.
    last: Ecn,
    /// Marked packets since the last acknowledgement.
    unreported: u8,
    /// Whether a byte counter has changed since the last acknowledgement.
    has_changed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    ect0: bool,
    ce: bool,
    ect1: bool,
}

impl AccurateReceiver {
    /// Creates the counters after a SYN with the code point `syn`.
    pub(super) const fn new(syn: Ecn) -> Self {
        Self {
            syn,
            syn_acks: 0,
            cep: INITIAL_PACKETS,
            ceb: 0,
            e0b: INITIAL_BYTES,
            e1b: INITIAL_BYTES,
            has: Seen {
                ect0: false,
                ce: false,
                ect1: false,
            },
            last: Ecn::NotEct,
            unreported: 0,
            has_changed: false,
        }
    }

    pub(super) fn on_syn_again(&mut self, ecn: Ecn) {
        self.syn = ecn;
    }

    /// Returns the flags and option of the next SYN-ACK. If the first ones are lost, the path may
    /// drop the option, or the flags (section 3.2.3.2.2).
    pub(super) fn on_syn_ack(&mut self) -> (Flags, Option<Box<AccurateEcn>>) {
        self.syn_acks = self.syn_acks.saturating_add(1);
        match self.syn_acks {
            1 => {
                let counters = [self.e0b, self.ceb, self.e1b];
                let option = option(AccurateEcnOrder::Ect0First, &counters);
                (ace::of_handshake(self.syn), Some(option))
            }
            2 => (ace::of_handshake(self.syn), None),
            _ => (Flags::default(), None),
        }
    }

    /// Counts a segment with data. Returns whether it must be acknowledged at once.
    pub(super) fn on_data(&mut self, ecn: Ecn, bytes: u32) -> bool {
        let counter = match ecn {
            Ecn::NotEct => None,
            Ecn::Ect0 => Some((&mut self.e0b, &mut self.has.ect0)),
            Ecn::Ect1 => Some((&mut self.e1b, &mut self.has.ect1)),
            Ecn::Ce => Some((&mut self.ceb, &mut self.has.ce)),
        };
        if let Some((counter, has)) = counter.filter(|_| bytes > 0) {
            *counter = (*counter + bytes) % AccurateEcn::MODULUS;
            *has = true;
            self.has_changed = true;
        }
        let begins = ecn.is_ce() && !self.last.is_ce();
        self.on_control(ecn);
        begins || self.unreported >= MARKS_PER_ACK
    }

    /// Counts a segment, with or without data.
    pub(super) fn on_control(&mut self, ecn: Ecn) {
        self.last = ecn;
        if ecn.is_ce() {
            self.cep = self.cep.wrapping_add(1);
            self.unreported = self.unreported.saturating_add(1);
        }
    }

    pub(super) const fn flags(&self) -> Flags {
        ace::of_count(self.cep)
    }

    /// Returns the option of an acknowledgement that is sent now: all counters that have ever
    /// changed, if one has changed since the last (section 3.2.3.4).
    pub(super) fn on_ack(&mut self) -> Option<Box<AccurateEcn>> {
        self.unreported = 0;
        if !core::mem::take(&mut self.has_changed) {
            return None;
        }
        let Self {
            ceb, e0b, e1b, has, ..
        } = *self;
        let (order, counters) = if has.ect1 && !has.ect0 {
            (AccurateEcnOrder::Ect1First, [e1b, ceb, e0b])
        } else {
            (AccurateEcnOrder::Ect0First, [e0b, ceb, e1b])
        };
        let count = match has {
            Seen {
                ect0: true,
                ect1: true,
                ..
            } => 3,
            Seen { ce: true, .. } => 2,
            Seen { .. } => 1,
        };
        Some(option(order, &counters[..count]))
    }
}

fn option(order: AccurateEcnOrder, counters: &[u32]) -> Box<AccurateEcn> {
    Box::new(AccurateEcn {
        order,
        counters: counters.iter().copied().collect(),
    })
}
