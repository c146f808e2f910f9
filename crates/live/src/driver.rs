//! The driver: moves packets between sockets, devices and the run, in real time.

use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use skywave_emulate::{Clock, Inbox, Pool, wait, wake_exactly};
use skywave_sim::live::{Encapsulation, LiveRun, PreparedRun};
use skywave_sim::{FlowId, Registry, Results, RunOptions, Samples, Scenario};
use skywave_units::{Duration, Instant};

use crate::error::LiveError;
use crate::node::{Source, parsed};
use crate::report::Report;
use crate::testbed::Testbed;

/// The most packets taken from a UDP socket before others have their turn.
const BATCH: usize = 64;

/// How often progress is reported in real time: often enough to look smooth.
const TELL: Duration = Duration::from_millis(50);

/// How often progress is reported on virtual time, where seconds pass faster, and a report may delay a
/// packet by 50 us.
const TELL_IN_GUEST: Duration = Duration::from_secs(1);

/// After how many turns of the driver progress is reported in any case: on virtual time, a second of
/// many packets may take minutes.
const MOST_TURNS: u32 = 20_000;

/// What to do besides running the scenario.
#[derive(Default)]
pub struct Options {
    /// What to write.
    pub run: RunOptions,
    /// The encapsulation of DCCP's packets.
    pub encapsulation: Encapsulation,
    /// How it waits.
    pub pace: Pace,
    /// Whether to report samples during the run.
    pub samples: bool,
}

/// How a run waits for time to pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pace {
    /// It sleeps.
    #[default]
    Sleep,
    /// It occupies a whole processor in order to be more exact.
    Spin,
    /// It sleeps in a guest on virtual time, where time passes only then.
    Virtual,
}

/// How far a run has come.
#[non_exhaustive]
pub enum Progress {
    /// It is creating the nodes and opening their sockets; the fraction done.
    SetUp(f64),
    /// It is running.
    Running {
        /// The time since it began.
        elapsed: Duration,
        /// What has been sampled since the last report; empty without [`Options::samples`].
        samples: Samples,
    },
}

/// A run in real time that has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Lived {
    /// Its results, like those of a simulation.
    pub results: Results,
    /// How far the results can be trusted.
    pub report: Report,
}

/// Runs a scenario in real time. Calls `progress` twenty times a second, on virtual time once a second or
/// after many packets, and at the end. If it returns false, the run ends early, with the results up to
/// that time.
///
/// # Errors
/// [`LiveError`]; [`Interrupted`](skywave_sim::RunError::Interrupted) if `progress` returns false before the run has begun.
pub fn run(
    scenario: &Scenario,
    registry: &Registry,
    options: Options,
    mut progress: impl FnMut(Progress) -> bool,
) -> Result<Lived, LiveError> {
    let Options {
        run,
        encapsulation,
        pace,
        samples,
    } = options;
    let mut prepared = PreparedRun::new(scenario, registry, run, encapsulation)?;
    if samples {
        prepared.keep_samples();
    }
    raise_descriptor_limit();
    let name = |flow: FlowId| scenario.flows[flow.index()].name.clone();
    let mut testbed = Testbed::new(prepared.ends(), encapsulation, &name, &mut |fraction| {
        progress(Progress::SetUp(fraction))
    })?;
    testbed.open_queues(&mut prepared)?;
    let watch = Watch::new(&testbed, pace == Pace::Spin)?;
    wake_exactly();
    testbed.clock = match pace {
        Pace::Virtual => Clock::start_held(),
        Pace::Sleep | Pace::Spin => Clock::start(),
    };
    let mut pool = Pool::default();
    let driver = Driver {
        run: prepared.begin(testbed),
        watch,
        inbox: Inbox::new(&mut pool),
        pool,
        overflows: 0,
        tell: match pace {
            Pace::Virtual => TELL_IN_GUEST,
            Pace::Sleep | Pace::Spin => TELL,
        },
    };
    driver.drive(scenario, &mut progress, &name)
}

