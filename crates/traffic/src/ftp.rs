//! A bulk transfer.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Instant};
use skywave_wire::Payload;

use crate::check::check_datagram;
use crate::{Carrier, CheckedSource, SendingEnd, Setup, Source, SourceKind};

/// A bulk transfer.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Ftp")]
#[serde(deny_unknown_fields)]
pub struct FtpSpec {
    /// The length of the file. Absent: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// The size of each datagram. Not used by TCP.
    #[serde(default = "default_datagram")]
    pub datagram: Bytes,
}

const fn default_datagram() -> Bytes {
    Bytes::new(1000)
}

impl Default for FtpSpec {
    fn default() -> Self {
        Self {
            size: None,
            datagram: default_datagram(),
        }
    }
}

impl FtpSpec {
    pub(crate) fn kind(self) -> CheckedSource {
        let is_empty = self.size.is_some_and(|size| size.get() == 0);
        ParameterError::unless(!is_empty, "size", || {
            "0 B: give a size above zero".to_owned()
        })?;
        check_datagram(self.datagram.get(), "datagram")?;
        Ok(Arc::new(self))
    }
}

impl SourceKind for FtpSpec {
    fn datagram(&self) -> u64 {
        self.datagram.get()
    }

    fn check_carrier(&self, carrier: Carrier) -> Result<(), &'static str> {
        match carrier {
            Carrier::Stream | Carrier::Datagrams => Ok(()),
            Carrier::BareDatagrams => {
                Err("a file over udp would be sent all at once: use cbr or voice")
            }
        }
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        Box::new(File {
            start: setup.start,
            remaining: self.size.map_or(u64::MAX, Bytes::get),
            is_unlimited: self.size.is_none(),
            datagram: self.datagram.get() as u32,
            is_open: false,
        })
    }
}

#[derive(Debug)]
struct File {
    start: Instant,
    /// Bytes not handed over yet.
    remaining: u64,
    is_unlimited: bool,
    datagram: u32,
    is_open: bool,
}

impl Source for File {
    fn begins(&self) -> Instant {
        self.start
    }

    fn act(&mut self, now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        let bytes = (!self.is_unlimited).then_some(self.remaining);
        if transport.write(bytes) {
            self.remaining = 0;
        } else {
            self.is_open = true;
            self.refill(now, transport);
        }
        None
    }

    fn refill(&mut self, _now: Instant, transport: &mut dyn SendingEnd) -> usize {
        if !self.is_open {
            return 0;
        }
        if self.is_unlimited {
            self.remaining = u64::MAX;
        }
        fill(transport, self.datagram, &mut self.remaining)
    }

    fn is_done(&self) -> bool {
        !self.is_unlimited && self.remaining == 0
    }

    fn stop(&mut self) {
        self.is_open = false;
    }
}

/// Hands over full datagrams and finally the remainder, until `remaining` is zero or the transport
/// refuses one. Returns how many were accepted.
pub(crate) fn fill(transport: &mut dyn SendingEnd, datagram: u32, remaining: &mut u64) -> usize {
    let mut accepted = 0;
    loop {
        let size = (*remaining).min(u64::from(datagram)) as u32;
        if size == 0 || !transport.send(Payload::Synthetic(size)) {
            return accepted;
        }
        accepted += 1;
        *remaining -= u64::from(size);
    }
}
