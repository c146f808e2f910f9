//! TCP-Friendly Rate Control (RFC 5348, and RFC 3448 before it): a sender that keeps to the rate
//! which a TCP would have, and a receiver that measures what that depends on.
//!
//! - [`equation`] is the throughput equation and its inverse.
//! - [`Sender`] turns reports into an allowed rate: `sender` holds sections 4.2 to 4.5, `receive_set`
//!   the limit by what arrived, `data_limited` tells whether the application was the limit,
//!   `pacing` spreads packets at that rate (section 4.6), `segment_size` knows s.
//! - [`Receiver`] decides when to report and what: `feedback` is how often, `history` finds losses and
//!   groups them into loss events (sections 5.1 to 5.3), `interval` averages the intervals between
//!   them (sections 5.4 and 5.5), `receive_rate` is X_recv, `counter` is the clock of quarter
//!   round-trip times that data packets carry (RFC 4342 section 8.1).
//! - [`Config`] has a constructor for each document.
//!
//! Nothing here knows a packet format: sequence numbers are plain integers that do not wrap, and
//! whoever carries TFRC translates. Inside, rates are bytes per second and times seconds, in floating
//! point, as the documents' formulas have them.

mod config;
mod counter;
mod data_limited;
pub mod equation;
mod feedback;
mod history;
mod interval;
mod pacing;
mod receive_rate;
mod receive_set;
mod receiver;
mod segment_size;
mod sender;

pub use config::{
    Config, FirstInterval, InitialWindow, SegmentSize, SenderRules, SmallPackets, Smoothing,
    UnseenIntervals,
};
pub use counter::WindowCounter;
pub use feedback::{DynamicFeedback, FeedbackSchedule, ObservationWindow};
pub use history::Arrival;
pub use interval::{INTERVALS, LossInterval, loss_event_rate};
pub use receiver::{Receiver, Report};
pub use sender::{Feedback, Sender, Stats};

use skywave_units::Duration;

/// The round-trip time to reckon with as long as nobody has measured one (RFC 4340 section 3.4).
const DEFAULT_RTT: Duration = Duration::from_millis(200);

/// t_mbi: the longest interval between two packets in the absence of feedback (RFC 5348 section
/// 4.3), in seconds.
const T_MBI: f64 = 64.0;
