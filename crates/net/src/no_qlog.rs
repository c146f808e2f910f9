//! Stands in for qlog files without the feature `qlog`: no endpoint has logs, so nothing here is
//! ever called.

use std::ops::ControlFlow;

use bytes::Bytes;
use skywave_transport::Transmit;
use skywave_transport::dccp::{Connection, Outlet, Role};
use skywave_units::Instant;
use skywave_wire::dccp;
use skywave_wire::{Checksum, Ecn};

use crate::path::Key;

/// The logs of an endpoint; there are none.
#[derive(Debug)]
pub(crate) enum Logs {}

/// The log of a connection; there is none.
#[derive(Debug)]
pub(crate) enum Log {}

impl Logs {
    pub(crate) fn dropped(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn begin(&self, _: u64, _: &Key, _: Instant, _: Role) -> Option<Log> {
        match *self {}
    }

    pub(crate) async fn flush(&self) {
        match *self {}
    }
}

impl Log {
    pub(crate) fn established(&self) {
        match *self {}
    }

    pub(crate) fn received(&mut self, _: Instant, _: Ecn, _: &dccp::Packet) {
        match *self {}
    }

    pub(crate) fn received_bytes(&mut self, _: Instant, _: Ecn, _: &Bytes, _: Checksum) {
        match *self {}
    }

    pub(crate) fn metrics(&mut self, _: Instant, _: &Connection) {
        match *self {}
    }
}

/// An outlet that would record the packets that pass through it; there is none.
pub(crate) struct Logged<'a, O> {
    pub(crate) outlet: &'a mut O,
    pub(crate) log: &'a mut Log,
    pub(crate) now: Instant,
}

impl<O: Outlet> Outlet for Logged<'_, O> {
    fn packet(&mut self, transmit: Transmit<dccp::Packet>) -> ControlFlow<()> {
        let Self { outlet, log, now } = self;
        let _ = (outlet, now, transmit);
        match **log {}
    }
}
