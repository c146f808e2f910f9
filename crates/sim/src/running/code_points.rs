//! One meaning of ECT(1) per queue.

use std::collections::BTreeMap;

use skywave_path::{Way, Writes};
use skywave_scenario::{Scenario, ScenarioError};

use crate::world::network::Network;
use crate::world::transport::{Ect1, Transport};

/// The first flow in a queue that means each by ECT(1).
#[derive(Clone, Copy, Default)]
struct First {
    l4s: Option<usize>,
    load_factor: Option<usize>,
}

/// Checks that no queue that writes into the ECN field has both L4S packets (RFC 9331) and packets with
/// a load factor: both carry ECT(1), so it cannot tell which codes they understand.
///
/// # Errors
/// [`ScenarioError`] with the second of the two flows.
pub(super) fn check_code_points(
    scenario: &Scenario,
    network: &Network,
    ways: &[[Way; 2]],
    transports: &[Transport],
) -> Result<(), ScenarioError> {
    // The key has the class only where classes have queues of their own.
    let mut queues: BTreeMap<(u32, Option<u8>), First> = BTreeMap::new();
    let flows = scenario.flows.iter().zip(ways).zip(transports);
    for (index, ((flow, [forward, _]), transport)) in flows.enumerate() {
        let Some(meaning) = transport.meaning_of_ect1() else {
            continue;
        };
        for link in network.links_from(forward.hop) {
            let queue = network.queue(link);
            if queue.conduct_for(flow.class).writes == Writes::Nothing {
                continue;
            }
            let class = queue.conduct().has_classes.then_some(flow.class);
            let first = queues.entry((link, class)).or_default();
            match meaning {
                Ect1::L4s => first.l4s.get_or_insert(index),
                Ect1::LoadFactor => first.load_factor.get_or_insert(index),
            };
            if let (Some(l4s), Some(load_factor)) = (first.l4s, first.load_factor) {
                let [l4s, load_factor] = [l4s, load_factor].map(|flow| &scenario.flows[flow].name);
                let message = format!(
                    "\"{l4s}\" sends ECT(1) for L4S and \"{load_factor}\" for load factors, which the \
                     queue of link \"{}\" cannot tell apart: give them links or traffic classes of their own",
                    network.names[link as usize].name
                );
                return Err(ScenarioError::new(
                    format!("flows[{index}].transport"),
                    message,
                ));
            }
        }
    }
    Ok(())
}
