//! Writing captures.

use std::borrow::Cow;
use std::io;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, Endianness, PcapError};
use skywave_units::Instant;

use super::LinkType;

/// An if_tsresol of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Writes raw IP packets as pcapng, with times in nanoseconds.
///
/// The output depends only on what is written, not on the machine. Each packet takes many small
/// writes, so wrap a file in a [`BufWriter`](io::BufWriter).
pub struct Writer<W: io::Write> {
    inner: PcapNgWriter<W>,
    interfaces: u32,
}

/// An interface of a [`Writer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceId(u32);

impl<W: io::Write> Writer<W> {
    /// Starts a capture.
    ///
    /// # Errors
    ///
    /// The error of `writer`.
    pub fn new(writer: W) -> io::Result<Self> {
        let inner = PcapNgWriter::with_endianness(writer, Endianness::Little).map_err(io_error)?;
        Ok(Self {
            inner,
            interfaces: 0,
        })
    }

    /// Adds an interface on which packets are captured, such as a simulated link.
    ///
    /// # Errors
    ///
    /// The error of the writer.
    pub fn add_interface(&mut self, name: &str) -> io::Result<InterfaceId> {
        let block = InterfaceDescriptionBlock {
            linktype: DataLink::from(LinkType::RAW_IP.0),
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        self.inner.write_pcapng_block(block).map_err(io_error)?;
        let id = InterfaceId(self.interfaces);
        self.interfaces += 1;
        Ok(id)
    }

    /// Writes an IP packet that passed `interface` at `time`. `packet` may be truncated;
    /// `original_len` is the full length.
    ///
    /// # Errors
    ///
    /// The error of the writer, or [`io::ErrorKind::InvalidInput`] for an interface of another
    /// capture.
    pub fn write(
        &mut self,
        interface: InterfaceId,
        time: Instant,
        packet: &[u8],
        original_len: u32,
    ) -> io::Result<()> {
        let block = EnhancedPacketBlock {
            interface_id: interface.0,
            timestamp: core::time::Duration::from_nanos(time.as_nanos()),
            original_len,
            data: Cow::Borrowed(packet),
            options: Vec::new(),
        };
        self.inner.write_pcapng_block(block).map_err(io_error)?;
        Ok(())
    }

    /// Returns the writer. Everything has been written by then.
    pub fn into_inner(self) -> W {
        self.inner.into_inner()
    }
}

impl<W: io::Write> core::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Writer")
            .field("interfaces", &self.interfaces)
            .finish_non_exhaustive()
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        error => io::Error::new(io::ErrorKind::InvalidInput, error),
    }
}
