//! A router's part in Quick-Start (RFC 4782 section 3.3): which rates the head of a link approves.

use rand::Rng;
use skywave_units::{Duration, Instant, Random, Rate};
use skywave_wire::quick_start::{QsNonce, RateField, RateRequest};

/// S: the length of a sample of the utilisation (appendix D).
const SAMPLE: Duration = Duration::from_millis(150);

/// N: the number of samples. The document leaves open how long approvals are remembered. Here they
/// are remembered for as long as the samples, 3 s. Even over a geostationary satellite, the data of
/// one request is then seen before its rate is given to another.
const SAMPLES: usize = 20;

/// The totals of one sample.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// Bits that arrived.
    arrived: u64,
    /// The sum of the rates approved, in bits per second.
    approved: u64,
}

/// Approves Quick-Start requests at the head of a link by the "target" algorithm of RFC 4782
/// appendix D: the peak utilisation of the last 3 s plus the rates approved in that time stays
/// below a share of the link's rate.
///
/// Data that uses an approved rate counts twice until the approval is forgotten, which errs on the
/// safe side.
#[derive(Debug)]
pub struct QuickStartRouter {
    /// In bits per second.
    rate: u64,
    /// qs_thresh * bandwidth, in bits per second.
    target: u64,
    samples: [Sample; SAMPLES],
    /// The number of the current sample since time zero.
    current: u64,
    random: Random,
}

impl QuickStartRouter {
    /// Creates the router of an idle link. It approves requests while less than `share` of `rate`,
    /// from 0 to 1, is in use. `random` draws the nonces of lowered requests.
    pub fn new(rate: Rate, share: f64, random: Random) -> Self {
        Self {
            rate: rate.as_bps(),
            target: (rate.as_bps() as f64 * share.clamp(0.0, 1.0)) as u64,
            samples: [Sample::default(); SAMPLES],
            current: 0,
            random,
        }
    }

    /// Reports that a packet of `bytes` arrives.
    pub fn on_arrival(&mut self, now: Instant, bytes: u32) {
        self.sample(now).arrived += 8 * u64::from(bytes);
    }

    /// Approves, lowers or denies `request` as specified in section 3.3: an approved one has its QS
    /// TTL decremented, a lowered one gets new bits in its nonce, and a denied one is cleared.
    pub fn decide(&mut self, now: Instant, request: &mut RateRequest) {
        if request.rate.is_zero() {
            return;
        }
        self.sample(now);
        let utilisation = (self.peak() + self.approved()).min(self.target);
        let available = RateField::at_most(Rate::from_bps(self.target - utilisation));
        let approved = request.rate.min(available);
        if approved.is_zero() {
            *request = RateRequest::default();
            return;
        }
        self.sample(now).approved += approved.rate().as_bps();
        *request = RateRequest {
            rate: approved,
            ttl: request.ttl.wrapping_sub(1),
            nonce: self.lowered(request.nonce, request.rate, approved),
        };
    }

    fn lowered(&mut self, nonce: QsNonce, from: RateField, to: RateField) -> QsNonce {
        if from == to {
            return nonce;
        }
        nonce.lowered(from, to, self.random.next_u32())
    }

    /// Returns the peak utilisation, in bits per second.
    fn peak(&self) -> u64 {
        let most = self.samples.iter().map(|sample| sample.arrived).max();
        let peak = most.unwrap_or(0) * 1_000_000_000 / SAMPLE.as_nanos();
        peak.min(self.rate)
    }

    /// Returns the sum of the rates approved, in bits per second.
    fn approved(&self) -> u64 {
        self.samples.iter().map(|sample| sample.approved).sum()
    }

    /// Returns the current sample, after forgetting those that are too old.
    fn sample(&mut self, now: Instant) -> &mut Sample {
        let number = (now - Instant::ZERO).as_nanos() / SAMPLE.as_nanos();
        let passed = number.saturating_sub(self.current).min(SAMPLES as u64);
        for step in 1..=passed {
            self.samples[Self::slot(number - passed + step)] = Sample::default();
        }
        self.current = self.current.max(number);
        &mut self.samples[Self::slot(self.current)]
    }

    const fn slot(number: u64) -> usize {
        (number % SAMPLES as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    const NONCE: QsNonce = QsNonce::new(0x1234_5678);

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn router(share: f64) -> QuickStartRouter {
        let random = Random::seed_from_u64(1);
        QuickStartRouter::new(Rate::from_bps(2_000_000), share, random)
    }

    /// Returns the request for rate `bits` as it leaves the router.
    fn decided(router: &mut QuickStartRouter, now: Instant, bits: u8) -> RateRequest {
        let mut request = RateRequest {
            rate: RateField::from_bits(bits),
            ttl: 7,
            nonce: NONCE,
        };
        router.decide(now, &mut request);
        request
    }

    /// RFC 4782 section 3.3: an approved request keeps its rate and nonce, and its QS TTL falls.
    #[test]
    fn an_idle_link_approves() {
        let request = decided(&mut router(0.9), ms(1), 4);
        assert_eq!((request.rate.bits(), request.ttl), (4, 6));
        assert_eq!(request.nonce, NONCE);
    }

    /// RFC 4782 section 3.3 and 3.4: a lower rate, rounded down to one of table 1, and new bits for
    /// the steps between. 0.9 of 2 Mbit/s are 1.8 Mbit/s.
    #[test]
    fn a_request_above_the_share_is_lowered() {
        let request = decided(&mut router(0.9), ms(1), 15);
        assert_eq!((request.rate.bits(), request.ttl), (5, 6));
        assert!(request.nonce.agrees(NONCE, request.rate));
        assert!(!request.nonce.agrees(NONCE, RateField::MAX));
    }

    /// RFC 4782 section 3.3: a denied request is zeroed, and stays so at the next router.
    #[test]
    fn a_request_beyond_the_share_is_cleared() {
        let mut tight = router(0.01);
        assert_eq!(decided(&mut tight, ms(1), 1), RateRequest::default());
        let mut cleared = RateRequest::default();
        router(0.9).decide(ms(1), &mut cleared);
        assert_eq!(cleared, RateRequest::default());
    }

    /// RFC 4782 section 8.2: earlier approvals count until they are forgotten.
    #[test]
    fn approvals_never_exceed_the_share() {
        let mut router = router(0.9);
        let sum: u64 = (0..50)
            .map(|step| decided(&mut router, ms(step * 50), 5).rate.rate().as_bps())
            .sum();
        assert_eq!(sum, 1_280_000 + 320_000 + 160_000);
        assert_eq!(decided(&mut router, ms(6_000), 5).rate.bits(), 5);
    }

    /// RFC 4782 appendix D: the utilisation is the peak of the samples.
    #[test]
    fn a_busy_link_has_less_to_give() {
        let mut router = router(0.9);
        // 30,000 bytes in 150 ms are 1.6 Mbit/s: 200 kbit/s are left.
        for step in 0..30 {
            router.on_arrival(ms(step), 1_000);
        }
        assert_eq!(decided(&mut router, ms(2_999), 5).rate.bits(), 2);
        // Both the sample and the approval are forgotten.
        assert_eq!(decided(&mut router, ms(6_100), 5).rate.bits(), 5);
        // No more than the whole rate is in use, however many packets arrive at once.
        for _ in 0..1_000 {
            router.on_arrival(ms(20_000), 1_000);
        }
        assert!(decided(&mut router, ms(20_001), 1).rate.is_zero());
    }
}
