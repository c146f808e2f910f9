//! The table of CCIDs that an endpoint supports.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::Mechanism;
use super::senders_choice::SendersChoice;
use super::tcp_like::TcpLike;
use super::tfrc::Tfrc;
use super::tfrc_sp::TfrcSp;
use crate::dccp::ackvec::VectorKind;
use crate::dccp::ccid::{Ccid, Features, Row};

/// The row of a CCID that is not in the table and so cannot come into force.
const UNKNOWN: Row = Row {
    ccid: Ccid(0),
    name: "unknown",
    features: Features::NONE,
    options: &[],
    vector: VectorKind::Ack,
    data_ecn: None,
};

/// The CCIDs that an endpoint supports, that is, may offer and accept.
///
/// By default these are CCIDs 2, 3, 4 and 251. A table is cheap to clone.
#[derive(Clone, Debug)]
pub struct Ccids(Arc<BTreeMap<Ccid, Arc<dyn Mechanism>>>);

impl Ccids {
    /// Creates an empty table. Every connection starts with CCID 2 until another is agreed on, so a
    /// useful table contains it.
    pub fn empty() -> Self {
        Self(Arc::default())
    }

    /// Adds a CCID, replacing any of the same number.
    pub fn enter(&mut self, mechanism: impl Mechanism + 'static) {
        self.enter_shared(Arc::new(mechanism));
    }

    /// Adds a CCID like [`enter`](Self::enter), with a shared mechanism.
    pub fn enter_shared(&mut self, mechanism: Arc<dyn Mechanism>) {
        let ccid = mechanism.row().ccid;
        Arc::make_mut(&mut self.0).insert(ccid, mechanism);
    }

    /// Returns the mechanism of this CCID, if supported.
    pub fn get(&self, ccid: Ccid) -> Option<&dyn Mechanism> {
        self.0.get(&ccid).map(Arc::as_ref)
    }

    /// Returns the shared mechanism of this CCID, for use in another table.
    pub fn get_shared(&self, ccid: Ccid) -> Option<Arc<dyn Mechanism>> {
        self.0.get(&ccid).cloned()
    }

    /// Returns the supported CCIDs, in ascending order.
    pub fn numbers(&self) -> impl Iterator<Item = Ccid> {
        self.0.keys().copied()
    }

    /// Returns the row of a CCID.
    pub(crate) fn row(&self, ccid: Ccid) -> &'static Row {
        self.get(ccid).map_or(&UNKNOWN, Mechanism::row)
    }
}

/// Built once, because every configuration starts with it.
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
