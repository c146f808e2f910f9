//! Tells builds of the simulator apart: results depend on its sources, not on its version alone.

use std::env;
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The crates on which a run depends, below `crates`.
const CRATES: [&str; 11] = [
    "congestion",
    "mpcp",
    "path",
    "qlog",
    "registry",
    "scenario",
    "sim",
    "traffic",
    "transport",
    "units",
    "wire",
];

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let crates = here.parent().ok_or("this crate is beside the others")?;
    let mut files = Vec::new();
    for name in CRATES {
        let sources = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        list(&sources, &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(crates)?.hash(&mut hasher);
        fs::read(&file)?.hash(&mut hasher);
    }
    println!("cargo::rustc-env=SOURCES_HASH={:016x}", hasher.finish());
    Ok(())
}

fn list(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
