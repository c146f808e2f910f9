//! Decides whether the peer is still there, and whether the connection is still used.
//!
//! RFC 4340 has no keepalive, but every endpoint answers a Sync with a SyncAck (section 7.5.4), even
//! with no data to send. A Sync is therefore the question: it needs no congestion control, and its
//! loss harms nobody.

use skywave_units::{Duration, Instant};

use super::Config;
use super::timer::SHORTEST;

/// The number of times that a silent peer is asked before the connection ends.
const QUESTIONS: u64 = 3;

/// The resolution with which the keepalive interval varies.
const PARTS: u64 = 256;

/// What to do at a certain time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Check again at this time.
    Wait(Instant),
    /// Send a Sync, and check again at this time.
    Ask(Instant),
    /// End the connection: the peer has not answered for [`Config::silence_timeout`].
    Silent,
    /// End the connection: no data for [`Config::idle_timeout`].
    Idle,
}

/// When something was last expected from the peer, and when there was data.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Liveness {
    /// When the first packet that the peer must answer left after the last arrival from the peer;
    /// earlier than that arrival if none has left.
    expects_since: Instant,
    /// How many Syncs have asked since then.
    asked: u8,
    /// How many parts of [`PARTS`] the keepalive interval is shorter by than configured.
    shorter: u8,
    /// When data was last sent or received.
    last_data: Instant,
}

impl Liveness {
    /// Begins with a connection that is established at `now`. `random` varies the keepalive
    /// interval, so that connections that began together do not ask together.
    pub(crate) const fn new(now: Instant, random: u64) -> Self {
        Self {
            expects_since: now,
            asked: 0,
            shorter: (random % (PARTS / 16)) as u8,
            last_data: now,
        }
    }

    /// Reports that data has arrived.
    #[inline(always)]
    pub(crate) const fn on_data_received(&mut self, now: Instant) {
        self.last_data = now;
    }

    /// Reports that data has left. `heard` is when the last packet arrived from the peer. Returns
    /// when to check, if that may be earlier than planned.
    #[inline(always)]
    pub(crate) fn on_data_sent(
        &mut self,
        now: Instant,
        heard: Instant,
        config: &Config,
    ) -> Option<Instant> {
        self.last_data = now;
        self.on_question(now, heard, config)
    }

    /// Reports that a packet without data has left that the peer must answer. Arguments and result
    /// are those of [`on_data_sent`](Self::on_data_sent).
    #[inline(always)]
    pub(crate) fn on_question(
        &mut self,
        now: Instant,
        heard: Instant,
        config: &Config,
    ) -> Option<Instant> {
        if self.expects_since > heard {
            return None;
        }
        self.expect(now);
        config.silence_timeout.map(|limit| now + pause(limit))
    }

    fn expect(&mut self, now: Instant) {
        self.expects_since = now;
        self.asked = 0;
    }

    /// Decides at `now`. `heard` is when the last packet arrived from the peer.
    pub(crate) fn judge(&mut self, now: Instant, heard: Instant, config: &Config) -> Verdict {
        let mut next = Instant::MAX;
        if let Some(limit) = config.idle_timeout {
            if now - self.last_data >= limit {
                return Verdict::Idle;
            }
            next = self.last_data + limit;
        }
        let waits = self.expects_since > heard;
        if let Some(limit) = config.silence_timeout
            && waits
        {
            let waited = now - self.expects_since;
            if waited >= limit {
                return Verdict::Silent;
            }
            let due = self.expects_since + pause(limit) * u64::from(self.asked + 1);
            if due > now {
                return Verdict::Wait(due.min(next));
            }
            self.asked = self.asked.saturating_add(1);
            let then = self.expects_since + pause(limit) * u64::from(self.asked + 1);
            return Verdict::Ask(then.min(next));
        }
        if let Some(interval) = config.keepalive {
            let interval = interval / PARTS * (PARTS - u64::from(self.shorter));
            let interval = interval.max(SHORTEST);
            let since = if waits { self.expects_since } else { heard };
            if now - since < interval {
                return Verdict::Wait((since + interval).min(next));
            }
            self.expect(now);
            let answer_by = config.silence_timeout.map_or(interval, pause);
            return Verdict::Ask((now + answer_by).min(next));
        }
        Verdict::Wait(next)
    }
}

