//! The packet-level simulator: protocols and paths on a virtual clock.
//!
//! - [`Scenario`] describes an experiment; [`run`] runs it and returns [`Results`] as Arrow tables.
//!   A [`Registry`] holds what a scenario can name; both are from `skywave_scenario`. A run
//!   consists of `build`, `simulate` and `report`.
//! - `engine` is the event loop. It uses `schedule` (the event queue), `network` (links and
//!   routes), `host` (the ends of flows, created by `connect`) and `application` (traffic sources,
//!   including `talker` for voice and `web` for files).
//! - An [`Observer`] watches a run through the types of `view`: `totals` counts for the summary,
//!   each of the `probes` makes a table, `record` keeps the record that [`physics`] verifies,
//!   `capture` writes pcapng, and `qlog` writes files for qvis.
//! - A [`SteppedRun`] goes on by a time at a time, and its samples can be read on the way.
//! - [`live`] is a run on the real clock: the same network and ends, with sockets between them.
//! - [`Bench`] is the benchmark dumbbell.
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

mod application;
mod arrival;
mod backend;
mod bench;
mod bodies;
mod build;
mod capture;
mod check;
mod connect;
mod datagrams;
mod engine;
mod error;
mod host;
mod ids;
pub mod live;
mod nat;
mod network;
mod observe;
mod packet;
mod passage;
pub mod physics;
mod probe;
mod probes;
mod qlog;
mod record;
mod report;
mod run;
mod samples;
mod schedule;
mod simulate;
mod stepped;
mod table;
mod totals;
mod transport;
mod view;
mod warning;
mod wire_check;

pub use backend::{ColumnSchema, Registry, Simulator, TableSchema, register_probe, tables};
pub use bench::{Bench, BenchCounts, IdleFlows};
pub use check::{Checked, FlowRoutes, check};
pub use error::RunError;
pub use host::{HostStats, Supply};
pub use ids::{FlowId, HostId};
pub use observe::Observer;
pub use packet::Frame;
pub use probe::{Probe, ProbeSetup, RunEnd, Wants};
pub use record::{Record, What};
pub use report::{FlowSummary, LinkSummary, Results, Summary};
pub use run::{RunOptions, run, run_many, run_observed};
pub use samples::Samples;
pub use skywave_path::{
    CoDelSpec, DropTailSpec, FqCoDelSpec, Loss, LossKind, OutagesSpec, PieSpec, QueueSpec, RedSpec,
    Steps, SubQueueSpec, TraceKind, TraceSelection, WeightedSpec,
};
pub use skywave_scenario::{
    AdaptSpec, BackSpec, BernoulliSpec, CbrSpec, DccpSpec, Dumbbell, DynamicSpec, ErrorUnit,
    ExponentialSpec, FeedbackSpec, FileSizeSpec, FlowSpec, FtpSpec, GilbertElliottSpec, Growth,
    KernelTcpSpec, LinkSpec, LossSpec, Named, OnOffSpec, PacketLossSpec, ParetoSpec,
    PerRoundTripSpec, PeriodSpec, PoissonSpec, Probes, Profile, ReceiverRttSpec, ReplaySpec,
    Scenario, ScenarioError, SmoothingSpec, SourceSpec, TalkspurtSpec, TcpRecovery, TcpSpec,
    TfrcRules, TfrcSpec, ThinkSpec, TraceSpec, TraceStep, TransportSpec, UdpSpec, VoiceSpec,
    WebSpec, WindowSpec,
};
pub use skywave_traffic::{
    Carrier, Journal, Made, Playout, SendingEnd, Setup, Source, SourceKind, Sources, Transfer,
};
pub use stepped::SteppedRun;
pub use table::{Table, Value};
pub use view::{Event, HostView, LinkView, PacketCount, PacketView, Sample};
pub use warning::Warning;
pub use wire_check::WireMismatch;
