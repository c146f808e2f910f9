//! CCID 3, TCP-Friendly Rate Control (RFC 4342), as a profile of [`tfrc`](skywave_congestion::tfrc):
//! what stands in packets, and nothing else. CCID 4 has the same halves, with other parameters.
//!
//! - [`Sender`] paces data, sets the window counter in CCVal and reads reports; [`sent`] remembers
//!   what left when, [`report`] makes a report of an acknowledgement's options.
//! - [`Receiver`] turns arrivals into reports; [`encode`] writes them as options;
//!   [`rtt_estimate`] is the round-trip time that the sender may tell (RFC 6323).
//!
//! Where the RFC leaves a choice, or peers depart from it:
//!
//! - A report needs a Receive Rate and either a Loss Event Rate or Loss Intervals: Linux sends no
//!   Loss Intervals and no Elapsed Time. A Loss Event Rate is believed before the intervals.
//! - The sender asks for Loss Event Rates, the receiver for NDP Counts, so that a lost
//!   acknowledgement is not taken for lost data.
//! - All of the latest nine loss intervals are in each report, whether the peer has them or not.
//! - Data that fails its Data Checksum counts as marked where p is made, in the receiver. The sender
//!   does not count Drop Codes 3 to 7 once more: it believes the peer's p.

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
