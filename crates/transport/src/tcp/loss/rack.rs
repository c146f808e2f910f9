//! Loss detection by sending times: RACK (RFC 8985 sections 5 and 6).

use skywave_units::{Duration, Instant};

use super::forward_rto::ForwardRto;
use super::tail_loss_probe::TailLossProbe;
use super::{DUPLICATE_THRESHOLD, Detection, Found, News, Timing};
use crate::tcp::sent_log::{SentLog, SentSegment};
use crate::tcp::sequence::Position;
use crate::tcp::timer::Timer;

/// The recoveries for which a larger reordering window lasts (section 6.2, step 4).
const RECOVERIES_OF_WINDOW: u32 = 16;
/// The age at which a minimum round-trip time gives way to the next sample. Step 1 of section 6.2
/// asks for a windowed minimum, and leaves the window open; this is Linux's.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

/// RACK-TLP, with the RFC's variable names. A segment is lost if one sent later has arrived and the
/// reordering window has passed. It finds lost retransmissions too.
#[derive(Debug)]
pub(in crate::tcp) struct Rack {
    /// RACK.xmit_ts and RACK.end_seq.
    newest: (Instant, u64),
    /// RACK.rtt.
    rtt: Duration,
    /// RACK.min_RTT, and when it was measured.
    min_rtt: Option<(Duration, Instant)>,
    srtt: Option<Duration>,
    /// RACK.fack.
    fack: u64,
    reordering_seen: bool,
    /// RACK.dsack_round.
    dsack_round: Option<u64>,
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
    /// Until this is acknowledged, no other recovery begins.
    recovery_point: u64,
    /// Whether a fast recovery or the recovery from a timeout is in progress.
    is_recovering: bool,
    probe: TailLossProbe,
    /// If spurious timeouts are detected.
    forward_rto: Option<ForwardRto>,
    timer: Timer,
    /// Whether `timer` is the probe's, not that of the reordering window.
    is_probe_timer: bool,
}

impl Rack {
    /// Creates the detection. With `detects_spurious_timeouts`, it includes F-RTO.
    pub(in crate::tcp) fn new(detects_spurious_timeouts: bool) -> Self {
        Self {
            forward_rto: detects_spurious_timeouts.then(ForwardRto::default),
            newest: (Instant::ZERO, 0),
            rtt: Duration::ZERO,
            min_rtt: None,
            srtt: None,
            fack: 0,
            reordering_seen: false,
            dsack_round: None,
            reo_wnd_mult: 1,
            reo_wnd_persist: RECOVERIES_OF_WINDOW,
            recovery_point: 0,
            is_recovering: false,
            probe: TailLossProbe::default(),
            timer: Timer::default(),
            is_probe_timer: false,
        }
    }

    /// RACK_update () and RACK_detect_reordering () (section 6.2, steps 1 to 3).
    fn update(&mut self, now: Instant, log: &mut SentLog) {
        let fack = self.fack;
        // The last of the valid segments in order of sending.
        let mut last = None;
        for sent in log.delivered() {
            let rtt = now - sent.sent_at;
            let is_retransmitted = sent.transmissions > 1;
            if !is_retransmitted {
                self.update_min_rtt(now, rtt);
                self.probe.on_rtt_sample();
            }
            self.fack = self.fack.max(sent.end);
            self.reordering_seen |= sent.end < fack && !is_retransmitted;
            if is_retransmitted && self.min_rtt.is_some_and(|(min_rtt, _)| rtt < min_rtt) {
                continue;
            }
            last = last.max(Some((sent.sent_at, sent.end)));
        }
        if let Some(last) = last {
            self.rtt = now - last.0;
            self.newest = self.newest.max(last);
        }
        log.clear_delivered();
    }

    fn update_min_rtt(&mut self, now: Instant, rtt: Duration) {
        let is_least = self
            .min_rtt
            .is_none_or(|(min_rtt, at)| rtt <= min_rtt || now - at > MIN_RTT_WINDOW);
        if is_least {
            self.min_rtt = Some((rtt, now));
        }
    }

