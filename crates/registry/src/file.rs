//! Files that parameters name.

use std::io;
use std::path::Path;

use crate::ParameterError;

/// The size limit of these files. A larger one would hold more than a scenario may.
const MOST_BYTES: u64 = 100_000_000;

/// Reads a file. `field` names the file; `name` is relative to `directory`.
///
/// # Errors
/// [`ParameterError`] at `field` if it cannot be read, is not a regular file, or is larger than
/// 100 MB.
pub fn read_file(field: &str, name: &str, directory: &Path) -> Result<Vec<u8>, ParameterError> {
    contents(field, name, directory, |path| std::fs::read(path))
}

/// Reads the lines of a text file, without comments (`#`) and blank lines, as [`read_file`] does.
/// `read` gets each line without surrounding spaces.
///
/// # Errors
/// As for [`read_file`], and for the first line that `read` refuses, with its number.
pub fn read_lines<T>(
    field: &str,
    name: &str,
    directory: &Path,
    mut read: impl FnMut(&str) -> Result<T, String>,
) -> Result<Vec<T>, ParameterError> {
    let text = contents(field, name, directory, |path| std::fs::read_to_string(path))?;
    // Some editors begin a file with a byte-order mark.
    text.trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| {
            let wrong = |message| format!("{name}, line {number}: {message}");
            read(line).map_err(|message| ParameterError::new(field, wrong(message)))
        })
        .collect()
}

/// Reads a file with `read`, unless it is empty.
fn contents<T: Default>(
    field: &str,
    name: &str,
    directory: &Path,
    read: impl FnOnce(&Path) -> io::Result<T>,
) -> Result<T, ParameterError> {
    let wrong = |message| ParameterError::new(field, message);
    let unreadable = |error| wrong(format!("{name} cannot be read: {error}"));
    let path = directory.join(name);
    // A pipe would block, and a device may be endless.
    let about = std::fs::metadata(&path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(wrong(format!("{name} is not a file")));
    }
    if about.len() > MOST_BYTES {
        let message = format!("{name} has {} B: at most {MOST_BYTES} B", about.len());
        return Err(wrong(message));
    }
    // The kernel's own files claim to be empty, and may block the reader.
    match about.len() {
        0 => Ok(T::default()),
        _ => read(&path).map_err(unreadable),
    }
}

/// Returns the error for parameters that name a file which cannot be read, because their scenario
/// came from a text rather than a file. `instead` says what they may contain in its place.
pub fn not_read(field: &str, instead: &str) -> ParameterError {
    let message =
        format!("the file has not been read: read the scenario from a file too, or {instead}");
    ParameterError::new(field, message)
}
