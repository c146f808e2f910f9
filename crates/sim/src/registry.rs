//! What the words of a scenario stand for.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skywave_path::Queues;
use skywave_registry::{OpenSet, Value};

use crate::packet::Frame;
use crate::probe::{Probe, ProbeFactory, ProbeSetup};
use crate::probes::{Drops, Flows, LinkFlows, Links, Packets, Rates, Transfers, Voice, Windows};

/// The open sets that a scenario chooses from by name.
///
/// [`Registry::default`] holds what this crate comes with. A member of one's own is registered by
/// the same functions as those are, and a scenario then names it as it names them.
#[derive(Clone, Debug)]
pub struct Registry {
    /// The queue disciplines.
    pub queues: Queues<Frame>,
    /// What a scenario may ask tables of.
    probes: OpenSet<ProbeFactory>,
}

impl Default for Registry {
    fn default() -> Self {
        let mut queues = Queues::new("queue discipline");
        skywave_path::register_built_in(&mut queues);
        let mut registry = Self {
            queues,
            probes: OpenSet::new("table"),
        };
        registry.register_probes();
        registry
    }
}

/// A probe has no parameters.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

impl Registry {
    fn register_probes(&mut self) {
        self.register_probe("flows", "Each flow, over each interval.", Flows::new);
        self.register_probe("links", "Each link, over each interval.", Links::new);
        self.register_probe("link_flows", "Each flow on each link.", LinkFlows::new);
        self.register_probe("drops", "Every packet that a link has lost.", Drops::new);
        self.register_probe("voice", "The frames of voice calls.", Voice::new);
        self.register_probe("transfers", "The files of web traffic.", Transfers::new);
        self.register_probe(
            "windows",
            "cwnd, ssthresh and pipe at each change.",
            Windows::new,
        );
        self.register_probe("rates", "X, X_recv, p and R at each change.", Rates::new);
        self.register_probe("packets", "All that happens to every packet.", Packets::new);
    }

    /// Adds a probe, or replaces the one of this name, which is that of its table too. `doc` is one
    /// sentence on what it measures; `make` makes one for each run.
    pub fn register_probe<P: Probe>(
        &mut self,
        name: &str,
        doc: &'static str,
        make: impl Fn(&Arc<ProbeSetup>) -> P + Send + Sync + 'static,
    ) {
        let factory: Arc<ProbeFactory> = Arc::new(move |setup| Box::new(make(setup)));
        self.probes
            .register(name, doc, move |NoParameters {}| Ok(Arc::clone(&factory)));
    }

    /// The probe of this name.
    ///
    /// # Errors
    /// What to do where there is none.
    pub(crate) fn probe(&self, name: &str) -> Result<Arc<ProbeFactory>, String> {
        let no_parameters = Value::Object(serde_json::Map::new());
        match self.probes.read(name, &no_parameters) {
            Ok(found) => Ok(found.member),
            Err(error) => Err(error.message),
        }
    }
}
