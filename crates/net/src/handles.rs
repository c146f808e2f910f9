//! The application's handles.

pub(crate) mod connection;
pub(crate) mod endpoint;
pub(crate) mod handle;
pub(crate) mod happy_eyeballs;
pub(crate) mod listener;
pub(crate) mod snapshot;
