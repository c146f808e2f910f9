//! The packet-level simulator: protocols and paths on a virtual clock.
//!
//! - [`Scenario`] describes an experiment; [`run`] runs it and gives [`Results`] as Arrow tables.
//!   A [`Registry`] says what its words stand for; both come from `skywave_scenario`. A run is `build`, `simulate` and `report`.
//! - `engine` is the event loop, over `schedule` (the event heap), `network` (links and routes),
//!   `host` (the ends of flows; `connect` makes them) and `application` (what they send; `talker`
//!   sends voice, `web` files).
//! - An [`Observer`] watches a run and is shown it by the types of `view`: `totals` counts for the
//!   summary, each of the `probes` makes a table, `record` writes the run down for [`physics`], which
//!   judges it, and `capture` writes pcapng.
//! - [`Bench`] is the benchmark.
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
mod network;
mod observe;
mod packet;
pub mod physics;
mod probe;
mod probes;
mod random;
mod record;
mod report;
mod routes;
mod run;
mod schedule;
mod simulate;
mod table;
mod talker;
mod totals;
mod traffic;
mod transport;
mod view;
mod voice;
mod web;
mod wire_check;

pub use backend::{ColumnSchema, Registry, Simulator, TableSchema, register_probe, tables};
pub use bench::{Bench, BenchCounts, IdleFlows};
pub use check::{Checked, FlowRoutes, Warning, check};
pub use error::RunError;
pub use host::HostStats;
pub use ids::{FlowId, HostId};
pub use observe::Observer;
pub use packet::Frame;
pub use probe::{Playout, Probe, ProbeSetup, RunEnd, Wants};
pub use record::{Record, What};
pub use report::{FlowSummary, LinkSummary, Results, Summary};
pub use run::{RunOptions, run, run_many, run_observed};
pub use skywave_path::{
    CoDelSpec, DropTailSpec, FqCoDelSpec, PieSpec, QueueSpec, RedSpec, SubQueueSpec, WeightedSpec,
};
pub use skywave_scenario::{
    AdaptSpec, BackSpec, BernoulliSpec, CbrSpec, DccpSpec, Dumbbell, DynamicSpec, ErrorUnit,
    FeedbackSpec, FileSizeSpec, FlowSpec, FtpSpec, GilbertElliottSpec, Growth, LinkSpec, LossSpec,
    Named, PerRoundTripSpec, Probes, Profile, ReceiverRttSpec, Scenario, ScenarioError,
    SmoothingSpec, SourceSpec, TalkspurtSpec, TcpRecovery, TcpSpec, TfrcRules, TfrcSpec, ThinkSpec,
    TraceSpec, TraceStep, TransportSpec, UdpSpec, VoiceSpec, WebSpec, WindowSpec,
};
pub use table::{Table, Value};
pub use traffic::{Journal, Made, Transfer};
pub use view::{Event, HostView, LinkView, PacketCount, PacketView, Sample};
pub use wire_check::WireMismatch;