/// Raises the process's limit on descriptors as far as allowed: a node takes up to ten, and the
/// usual limit is 1,024.
fn raise_descriptor_limit() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // If this fails, a run of many nodes reports too many open files.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}

/// What may become ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// A socket of a node.
    Node(u32, Source),
    /// The socket that waits for the kernel's connection of a flow.
    Listener(FlowId),
    /// The kernel's sender of a flow.
    Sender(FlowId),
    /// The kernel's receiver of a flow.
    Receiver(FlowId),
    /// The kernel's queue of a link.
    Queue(u32),
}

/// Waits for sockets.
struct Watch {
    epoll: Epoll,
    targets: Vec<Target>,
    spins: bool,
    events: Box<[EpollEvent]>,
    /// The number of events that report what is ready.
    ready: usize,
}

struct Driver {
    run: LiveRun<Testbed>,
    watch: Watch,
    inbox: Inbox,
    pool: Pool,
    overflows: u64,
    /// How often progress is reported.
    tell: Duration,
}

impl Driver {
    fn drive(
        mut self,
        scenario: &Scenario,
        progress: &mut impl FnMut(Progress) -> bool,
        name: &dyn Fn(FlowId) -> String,
    ) -> Result<Lived, LiveError> {
        let end = Instant::ZERO + scenario.duration;
        let mut told = Instant::ZERO;
        let mut turns = 0;
        let mut interrupted = false;
        let mut now;
        loop {
            now = self.run.outside().clock.now().min(end);
            self.run.advance(now);
            turns += 1;
            if now >= told + self.tell || now >= end || turns >= MOST_TURNS {
                told = now;
                turns = 0;
                self.count_overflows()?;
                self.run.check()?;
                let samples = self.run.samples()?;
                let elapsed = now - Instant::ZERO;
                interrupted = !progress(Progress::Running { elapsed, samples });
                if interrupted {
                    break;
                }
            }
            if let Some((flow, source)) = self.run.outside().failure.take() {
                let flow = name(flow);
                return Err(LiveError::Connection { flow, source });
            }
            if now >= end {
                break;
            }
            self.watch.senders(self.run.outside())?;
            let wake = end.min(told + self.tell);
            let deadline = self.run.deadline().map_or(wake, |at| at.min(wake));
            let clock = &mut self.run.outside().clock;
            if self.watch.wait(clock, deadline)? {
                self.serve(end)?;
            }
        }
        self.count_overflows()?;
        let elapsed = now - Instant::ZERO;
        let (results, testbed, strays) = self.run.finish(elapsed)?;
        let report = Report {
            elapsed_s: elapsed.as_secs_f64(),
            whole: now >= end,
            interrupted,
            lateness: testbed.lateness.summary(),
            overflows: self.overflows,
            undelivered: testbed.undelivered,
            unsent: testbed.unsent,
            unknown: strays.unknown,
            malformed: strays.malformed,
        };
        Ok(Lived { results, report })
    }

    /// Takes what is ready, unless the run is over.
    fn serve(&mut self, end: Instant) -> io::Result<()> {
        let now = self.run.outside().clock.now();
        if now >= end {
            return Ok(());
        }
        self.run.advance(now);
        for index in 0..self.watch.ready {
            let target = self.watch.targets[self.watch.events[index].data() as usize];
            match target {
                Target::Node(node, Source::Udp(port)) => {
                    for _ in 0..BATCH {
                        let Some(packet) = self.node(node).receive_udp(port)? else {
                            break;
                        };
                        self.run.receives(now, packet);
                    }
                }
                Target::Node(node, source) => self.take(now, node, source)?,
                Target::Listener(flow) => {
                    if self.run.outside().accept(flow)? {
                        self.watch.receiver(self.run.outside(), flow)?;
                    }
                }
                Target::Queue(link) => self.run.released(now, link),
                Target::Sender(flow) => self
                    .run
                    .outside()
                    .with_connection(flow, |connection| connection.write()),
                Target::Receiver(flow) => self
                    .run
                    .outside()
                    .with_connection(flow, |connection| connection.read()),
            }
        }
        Ok(())
    }

