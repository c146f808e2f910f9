//! What applications have done, by their own account.

use skywave_units::Instant;

/// One file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// When its connection was opened.
    pub(crate) start: Instant,
    /// Its length.
    pub(crate) bytes: u64,
    /// When the connection was over, and how much of the file had arrived.
    pub(crate) end: Option<(Instant, u64)>,
}

/// Frames made in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) frames: u64,
    /// Those that the transport did not take.
    pub(crate) refused: u64,
}
