//! Counts kept by applications, such as files transferred and voice frames made.

use skywave_units::Instant;

/// What the application of a flow has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Journal {
    /// The files of web traffic, in order.
    pub transfers: Vec<Transfer>,
    /// The frames of a voice call, by the sampling interval in which they were made.
    pub speech: Vec<Made>,
}

/// A file of web traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transfer {
    /// When its connection was opened.
    pub start: Instant,
    /// Its length.
    pub bytes: u64,
    /// When the connection ended, and how much of the file had arrived; `None` while it is open.
    pub end: Option<(Instant, u64)>,
}

/// Frames of a voice call made in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Made {
    /// Their number.
    pub frames: u64,
    /// The number of those that the transport refused.
    pub refused: u64,
}
