//! receiver_RTT: the round-trip time reported by the sender (RFC 6323 sections 3.3 and 3.4).

use skywave_units::{Duration, Instant};
use skywave_wire::dccp::DccpOption;

/// receiver_RTT before the first report.
const INITIAL: Duration = Duration::from_millis(500);

/// t_mbi.
const LONGEST: Duration = Duration::from_secs(64);

/// q of RFC 5348 section 4.3.
const WEIGHT: f64 = 0.9;

/// The average of the reported round-trip times.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiverRtt {
    rtt: Duration,
    has_number: bool,
    /// The time since which all options have lacked a number.
    no_number_since: Option<Instant>,
}

impl ReceiverRtt {
    pub(super) const fn new() -> Self {
        Self {
            rtt: INITIAL,
            has_number: false,
            no_number_since: None,
        }
    }

    /// Returns receiver_RTT.
    pub(super) const fn get(&self) -> Duration {
        self.rtt
    }

    /// Handles an RTT Estimate option with this value.
    pub(super) fn on_option(&mut self, now: Instant, micros: u32) {
        if micros == 0 || micros == DccpOption::RTT_SPIKE {
            let since = *self.no_number_since.get_or_insert(now);
            if now - since > self.rtt {
                self.rtt = (self.rtt * 2).min(LONGEST);
                self.no_number_since = Some(now);
            }
            return;
        }
        self.no_number_since = None;
        let sample = Duration::from_micros(micros.into());
        self.rtt = if self.has_number {
            let mean = WEIGHT * self.rtt.as_secs_f64() + (1.0 - WEIGHT) * sample.as_secs_f64();
            Duration::from_secs_f64(mean)
        } else {
            sample
        };
        self.has_number = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// E-3, E-4: half a second at first, then the mean. It doubles whenever no estimate has arrived
    /// for its own length, up to 64 s.
    #[test]
    fn e_3_e_4_receiver_rtt() {
        let mut rtt = ReceiverRtt::new();
        assert_eq!(rtt.get(), MS * 500);
        let mut now = Instant::ZERO;
        let mut after = |rtt: &mut ReceiverRtt, millis: u64, micros: u32| {
            now += MS * millis;
            rtt.on_option(now, micros);
            rtt.get()
        };
        assert_eq!(after(&mut rtt, 0, 0), MS * 500);
        assert_eq!(after(&mut rtt, 500, 0), MS * 500, "not longer than that");
        assert_eq!(after(&mut rtt, 1, 0), MS * 1_000);
        assert_eq!(after(&mut rtt, 1, 100_000), MS * 100, "the first number");
        assert_eq!(after(&mut rtt, 1, 200_000), MS * 110);
        assert_eq!(after(&mut rtt, 1, DccpOption::RTT_SPIKE), MS * 110);
        assert_eq!(after(&mut rtt, 111, DccpOption::RTT_SPIKE), MS * 220);
        assert_eq!(after(&mut rtt, 221, 0), MS * 440);
        for _ in 0..20 {
            after(&mut rtt, 65_000, 0);
        }
        assert_eq!(rtt.get(), MS * 64_000);
    }
}
