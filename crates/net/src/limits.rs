//! Limits on memory, peers and notices.

pub(crate) mod memory;
pub(crate) mod notices;
pub(crate) mod sources;
