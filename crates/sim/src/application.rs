//! Applications: what is sent, and when.

use skywave_transport::{dccp, tcp};
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;

use crate::scenario::{FlowSpec, SourceSpec};

/// The application at the sending end of a flow.
#[derive(Debug)]
pub(crate) struct Application {
    /// When it acts next.
    next: Option<Instant>,
    stop: Option<Instant>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    /// A file: `remaining` bytes of it are still to be handed over, without end where `None`.
    File {
        remaining: Option<u64>,
        datagram: u32,
        open: bool,
    },
    /// One datagram every `interval`.
    Periodic { interval: Duration, datagram: u32 },
}

impl Application {
    /// The application of a flow, before its start.
    pub(crate) fn new(flow: &FlowSpec) -> Self {
        let source = match &flow.source {
            SourceSpec::Ftp(ftp) => Source::File {
                remaining: ftp.size.map(skywave_units::Bytes::get),
                datagram: ftp.datagram.get() as u32,
                open: false,
            },
            SourceSpec::Cbr(cbr) => Source::Periodic {
                interval: cbr.rate.transmission_time(cbr.datagram.get()),
                datagram: cbr.datagram.get() as u32,
            },
        };
        let start = Instant::ZERO + flow.start;
        Self {
            next: Some(start),
            stop: flow.stop.map(|stop| Instant::ZERO + stop),
            source,
        }
    }

    /// When it wants to act next.
    pub(crate) const fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Acts on a byte stream.
    pub(crate) fn write(&mut self, now: Instant, sender: &mut tcp::Sender) {
        if self.stops(now) {
            sender.close();
            return;
        }
        // Writing fails only after `close`, and nothing is written after that.
        let written = match &mut self.source {
            Source::File {
                remaining: None,
                open,
                ..
            } => {
                *open = true;
                sender.write_unlimited()
            }
            Source::File {
                remaining: Some(bytes),
                open,
                ..
            } => {
                *open = true;
                sender.write(std::mem::take(bytes))
            }
            Source::Periodic { datagram, .. } => sender.write(u64::from(*datagram)),
        };
        debug_assert!(written.is_ok());
        self.schedule_next(now);
    }

    /// Acts on a datagram connection. What does not fit its queue is lost, as in an application
    /// that does not wait.
    pub(crate) fn send(&mut self, now: Instant, connection: &mut dccp::Connection) {
        if self.stops(now) {
            connection.close(now);
            return;
        }
        match &mut self.source {
            Source::File { open, .. } => {
                *open = true;
                self.refill(connection);
            }
            Source::Periodic { datagram, .. } => {
                let _refused = connection.send(Payload::Synthetic(*datagram)).is_err();
            }
        }
        self.schedule_next(now);
    }

    /// Fills the queue of a datagram connection where it is a file that is being sent; answers how
    /// many datagrams it took.
    pub(crate) fn refill(&mut self, connection: &mut dccp::Connection) -> usize {
        let Source::File {
            remaining,
            datagram,
            open: true,
        } = &mut self.source
        else {
            return 0;
        };
        let mut taken = 0;
        loop {
            let size = remaining.map_or(*datagram, |bytes| bytes.min(u64::from(*datagram)) as u32);
            if size == 0 || connection.send(Payload::Synthetic(size)).is_err() {
                return taken;
            }
            taken += 1;
            if let Some(bytes) = remaining {
                *bytes -= u64::from(size);
            }
        }
    }

    /// Whether this is the end; then there is nothing more to do.
    fn stops(&mut self, now: Instant) -> bool {
        let stops = self.stop.is_some_and(|stop| now >= stop);
        if stops {
            self.next = None;
            if let Source::File { open, .. } = &mut self.source {
                *open = false;
            }
        }
        stops
    }

    fn schedule_next(&mut self, now: Instant) {
        let next = match &self.source {
            Source::File { .. } => None,
            Source::Periodic { interval, .. } => Some(now + *interval),
        };
        self.next = match (next, self.stop) {
            (Some(next), Some(stop)) => Some(next.min(stop)),
            (next, stop) => next.or(stop),
        };
    }
}