/// Returns the interval between two questions to a peer that has until `limit` to answer.
fn pause(limit: Duration) -> Duration {
    (limit / (QUESTIONS + 1)).max(SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(secs)
    }

    fn config(keepalive: u64, silence: u64, idle: u64) -> Config {
        let some = |secs| (secs > 0).then(|| Duration::from_secs(secs));
        Config {
            keepalive: some(keepalive),
            silence_timeout: some(silence),
            idle_timeout: some(idle),
            ..Config::default()
        }
    }

    /// Everything until the end, with the times in seconds, for a peer that was heard at 0 s only.
    fn alone(config: &Config, data_at: Option<u64>) -> (Vec<u64>, Option<(u64, Verdict)>) {
        let mut liveness = Liveness::new(at(0), 0);
        if let Some(secs) = data_at {
            let _ = liveness.on_data_sent(at(secs), at(0), config);
        }
        let mut now = at(data_at.unwrap_or(0));
        let mut asked = Vec::new();
        for _ in 0..100 {
            let secs = (now - Instant::ZERO).as_millis() / 1_000;
            match liveness.judge(now, at(0), config) {
                Verdict::Wait(next) => now = next,
                Verdict::Ask(next) => {
                    asked.push(secs);
                    now = next;
                }
                end => return (asked, Some((secs, end))),
            }
            if now == Instant::MAX {
                break;
            }
        }
        (asked, None)
    }

    #[test]
    fn a_peer_that_owes_an_answer_is_asked_three_times() {
        let (asked, end) = alone(&config(0, 40, 0), Some(5));
        assert_eq!(asked, [15, 25, 35]);
        assert_eq!(end, Some((45, Verdict::Silent)));
    }

    #[test]
    fn a_peer_that_owes_nothing_is_asked_by_keepalive_only() {
        assert_eq!(alone(&config(0, 40, 0), None), (vec![], None));
        let (asked, end) = alone(&config(120, 40, 0), None);
        assert_eq!(asked, [120, 130, 140, 150]);
        assert_eq!(end, Some((160, Verdict::Silent)));
        let (asked, end) = alone(&config(120, 0, 0), None);
        assert_eq!(asked[..3], [120, 240, 360]);
        assert_eq!(end, None);
    }

    #[test]
    fn connections_do_not_ask_together() {
        let config = config(160, 40, 0);
        let first = |random| match Liveness::new(at(0), random).judge(at(0), at(0), &config) {
            Verdict::Wait(next) => next,
            other => panic!("{other:?}"),
        };
        let times: Vec<Instant> = (0..16).map(first).collect();
        assert!(times.iter().all(|&time| at(150) < time && time <= at(160)));
        assert!(times.windows(2).all(|pair| pair[1] < pair[0]));
    }

    /// Times of zero, which a configuration can hold although it is refused, do not stop the clock.
    #[test]
    fn zero_is_not_for_ever() {
        let zero = Some(Duration::ZERO);
        let config = Config {
            keepalive: zero,
            silence_timeout: zero,
            ..Config::default()
        };
        let mut liveness = Liveness::new(at(0), 0);
        let Verdict::Wait(next) = liveness.judge(at(0), at(0), &config) else {
            panic!("it asks at once");
        };
        assert!(next > at(0));
        assert!(matches!(liveness.judge(next, at(0), &config), Verdict::Ask(then) if then > next));
    }

    #[test]
    fn without_data_the_connection_is_idle() {
        let (asked, end) = alone(&config(20, 0, 50), None);
        assert_eq!((asked, end), (vec![20, 40], Some((50, Verdict::Idle))));
    }

    /// Every answer starts the time over.
    #[test]
    fn a_peer_that_answers_lives() {
        let config = config(20, 40, 0);
        let mut liveness = Liveness::new(at(0), 0);
        let (mut now, mut heard, mut asked) = (at(0), at(0), 0);
        for _ in 0..100 {
            match liveness.judge(now, heard, &config) {
                Verdict::Wait(next) => now = next,
                Verdict::Ask(next) => {
                    asked += 1;
                    heard = now + Duration::from_millis(100);
                    now = next;
                }
                end => panic!("{end:?}"),
            }
        }
        assert!(asked > 30, "{asked}");
    }
}