    /// Takes a batch of what waits at a socket for whole packets.
    fn take(&mut self, now: Instant, node: u32, source: Source) -> io::Result<()> {
        let Self {
            run, inbox, pool, ..
        } = self;
        let socket = run.outside().nodes[&node].socket(source);
        let waiting = socket.map_or(Ok(0), |socket| inbox.receive(socket))?;
        for index in 0..waiting {
            let bytes = inbox.take(index, pool);
            if let Source::Network(_) = source {
                run.enters(now, bytes);
                continue;
            }
            if let Some(packet) = parsed(source, &bytes) {
                run.receives(now, packet);
            }
            pool.give(bytes);
        }
        Ok(())
    }

    fn node(&mut self, node: u32) -> &mut crate::node::Node {
        let nodes = &mut self.run.outside().nodes;
        nodes.get_mut(&node).expect("it is watched")
    }

    fn count_overflows(&mut self) -> io::Result<()> {
        for node in self.run.outside().nodes.values_mut() {
            self.overflows += node.overflows()?;
        }
        Ok(())
    }
}

impl Watch {
    fn new(testbed: &Testbed, spins: bool) -> io::Result<Self> {
        let mut watch = Self {
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            targets: Vec::new(),
            spins,
            events: Box::new([EpollEvent::empty(); 256]),
            ready: 0,
        };
        for (&index, node) in &testbed.nodes {
            for (source, socket) in node.sockets() {
                watch.add(socket, Target::Node(index, source), EpollFlags::EPOLLIN)?;
            }
        }
        for (flow, socket) in testbed.listeners() {
            watch.add(socket, Target::Listener(flow), EpollFlags::EPOLLIN)?;
        }
        for (link, queue) in &testbed.queues {
            // Edge-triggered: the link takes what is released when it is free.
            let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
            watch.add(queue, Target::Queue(*link), flags)?;
        }
        Ok(watch)
    }

    fn add(&mut self, socket: impl AsFd, target: Target, flags: EpollFlags) -> io::Result<()> {
        let event = EpollEvent::new(flags, self.targets.len() as u64);
        self.epoll.add(socket, event)?;
        self.targets.push(target);
        Ok(())
    }

    /// Starts waiting for room at the kernel's senders that have been opened since the last call.
    fn senders(&mut self, testbed: &mut Testbed) -> io::Result<()> {
        for flow in std::mem::take(&mut testbed.opened) {
            if let Some(socket) = testbed.connections[&flow].sender() {
                // Edge-triggered: once each time there is room again.
                let flags = EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
                self.add(socket, Target::Sender(flow), flags)?;
            }
        }
        Ok(())
    }

    /// Waits for data at the kernel's receiver of a flow.
    fn receiver(&mut self, testbed: &Testbed, flow: FlowId) -> io::Result<()> {
        match testbed.connections[&flow].receiver() {
            Some(socket) => self.add(socket, Target::Receiver(flow), EpollFlags::EPOLLIN),
            None => Ok(()),
        }
    }

    /// Waits until something is ready, or until the deadline. Returns whether something is.
    fn wait(&mut self, clock: &mut Clock, deadline: Instant) -> io::Result<bool> {
        self.ready = 0;
        // It counts nanoseconds; epoll rounds to milliseconds on Linux before 5.11.
        let mut any = [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)];
        if wait(&mut any, clock, deadline, self.spins)? {
            match self.epoll.wait(&mut self.events, EpollTimeout::ZERO) {
                Ok(ready) => self.ready = ready,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.ready > 0)
    }
}
