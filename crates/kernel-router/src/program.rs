//! The BPF program in the kernel.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use aya::maps::{Array, MapData, MapError, PerCpuArray};
use aya::programs::tc::TcAttachOptions;
use aya::programs::{
    LinkOrder, ProgramError, SchedClassifier, TcAttachType, TestRun, TestRunOptions,
};
use aya::sys::{Stats, enable_stats};
use aya::{Ebpf, EbpfLoader};
use skywave_mpcp::OrderParameter;
use skywave_mpcp::load::Level;

use crate::{Config, Object, RouterError};

/// The name of the program and those of its maps.
const PROGRAM: &str = "router";
const LEVEL: &str = "level";
const COUNTERS: &str = "counters";
const CHAINS: &str = "chains";

/// `struct __sk_buff` of `linux/bpf.h`, as the program gets it: its length, and the offsets of
/// `gso_segs` and `gso_size`.
const CONTEXT: usize = 192;
const GSO_SEGMENTS: usize = 164;

/// Room for a frame to grow, in bytes. None grows, but the kernel requires the room.
const ROOM: usize = 256;

/// The header that the frames of a device begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkHeader {
    /// An Ethernet header.
    Ethernet,
    /// The header of IP.
    None,
}

impl LinkHeader {
    const fn len(self) -> u32 {
        match self {
            Self::Ethernet => 14,
            Self::None => 0,
        }
    }
}

/// What the program has counted since it was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Bytes that have arrived, as the queueing discipline counts them: with link-layer headers,
    /// whether or not it then dropped them.
    pub bytes: u64,
    /// Packets that have arrived.
    pub packets: u64,
    /// Of those, packets with a code, in which a load factor can be written.
    pub coded: u64,
    /// Of those, packets whose code was raised.
    pub raised: u64,
    /// Packets with a code whose position in a chain could not be read: those that were truncated,
    /// had a wrong checksum, or had been joined (GRO, GSO). Always 0 with VCP.
    pub unreadable: u64,
}

/// How long the program took, according to the kernel's statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunTime {
    /// The number of runs.
    pub runs: u64,
    /// The total time of all runs.
    pub time: Duration,
}

/// The program in the kernel, before it is attached to a device.
///
/// It can be run on frames that are handed to it, as in tests.
pub struct Program {
    ebpf: Ebpf,
    level: Array<MapData, u32>,
    counters: PerCpuArray<MapData, [u64; 5]>,
    packets: u8,
    digits: u32,
}

impl Program {
    /// Loads the program, for frames that begin with `header`. The load factor is 0 to begin with.
    ///
    /// # Errors
    /// [`RouterError::Parameter`], [`RouterError::Privilege`], or [`RouterError::Kernel`] with what
    /// the verifier says.
    pub fn load(object: &Object, config: &Config, header: LinkHeader) -> Result<Self, RouterError> {
        const WHAT: &str = "load the program into the kernel";
        config.meter()?;
        let packets = config.load.chain;
        let slots = if packets > 1 { config.load.flows } else { 1 };
        let by_identification = config.order == OrderParameter::IpIdentification;
        let port = u32::from(config.dccp_udp_port.unwrap_or(0));
        let (header, length) = (header.len(), u32::from(packets));
        let mut ebpf = EbpfLoader::new()
            .override_global("link_header", &header, true)
            .override_global("chain_packets", &length, true)
            .override_global("flow_slots", &slots, true)
            .override_global("by_identification", &u32::from(by_identification), true)
            .override_global("dccp_udp_port", &port, true)
            .map_max_entries(CHAINS, slots)
            .load(object.bytes())
            .map_err(RouterError::kernel(WHAT))?;
        let missing = |name: &str| {
            let error = io::Error::other(format!("the object has no {name}: is it another one?"));
            RouterError::kernel(WHAT)(error)
        };
        let map = |ebpf: &mut Ebpf, name| ebpf.take_map(name).ok_or_else(|| missing(name));
        let (level, counters) = (map(&mut ebpf, LEVEL)?, map(&mut ebpf, COUNTERS)?);
        let (level, counters) = Array::try_from(level)
            .and_then(|level| Ok((level, PerCpuArray::try_from(counters)?)))
            .map_err(RouterError::kernel(WHAT))?;
        let mut program = Self {
            ebpf,
            level,
            counters,
            packets,
            digits: 0,
        };
        let loaded = program.classifier_mut().and_then(SchedClassifier::load);
        loaded.map_err(RouterError::kernel(WHAT))?;
        program.set_load(0.0)?;
        Ok(program)
    }

    /// Sets the load factor whose level is written from now on.
    ///
    /// # Errors
    /// [`RouterError::Kernel`].
    pub fn set_load(&mut self, load: f64) -> Result<(), RouterError> {
        let level = Level::of(load, self.packets);
        let codes = (0..8).map(|place| level.digit(place).map_or(0, |zone| zone.code().bits()));
        let digits = codes.fold(0, |digits, code| digits << 2 | u32::from(code));
        if digits != self.digits {
            self.level
                .set(0, digits, 0)
                .map_err(RouterError::kernel("write the load level"))?;
            self.digits = digits;
        }
        Ok(())
    }

