//! The immediate reaction of 4.3BSD-Tahoe and TCP Vegas to a loss.

use super::{Begin, News, Phase, Recovery};
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// A recovery that ends as soon as it begins.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct NoPhase(pub(in crate::tcp) Begin);

impl Recovery for NoPhase {
    fn begin(&mut self, _at: Position, _log: &mut SentLog) -> Begin {
        self.0
    }

    fn is_recovering(&self) -> bool {
        false
    }

    fn on_duplicate(&mut self, _news: &News, _log: &mut SentLog) -> bool {
        false
    }

    fn on_progress(&mut self, _news: &News, _log: &mut SentLog) -> Phase {
        Phase::Full
    }

    fn on_timeout(&mut self, _at: Position, _log: &mut SentLog) {}
}
