//! The driver: moves packets between the devices and the network, in real time.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::poll::{PollFd, PollFlags};
use skywave_units::{Duration, Instant};
use socket2::Socket;

use crate::capture::Capture;
use crate::clock::Clock;
use crate::device::{BATCH, Inbox, Outbox, Port};
use crate::lateness::Lateness;
use crate::packet::IpBuffer;
use crate::report::{Report, Strays};
use crate::wait::{wait, wake_exactly};
use crate::{Arrival, Network};

/// How often a driver that has nothing to do checks whether it should stop.
const IDLE: Duration = Duration::from_millis(50);

/// How often the devices are asked what they have lost.
const ASK: Duration = Duration::from_millis(100);

/// What the driver shares with those who ask for its state.
#[derive(Debug)]
pub(crate) struct State {
    network: Network,
    lateness: Lateness,
    strays: Strays,
    capture_error: Option<String>,
}

impl State {
    pub(crate) fn new(network: Network) -> Self {
        Self {
            network,
            lateness: Lateness::new(),
            strays: Strays::default(),
            capture_error: None,
        }
    }

    /// Reports what has happened up to `now`.
    pub(crate) fn report(&mut self, now: Instant) -> Report {
        Report {
            capture_error: self.capture_error.clone(),
            ..Report::new(now, &mut self.network, self.lateness.summary(), self.strays)
        }
    }
}

/// Moves packets between devices and network.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) ports: Vec<Port>,
    /// The socket that sends through the ports.
    pub(crate) outgoing: Socket,
    /// The host of each address.
    pub(crate) hosts: BTreeMap<IpAddr, u32>,
    pub(crate) clock: Clock,
    pub(crate) spins: bool,
    pub(crate) capture: Option<Capture>,
}

impl Driver {
    /// Runs until it is stopped.
    ///
    /// # Errors
    /// The error of a device, or the [failure](Network::failure) of a queue or a loss model.
    pub(crate) fn run(mut self, state: &Mutex<State>, stop: &AtomicBool) -> io::Result<()> {
        wake_exactly();
        let capture = self.capture.take();
        let mut turns = Turns::new(&self, capture, &mut lock(state).network);
        let ended = turns.drive(state, stop);
        if let Some(error) = turns.capture.and_then(Capture::finish) {
            lock(state).capture_error = Some(error.to_string());
        }
        ended
    }
}

/// The driver's work, done in turns.
struct Turns<'a> {
    driver: &'a Driver,
    capture: Option<Capture>,
    inbox: Inbox,
    outbox: Outbox<'a>,
    /// The sockets of all ports, the same number for each.
    sockets: Vec<PollFd<'a>>,
    /// What has arrived at hosts in this turn.
    arrivals: Vec<Arrival>,
    /// When the devices were last asked for the number of packets they have lost.
    asked: Instant,
}

impl<'a> Turns<'a> {
    fn new(driver: &'a Driver, capture: Option<Capture>, network: &mut Network) -> Self {
        let sockets = driver.ports.iter().flat_map(Port::sockets);
        Self {
            driver,
            capture,
            inbox: Inbox::new(network.pool()),
            outbox: Outbox::new(&driver.outgoing),
            sockets: sockets
                .map(|socket| PollFd::new(socket, PollFlags::POLLIN))
                .collect(),
            arrivals: Vec::with_capacity(4 * BATCH),
            asked: Instant::ZERO,
        }
    }

    fn drive(&mut self, state: &Mutex<State>, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let deadline = self.turn(&mut lock(state))?;
            self.wait(deadline)?;
        }
        goes_on(&lock(state).network)
    }

    /// Does what is due, and reads from the devices that had packets at the end of the last turn.
    /// Returns when something is due next.
    fn turn(&mut self, state: &mut State) -> io::Result<Option<Instant>> {
        self.deliver(state);
        self.collect(state)?;
        let now = self.driver.clock.now();
        if now.saturating_since(self.asked) >= ASK {
            self.asked = now;
            for port in &self.driver.ports {
                state.strays.overflows += port.overflows()?;
            }
            state.capture_error = self.capture.as_ref().and_then(Capture::error);
            goes_on(&state.network)?;
        }
        Ok(state.network.deadline())
    }

    /// Advances the network to the present, and sends what has arrived at hosts: a batch as
    /// soon as it is full, and the rest at the end.
    fn deliver(&mut self, state: &mut State) {
        let Self {
            driver,
            capture,
            outbox,
            arrivals,
            ..
        } = self;
        let State {
            network,
            lateness,
            strays,
            ..
        } = state;
        let mut send = |batch: &[Arrival]| {
            strays.unsent += outbox.send(batch.iter().map(|arrival| {
                let port = &driver.ports[arrival.host as usize];
                (port, arrival.packet.bytes())
            }));
            let now = driver.clock.now();
            for Arrival { at, host, packet } in batch {
                lateness.record(*at, now);
                if let Some(capture) = capture {
                    capture.write(*at, *host, packet.bytes());
                }
            }
        };
        let mut sent = 0;
        network.advance(driver.clock.now(), |arrival| {
            arrivals.push(arrival);
            if arrivals.len() - sent == BATCH {
                send(&arrivals[sent..]);
                sent = arrivals.len();
            }
        });
        if sent < arrivals.len() {
            send(&arrivals[sent..]);
        }
        for arrival in arrivals.drain(..) {
            network.pool().give(arrival.packet.into_bytes());
        }
    }

    /// Reads a batch from each socket that is ready, into the network.
    fn collect(&mut self, state: &mut State) -> io::Result<()> {
        let Self {
            driver,
            inbox,
            sockets,
            ..
        } = self;
        let State {
            network, strays, ..
        } = state;
        let each = sockets.len() / driver.ports.len().max(1);
        for (index, socket) in sockets.iter().enumerate() {
            if socket.revents() == Some(PollFlags::empty()) {
                continue;
            }
            let from = (index / each) as u32;
            for index in 0..inbox.receive(socket.as_fd())? {
                let bytes = inbox.take(index, network.pool());
                let lost = match IpBuffer::read(bytes) {
                    Err((_, bytes)) => {
                        strays.malformed += 1;
                        Some(bytes)
                    }
                    Ok((packet, destination)) => {
                        let to = driver.hosts.get(&destination);
                        let refused = match to {
                            Some(&to) => network.send(from, to, packet).err(),
                            None => Some(packet),
                        };
                        strays.unreachable += u64::from(refused.is_some());
                        refused.map(IpBuffer::into_bytes)
                    }
                };
                if let Some(bytes) = lost {
                    network.pool().give(bytes);
                }
            }
        }
        Ok(())
    }

    /// Waits for a packet, or until the deadline.
    fn wait(&mut self, deadline: Option<Instant>) -> io::Result<()> {
        let mut clock = self.driver.clock;
        let idle = clock.now() + IDLE;
        let (until, spins) = match deadline {
            Some(deadline) if deadline < idle => (deadline, self.driver.spins),
            _ => (idle, false),
        };
        wait(&mut self.sockets, &mut clock, until, spins)?;
        Ok(())
    }
}

fn goes_on(network: &Network) -> io::Result<()> {
    match network.failure() {
        Some(failure) => Err(io::Error::other(failure)),
        None => Ok(()),
    }
}

pub(crate) fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Counters and queues are consistent between any two packets.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
