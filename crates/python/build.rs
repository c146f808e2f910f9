//! Tells builds of the simulator apart: results depend on its sources, not on its version alone.

use std::env;
use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The crates on which a run does not depend. Those that are added later count.
const OTHERS: [&str; 4] = ["net", "perf", "python", "skywave"];

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let crates = here.parent().ok_or("this crate is beside the others")?;
    let mut files = Vec::new();
    for entry in fs::read_dir(crates)? {
        let entry = entry?;
        if !OTHERS.iter().any(|other| entry.file_name() == *other) {
            let sources = entry.path().join("src");
            println!("cargo::rerun-if-changed={}", sources.display());
            list(&sources, &mut files)?;
        }
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
