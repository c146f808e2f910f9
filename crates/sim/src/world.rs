//! What a run consists of: hosts, packets, links, and the event loop that moves them.

pub(crate) mod application;
pub(crate) mod bodies;
pub(crate) mod connect;
pub(crate) mod datagrams;
pub(crate) mod elements;
pub(crate) mod engine;
pub(crate) mod host;
pub(crate) mod ids;
pub(crate) mod nat;
pub(crate) mod network;
pub(crate) mod observe;
pub(crate) mod packet;
pub(crate) mod partition;
pub(crate) mod schedule;
pub(crate) mod tournament;
pub(crate) mod transport;
pub(crate) mod view;
pub(crate) mod wire_check;
