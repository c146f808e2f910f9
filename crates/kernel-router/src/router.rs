//! A router at a device, which works as long as its loop runs.

use std::time::{self, Duration};

use skywave_units::Instant;

use crate::device::Device;
use crate::sampler::Sampler;
use crate::{Config, Counters, Object, Program, RouterError};

/// A router at a device. It marks as long as it exists; its load factor is as recent as the last
/// [`update`](KernelRouter::update).
pub struct KernelRouter {
    program: Program,
    device: Device,
    sampler: Sampler,
    started: time::Instant,
    report: Report,
}

/// What a router has done, as of its last update.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// rho: the load factor of the last complete interval.
    pub load: f64,
    /// What the program has counted.
    pub counters: Counters,
    /// The name of the queueing discipline.
    pub queue: String,
    /// The bytes in its queue.
    pub queued_bytes: u64,
    /// The packets that it has dropped since it was created.
    pub drops: u64,
}

impl KernelRouter {
    /// Attaches a router to what leaves over `device`, in the network namespace of the calling
    /// thread. From then on it can be used in any thread.
    ///
    /// # Errors
    /// [`RouterError`] says what is missing: a device, a queueing discipline, privileges, or a
    /// kernel that can do it.
    pub fn attach(object: &Object, device: &str, config: &Config) -> Result<Self, RouterError> {
        let meter = config.meter()?;
        let mut found = Device::open(device)?;
        found.queue()?;
        let mut program = Program::load(object, config, found.header)?;
        program.attach(device)?;
        let started = time::Instant::now();
        let bytes = program.counters()?.bytes;
        let mut router = Self {
            program,
            device: found,
            sampler: Sampler::new(meter, config.rate, bytes),
            started,
            report: Report::default(),
        };
        router.update()?;
        Ok(router)
    }

    /// Returns how long until [`update`](KernelRouter::update) has something to do; zero if it is
    /// late.
    pub fn time_to_update(&self) -> Duration {
        let next = (self.sampler.next() - Instant::ZERO).as_nanos();
        Duration::from_nanos(next).saturating_sub(self.started.elapsed())
    }

    /// Reads the counters and the queue, and writes the level of the load factor. Call it after
    /// [`time_to_update`](KernelRouter::time_to_update), which is t_q or less.
    ///
    /// A late call loses nothing: what has arrived is distributed evenly over the time since the
    /// last one.
    ///
    /// # Errors
    /// [`RouterError`], for example if the device is gone.
    pub fn update(&mut self) -> Result<(), RouterError> {
        let elapsed = self.started.elapsed().as_nanos() as u64;
        let now = Instant::ZERO + skywave_units::Duration::from_nanos(elapsed);
        let counters = self.program.counters()?;
        let queue = self.device.queue()?;
        let load = self.sampler.sample(now, counters.bytes, queue.bytes);
        self.program.set_load(load)?;
        self.report = Report {
            load,
            counters,
            queue: queue.kind,
            queued_bytes: queue.bytes,
            drops: queue.drops,
        };
        Ok(())
    }

    /// Returns what the router has done, as of its last update.
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Returns the program in the kernel.
    pub const fn program(&self) -> &Program {
        &self.program
    }
}
