//! The driver: moves packets between the devices and the network, on the real clock.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::poll::{PollFd, PollFlags};
use skywave_units::{Duration, Instant};
use skywave_wire::ip::Forwarded;

use crate::capture::Capture;
use crate::clock::Clock;
use crate::device::Port;
use crate::lateness::Lateness;
use crate::packet::IpBuffer;
use crate::report::{Report, Strays};
use crate::wait::{wait, wake_exactly};
use crate::{Arrival, Network};

/// The most packets taken from a device before others have their turn.
const BATCH: usize = 64;

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
    ports: Vec<Port>,
    /// The host of each address.
    hosts: BTreeMap<IpAddr, u32>,
    clock: Clock,
    spins: bool,
    capture: Option<Capture>,
    /// When the devices were last asked what they have lost.
    asked: Instant,
}

impl Driver {
    pub(crate) fn new(
        ports: Vec<Port>,
        hosts: BTreeMap<IpAddr, u32>,
        clock: Clock,
        spins: bool,
        capture: Option<Capture>,
    ) -> Self {
        Self {
            ports,
            hosts,
            clock,
            spins,
            capture,
            asked: Instant::ZERO,
        }
    }

    /// Runs until told to stop.
    ///
    /// # Errors
    /// The error of a device.
    pub(crate) fn run(mut self, state: &Mutex<State>, stop: &AtomicBool) -> io::Result<()> {
        wake_exactly();
        let ended = self.drive(state, stop);
        if let Some(error) = self.capture.and_then(Capture::finish) {
            lock(state).capture_error = Some(error.to_string());
        }
        ended
    }

    fn drive(&mut self, state: &Mutex<State>, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let (deadline, is_idle) = self.turn(&mut lock(state))?;
            if is_idle {
                self.wait(deadline)?;
            }
        }
        Ok(())
    }

    /// Does what is due. Returns when something is due next, and whether there is nothing to do
    /// until then.
    fn turn(&mut self, state: &mut State) -> io::Result<(Option<Instant>, bool)> {
        let State {
            network,
            lateness,
            strays,
            capture_error,
        } = state;
        let (ports, clock, capture) = (&self.ports, self.clock, &mut self.capture);
        network.advance(clock.now(), |Arrival { at, host, packet }| {
            if ports[host as usize].send(packet.bytes()).is_err() {
                strays.unsent += 1;
            }
            lateness.record(at, clock.now());
            if let Some(capture) = capture {
                capture.write(at, host, packet.bytes());
            }
        });
        let mut is_idle = true;
        for (from, port) in (0..).zip(&mut self.ports) {
            for _ in 0..BATCH {
                let Some(bytes) = port.receive()? else {
                    break;
                };
                is_idle = false;
                let to = Forwarded::parse(&bytes)
                    .ok()
                    .and_then(|header| self.hosts.get(&header.addresses.destination()));
                match (IpBuffer::new(bytes), to) {
                    (Err(_), _) => strays.malformed += 1,
                    (Ok(_), None) => strays.unreachable += 1,
                    (Ok(packet), Some(&to)) => {
                        let refused = network.send(from, to, packet).is_err();
                        strays.unreachable += u64::from(refused);
                    }
                }
            }
        }
        let now = clock.now();
        if now.saturating_since(self.asked) >= ASK {
            self.asked = now;
            for port in &self.ports {
                strays.overflows += port.overflows()?;
            }
            *capture_error = self.capture.as_ref().and_then(Capture::error);
        }
        Ok((network.deadline(), is_idle))
    }

    /// Waits for a packet, or until the deadline.
    fn wait(&self, deadline: Option<Instant>) -> io::Result<()> {
        let idle = self.clock.now() + IDLE;
        let sockets = self.ports.iter().flat_map(Port::sockets);
        let mut waiting: Vec<_> = sockets
            .map(|socket| PollFd::new(socket, PollFlags::POLLIN))
            .collect();
        match deadline {
            Some(deadline) if deadline < idle => {
                wait(&mut waiting, self.clock, deadline, self.spins)?;
            }
            _ => {
                wait(&mut waiting, self.clock, idle, false)?;
            }
        }
        Ok(())
    }
}

pub(crate) fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Counters and queues are consistent between any two packets.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
