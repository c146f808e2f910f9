//! The packet-level simulator: protocols and paths on a virtual clock.
//!
//! - [`Scenario`] describes an experiment; [`run`] runs it and returns [`Results`] as Arrow tables.
//!   A [`Registry`] holds what a scenario can name; both are from `skywave_scenario`.
//! - `world` is what runs. `elements` are the parts of a network that can be executed one after the
//!   other; `engine` does so, in rounds. It uses `schedule` (the event queue), `network` (links and
//!   routes), `host` (the ends of flows, created by `connect`) and `application` (traffic sources).
//!   An [`Observer`] sees it through the types of `view`.
//! - `watching` has the observers: `totals` counts for the summary, each of the `probes` makes a
//!   table, `record` keeps what [`physics`] verifies, `capture` writes pcapng, and `qlog` writes
//!   files for qvis.
//! - `running` goes from a scenario to results: `check`, `build`, `simulate` and `report`. A
//!   [`SteppedRun`] advances by a given time, and its samples can be read in between. [`live`] is a
//!   run in real time: the same network and ends, with sockets between them. [`Bench`] is the
//!   benchmark dumbbell.
//!
//! Each of the three uses only those before it.
//!
//! ```
//! use skywave_sim::{Registry, RunOptions, Scenario, run};
//!
//! let registry = Registry::default();
//! let scenario = Scenario::from_toml(
//!     r#"
//!     name = "one file"
//!     duration = "5 s"
//!     dumbbell = { pairs = 1, rate = "2 Mbps", delay = "50 ms", access_rate = "10 Mbps", access_delays = ["1 ms"] }
//!     flows = [{ name = "file", from = "s1", to = "d1", transport = { tcp = {} }, source = { ftp = {} } }]
//!     "#,
//!     &registry,
//! )?;
//! let results = run(&scenario, &registry, RunOptions::default(), |_| true)?;
//! assert!(results.summary.links[0].utilisation > 0.5);
//! # Ok::<(), skywave_sim::RunError>(())
//! ```

mod error;
mod running;
mod warning;
mod watching;
mod world;

// Re-exported because their types occur in signatures, so that users need not match the version.
pub use {arrow_array, arrow_schema};

pub use error::{RunError, WireMismatch};
pub use running::bench::{Bench, BenchCounts, IdleFlows};
pub use running::check::{Checked, FlowRoutes, check};
pub use running::live;
pub use running::report::{FlowSummary, LinkSummary, Results, Summary};
pub use running::run::{RunOptions, run, run_many, run_observed};
pub use running::samples::Samples;
pub use running::stepped::SteppedRun;
pub use skywave_path::{
    CoDelSpec, DropTailSpec, DualPi2Spec, FqCoDelSpec, LeoSpec, Loss, LossKind, OutagesSpec,
    PieSpec, QueueSpec, RedSpec, StepSpec, Steps, SubQueueSpec, TraceKind, TraceSelection,
    WeightedSpec, WifiSpec,
};
pub use skywave_scenario::{
    AdaptSpec, BackSpec, BernoulliSpec, CbrSpec, DccpSpec, Dumbbell, DynamicSpec, ErrorUnit,
    ExponentialSpec, FeedbackSpec, FileSizeSpec, FlowSpec, FtpSpec, GilbertElliottSpec, Growth,
    KernelDccpSpec, KernelTcpSpec, LinkSpec, LossSpec, Named, OnOffSpec, PacketLossSpec,
    ParetoSpec, PerRoundTripSpec, PeriodSpec, PoissonSpec, Probes, Profile, ReceiverRttSpec,
    ReplaySpec, Scenario, ScenarioError, SmoothingSpec, SourceSpec, TalkspurtSpec, TcpProfile,
    TcpRecovery, TcpSpec, TfrcRules, TfrcSpec, ThinkSpec, TraceSpec, TraceStep, TransportSpec,
    UdpSpec, VoiceSpec, WebSpec, WindowSpec,
};
pub use skywave_traffic::{
    Carrier, Journal, Made, Playout, SendingEnd, Setup, Source, SourceKind, Sources, Transfer,
};
pub use skywave_transport::EndStats;
pub use skywave_transport::dccp::RateStats;
pub use skywave_transport::peer::{Peer, PeerSetup, TransportKind, TransportSelection, Transports};
pub use warning::Warning;
pub use watching::backend::{
    ColumnSchema, Registry, Simulator, TableSchema, register_probe, tables,
};
pub use watching::physics;
pub use watching::probe::{Probe, ProbeSetup, RunEnd, Wants};
pub use watching::record::{Record, What};
pub use watching::table::{Table, Value};
pub use world::engine::Threads;
pub use world::host::Supply;
pub use world::ids::{FlowId, HostId};
pub use world::observe::Observer;
pub use world::packet::Frame;
pub use world::view::{Event, HostView, LinkView, PacketCount, PacketView, Sample};
