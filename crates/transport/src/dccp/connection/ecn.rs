//! The ECN bits of outgoing packets (RFC 4340 section 12), and whether the path can carry them.
//!
//! Some paths drop ECN-capable packets, and some mark all of them. Section 12 offers no remedy;
//! this one follows RFC 9000 section 13.4.2. Packets are ECN-capable at first. They stop being so
//! for the rest of the connection if
//!
//! - a Request got no answer in time, or the peer repeats a Request that was answered: the repeated
//!   packet is not ECN-capable, as with TCP (RFC 3168 section 6.1.1.1);
//! - the Request itself arrives without ECT: the client has given up ECN, or the path clears it;
//! - the first Ack Vectors report every packet as marked.
//!
//! A path that clears ECT is harmless: congestion shows as loss. CCIDs 3 and 4 report loss events
//! but not what was marked, so a path that marks everything slows them down.

use rand::Rng;
use skywave_wire::Ecn;
use skywave_wire::dccp::{OptionList, SeqNo};

use super::Connection;
use crate::dccp::VectorKind;
use crate::dccp::ackvec::{Vector, vectors};
use crate::dccp::ccid::HcSender;

/// The data packets that must be reported, all of them marked, before marks count as meaningless: as
/// many as RFC 9000 appendix A.4 sends to validate a path.
const TESTED: u64 = 10;

/// What is known about the path's treatment of ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnPath {
    /// Whether the verdict matters.
    is_validated: bool,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Verdict {
    #[default]
    Testing,
    Capable,
    Failed,
}

impl EcnPath {
    /// Sets whether packets obey what is learned about the path.
    pub(super) const fn set_validated(&mut self, is_validated: bool) {
        self.is_validated = is_validated;
    }

    /// Starts the test again, on another path.
    pub(super) const fn restart(&mut self) {
        self.verdict = Verdict::Testing;
    }

    /// Reports that the path does not carry ECN-capable packets, or not reliably.
    pub(super) const fn fail(&mut self) {
        self.verdict = Verdict::Failed;
    }

    const fn permits_ect(self) -> bool {
        !self.is_validated || !matches!(self.verdict, Verdict::Failed)
    }

    const fn is_tested(self) -> bool {
        self.is_validated && matches!(self.verdict, Verdict::Testing)
    }
}

impl Connection {
    /// Returns whether outgoing packets are ECN-capable (RFC 4340 section 12), as far as the path
    /// and both ends permit.
    pub fn is_ecn_capable(&self) -> bool {
        self.ecn_path.permits_ect()
            && !self.config.ecn_incapable
            && !self.features.peer.ecn_incapable
    }

    /// Chooses the ECN bits of a packet: what the control asks for, a nonce on data if configured,
    /// or the CCID's own code if its routers write codes. Packets without data that pass those
    /// routers must not appear to carry a code.
    pub(super) fn ecn(&mut self, is_data: bool) -> Ecn {
        let ours = self.sender.row().data_ecn;
        let has_theirs = self.ack_vector.kind() == VectorKind::Load;
        if self.config.ecn_incapable || self.features.peer.ecn_incapable {
            Ecn::NotEct
        } else if ours.is_some() || has_theirs {
            ours.filter(|_| is_data).unwrap_or_default()
        } else if !self.ecn_path.permits_ect() {
            Ecn::NotEct
        } else if let Some(code) = self.sender.ect() {
            code
        } else if is_data && self.config.ecn_nonces && self.rng.next_u64() & 1 == 1 {
            Ecn::Ect1
        } else {
            Ecn::Ect0
        }
    }

    /// Looks for the first report of a packet that arrived without a mark.
    #[inline]
    pub(super) fn validate_ecn(&mut self, ack: SeqNo, options: &OptionList) {
        if self.ecn_path.is_tested() {
            self.look_for_unmarked(ack, options);
        }
    }

    #[cold]
    fn look_for_unmarked(&mut self, ack: SeqNo, options: &OptionList) {
        let mut arrived = vectors(VectorKind::Ack, ack, options)
            .flat_map(Vector::runs)
            .filter_map(|run| run.code);
        if arrived.any(|code| !code.is_ce()) {
            self.ecn_path.verdict = Verdict::Capable;
        } else if let Some(window) = self.sender.congestion().window()
            && window.marked >= TESTED
        {
            self.ecn_path.fail();
        }
    }
}
