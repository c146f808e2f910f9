//! CCID 3, TCP-Friendly Rate Control (RFC 4342), as a profile of
//! [`tfrc`](skywave_congestion::tfrc): only the translation to and from packets. CCID 4 uses the
//! same halves with other parameters.
//!
//! - [`Sender`] paces data, sets the window counter in CCVal and reads reports. [`sent`] remembers
//!   when packets left; [`report`] decodes the options of an acknowledgement.
//! - [`Receiver`] turns arrivals into reports. [`encode`] writes them as options; [`rtt_estimate`]
//!   tracks the round-trip time that the sender may report (RFC 6323).
//!
//! Choices made where the RFC leaves one or peers deviate from it:
//!
//! - A report needs a Receive Rate and either a Loss Event Rate or Loss Intervals, because Linux
//!   sends neither Loss Intervals nor Elapsed Time. A Loss Event Rate takes precedence over
//!   intervals.
//! - The sender asks for Loss Event Rates. The receiver asks for NDP Counts, so that it does not
//!   mistake a lost acknowledgement for lost data.
//! - Each report contains all of the latest nine loss intervals, whether or not the peer already
//!   has them.
//! - The receiver counts data that fails its Data Checksum as marked when it computes p. The sender
//!   does not count Drop Codes 3 to 7 again: it trusts the peer's p.
//! - Quick-Start (RFC 5634 section 3.2) is requested with the first data packet after the handshake
//!   and after idle periods, not in a Request and not after application-limited periods. The
//!   acknowledgement with the response is also a report, which aligns the receiver's reports with
//!   the Quick-Start Packets (section 3.2.2).

mod encode;
mod receiver;
mod report;
mod rtt_estimate;
mod sender;
mod sent;

pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

#[cfg(test)]
mod tests;
