//! What hostile packets cost: the instructions that callgrind counts while packets are handled,
//! for the worst inputs that fuzzing found (`worst/`) and for attacks written by hand, compared with
//! their budgets (`worst/budgets.toml`). Counts are deterministic, however busy the machine is.
//!
//! - `cargo bench --bench cost` checks the budgets;
//! - `-- store` measures and writes them;
//! - `-- search` looks for the worst inputs of `corpus/`, stores those, and writes the budgets.

mod attacks;
mod budgets;
mod callgrind;
mod cases;
mod search;

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::budgets::Budgets;
use crate::callgrind::Cost;
use crate::cases::Case;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    // Cargo adds --bench.
    let arguments: Vec<String> = env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Run by valgrind.
    if let ["replay", least, list] = words[..] {
        let least = least.parse().expect("this program has written it");
        return report(callgrind::replay(least, Path::new(list)));
    }
    let found = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if found.is_err() {
        println!(
            "cost: skipped, since valgrind is not installed (Debian: apt-get install valgrind)"
        );
        return ExitCode::SUCCESS;
    }
    report(match words[..] {
        [] => check(),
        ["store"] => store(),
        ["search"] => search::search().and_then(|()| store()),
        _ => Err("give nothing, store or search".into()),
    })
}

fn report(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures the attacks and the stored inputs.
fn measure() -> Result<Vec<(Case, Cost)>, Failure> {
    let cases = cases::all()?;
    let costs = callgrind::measure(&cases)?;
    Ok(cases.into_iter().zip(costs).collect())
}

fn check() -> Result<(), Failure> {
    let budgets = Budgets::read()?;
    let costs = measure()?;
    let faults = budgets.faults(&costs);
    if faults.is_empty() {
        println!("cost: {} inputs keep to their budgets", costs.len());
        return Ok(());
    }
    Err(format!(
        "{}\n\
         To see where the instructions go, run `callgrind_annotate --inclusive=yes` on the file that is \
         named above.\n\
         If the change is wanted, run `make cost-budgets` and say why in the commit.",
        faults.join("\n")
    )
    .into())
}

fn store() -> Result<(), Failure> {
    let costs = measure()?;
    for (case, cost) in &costs {
        println!(
            "{case}: {} instructions per packet, {} packets",
            cost.per_packet(),
            cost.packets
        );
    }
    Budgets::of(&costs).write()
}
