//! Wi-Fi: packets leave in aggregates, between which the access point contends for the medium.
//!
//! Sources, as read: the limits of an aggregate from `hitchhikersguidetolearning.com` ("A-MPDU
//! Parameters": 65,535 B in 802.11n, 1,048,575 B in 802.11ac) and MathWorks' "Packet Size and
//! Duration Dependencies" (`aPPDUMaxTime` of 802.11ax, 5.484 ms); a Block Ack covers 64 packets, and the parts of
//! `access` are those of `shankarwifi.com/frame-aggregation`. The contention is the model of
//! draft-huitema-ccwg-c4-test (of 10 October 2025), section 2.3.

use std::sync::Arc;

use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration, Random, Rate};

use super::{CheckedTrace, Steps, TraceKind, TraceStep};

/// The unit of short deferrals, after collisions and for the transmissions of others (ibid.).
const DEFERRAL: Duration = Duration::from_millis(1);
/// The unit of long deferrals, for retransmissions (ibid.).
const RETRANSMISSION: Duration = Duration::from_micros(7500);
/// The means of the numbers of short and of long deferrals (ibid.).
const DEFERRALS: f64 = 1.0;
const RETRANSMISSIONS: f64 = 12.0;
/// The contention at which each access has long deferrals (ibid.).
const MOST_CONTENTION: Duration = Duration::from_millis(91);
/// The shortest access time. A run of an hour with shorter ones has hundreds of millions of steps.
const SHORTEST_ACCESS: Duration = Duration::from_micros(10);

/// The link is an access point of Wi-Fi. Its `rate` is that of the medium. It sends packets as
/// aggregates (A-MPDUs), and each aggregate waits for access to the medium: a constant time, and a
/// random one for the contention with others. The average rate is therefore lower.
///
/// An aggregate has room for as many full packets as each of its limits allows, and at least for one;
/// smaller packets fill it by their bytes. Opportunities to send come whether packets wait or not, as
/// if the medium were always busy: one without packets is lost.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Wifi")]
#[serde(deny_unknown_fields, default)]
pub struct WifiSpec {
    /// The most packets of an aggregate: those that a Block Ack covers.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets: u32,
    /// The most bytes of an aggregate: 65,535 B in 802.11n, 1,048,575 B in 802.11ac.
    pub bytes: Bytes,
    /// The longest transmission of an aggregate, such as the limit of a transmission opportunity
    /// (TXOP). The default is the limit of 802.11ax.
    pub time: Duration,
    /// The size of a full packet.
    pub mtu: Bytes,
    /// The time without data that each aggregate takes: the gaps before and after it (DIFS and SIFS),
    /// its preamble and the Block Ack. At least 10 us.
    pub access: Duration,
    /// The mean random time until an aggregate gets the medium, nominally, from 1 ms to 91 ms; `0 s`
    /// for none. Each access is deferred for a Poisson-distributed number of milliseconds, and some
    /// also for a Poisson-distributed number of retransmissions of 7.5 ms, by which longer means
    /// differ from short ones. 7 ms is "bad Wi-Fi".
    pub contention: Duration,
}

impl Default for WifiSpec {
    fn default() -> Self {
        Self {
            packets: 64,
            bytes: Bytes::new(65_535),
            time: Duration::from_micros(5484),
            mtu: Bytes::new(1500),
            // DIFS 34 us, preamble 32 us, SIFS 16 us, Block Ack 28 us. The random slots before them
            // are part of the contention.
            access: Duration::from_micros(110),
            contention: DEFERRAL,
        }
    }
}

