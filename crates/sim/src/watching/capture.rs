//! Captures of links, for Wireshark. The Quick-Start options of IP headers are left out.

use std::io::Write;

use skywave_registry::suggestion;
use skywave_scenario::FlowSpec;
use skywave_units::Instant;
use skywave_wire::capture::{InterfaceId, Writer};

use crate::error::RunError;
use crate::world::network::Network;
use crate::world::observe::Observer;
use crate::world::view::{Event, PacketView};
use crate::world::wire_check::encode;

/// Writes every packet that leaves a captured link to that link's file.
pub(crate) struct Captures {
    files: Vec<CaptureFile>,
    /// The node of each host.
    nodes: Vec<u32>,
}

struct CaptureFile {
    link: u32,
    name: String,
    writer: Writer<Box<dyn Write + Send>>,
    interface: InterfaceId,
    /// The first error; nothing is written after it.
    error: Option<String>,
}

impl Captures {
    /// Opens the captures; `None` if none is requested.
    pub(crate) fn new(
        wanted: Vec<(String, Box<dyn Write + Send>)>,
        network: &Network,
        flows: &[FlowSpec],
    ) -> Result<Option<Self>, RunError> {
        if wanted.is_empty() {
            return Ok(None);
        }
        let nodes = flows
            .iter()
            .flat_map(|flow| [&flow.from, &flow.to])
            .map(|name| network.node(name).unwrap_or_default())
            .collect();
        let mut files = Vec::with_capacity(wanted.len());
        for (name, file) in wanted {
            let Some(link) = network.names.iter().position(|link| link.name == name) else {
                let names: Vec<_> = network
                    .names
                    .iter()
                    .map(|link| link.name.as_str())
                    .collect();
                let meant = suggestion(&name, names.iter().copied());
                return Err(RunError::UnknownLink {
                    link: name,
                    known: names.join(", ") + &meant,
                });
            };
            let opened = Writer::new(file).and_then(|mut writer| {
                let interface = writer.add_interface(&name)?;
                Ok((writer, interface))
            });
            let (writer, interface) = opened.map_err(|error| RunError::Capture {
                link: name.clone(),
                reason: error.to_string(),
            })?;
            files.push(CaptureFile {
                link: link as u32,
                name,
                writer,
                interface,
                error: None,
            });
        }
        Ok(Some(Self { files, nodes }))
    }

    /// Closes the files.
    pub(crate) fn finish(self) -> Result<(), RunError> {
        for file in self.files {
            let outcome = match file.error {
                Some(reason) => Err(reason),
                None => file
                    .writer
                    .into_inner()
                    .flush()
                    .map_err(|error| error.to_string()),
            };
            outcome.map_err(|reason| RunError::Capture {
                link: file.name,
                reason,
            })?;
        }
        Ok(())
    }
}

impl Observer for Captures {
    fn packet(&mut self, now: Instant, event: Event, packet: PacketView<'_>) {
        let Event::Arrive { link } = event else {
            return;
        };
        for file in self
            .files
            .iter_mut()
            .filter(|file| file.link == link && file.error.is_none())
        {
            let (from, to) = (
                self.nodes[packet.from().index()],
                self.nodes[packet.to().index()],
            );
            file.error = encode(packet.body(), packet.ecn(), from, to)
                .map_err(|mismatch| mismatch.to_string())
                .and_then(|bytes| {
                    file.writer
                        .write(file.interface, now, &bytes, bytes.len() as u32)
                        .map_err(|error| error.to_string())
                })
                .err();
        }
    }
}
