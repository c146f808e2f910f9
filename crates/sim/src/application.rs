//! Applications: what is sent, and when.

use skywave_transport::tcp;
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;

use crate::connect::{Connector, Opened, start_of};
use crate::datagrams::Datagrams;
use crate::random::stream;
use crate::talker::Talker;
use crate::traffic::Journal;
use crate::transport::Transport;
use crate::web::WebSource;
use skywave_scenario::{Scenario, SourceSpec};

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
    /// A file with `remaining` bytes not yet handed over; `None` if it is unlimited.
    File {
        remaining: Option<u64>,
        datagram: u32,
        open: bool,
    },
    /// One datagram every `interval`.
    Periodic { interval: Duration, datagram: u32 },
    /// A voice call.
    Voice(Box<Talker>),
    /// Web traffic.
    Web(Box<WebSource>),
}

impl Application {
    /// Creates the application of the flow at `index`, before its start. Its counts use the probes'
    /// intervals.
    pub(crate) fn new(scenario: &Scenario, index: usize, transport: &Transport) -> Self {
        let (flow, seed) = (&scenario.flows[index], scenario.seed);
        let mut start = start_of(flow, seed);
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
                Source::Voice(Box::new(Talker::new(
                    voice,
                    start,
                    scenario.probes.interval,
                    rng,
                )))
            }
            SourceSpec::Web(web) => {
                let connector = Connector {
                    flow: flow.clone(),
                    transport: transport.clone(),
                    index,
                    flows: scenario.flows.len(),
                    seed,
                };
                let mut source = WebSource::new(web, connector);
                start += source.think();
                Source::Web(Box::new(source))
            }
        };
        let stop = flow.stop.map(|stop| Instant::ZERO + stop);
        Self {
            next: Some(stop.map_or(start, |stop| start.min(stop))),
            stop,
            source,
        }
    }

    /// Returns when it acts next.
    pub(crate) const fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Returns what it has done.
    pub(crate) fn journal(&self) -> Journal {
        let mut journal = Journal::default();
        match &self.source {
            Source::Voice(talker) => journal.speech.clone_from(&talker.counts),
            Source::Web(web) => journal.transfers.clone_from(&web.transfers),
            Source::File { .. } | Source::Periodic { .. } => {}
        }
        journal
    }

    /// Opens and returns the next file's connection, if it is due.
    pub(crate) fn opens(&mut self, now: Instant) -> Option<Opened> {
        let is_over = self.stop.is_some_and(|stop| now >= stop);
        match &mut self.source {
            Source::Web(web) if !is_over && !web.is_sending() => Some(web.open(now)),
            _ => None,
        }
    }

    /// Handles the end of its connection, after `delivered` bytes of the file have arrived.
    pub(crate) fn transfer_ended(&mut self, now: Instant, delivered: u64) {
        let Source::Web(web) = &mut self.source else {
            return;
        };
        web.ended(now, delivered);
        let next = now + web.think();
        self.next = match self.stop {
            Some(stop) if stop <= now => None,
            Some(stop) => Some(next.min(stop)),
            None => Some(next),
        };
    }

    /// Stops acting: its last connection is over, and it opens no more.
    pub(crate) const fn rest(&mut self) {
        self.next = None;
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
            Source::Web(web) => {
                let written = sender.write(std::mem::take(&mut web.remaining));
                sender.close();
                written
            }
        };
        debug_assert!(written.is_ok());
        self.schedule_next(now);
    }

    /// Acts on a datagram transport. Datagrams that do not fit into its queue are lost, as in an
    /// application that does not wait.
    pub(crate) fn send<E: Datagrams>(&mut self, now: Instant, transport: &mut E) {
        if self.stops(now) {
            transport.close(now);
            return;
        }
        match &mut self.source {
            Source::File { open, .. } => {
                *open = true;
                self.refill(now, transport);
            }
            Source::Web(_) => {
                self.refill(now, transport);
            }
            Source::Periodic { datagram, .. } => {
                let _taken = transport.send(Payload::Synthetic(*datagram));
            }
            Source::Voice(talker) => talker.tick(now, transport),
        }
        self.schedule_next(now);
    }

    /// Fills the queue of a datagram transport if a file is being sent, and returns how many
    /// datagrams it accepted. Closes the connection at the end of a file of web traffic.
    pub(crate) fn refill<E: Datagrams>(&mut self, now: Instant, transport: &mut E) -> usize {
        match &mut self.source {
            Source::File {
                remaining: None,
                datagram,
                open: true,
            } => fill(transport, *datagram, &mut { u64::MAX }),
            Source::File {
                remaining: Some(bytes),
                datagram,
                open: true,
            } => fill(transport, *datagram, bytes),
            Source::Web(web) if web.is_sending() => {
                let taken = fill(transport, web.datagram(), &mut web.remaining);
                if web.remaining == 0 && transport.waiting() == 0 {
                    transport.close(now);
                }
                taken
            }
            _ => 0,
        }
    }

    /// Returns whether the flow stops now; if so, nothing more is sent.
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
            Source::File { .. } | Source::Web(_) => None,
            Source::Periodic { interval, .. } => Some(now + *interval),
            Source::Voice(talker) => Some(now + talker.interval()),
        };
        self.next = match (next, self.stop) {
            (Some(next), Some(stop)) => Some(next.min(stop)),
            (next, stop) => next.or(stop),
        };
    }
}

/// Hands over full datagrams and finally the remainder, until `remaining` is zero or the transport
/// refuses one. Returns how many were accepted.
fn fill<E: Datagrams>(transport: &mut E, datagram: u32, remaining: &mut u64) -> usize {
    let mut taken = 0;
    loop {
        let size = (*remaining).min(u64::from(datagram)) as u32;
        if size == 0 || !transport.send(Payload::Synthetic(size)) {
            return taken;
        }
        taken += 1;
        *remaining -= u64::from(size);
    }
}