impl WifiSpec {
    pub(super) fn kind(self) -> CheckedTrace {
        ParameterError::unless(self.packets > 0, "packets", || {
            "an aggregate of 0 packets sends nothing: at least 1".to_owned()
        })?;
        let mtu = self.mtu;
        ParameterError::unless((1..=65_535).contains(&mtu.get()), "mtu", || {
            format!("{mtu} is not a packet: between 1 B and 65535 B")
        })?;
        ParameterError::unless(self.bytes >= mtu, "bytes", || {
            format!(
                "an aggregate of {} has no room for a packet of {mtu}: give more",
                self.bytes
            )
        })?;
        ParameterError::unless(!self.time.is_zero(), "time", || {
            "0 s: give a time above zero".to_owned()
        })?;
        ParameterError::unless(self.access >= SHORTEST_ACCESS, "access", || {
            format!("{}: at least {SHORTEST_ACCESS}", self.access)
        })?;
        let contention = self.contention;
        let is_modelled = (DEFERRAL..=MOST_CONTENTION).contains(&contention);
        ParameterError::unless(contention.is_zero() || is_modelled, "contention", || {
            format!("{contention}: give 0 s, or {DEFERRAL} to {MOST_CONTENTION}")
        })?;
        Ok(Arc::new(self))
    }

