//! Forward RTO-Recovery: F-RTO with SACK (RFC 5682 section 3.1).

use super::News;
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// The new segments that step 2b may send.
const NEW_SEGMENTS: u8 = 2;

/// Finds out, after a retransmission timeout, whether the data was merely late. It sends new data
/// after the first acknowledgement instead of retransmitting: if the next one covers data that was
/// not sent again, that data was on its way when the timer expired.
///
/// If it was not, slow start decides on cwnd, as in Linux; steps 2a and 3a limit it to two and three
/// segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum ForwardRto {
    #[default]
    Off,
    /// Step 2: until an acknowledgement advances.
    Retransmitted,
    /// Step 3: until the next acknowledgement.
    SentNew {
        /// RecoveryPoint.
        recovery_point: u64,
    },
}

impl ForwardRto {
    /// Step 1, unless an earlier recovery up to `recovery_point` is in progress.
    pub(super) fn on_timeout(&mut self, at: Position, recovery_point: u64, log: &mut SentLog) {
        let is_repeated = matches!(self, Self::Retransmitted);
        *self = if is_repeated || recovery_point <= at.una {
            Self::Retransmitted
        } else {
            Self::Off
        };
        log.hold_losses(None);
    }

    /// Steps 2 and 3. Returns whether the timeout was spurious. Call before the log forgets what the
    /// acknowledgement reports.
    pub(super) fn on_ack(&mut self, news: &News, log: &mut SentLog) -> bool {
        match *self {
            Self::Off => false,
            Self::Retransmitted if news.acked == 0 => false,
            Self::Retransmitted => {
                let recovery_point = news.at.max;
                let is_partial = news.at.una < recovery_point;
                *self = if is_partial {
                    Self::SentNew { recovery_point }
                } else {
                    Self::Off
                };
                log.hold_losses(is_partial.then_some(NEW_SEGMENTS));
                false
            }
            Self::SentNew { recovery_point } => {
                *self = Self::Off;
                // Without new data to send, nothing can be concluded.
                let has_sent_new = log.held().is_some() && news.at.max > recovery_point;
                log.hold_losses(None);
                let mut delivered = log.delivered().iter();
                has_sent_new
                    && !log.delivered().is_empty()
                    && delivered.all(|sent| sent.end <= recovery_point && sent.transmissions == 1)
            }
        }
    }
}