    /// The first half of RACK_update_reo_wnd ().
    fn adapt_reo_wnd(&mut self, news: &News) {
        self.dsack_round.take_if(|round| news.at.una >= *round);
        let exits = self.is_recovering && news.at.una >= self.recovery_point;
        self.is_recovering &= !exits;
        if self.dsack_round.is_none() && news.dsack.is_some() {
            self.dsack_round = Some(news.at.max);
            self.reo_wnd_mult = self.reo_wnd_mult.saturating_add(1);
            self.reo_wnd_persist = RECOVERIES_OF_WINDOW;
        } else if exits {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
    }

    /// Returns RACK.reo_wnd: the second half of RACK_update_reo_wnd ().
    fn reo_wnd(&self, log: &SentLog) -> Duration {
        let is_urgent = self.is_recovering || log.sacked_segments() >= DUPLICATE_THRESHOLD;
        if !self.reordering_seen && is_urgent {
            return Duration::ZERO;
        }
        let (min_rtt, _) = self.min_rtt.unwrap_or_default();
        let window = min_rtt * u64::from(self.reo_wnd_mult) / 4;
        self.srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// RACK_detect_loss_and_arm_timer () (section 6.2, step 5).
    fn detect(&mut self, now: Instant, at: Position, log: &mut SentLog) -> Found {
        let remaining = self.remaining(now, log);
        let timeout = log.find_lost(self.newest, remaining);
        if !timeout.is_zero() {
            self.timer.restart(now + timeout);
            self.is_probe_timer = false;
        } else if !self.is_probe_timer || log.sacked_segments() > 0 {
            self.timer.stop();
        }
        if log.lost() > 0 && !self.is_recovering && at.una >= self.recovery_point {
            Found::Loss { is_repeated: false }
        } else {
            Found::Nothing
        }
    }

    /// Returns how long a segment must still be missing before it is lost.
    fn remaining(&self, now: Instant, log: &SentLog) -> impl Fn(&SentSegment) -> Duration + use<> {
        let allowance = self.rtt + self.reo_wnd(log);
        move |sent| (sent.sent_at + allowance).saturating_since(now)
    }
}

impl Detection for Rack {
    fn on_duplicate(&mut self, news: &News, log: &mut SentLog) -> Found {
        self.on_progress(news, log)
    }

    fn on_progress(&mut self, news: &News, log: &mut SentLog) -> Found {
        let forward_rto = self.forward_rto.as_mut();
        let is_spurious = forward_rto.is_some_and(|it| it.on_ack(news, log));
        self.update(news.now, log);
        if is_spurious {
            log.unmark_lost();
            self.recovery_point = news.at.una;
            self.is_recovering = false;
            return Found::SpuriousTimeout;
        }
        self.adapt_reo_wnd(news);
        let has_repaired = self.probe.has_repaired(news);
        match self.detect(news.now, news.at, log) {
            Found::Nothing if has_repaired && !self.is_recovering => Found::Repaired,
            found => found,
        }
    }

    /// RACK_mark_losses_on_RTO () (section 6.3).
    fn on_timeout(&mut self, now: Instant, at: Position, log: &mut SentLog) {
        if let Some(forward_rto) = &mut self.forward_rto {
            forward_rto.on_timeout(at, self.recovery_point, log);
        }
        let remaining = self.remaining(now, log);
        log.mark_lost_where(|sent| sent.start <= at.una || remaining(sent).is_zero());
        self.on_recovery(at);
    }

    fn on_recovery(&mut self, at: Position) {
        self.recovery_point = at.max;
        self.is_recovering = true;
        self.probe.reset();
        if self.is_probe_timer {
            self.timer.stop();
        }
    }

    fn on_handshake(&mut self, now: Instant, rtt: Duration) {
        self.update_min_rtt(now, rtt);
        self.probe.on_rtt_sample();
    }

    fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt.map(|(min_rtt, _)| min_rtt)
    }

    fn deadline(&self) -> Option<Instant> {
        self.timer.wake()
    }

    fn expire(&mut self, now: Instant, at: Position, log: &mut SentLog) -> Found {
        if !self.timer.fired(now) {
            Found::Nothing
        } else if self.is_probe_timer {
            Found::TailLoss {
                probe: self.probe.is_permitted(),
            }
        } else {
            self.detect(now, at, log)
        }
    }

    /// Schedules a probe (section 7.2).
    fn on_timing(&mut self, timing: &Timing, log: &SentLog) {
        self.srtt = timing.srtt;
        if self.is_recovering || log.sacked_segments() > 0 || log.lost() > 0 {
            return;
        }
        self.is_probe_timer = true;
        if timing.in_flight == 0 {
            self.timer.stop();
        } else {
            self.timer.restart(TailLossProbe::due(timing));
        }
    }

    fn on_probe(&mut self, end: u64, is_retransmission: bool) {
        self.probe.on_sent(end, is_retransmission);
        self.timer.stop();
    }

    fn is_quiet(&self, _log: &SentLog) -> bool {
        // It learns from every acknowledgement.
        false
    }

    fn heap_size(&self) -> usize {
        0
    }
}
