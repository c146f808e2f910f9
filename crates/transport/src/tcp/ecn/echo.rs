//! What an acknowledgement says about marks.

/// The marks that an acknowledgement reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) struct Echo {
    /// How many packets were marked; `None` if unknown: at most all that are acknowledged.
    pub(in crate::tcp) packets: Option<u32>,
    /// Bytes of data in them, if known.
    pub(in crate::tcp) bytes: Option<u64>,
}
