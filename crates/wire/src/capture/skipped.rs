//! What a reader skips in a capture without losing a frame.

use core::fmt;

/// What is wrong with a part of a capture that says nothing about its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// A list of options or names runs past the end of its block.
    PastTheEnd,
    /// An option or a name is longer or shorter than the format allows.
    Length,
    /// An interface's time resolution or offset is longer or shorter than the format allows, so the
    /// default is used: microseconds since 1970.
    Clock,
    /// A comment or a name is not UTF-8.
    Text,
}

/// All parts of a capture with the same flaw.
///
/// `Display` prints a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedParts {
    /// What is wrong with them.
    pub flaw: Flaw,
    /// How many there are.
    pub count: u64,
    /// The offset in the file of the block with the first one, in bytes.
    pub offset: usize,
}

impl fmt::Display for SkippedParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (one, many, rest) = match self.flaw {
            Flaw::PastTheEnd => (
                "a list of options that is longer",
                "lists of options that are longer",
                " than its block",
            ),
            Flaw::Length => ("an option", "options", " of a wrong length"),
            Flaw::Clock => (
                "a time resolution or offset",
                "time resolutions or offsets",
                " of a wrong length",
            ),
            Flaw::Text => ("a text that is", "texts that are", " not UTF-8"),
        };
        let (count, offset) = (self.count, self.offset);
        match count {
            1 => write!(f, "skipped {one}{rest}, in the block at byte {offset}")?,
            _ => write!(
                f,
                "skipped {count} {many}{rest}, the first in the block at byte {offset}"
            )?,
        }
        match self.flaw {
            Flaw::Clock => write!(f, "; times are read as microseconds and may be wrong"),
            Flaw::PastTheEnd | Flaw::Length | Flaw::Text => {
                write!(f, "; the frames are complete")
            }
        }
    }
}

/// Notes what is skipped in the block at `offset`.
pub(super) struct Skipped<'a> {
    pub(super) parts: &'a mut Vec<SkippedParts>,
    pub(super) offset: usize,
}

impl Skipped<'_> {
    pub(super) fn note(&mut self, flaw: Flaw) {
        match self.parts.iter_mut().find(|parts| parts.flaw == flaw) {
            Some(parts) => parts.count += 1,
            None => self.parts.push(SkippedParts {
                flaw,
                count: 1,
                offset: self.offset,
            }),
        }
    }
}
