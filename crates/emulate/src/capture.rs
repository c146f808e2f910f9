//! Captures of what an emulation delivers, for Wireshark.

use std::io::{self, Write};

use skywave_units::Instant;
use skywave_wire::capture::{InterfaceId, Writer};

/// Writes every packet that arrives at a host, with the time at which its links delivered it.
#[derive(Debug)]
pub(crate) struct Capture {
    writer: Writer<Box<dyn Write + Send>>,
    /// The interface of each host.
    interfaces: Vec<InterfaceId>,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

impl Capture {
    /// Begins a file with an interface for each host.
    ///
    /// # Errors
    /// That of the file.
    pub(crate) fn new<'a>(
        file: Box<dyn Write + Send>,
        hosts: impl Iterator<Item = &'a str>,
    ) -> io::Result<Self> {
        let mut writer = Writer::new(file)?;
        let interfaces: io::Result<Vec<_>> = hosts
            .map(|host| writer.add_interface(&format!("to {host}")))
            .collect();
        Ok(Self {
            interfaces: interfaces?,
            writer,
            error: None,
        })
    }

    /// Writes a packet that arrived at this host.
    pub(crate) fn write(&mut self, at: Instant, host: u32, packet: &[u8]) {
        if self.error.is_none() {
            let interface = self.interfaces[host as usize];
            let written = self
                .writer
                .write(interface, at, packet, packet.len() as u32);
            self.error = written.err();
        }
    }

    /// Returns the first error so far.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.as_ref().map(io::Error::to_string)
    }

    /// Writes what is left, and returns the first error.
    pub(crate) fn finish(self) -> Option<io::Error> {
        let flushed = self.writer.into_inner().flush();
        self.error.or(flushed.err())
    }
}
