//! What the unit tests share.

#[path = "../../../tests/skipped.rs"]
pub(crate) mod skipped;
