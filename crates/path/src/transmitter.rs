//! Transmissions at a rate that may change.

use std::fmt;
use std::iter::Peekable;

use skywave_units::{Duration, Instant, Rate};

use crate::{Condition, Trace};

/// A rate in bits per second is as many nanobits per nanosecond.
const NANOBITS_PER_BYTE: u128 = 8_000_000_000;

/// Conditions in order of time.
type Conditions = Box<dyn Iterator<Item = Condition> + Send>;

/// The sending end of a link: it transmits one packet after the other.
///
/// A packet is sent at the rate that applies at each time: if the rate changes in the middle of a
/// transmission, it continues at the new rate, and it pauses while the link is down. So the bits
/// that a busy transmitter sends are the integral of its rate.
///
/// A transmission may end between two whole nanoseconds. Its packet counts as sent at the last
/// whole nanosecond that is not after its end. The remaining fraction of a nanosecond delays the next
/// transmission, unless that begins later.
///
/// If the end were rounded up, a packet that is clocked by an earlier departure could arrive up to
/// a nanosecond before the departure with which it coincides, and find a full queue. Every slow
/// start has such coincidences, and ns-2 resolves them the other way.
pub(crate) struct Transmitter {
    /// The condition at the end of the last transmission.
    current: Condition,
    /// Later conditions; `None` if the rate is constant.
    later: Option<Box<Peekable<Conditions>>>,
    /// The end of the last transmission, rounded down.
    free_at: Instant,
    /// The nanobits of the last transmission that leave after `free_at`: fewer than fit in a
    /// nanosecond.
    owed: u64,
    /// The last transmission at a constant rate. A division costs as much as the rest of a packet's
    /// work on a link, and most packets have the same size. On a trace the size stays zero, which
    /// matches no packet.
    latest: Latest,
}

/// How long a packet of a certain size takes if it begins at a whole nanosecond.
#[derive(Debug, Default)]
struct Latest {
    size: u32,
    nanos: u64,
    owed: u64,
}

/// The time of a packet's transmission, to the nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    pub(crate) begins: Instant,
    pub(crate) ends: Instant,
}

impl Transmitter {
    /// Creates an idle transmitter whose rate and delay do not change.
    pub(crate) fn constant(rate: Rate, delay: Duration) -> Self {
        let since = Instant::ZERO;
        Self::new(Condition { since, rate, delay }, None)
    }

    /// Creates an idle transmitter that follows a trace.
    pub(crate) fn following(trace: &Trace) -> Self {
        let conditions: Conditions = Box::new(trace.conditions());
        let mut later = conditions.peekable();
        let first = later.next().expect("a trace starts with a condition");
        Self::new(first, Some(Box::new(later)))
    }

    fn new(current: Condition, later: Option<Box<Peekable<Conditions>>>) -> Self {
        Self {
            current,
            later,
            free_at: Instant::ZERO,
            owed: 0,
            latest: Latest::default(),
        }
    }

    /// Returns when the last transmission ends or has ended.
    #[inline(always)]
    pub(crate) const fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Returns the rate at the end of the last transmission.
    pub(crate) const fn rate(&self) -> Rate {
        self.current.rate
    }

    /// Returns the propagation delay at the end of the last transmission.
    #[inline(always)]
    pub(crate) const fn delay(&self) -> Duration {
        self.current.delay
    }

    /// Returns by how much the last transmission ends after [`Transmitter::free_at`], in units of
    /// 2^-32 ns.
    pub(crate) fn rest(&self) -> u64 {
        let rate = u128::from(self.current.rate.as_bps());
        (u128::from(self.owed) << 32).checked_div(rate).unwrap_or(0) as u64
    }

    /// Makes the next transmission begin at `now` if the transmitter is idle by then.
    #[inline(always)]
    pub(crate) fn wait_until(&mut self, now: Instant) {
        if self.free_at < now {
            self.free_at = now;
            self.owed = 0;
        }
    }

    /// Transmits a packet like [`Transmitter::transmit`] and returns when it ends, if the rate is
    /// constant and the last packet had the same size.
    #[inline(always)]
    pub(crate) fn repeat(&mut self, size: u32) -> Option<Instant> {
        if self.latest.size != size {
            return None;
        }
        let Latest { nanos, owed, .. } = self.latest;
        self.free_at += Duration::from_nanos(nanos);
        // Most times are whole nanoseconds.
        if self.owed | owed > 0 {
            // The sum of what two packets owe may fill a nanosecond.
            let missing = self.current.rate.as_bps() - self.owed;
            if owed >= missing {
                self.free_at += Duration::from_nanos(1);
                self.owed = owed - missing;
            } else {
                self.owed += owed;
            }
        }
        Some(self.free_at)
    }

    /// Transmits a waiting packet of `size` bytes as soon as the transmitter is free.
    #[inline(never)]
    pub(crate) fn transmit(&mut self, size: u32) -> Transmission {
        let rate = self.current.rate.as_bps();
        if self.later.is_none() && rate > 0 {
            let (nanos, owed) = time_of(nanobits(size), rate);
            self.latest = Latest { size, nanos, owed };
        }
        let begins = self.free_at;
        match self.repeat(size) {
            Some(ends) => Transmission { begins, ends },
            None => self.transmit_across_steps(size),
        }
    }

    fn transmit_across_steps(&mut self, size: u32) -> Transmission {
        let mut left = nanobits(size) + u128::from(self.owed);
        let mut begins = None;
        loop {
            let now = self.free_at;
            let until = self.advance(now);
            let rate = self.current.rate.as_bps();
            if rate > 0 {
                begins.get_or_insert(now);
            }
            let (nanos, owed) = time_of(left, rate);
            let ends = now + Duration::from_nanos(nanos);
            if ends < until || ends == until && owed == 0 {
                (self.free_at, self.owed) = (ends, owed);
                return Transmission {
                    begins: begins.unwrap_or(ends),
                    ends,
                };
            }
            left -= u128::from(rate) * u128::from((until - now).as_nanos());
            self.free_at = until;
        }
    }

    /// Moves on to the condition at `now`. Returns the time until which it applies.
    fn advance(&mut self, now: Instant) -> Instant {
        let Some(later) = &mut self.later else {
            return Instant::MAX;
        };
        while let Some(next) = later.next_if(|next| next.since <= now) {
            self.current = next;
        }
        later.peek().map_or(Instant::MAX, |next| next.since)
    }
}

impl fmt::Debug for Transmitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transmitter")
            .field("current", &self.current)
            .field("free_at", &self.free_at)
            .field("owed", &self.owed)
            .finish_non_exhaustive()
    }
}

fn nanobits(size: u32) -> u128 {
    NANOBITS_PER_BYTE * u128::from(size)
}

/// Returns the whole nanoseconds that `nanobits` take at a rate, and the nanobits that remain. A
/// time that is too long to be represented lasts forever.
fn time_of(nanobits: u128, rate: u64) -> (u64, u64) {
    // A 128-bit division is slow, and packets of 64 kB fit 64 bits.
    match u64::try_from(nanobits) {
        _ if rate == 0 => (u64::MAX, 0),
        Ok(nanobits) => (nanobits / rate, nanobits % rate),
        Err(_) => {
            let rate = u128::from(rate);
            match u64::try_from(nanobits / rate) {
                Ok(whole) => (whole, (nanobits % rate) as u64),
                Err(_) => (u64::MAX, 0),
            }
        }
    }
}
