//! Proportional rate reduction (RFC 6937), with the choice of its successor between the two
//! reduction bounds.

use super::{Begin, News, Phase, Recovery};
use crate::tcp::reassembly::Range;
use crate::tcp::sent_log::SentLog;
use crate::tcp::sequence::Position;

/// PRR, with the RFC's variable names. It sends in proportion to what is delivered, so that the
/// window falls to ssthresh within a round trip, and retransmits what the detection has marked as
/// lost. Below ssthresh, an acknowledgement that advances SND.UNA and indicates no further loss
/// (SafeACK of RFC 9937 section 6.2) releases what it delivers and a segment more; another one
/// releases only what it delivers, or what earlier ones have left unused. RFC 9937 is the successor
/// of RFC 6937; what is taken from it is what the documentation of ns-3's PRR states.
///
/// Outside of a recovery, whatever is SACKed or lost leaves room for other data in cwnd.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::tcp) struct Prr {
    /// Whether the control decides on cwnd in a recovery, so that PRR does not apply.
    obeys_control: bool,
    is_recovering: bool,
    recovery_point: u64,
    recover_fs: u64,
    prr_delivered: u64,
    prr_out: u64,
    /// The acknowledgement whose `sndcnt` has not been computed.
    pending: Option<Pending>,
    /// The bytes that may still be sent in response to the last acknowledgement.
    sndcnt: u64,
    /// The bytes delivered before the last acknowledgement, from the start of the stream.
    total: u64,
    /// Whether to send at least one segment: the fast retransmit.
    is_first: bool,
    /// Whether anything is SACKed or lost, or a recovery is in progress.
    is_active: bool,
    pipe: u64,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    /// DeliveredData.
    delivered: u64,
    is_safe: bool,
}

impl Prr {
    /// Creates the recovery. If `obeys_control`, the control decides on cwnd in a recovery too.
    pub(in crate::tcp) fn new(obeys_control: bool) -> Self {
        Self {
            obeys_control,
            ..Self::default()
        }
    }

    fn on_delivered(&mut self, at: Position, log: &SentLog, has_advanced: bool) {
        let total = at.una + log.sacked_bytes();
        let delivered = total.saturating_sub(self.total);
        self.total = total;
        self.prr_delivered += delivered;
        let before = self.pending.map_or(0, |pending| pending.delivered);
        self.pending = Some(Pending {
            delivered: before + delivered,
            is_safe: has_advanced && !log.has_found_lost(),
        });
    }

    /// Computes sndcnt (section 3) once per acknowledgement, with `ssthresh` as the target.
    fn compute(&mut self, pipe: u64, ssthresh: u64, smss: u64) {
        let Some(Pending { delivered, is_safe }) = self.pending.take() else {
            return;
        };
        self.sndcnt = if pipe > ssthresh {
            let share = u128::from(self.prr_delivered) * u128::from(ssthresh);
            // The RFC's CEIL is that of whole segments.
            let due = share / u128::from(self.recover_fs.max(1));
            let due = u64::try_from(due).unwrap_or(u64::MAX);
            due.div_ceil(smss)
                .saturating_mul(smss)
                .saturating_sub(self.prr_out)
        } else {
            let banked = self.prr_delivered.saturating_sub(self.prr_out);
            let safe = if is_safe { smss } else { 0 };
            let limit = banked.max(delivered) + safe;
            limit.min(ssthresh - pipe)
        };
        // With nothing in flight, only a timeout would follow.
        if core::mem::take(&mut self.is_first) || pipe == 0 {
            self.sndcnt = self.sndcnt.max(smss);
        }
    }

    /// Returns the bytes that may be sent now.
    fn room(&self, cwnd: u64) -> u64 {
        if self.is_recovering && !self.obeys_control {
            self.sndcnt
        } else {
            cwnd.saturating_sub(self.pipe)
        }
    }
}

impl Recovery for Prr {
    fn begin(&mut self, at: Position, log: &mut SentLog) -> Begin {
        *self = Self {
            is_recovering: true,
            recovery_point: at.max,
            recover_fs: at.max - at.una,
            obeys_control: self.obeys_control,
            total: self.total,
            is_first: true,
            ..Self::default()
        };
        self.on_delivered(at, log, false);
        self.note(at, log);
        Begin::Wait
    }

    fn is_recovering(&self) -> bool {
        self.is_recovering
    }

    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> bool {
        self.on_delivered(news.at, log, false);
        false
    }

    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Phase {
        self.on_delivered(news.at, log, true);
        if news.at.una >= self.recovery_point {
            self.is_recovering = false;
            return Phase::Full;
        }
        Phase::Partial {
            retransmit: false,
            restart_timer: true,
        }
    }

    fn on_timeout(&mut self, at: Position, log: &mut SentLog) {
        if log.sacks().shows_reneging(at.una) {
            log.forget_sacks();
        }
        self.is_recovering = false;
        self.note(at, log);
    }

    fn note(&mut self, at: Position, log: &SentLog) {
        self.total = self.total.max(at.una + log.sacked_bytes());
        self.is_active = self.is_recovering || log.sacked_bytes() > 0 || log.lost() > 0;
        self.pipe = log.in_flight(at);
    }

    fn goes_back(&self) -> bool {
        false
    }

    fn counts_pipe(&self) -> bool {
        self.is_active
    }

    fn has_room(&self, cwnd: u64, _smss: u64) -> bool {
        // Segments may be short.
        self.is_recovering && self.pending.is_some() || self.room(cwnd) > 0
    }

    fn has_unsent_loss(&self, _at: Position, log: &SentLog) -> bool {
        log.lost() > 0
    }

    fn next_segment(
        &mut self,
        at: Position,
        cwnd: u64,
        fresh: Range,
        log: &mut SentLog,
    ) -> Option<Range> {
        if self.is_recovering {
            self.compute(self.pipe, cwnd, at.smss);
        }
        let fresh = Some(fresh).filter(|fresh| fresh.start < fresh.end);
        if fresh.is_none() {
            log.hold_losses(None);
        }
        let held = log.held();
        let segment = match held {
            Some(0) => return None,
            Some(_) => fresh?,
            None => log.next_lost().or(fresh)?,
        };
        let bytes = segment.end - segment.start;
        if bytes > self.room(cwnd) {
            return None;
        }
        if let Some(left) = held {
            log.hold_losses(Some(left - 1));
        }
        self.prr_out += bytes;
        self.sndcnt = self.sndcnt.saturating_sub(bytes);
        Some(segment)
    }
}
