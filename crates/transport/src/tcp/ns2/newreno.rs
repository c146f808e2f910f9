//! ns-2.35's `Agent/TCP/Newreno`.

use crate::tcp::loss::{self, Begin, News, Phase, Recovery};
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// NewReno whose deflation, as far as it exceeds the inflation, reduces cwnd itself: see
/// [`RecoveryExit::Deflated`](crate::tcp::RecoveryExit::Deflated).
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct NewReno(loss::NewReno);

impl Recovery for NewReno {
    fn begin(&mut self, at: Position, log: &mut SentLog) -> Begin {
        self.0.begin(at, log)
    }

    fn is_recovering(&self) -> bool {
        self.0.is_recovering()
    }

    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> bool {
        self.0.on_duplicate(news, log)
    }

    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Phase {
        self.0.on_progress(news, log)
    }

    fn on_timeout(&mut self, at: Position, log: &mut SentLog) {
        self.0.on_timeout(at, log);
    }

    fn inflation(&self, nxt: u64, log: &SentLog) -> i64 {
        self.0.inflation(nxt, log)
    }

    /// Leaves an inflation of one segment.
    fn take_deficit(&mut self, smss: u64) -> u64 {
        let deficit = u64::try_from(smss as i64 - self.0.inflation).unwrap_or(0);
        self.0.inflation += deficit as i64;
        deficit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::loss::testing::{duplicate, progress};
    use crate::tcp::loss::{DuplicateAcks, LossRecovery};
    use crate::tcp::sent_log::Keeps;

    #[test]
    fn what_deflation_takes_off_cwnd_is_handed_over_once() {
        let detection = DuplicateAcks::once_per_window();
        let mut recovery =
            LossRecovery::from_parts(detection, NewReno::default(), Keeps::default());
        for _ in 0..3 {
            duplicate(&mut recovery, 1, 20_001);
        }
        progress(&mut recovery, 5_001, 20_001, 5_000);
        assert_eq!(recovery.inflation(20_001), -1_000);
        assert_eq!(recovery.take_deficit(1000), 2_000);
        assert_eq!(recovery.inflation(20_001), 1_000);
        assert_eq!(recovery.take_deficit(1000), 0);
    }
}
