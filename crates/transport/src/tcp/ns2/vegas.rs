//! ns-2.35's `Agent/TCP/Vegas`: see
//! [`RecoveryAlgorithm::Ns2Vegas`](crate::tcp::RecoveryAlgorithm::Ns2Vegas).

use skywave_units::{Duration, Instant};

use crate::tcp::loss::{CwndChange, Detection, FineTimer, Found, News};
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// Vegas's detection with ns-2's inflation: adds to cwnd itself the segments that duplicate
/// acknowledgements lend, and removes them only if further duplicates followed the third one or the
/// one that found an overdue segment.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct VegasDetection {
    timer: FineTimer,
    change: Option<CwndChange>,
}

impl VegasDetection {
    pub(in crate::tcp) fn new() -> Self {
        Self {
            timer: FineTimer::ns2(),
            change: None,
        }
    }
}

impl Detection for VegasDetection {
    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> Found {
        let found = self.timer.on_duplicate(news, log);
        let lent = self.timer.take_lent().unsigned_abs() / news.at.smss;
        self.change = Some(CwndChange::Inflate(u32::try_from(lent).unwrap_or(u32::MAX)));
        found
    }

    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Found {
        let deflates = self.timer.has_further_duplicates();
        self.change = deflates.then_some(CwndChange::Deflate);
        self.timer.on_progress(news, log)
    }

    fn on_timeout(&mut self, now: Instant, at: Position, log: &mut SentLog) {
        self.timer.on_timeout(now, at, log);
    }

    fn on_handshake(&mut self, now: Instant, rtt: Duration) {
        self.timer.on_handshake(now, rtt);
    }

    fn take_cwnd_change(&mut self) -> Option<CwndChange> {
        self.change.take()
    }

    fn is_quiet(&self, log: &SentLog) -> bool {
        self.timer.is_quiet(log)
    }

    fn heap_size(&self) -> usize {
        self.timer.heap_size()
    }
}
