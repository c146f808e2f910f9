//! Loss detection with Ack Vectors (RFC 4340 section 11.4, RFC 4341 section 5), for every CCID
//! whose sender has a window.
//!
//! - `scoreboard` knows the fate of each packet sent, counts those outstanding (pipe) and infers
//!   losses.
//! - `spurious` tells whether packets inferred lost have arrived after all.
//!
//! The CCID decides what a loss means for cwnd, the timeout and the Ack Ratio.

mod scoreboard;
mod spurious;

pub(crate) use self::scoreboard::{NUMDUPACK, News, Report, Scoreboard};
pub(crate) use self::spurious::{LostPackets, Suspects, Verdict};
