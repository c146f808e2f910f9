//! Congestion control algorithms, free of any transport.

mod window;

pub use window::{AckSummary, AckedPacket, WindowControl};
