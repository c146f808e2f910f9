//! Counting instructions with callgrind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::slice;

use skywave_fuzz::handling;

use crate::Failure;
use crate::cases::Case;

/// The function whose end makes callgrind write a file and begin anew: [`replay_often`].
const FUNCTION: &str = "*callgrind::replay_often*";
/// Callgrind counts the string instructions with which glibc copies large blocks once for each byte.
const TUNABLES: &str =
    "glibc.cpu.x86_rep_movsb_threshold=0x40000000:glibc.cpu.x86_rep_stosb_threshold=0x40000000";
/// Packets that are counted at least: a single one depends too much on the heap that it finds.
const PACKETS: usize = 20;

/// What an input cost.
#[derive(Debug)]
pub(crate) struct Cost {
    pub(crate) instructions: u64,
    pub(crate) packets: u64,
    /// The file that `callgrind_annotate` reads.
    pub(crate) profile: PathBuf,
}

impl Cost {
    pub(crate) fn per_packet(&self) -> u64 {
        self.instructions / self.packets.max(1)
    }
}

/// Measures each case in a process of its own, since the state of the heap would make it depend on
/// those before it.
pub(crate) fn measure(cases: &[Case]) -> Result<Vec<Cost>, Failure> {
    let directory = empty_directory()?;
    let mut costs = Vec::new();
    for case in cases {
        let profile = directory.join(format!("{}.{}", case.target, case.name));
        costs.extend(run(slice::from_ref(case), PACKETS, &profile)?);
    }
    Ok(costs)
}

/// Measures all cases in one process: much faster, and accurate to a tenth.
pub(crate) fn compare(cases: &[Case]) -> Result<Vec<Cost>, Failure> {
    run(cases, 1, &empty_directory()?.join("case"))
}

fn empty_directory() -> Result<PathBuf, Failure> {
    let directory = Path::new("target/cost");
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    fs::create_dir_all(directory)?;
    Ok(directory.canonicalize()?)
}

/// Handles at least so many packets of each case in this program, run by valgrind, which writes files
/// whose names begin like `profile`.
fn run(cases: &[Case], packets: usize, profile: &Path) -> Result<Vec<Cost>, Failure> {
    let list = profile.with_file_name("cases");
    let lines: Vec<String> = cases.iter().map(|case| format!("{case}\n")).collect();
    fs::write(&list, lines.concat())?;
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(format!("--toggle-collect={}", handling::FUNCTION))
        .arg(format!("--dump-after={FUNCTION}"))
        .arg(std::env::current_exe()?)
        .arg("replay")
        .arg(packets.to_string())
        .arg(list)
        // What the linker resolves late would count for whoever comes first.
        .env("LD_BIND_NOW", "1")
        .env("GLIBC_TUNABLES", TUNABLES)
        .stderr(Stdio::inherit())
        .output()?;
    if !run.status.success() {
        return Err(format!("valgrind: {}", run.status).into());
    }
    let counts = String::from_utf8(run.stdout)?;
    let counts: Vec<u64> = counts.lines().map(str::parse).collect::<Result<_, _>>()?;
    if counts.len() != cases.len() {
        return Err(format!("{} inputs, {} counts", cases.len(), counts.len()).into());
    }
    // The first file of each case is not used.
    (2..)
        .step_by(2)
        .zip(counts)
        .map(|(number, packets)| {
            let profile = PathBuf::from(format!("{}.{number}", profile.display()));
            let instructions = total(&fs::read_to_string(&profile)?)
                .ok_or_else(|| format!("{} has no totals", profile.display()))?;
            Ok(Cost {
                instructions,
                packets,
                profile,
            })
        })
        .collect()
}

/// The instructions in a file of callgrind.
fn total(profile: &str) -> Option<u64> {
    let mut totals = profile
        .lines()
        .filter_map(|line| line.strip_prefix("totals: "));
    totals.next()?.trim().parse().ok()
}

/// Handles at least so many packets of each case of a list, and prints how many it were.
pub(crate) fn replay(least: usize, list: &Path) -> Result<(), Failure> {
    for line in fs::read_to_string(list)?.lines() {
        let case = Case::named(line)?;
        // Not used: it leaves the heap as the case itself does, not as those before it.
        replay_often(&case, 1);
        let packets = handling::take_count();
        let times = least.div_ceil(packets.max(1));
        replay_often(&case, times);
        println!("{}", handling::take_count());
    }
    Ok(())
}

#[inline(never)]
fn replay_often(case: &Case, times: usize) {
    for _ in 0..times {
        case.replay();
    }
}
