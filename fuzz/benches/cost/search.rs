//! The search for inputs that cost much.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::Failure;
use crate::callgrind;
use crate::cases::{self, TARGETS, WORST};

/// Inputs of a target that are stored.
const STORED: usize = 4;
/// Inputs that one run of callgrind measures: it leaves a file for each.
const AT_ONCE: usize = 500;

/// Measures what fuzzing has found (`corpus/`), the seeds, and what is stored, and stores the worst
/// of each target.
pub(crate) fn search() -> Result<(), Failure> {
    for target in TARGETS {
        let mut found = Vec::new();
        let mut names = BTreeSet::new();
        for folder in ["corpus", "seeds", WORST] {
            let mut inputs = cases::inputs(target, folder)?;
            // What is stored has been found in the corpus.
            inputs.retain(|case| names.insert(short(&case.name)));
            found.append(&mut inputs);
        }
        let count = found.len();
        let mut costs = Vec::with_capacity(count);
        for some in found.chunks(AT_ONCE) {
            let measured = callgrind::compare(some)?;
            costs.extend(measured.iter().map(callgrind::Cost::per_packet));
        }
        let mut ranked: Vec<_> = costs.into_iter().zip(found).collect();
        ranked.sort_by_key(|(cost, case)| (std::cmp::Reverse(*cost), case.name.clone()));
        ranked.truncate(STORED);
        let mut worst = Vec::new();
        for (cost, case) in &ranked {
            let path = case.path().ok_or("an input has a file")?;
            println!("{case}: {cost} instructions per packet, of {count} inputs");
            worst.push((short(&case.name), fs::read(path)?));
        }
        let directory = Path::new(WORST).join(target.0);
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        for (name, bytes) in worst {
            fs::write(directory.join(name), bytes)?;
        }
    }
    Ok(())
}

/// libFuzzer names an input by its hash, of which some digits are enough.
fn short(name: &str) -> String {
    name.chars().take(12).collect()
}