    /// Returns how long an aggregate of full packets takes at the medium's rate.
    fn transmission(&self, rate: Rate) -> Duration {
        let bps = u128::from(rate.as_bps().max(1));
        // Bits per second are nanobits per nanosecond.
        let nanobits = 8_000_000_000 * u128::from(self.mtu.get());
        let in_time = u128::from(self.time.as_nanos()) * bps / nanobits;
        let packets = u128::from(self.packets)
            .min(u128::from(self.bytes.get() / self.mtu.get()))
            .min(in_time)
            .max(1);
        let nanos = (packets * nanobits).div_ceil(bps);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Draws the time until an aggregate gets the medium.
    fn deferral(&self, random: &mut Random) -> Duration {
        if self.contention.is_zero() {
            return Duration::ZERO;
        }
        let share =
            (self.contention - DEFERRAL).as_secs_f64() / (MOST_CONTENTION - DEFERRAL).as_secs_f64();
        let short = poisson(DEFERRALS, random);
        let mut deferral = DEFERRAL * short;
        if short > 0 {
            deferral -= Duration::from_nanos(random.random_range(0..=DEFERRAL.as_nanos()));
        }
        if random.random::<f64>() < share {
            deferral += RETRANSMISSION * poisson(RETRANSMISSIONS, random);
        }
        deferral
    }
}

impl TraceKind for WifiSpec {
    fn steps(&self, rate: Rate, _: Duration, mut random: Random) -> Steps {
        let (spec, transmission) = (self.clone(), self.transmission(rate));
        let mut free = Duration::ZERO;
        Box::new(
            std::iter::repeat_with(move || {
                let begins = free + spec.access + spec.deferral(&mut random);
                let [down, up] =
                    [(free, Rate::default()), (begins, rate)].map(|(at, rate)| TraceStep {
                        at,
                        rate: Some(rate),
                        delay: None,
                    });
                free = begins + transmission;
                [down, up]
            })
            .flatten(),
        )
    }
}

/// Draws a number from the Poisson distribution with this mean, which is small.
fn poisson(mean: f64, random: &mut Random) -> u64 {
    let least = (-mean).exp();
    let (mut product, mut number) = (random.random::<f64>(), 0);
    while product > least {
        product *= random.random::<f64>();
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use skywave_units::Instant;

    use super::*;
    use crate::contract::Parcel;
    use crate::{DropTail, Limit, Link, Trace, Variation};

    /// 1500 B take 100 us.
    const RATE: Rate = Rate::from_bps(120_000_000);

    fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// Returns when packets arrive that are all queued at the beginning, in us.
    fn arrivals(spec: &WifiSpec, sizes: &[u32]) -> Vec<u64> {
        let kind = spec.clone().kind().unwrap();
        let trace = Trace::new(kind, RATE, Duration::ZERO, Random::seed_from_u64(1));
        let queue = DropTail::new(Limit::Unlimited);
        let mut link = Link::new(queue, RATE, Duration::ZERO).varying(Variation::new(trace));
        for (&size, id) in sizes.iter().zip(0..) {
            assert!(link.enqueue(Instant::ZERO, Parcel::new(id, size)).is_ok());
        }
        let mut found = Vec::new();
        while let Some(at) = link.deadline() {
            assert!(link.dequeue(at).is_some());
            found.push(at.as_nanos() / 1000);
        }
        found
    }

    #[test]
    fn packets_leave_in_aggregates_at_the_mediums_rate() {
        let spec = WifiSpec {
            packets: 3,
            access: us(200),
            contention: Duration::ZERO,
            ..WifiSpec::default()
        };
        let found = arrivals(&spec, &[1500; 7]);
        assert_eq!(found, [300, 400, 500, 800, 900, 1000, 1300]);
        // Smaller packets fill an aggregate by their bytes.
        let found = arrivals(&spec, &[750; 8]);
        assert_eq!(found, [250, 300, 350, 400, 450, 500, 750, 800]);
    }

    /// The limits in packets, bytes and time. Only whole packets count.
    #[test]
    fn the_lowest_limit_ends_an_aggregate() {
        let default = WifiSpec::default();
        // 64 packets would be 96,000 B and 6.4 ms, 43 are 64,500 B.
        assert_eq!(default.transmission(RATE), us(4300));
        let of_ac = WifiSpec {
            bytes: Bytes::new(1_048_575),
            ..default.clone()
        };
        assert_eq!(of_ac.transmission(RATE), us(5400));
        let fast = Rate::from_bps(1_200_000_000);
        assert_eq!(of_ac.transmission(fast), us(640));
        let hasty = WifiSpec {
            time: us(99),
            ..default
        };
        assert_eq!(hasty.transmission(RATE), us(100), "one packet");
    }

    /// The mean of the draft's model: one short deferral, less half of one if there is any, and twelve
    /// long ones in a share of the cases.
    #[test]
    fn deferrals_have_the_mean_of_the_model() {
        for (nominal_ms, share) in [(1, 0.0), (7, 6.0 / 90.0), (91, 1.0)] {
            let spec = WifiSpec {
                contention: Duration::from_millis(nominal_ms),
                ..WifiSpec::default()
            };
            let mut random = Random::seed_from_u64(5);
            const DRAWS: u32 = 100_000;
            let sum: f64 = (0..DRAWS)
                .map(|_| spec.deferral(&mut random).as_secs_f64())
                .sum();
            let mean_ms = 1e3 * sum / f64::from(DRAWS);
            let expected = 1.0 - 0.5 * (1.0 - f64::exp(-1.0)) + share * 12.0 * 7.5;
            // Three standard deviations are at most 0.25 ms.
            let most = if share > 0.0 { 0.25 } else { 0.01 };
            assert!(
                (mean_ms - expected).abs() < most,
                "{mean_ms} for {expected}"
            );
        }
    }

    #[test]
    fn the_same_stream_gives_the_same_steps() {
        let steps = |seed| {
            let random = Random::seed_from_u64(seed);
            let steps = WifiSpec::default().steps(RATE, Duration::ZERO, random);
            steps.take(100).collect::<Vec<_>>()
        };
        assert_eq!(steps(1), steps(1));
        assert_ne!(steps(1), steps(2));
        assert!(steps(1).windows(2).all(|pair| pair[0].at < pair[1].at));
    }

    #[test]
    fn wrong_parameters_have_one_line() {
        let default = WifiSpec::default();
        for (spec, error) in [
            (
                WifiSpec {
                    packets: 0,
                    ..default.clone()
                },
                "packets: an aggregate of 0 packets sends nothing: at least 1",
            ),
            (
                WifiSpec {
                    bytes: Bytes::new(1000),
                    ..default.clone()
                },
                "bytes: an aggregate of 1 kB has no room for a packet of 1.5 kB: give more",
            ),
            (
                WifiSpec {
                    time: Duration::ZERO,
                    ..default.clone()
                },
                "time: 0 s: give a time above zero",
            ),
            (
                WifiSpec {
                    mtu: Bytes::new(0),
                    ..default.clone()
                },
                "mtu: 0 B is not a packet: between 1 B and 65535 B",
            ),
            (
                WifiSpec {
                    access: us(1),
                    ..default.clone()
                },
                "access: 1 us: at least 10 us",
            ),
            (
                WifiSpec {
                    contention: us(100),
                    ..default
                },
                "contention: 100 us: give 0 s, or 1 ms to 91 ms",
            ),
        ] {
            let found = spec.kind().err().unwrap();
            assert_eq!(format!("{}: {}", found.field, found.message), error);
        }
    }
}
