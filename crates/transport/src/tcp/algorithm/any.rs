//! The detections and recoveries that an algorithm may consist of.

use skywave_units::{Duration, Instant};

use crate::tcp::loss::{
    Begin, CwndChange, Detection, DuplicateAcks, Found, NewReno, News, NoPhase, Phase, Recovery,
    Reno, Timing,
};
use crate::tcp::ns2;
use crate::tcp::reassembly::Range;
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// A loss detection. The most common one needs no memory of its own.
#[derive(Debug)]
pub(in crate::tcp) enum AnyDetection {
    Duplicates(DuplicateAcks),
    Other(Box<dyn Detection>),
}

/// Calls the same method on whichever detection this is.
macro_rules! each_detection {
    ($any:expr, $detection:ident => $call:expr) => {
        match $any {
            AnyDetection::Duplicates($detection) => $call,
            AnyDetection::Other($detection) => $call,
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl Detection for AnyDetection {
    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> Found {
        each_detection!(self, detection => detection.on_duplicate(news, log))
    }

    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Found {
        each_detection!(self, detection => detection.on_progress(news, log))
    }

    fn on_timeout(&mut self, now: Instant, at: Position, log: &mut SentLog) {
        each_detection!(self, detection => detection.on_timeout(now, at, log));
    }

    fn on_timing(&mut self, timing: &Timing, log: &SentLog) {
        each_detection!(self, detection => detection.on_timing(timing, log));
    }

    fn on_probe(&mut self, end: u64, is_retransmission: bool) {
        each_detection!(self, detection => detection.on_probe(end, is_retransmission));
    }

    fn on_recovery(&mut self, at: Position) {
        each_detection!(self, detection => detection.on_recovery(at));
    }

    fn on_recovered(&mut self) {
        each_detection!(self, detection => detection.on_recovered());
    }

    fn on_handshake(&mut self, now: Instant, rtt: Duration) {
        each_detection!(self, detection => detection.on_handshake(now, rtt));
    }

    fn min_rtt(&self) -> Option<Duration> {
        each_detection!(self, detection => detection.min_rtt())
    }

    fn deadline(&self) -> Option<Instant> {
        each_detection!(self, detection => detection.deadline())
    }

    fn expire(&mut self, now: Instant, at: Position, log: &mut SentLog) -> Found {
        each_detection!(self, detection => detection.expire(now, at, log))
    }

    fn lost_below(&self, at: Position, log: &SentLog) -> u64 {
        each_detection!(self, detection => detection.lost_below(at, log))
    }

    fn limited_transmit(&self) -> u32 {
        each_detection!(self, detection => detection.limited_transmit())
    }

    fn inflation(&self) -> i64 {
        each_detection!(self, detection => detection.inflation())
    }

    fn take_cwnd_change(&mut self) -> Option<CwndChange> {
        each_detection!(self, detection => detection.take_cwnd_change())
    }

    fn is_quiet(&self, log: &SentLog) -> bool {
        each_detection!(self, detection => detection.is_quiet(log))
    }

    fn heap_size(&self) -> usize {
        match self {
            Self::Duplicates(detection) => detection.heap_size(),
            Self::Other(detection) => size_of_val(detection.as_ref()) + detection.heap_size(),
        }
    }
}

/// A recovery. Recoveries that do not track individual segments need no memory of their own.
#[derive(Debug)]
pub(in crate::tcp) enum AnyRecovery {
    NoPhase(NoPhase),
    Reno(Reno),
    NewReno(NewReno),
    Ns2NewReno(ns2::NewReno),
    Other(Box<dyn Recovery>),
}

/// Calls the same method on whichever recovery this is.
macro_rules! each_recovery {
    ($any:expr, $recovery:ident => $call:expr) => {
        match $any {
            AnyRecovery::NoPhase($recovery) => $call,
            AnyRecovery::Reno($recovery) => $call,
            AnyRecovery::NewReno($recovery) => $call,
            AnyRecovery::Ns2NewReno($recovery) => $call,
            AnyRecovery::Other($recovery) => $call,
        }
    };
}

#[deny(clippy::missing_trait_methods)]
impl Recovery for AnyRecovery {
    fn begin(&mut self, at: Position, log: &mut SentLog) -> Begin {
        each_recovery!(self, recovery => recovery.begin(at, log))
    }

    fn is_recovering(&self) -> bool {
        each_recovery!(self, recovery => recovery.is_recovering())
    }

    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> bool {
        each_recovery!(self, recovery => recovery.on_duplicate(news, log))
    }

    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Phase {
        each_recovery!(self, recovery => recovery.on_progress(news, log))
    }

    fn on_timeout(&mut self, at: Position, log: &mut SentLog) {
        each_recovery!(self, recovery => recovery.on_timeout(at, log));
    }

    fn note(&mut self, at: Position, log: &SentLog) {
        each_recovery!(self, recovery => recovery.note(at, log));
    }

    fn goes_back(&self) -> bool {
        each_recovery!(self, recovery => recovery.goes_back())
    }

    fn inflation(&self, nxt: u64, log: &SentLog) -> i64 {
        each_recovery!(self, recovery => recovery.inflation(nxt, log))
    }

    fn take_deficit(&mut self, smss: u64) -> u64 {
        each_recovery!(self, recovery => recovery.take_deficit(smss))
    }

    fn counts_pipe(&self) -> bool {
        each_recovery!(self, recovery => recovery.counts_pipe())
    }

    fn has_room(&self, cwnd: u64, smss: u64) -> bool {
        each_recovery!(self, recovery => recovery.has_room(cwnd, smss))
    }

    fn has_unsent_loss(&self, at: Position, log: &SentLog) -> bool {
        each_recovery!(self, recovery => recovery.has_unsent_loss(at, log))
    }

    fn next_segment(
        &mut self,
        at: Position,
        cwnd: u64,
        fresh: Range,
        log: &mut SentLog,
    ) -> Option<Range> {
        each_recovery!(self, recovery => recovery.next_segment(at, cwnd, fresh, log))
    }

    fn skip_received(&self, nxt: u64, log: &SentLog) -> u64 {
        each_recovery!(self, recovery => recovery.skip_received(nxt, log))
    }

    fn heap_size(&self) -> usize {
        match self {
            Self::Other(recovery) => size_of_val(recovery.as_ref()) + recovery.heap_size(),
            Self::NoPhase(_) | Self::Reno(_) | Self::NewReno(_) | Self::Ns2NewReno(_) => 0,
        }
    }
}
