//! TCP-Friendly Rate Control (RFC 5348, and RFC 3448 before it). The sender limits itself to the
//! rate of a TCP connection under the same conditions. The receiver measures the loss event rate
//! and the receive rate, from which the sender computes that rate.
//!
//! - [`equation`] is the throughput equation and its inverse.
//! - [`Sender`] turns reports into an allowed rate: `sender` implements sections 4.2 to 4.5,
//!   `receive_set` the limit from the receive rate, `data_limited` the detection of data-limited
//!   intervals, `pacing` the spacing of packets (section 4.6), `segment_size` the packet size s,
//!   `quick_start` the use of a rate that routers have approved (RFC 5634 section 3.2).
//! - [`Receiver`] decides when to report and what: `feedback` sets how often, `history` detects
//!   losses and groups them into loss events (sections 5.1 to 5.3), `interval` averages loss
//!   intervals (sections 5.4 and 5.5), `receive_rate` measures X_recv, `counter` is the clock of
//!   quarter round-trip times in data packets (RFC 4342 section 8.1).
//! - [`Config`] has a constructor for each document.
//!
//! Nothing here depends on a packet format: sequence numbers are plain integers that do not wrap,
//! and the protocol that carries TFRC converts its own. Internally, rates are bytes per second and
//! times are seconds, in floating point, as in the documents' formulas.

mod config;
mod counter;
mod data_limited;
pub mod equation;
mod feedback;
mod history;
mod interval;
mod pacing;
mod quick_start;
mod receive_rate;
mod receive_set;
mod receiver;
mod segment_size;
mod sender;

pub use config::{
    AfterSilence, Config, FirstInterval, InitialWindow, SegmentSize, SenderRules, SmallPackets,
    Smoothing, UnseenIntervals,
};
pub use counter::WindowCounter;
pub use feedback::{DynamicFeedback, FeedbackSchedule, ObservationWindow};
pub use history::Arrival;
pub use interval::{INTERVALS, LossInterval, loss_event_rate};
pub use receiver::{Receiver, Report};
pub use sender::{Feedback, Sender, Stats};

use skywave_units::Duration;

/// The round-trip time assumed before it is measured (RFC 4340 section 3.4).
const DEFAULT_RTT: Duration = Duration::from_millis(200);

/// t_mbi: the longest interval between packets in the absence of feedback (RFC 5348 section 4.3),
/// in seconds.
const T_MBI: f64 = 64.0;
