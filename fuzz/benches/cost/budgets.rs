//! What each input may cost.

use std::collections::BTreeMap;
use std::fs;

use crate::Failure;
use crate::callgrind::Cost;
use crate::cases::Case;

const FILE: &str = "worst/budgets.toml";
const COMMENT: &str = "\
# The instructions per packet that each attack (fuzz/benches/cost/attacks) and each stored input may
# cost, written by `make cost-budgets`. `make cost` allows a tenth more, and a quarter less.

";

/// Another compiler or processor may take this much more, in percent.
const MORE: u64 = 10;
/// What takes this much less, in percent, wants a smaller budget, or no longer does what it was
/// stored for.
const LESS: u64 = 25;

/// Instructions per packet by target and name.
pub(crate) struct Budgets(BTreeMap<String, BTreeMap<String, u64>>);

impl Budgets {
    pub(crate) fn read() -> Result<Self, Failure> {
        Ok(Self(toml::from_str(&fs::read_to_string(FILE)?)?))
    }

    pub(crate) fn of(costs: &[(Case, Cost)]) -> Self {
        let mut budgets = BTreeMap::<_, BTreeMap<_, _>>::new();
        for (case, cost) in costs {
            let target = budgets.entry(case.target.into()).or_default();
            target.insert(case.name.clone(), cost.per_packet());
        }
        Self(budgets)
    }

    pub(crate) fn write(&self) -> Result<(), Failure> {
        fs::write(FILE, format!("{COMMENT}{}", toml::to_string(&self.0)?))?;
        Ok(())
    }

    /// What is wrong, a line for each input.
    pub(crate) fn faults(&self, costs: &[(Case, Cost)]) -> Vec<String> {
        let judged = costs
            .iter()
            .filter_map(|(case, cost)| self.fault(case, cost));
        let unused = self.0.iter().flat_map(|(target, budgets)| {
            let is_used = move |name: &String| {
                let is = |case: &Case| case.target == target && case.name == *name;
                costs.iter().any(|(case, _)| is(case))
            };
            let unused = budgets.keys().filter(move |name| !is_used(name));
            unused.map(move |name| format!("{target} {name}: it has a budget, but is missing"))
        });
        judged.chain(unused).collect()
    }

    fn fault(&self, case: &Case, cost: &Cost) -> Option<String> {
        if cost.packets == 0 {
            return Some(format!("{case}: it no longer makes packets"));
        }
        let spent = cost.per_packet();
        let Some(budget) = self
            .0
            .get(case.target)
            .and_then(|target| target.get(&case.name))
        else {
            return Some(format!("{case}: it has no budget, and costs {spent}"));
        };
        let change = match spent {
            _ if spent * 100 > budget * (100 + MORE) => "more",
            _ if spent * 100 < budget * (100 - LESS) => "less",
            _ => return None,
        };
        let percent = spent.abs_diff(*budget) * 100 / (*budget).max(1);
        let profile = cost.profile.display();
        Some(format!(
            "{case}: {spent} instructions per packet, {percent} % {change} than its budget of \
             {budget} ({profile})"
        ))
    }
}