    /// Returns what has been counted.
    ///
    /// # Errors
    /// [`RouterError::Kernel`].
    pub fn counters(&self) -> Result<Counters, RouterError> {
        let counts = self.counters.get(&0, 0);
        let counts = counts.map_err(RouterError::kernel::<MapError>("read the counters"))?;
        let mut sums = [0; 5];
        for processor in counts.iter() {
            for (sum, count) in sums.iter_mut().zip(processor) {
                *sum += count;
            }
        }
        let [bytes, packets, coded, raised, unreadable] = sums;
        Ok(Counters {
            bytes,
            packets,
            coded,
            raised,
            unreadable,
        })
    }

    /// Runs the program on a frame, and returns the resulting frame. With `segments` above 1, the
    /// frame counts as that many joined segments.
    ///
    /// # Errors
    /// [`RouterError::Kernel`].
    pub fn run(&self, frame: &[u8], segments: u32) -> Result<Vec<u8>, RouterError> {
        let mut out = vec![0; frame.len() + ROOM];
        let mut context = [0; CONTEXT];
        context[GSO_SEGMENTS..GSO_SEGMENTS + 4].copy_from_slice(&segments.to_ne_bytes());
        let options = TestRunOptions {
            data_in: Some(frame),
            data_out: Some(&mut out),
            ctx_in: Some(&context),
            ..TestRunOptions::new()
        };
        let length = self.test_run(options)?.data_size_out as usize;
        out.truncate(length);
        Ok(out)
    }

    /// Runs the program repeatedly on the same frame, and returns how long one run takes on
    /// average, as the kernel measures it. From the second run on, the frame has the code that the
    /// first one wrote.
    ///
    /// # Errors
    /// [`RouterError::Kernel`].
    pub fn time(&self, frame: &[u8], repeat: u32) -> Result<Duration, RouterError> {
        let options = TestRunOptions {
            data_in: Some(frame),
            ctx_in: Some(&[0; CONTEXT]),
            repeat,
            ..TestRunOptions::new()
        };
        Ok(self.test_run(options)?.duration)
    }

    /// Returns how long the program has taken while someone held what [`Program::enable_run_time`]
    /// returns.
    ///
    /// # Errors
    /// [`RouterError::System`].
    pub fn run_time(&self) -> Result<RunTime, RouterError> {
        const WHAT: &str = "read the run time of the program";
        let fd = self.classifier().and_then(SchedClassifier::fd);
        let fd = fd.map_err(RouterError::kernel(WHAT))?.as_fd().as_raw_fd();
        let text = std::fs::read_to_string(format!("/proc/thread-self/fdinfo/{fd}"))
            .map_err(RouterError::system(WHAT))?;
        let value = |name: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(name));
            rest.and_then(|rest| rest.trim().parse().ok()).unwrap_or(0)
        };
        Ok(RunTime {
            runs: value("run_cnt:"),
            time: Duration::from_nanos(value("run_time_ns:")),
        })
    }

    /// Makes the kernel measure the run time of all BPF programs, until the returned descriptor is
    /// closed. Each run then takes 20 to 40 ns longer.
    ///
    /// # Errors
    /// [`RouterError::Privilege`], [`RouterError::Kernel`].
    pub fn enable_run_time() -> Result<OwnedFd, RouterError> {
        let what = "measure the run time of programs";
        enable_stats(Stats::RunTime).map_err(RouterError::kernel(what))
    }

    /// Attaches the program to what leaves over a device of the calling thread's network namespace,
    /// until it is dropped. It runs after the programs that are already attached.
    ///
    /// # Errors
    /// [`RouterError::Privilege`], [`RouterError::Kernel`].
    pub fn attach(&mut self, device: &str) -> Result<(), RouterError> {
        // The link ends with its descriptor, unlike a filter of tc.
        let options = TcAttachOptions::TcxOrder(LinkOrder::default());
        let attached = self
            .classifier_mut()
            .and_then(|program| program.attach_with_options(device, TcAttachType::Egress, options));
        let what = "attach the program to the device";
        attached.map_err(RouterError::kernel(what))?;
        Ok(())
    }

    fn test_run(
        &self,
        options: TestRunOptions<'_>,
    ) -> Result<aya::programs::TestRunResult, RouterError> {
        let result = self
            .classifier()
            .and_then(|program| program.test_run(options));
        result.map_err(RouterError::kernel("run the program on a frame"))
    }

    fn classifier(&self) -> Result<&SchedClassifier, ProgramError> {
        let program = self.ebpf.program(PROGRAM);
        program.ok_or(ProgramError::NotLoaded)?.try_into()
    }

    fn classifier_mut(&mut self) -> Result<&mut SchedClassifier, ProgramError> {
        let program = self.ebpf.program_mut(PROGRAM);
        program.ok_or(ProgramError::NotLoaded)?.try_into()
    }
}
