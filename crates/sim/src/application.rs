//! Applications: what is sent, and when.

use skywave_transport::{Endpoint, dccp, tcp, udp};
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;

use crate::host::{start_of, stream};
use crate::scenario::{FlowSpec, SourceSpec};
use crate::talker::{Made, Talker};

/// A transport of datagrams, as its application sees it.
pub(crate) trait Datagrams: Endpoint {
    /// Hands a datagram over to be sent; false where it is not taken.
    fn send(&mut self, datagram: Payload) -> bool;

    /// Datagrams that have been handed over and wait to be sent.
    fn waiting(&self) -> usize;

    /// Takes what has arrived.
    fn read(&mut self);

    /// Sends no more.
    fn close(&mut self, now: Instant);
}

impl Datagrams for dccp::Connection {
    fn send(&mut self, datagram: Payload) -> bool {
        self.send(datagram).is_ok()
    }

    fn waiting(&self) -> usize {
        self.stats().queued
    }

    fn read(&mut self) {
        while self.recv().is_some() {}
    }

    fn close(&mut self, now: Instant) {
        self.close(now);
    }
}

impl Datagrams for udp::Socket {
    fn send(&mut self, datagram: Payload) -> bool {
        self.send(datagram);
        true
    }

    fn waiting(&self) -> usize {
        0
    }

    fn read(&mut self) {
        while self.recv().is_some() {}
    }

    fn close(&mut self, _now: Instant) {}
}

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
    /// A voice call.
    Voice(Box<Talker>),
}

impl Application {
    /// The application of a flow, before its start. It counts by intervals of `probe_interval`.
    pub(crate) fn new(flow: &FlowSpec, seed: u64, probe_interval: Duration) -> Self {
        let start = start_of(flow, seed);
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
            SourceSpec::Voice(voice) => {
                let rng = stream(seed, &format!("{}/talkspurts", flow.name));
                Source::Voice(Box::new(Talker::new(voice, start, probe_interval, rng)))
            }
        };
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

    /// Frames of voice that were made, by interval; empty for other sources.
    pub(crate) fn voice_made(&self) -> &[Made] {
        match &self.source {
            Source::Voice(talker) => &talker.counts,
            Source::File { .. } | Source::Periodic { .. } => &[],
        }
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
            Source::Voice(_) => unreachable!("a scenario with voice over TCP is refused"),
        };
        debug_assert!(written.is_ok());
        self.schedule_next(now);
    }

    /// Acts on a transport of datagrams. What does not fit its queue is lost, as in an application
    /// that does not wait.
    pub(crate) fn send<E: Datagrams>(&mut self, now: Instant, transport: &mut E) {
        if self.stops(now) {
            transport.close(now);
            return;
        }
        match &mut self.source {
            Source::File { open, .. } => {
                *open = true;
                self.refill(transport);
            }
            Source::Periodic { datagram, .. } => {
                let _taken = transport.send(Payload::Synthetic(*datagram));
            }
            Source::Voice(talker) => talker.tick(now, transport),
        }
        self.schedule_next(now);
    }

    /// Fills the queue of a transport of datagrams where it is a file that is being sent; answers
    /// how many datagrams it took.
    pub(crate) fn refill<E: Datagrams>(&mut self, transport: &mut E) -> usize {
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
            if size == 0 || !transport.send(Payload::Synthetic(size)) {
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
            Source::Voice(talker) => Some(now + talker.interval()),
        };
        self.next = match (next, self.stop) {
            (Some(next), Some(stop)) => Some(next.min(stop)),
            (next, stop) => next.or(stop),
        };
    }
}
