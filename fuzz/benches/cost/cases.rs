//! What is measured: attacks by name, and stored inputs by file.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use arbitrary::{Arbitrary, Unstructured};
use skywave_fuzz::{capture, connection, listener, options, packet, segment};

use crate::Failure;
use crate::attacks::{self, Attack};

/// The inputs that are stored, in a folder for each target.
pub(crate) const WORST: &str = "worst";

/// A target: its name in `fuzz_targets/`, and what it does with an input.
pub(crate) type Target = (&'static str, fn(&[u8]));

pub(crate) const TARGETS: [Target; 6] = [
    ("capture", capture::fuzz),
    ("dccp_connection", |data| decoded(data, connection::replay)),
    ("dccp_listener", |data| decoded(data, listener::replay)),
    ("dccp_options", |data| decoded(data, options::fuzz)),
    ("dccp_packet", packet::fuzz),
    ("tcp_segment", segment::fuzz),
];

/// Decodes an input as libFuzzer's macro does. One that cannot be decoded does nothing.
fn decoded<'a, T: Arbitrary<'a>>(data: &'a [u8], replay: impl FnOnce(T)) {
    if let Ok(input) = T::arbitrary_take_rest(Unstructured::new(data)) {
        replay(input);
    }
}

pub(crate) struct Case {
    /// The target whose code it runs.
    pub(crate) target: &'static str,
    /// The attack's name or the file's.
    pub(crate) name: String,
    work: Work,
}

enum Work {
    Attack(fn()),
    Input { path: PathBuf, replay: fn(&[u8]) },
}

impl Case {
    fn attack((target, (name, run)): (&'static str, Attack)) -> Self {
        Self {
            target,
            name: name.into(),
            work: Work::Attack(run),
        }
    }

    /// An input in a file.
    pub(crate) fn input((target, replay): Target, path: &Path) -> Self {
        Self {
            target,
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into(),
            work: Work::Input {
                path: path.into(),
                replay,
            },
        }
    }

    /// The file with the input, if it has one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.work {
            Work::Attack(_) => None,
            Work::Input { path, .. } => Some(path),
        }
    }

    /// The case that prints like this.
    pub(crate) fn named(text: &str) -> Result<Self, Failure> {
        let unknown = || format!("{text} is no case");
        let (target, rest) = text.split_once(' ').ok_or_else(unknown)?;
        let target = TARGETS.into_iter().find(|(name, _)| *name == target);
        let target = target.ok_or_else(unknown)?;
        let attack = attacks::all().find(|(of, (name, _))| *of == target.0 && *name == rest);
        Ok(attack.map_or_else(|| Self::input(target, Path::new(rest)), Self::attack))
    }

    pub(crate) fn replay(&self) {
        match &self.work {
            Work::Attack(run) => run(),
            Work::Input { path, replay } => replay(&fs::read(path).expect("it has been listed")),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.target)?;
        match self.path() {
            Some(path) => path.display().fmt(f),
            None => self.name.fmt(f),
        }
    }
}

/// The attacks, and the stored inputs.
pub(crate) fn all() -> Result<Vec<Case>, Failure> {
    let mut cases: Vec<Case> = attacks::all().map(Case::attack).collect();
    for target in TARGETS {
        cases.extend(inputs(target, WORST)?);
    }
    Ok(cases)
}

/// The inputs of a target in a folder, which may be missing.
pub(crate) fn inputs(target: Target, folder: &str) -> Result<Vec<Case>, Failure> {
    let directory = Path::new(folder).join(target.0);
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths.iter().map(|path| Case::input(target, path)).collect())
}
