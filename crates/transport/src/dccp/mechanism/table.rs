//! The CCIDs that an endpoint knows.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::Mechanism;
use super::senders_choice::SendersChoice;
use super::tcp_like::TcpLike;
use super::tfrc::Tfrc;
use super::tfrc_sp::TfrcSp;
use crate::dccp::ackvec::VectorKind;
use crate::dccp::ccid::{Ccid, Features, Row};

/// What is known of a CCID that is not in the table, and cannot come into force.
const UNKNOWN: Row = Row {
    ccid: Ccid(0),
    name: "unknown",
    features: Features::NONE,
    options: &[],
    vector: VectorKind::Ack,
    data_ecn: None,
};

/// The CCIDs that an endpoint knows: those that it may offer and accept.
///
/// By default these are CCIDs 2, 3, 4 and 251. A table is cheap to clone.
#[derive(Clone, Debug)]
pub struct Ccids(Arc<BTreeMap<Ccid, Arc<dyn Mechanism>>>);

impl Ccids {
    /// A table without entries. Every connection begins with CCID 2 before another is agreed on, so
    /// a useful table has that.
    pub fn empty() -> Self {
        Self(Arc::default())
    }

    /// Enters a CCID, or replaces the one of its number.
    pub fn enter(&mut self, mechanism: impl Mechanism + 'static) {
        self.enter_shared(Arc::new(mechanism));
    }

    /// As [`enter`](Self::enter), for a mechanism that is shared.
    pub fn enter_shared(&mut self, mechanism: Arc<dyn Mechanism>) {
        let ccid = mechanism.row().ccid;
        Arc::make_mut(&mut self.0).insert(ccid, mechanism);
    }

    /// The mechanism of this number, where it is known.
    pub fn get(&self, ccid: Ccid) -> Option<&dyn Mechanism> {
        self.0.get(&ccid).map(Arc::as_ref)
    }

    /// The mechanism of this number, to be entered in another table.
    pub fn get_shared(&self, ccid: Ccid) -> Option<Arc<dyn Mechanism>> {
        self.0.get(&ccid).cloned()
    }

    /// The numbers that are known, in ascending order.
    pub fn numbers(&self) -> impl Iterator<Item = Ccid> {
        self.0.keys().copied()
    }

    /// The facts of a CCID.
    pub(crate) fn row(&self, ccid: Ccid) -> &'static Row {
        self.get(ccid).map_or(&UNKNOWN, Mechanism::row)
    }
}

/// Made once: every configuration begins with it.
static BUILT_IN: LazyLock<Ccids> = LazyLock::new(|| {
    let mut ccids = Ccids::empty();
    ccids.enter(TcpLike);
    ccids.enter(Tfrc);
    ccids.enter(TfrcSp);
    ccids.enter(SendersChoice::default());
    ccids
});

impl Default for Ccids {
    fn default() -> Self {
        BUILT_IN.clone()
    }
}
