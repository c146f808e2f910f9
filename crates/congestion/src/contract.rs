//! Property tests for the guarantees that transports rely on.
//!
//! [`calls`] generates calls that a transport may make, in any order; [`verify`] makes them and
//! reports a violation. Run both on your own control, as this crate does on its own:
//!
//! ```
//! use proptest::prelude::*;
//! use skywave_congestion::contract::{calls, verify};
//! use skywave_congestion::{Aimd, AimdConfig, AnyControl};
//!
//! proptest!(|(calls in calls())| {
//!     let control: AnyControl = Aimd::new(AimdConfig::rfc5681(1000)).into();
//!     verify(control, &calls)?;
//! });
//! ```

use std::collections::VecDeque;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

use crate::{
    Ack, AckedPacket, AnyControl, Control, DeliveryRate, Loss, LostPacket, Mark, MarkedPackets,
    MemberFailure, Sent,
};

/// The value up to which a loss, a mark or a timeout may raise cwnd: the minimum ssthresh (RFC 5681
/// section 3.1, equation 4).
const LEAST_SSTHRESH: f64 = 2.0;

/// The longest time that pacing may delay a packet.
const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

/// One call from a transport to a control, made after the preceding ones.
#[derive(Clone, Debug)]
pub enum Call {
    /// Time passes.
    Wait(Duration),
    /// Data packets leave, whether or not cwnd permits them.
    Send {
        /// Packets.
        packets: u8,
        /// [`Sent::application_limited`].
        application_limited: bool,
    },
    /// An acknowledgement of the oldest packets in flight. It is skipped if none is in flight,
    /// because no transport would report it.
    Ack {
        /// Packets, at least one.
        packets: u8,
        /// The ECN bits with which they arrived.
        ecn: Ecn,
        /// Whether it provides samples of the round-trip time and the delivery rate.
        has_samples: bool,
        /// [`Ack::application_limited`].
        application_limited: bool,
        /// [`Ack::ecn_echo`].
        ecn_echo: bool,
    },
    /// Packets are lost.
    Loss {
        /// Packets, at least one.
        packets: u8,
        /// [`Loss::is_repeated`].
        is_repeated: bool,
    },
    /// Packets were marked.
    Mark,
    /// A timeout.
    Timeout,
    /// The last loss or timeout was spurious.
    SpuriousLoss,
    /// The sender was idle.
    Restart,
    /// The receiver dropped this many packets.
    ReceiverOverload(u8),
    /// [`Control::limit_cwnd`].
    LimitCwnd(f64),
    /// [`Control::on_validation`], with the same value for both.
    Validation(f64),
}

/// Generates up to 200 calls in any order.
pub fn calls() -> impl Strategy<Value = Vec<Call>> {
    let wait = prop_oneof![
        8 => 0..300_000_000_u64,
        1 => 0..100_000_000_000_u64,
    ];
    let ecn = prop_oneof![
        Just(Ecn::NotEct),
        Just(Ecn::Ect0),
        Just(Ecn::Ect1),
        Just(Ecn::Ce)
    ];
    let ack = (1..40_u8, ecn, any::<[bool; 3]>()).prop_map(
        |(packets, ecn, [has_samples, application_limited, ecn_echo])| Call::Ack {
            packets,
            ecn,
            has_samples,
            application_limited,
            ecn_echo,
        },
    );
    let send = (1..40_u8, any::<bool>()).prop_map(|(packets, application_limited)| Call::Send {
        packets,
        application_limited,
    });
    let loss = (1..20_u8, any::<bool>()).prop_map(|(packets, is_repeated)| Call::Loss {
        packets,
        is_repeated,
    });
    let call = prop_oneof![
        8 => wait.prop_map(|nanos| Call::Wait(Duration::from_nanos(nanos))),
        8 => send,
        12 => ack,
        2 => loss,
        1 => Just(Call::Mark),
        1 => Just(Call::Timeout),
        1 => Just(Call::SpuriousLoss),
        1 => Just(Call::Restart),
        1 => any::<u8>().prop_map(Call::ReceiverOverload),
        1 => (0.0..100.0_f64).prop_map(Call::LimitCwnd),
        1 => (0.0..100.0_f64).prop_map(Call::Validation),
    ];
    proptest::collection::vec(call, 0..200)
}

/// How a control violates its contract.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Violation {
    /// What is wrong, and after which call.
    pub clause: String,
    /// The calls that show it. No shorter or simpler sequence was found.
    pub calls: Vec<Call>,
    /// [`Control::failure`] after these calls.
    pub failure: Option<MemberFailure>,
}

/// Checks the contract with `cases` random sequences of calls, the same ones each time. `make`
/// creates a control for each sequence.
///
/// # Errors
/// The first violation.
pub fn check(make: impl Fn() -> AnyControl, cases: u32) -> Result<(), Violation> {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(&calls(), |calls| verify(make(), &calls));
    outcome.map_err(|error| {
        let (reason, calls) = match error {
            TestError::Fail(reason, calls) => (reason, calls),
            TestError::Abort(reason) => (reason, Vec::new()),
        };
        let mut bench = Bench::new(make());
        let clause = match bench.verify(&calls) {
            Err(TestCaseError::Fail(reason) | TestCaseError::Reject(reason)) => reason,
            Ok(()) => reason,
        };
        Violation {
            clause: clause.message().to_owned(),
            calls,
            failure: bench.control.failure(),
        }
    })
}

/// Makes the `calls` on `control` and checks the contract of [`Control`].
///
/// # Errors
/// The first call that violated it, and how.
pub fn verify(control: AnyControl, calls: &[Call]) -> Result<(), TestCaseError> {
    Bench::new(control).verify(calls)
}

struct Bench {
    control: AnyControl,
    now: Instant,
    next: u64,
    /// Number and time of sending.
    in_flight: VecDeque<(u64, Instant)>,
    delivered: u64,
}

/// Bytes of every packet.
const BYTES: u32 = 1000;

impl Bench {
    const fn new(control: AnyControl) -> Self {
        Self {
            control,
            now: Instant::ZERO,
            next: 0,
            in_flight: VecDeque::new(),
            delivered: 0,
        }
    }

    fn verify(&mut self, calls: &[Call]) -> Result<(), TestCaseError> {
        self.check("the beginning")?;
        // An upper bound of what the last loss may have taken.
        let mut before_loss = 0.0_f64;
        for call in calls {
            let before = self.control.cwnd();
            self.tell(call);
            self.check(&format!("{call:?}"))?;
            let after = self.control.cwnd();
            let most = match call {
                Call::Ack { .. } => f64::INFINITY,
                Call::LimitCwnd(limit) | Call::Validation(limit) => before.min(limit.max(1.0)),
                Call::SpuriousLoss => before.max(before_loss),
                _ => before.max(LEAST_SSTHRESH),
            };
            prop_assert!(
                after <= most,
                "{call:?} took cwnd from {before} to {after} packets, more than {most}"
            );
            match call {
                Call::Loss { .. } => before_loss = before,
                // Timeouts in a row are one event.
                Call::Timeout => before_loss = before_loss.max(before),
                _ => {}
            }
        }
        Ok(())
    }

    fn check(&self, what: &str) -> Result<(), TestCaseError> {
        let (cwnd, ssthresh) = (self.control.cwnd(), self.control.ssthresh());
        prop_assert!(cwnd.is_finite(), "cwnd is {cwnd} after {what}");
        prop_assert!(cwnd > 0.0, "cwnd is {cwnd} after {what}");
        prop_assert!(ssthresh > 0.0, "ssthresh is {ssthresh} after {what}");
        if let Some(pacing) = self.control.pacing() {
            prop_assert!(
                pacing.quantum > 0,
                "the pacing quantum is zero after {what}"
            );
            prop_assert!(
                pacing.interval <= LONGEST_INTERVAL,
                "the pacing interval is {} after {what}",
                pacing.interval
            );
        }
        let mut wrong = None;
        self.control.inner_values(&mut |name, value| {
            if !value.is_finite() {
                wrong = Some((name, value));
            }
        });
        prop_assert_eq!(wrong, None, "after {}", what);
        let failure = self.control.failure();
        if let Some(failure) = failure {
            return Err(TestCaseError::fail(format!("{failure} after {what}")));
        }
        Ok(())
    }

    fn tell(&mut self, call: &Call) {
        let now = self.now;
        let in_flight = self.in_flight.len() as u32;
        match *call {
            Call::Wait(duration) => self.now += duration,
            Call::Send {
                packets,
                application_limited,
            } => {
                for _ in 0..packets {
                    self.in_flight.push_back((self.next, now));
                    self.control.on_sent(&Sent {
                        now,
                        number: self.next,
                        bytes: BYTES,
                        in_flight: self.in_flight.len() as u32,
                        application_limited,
                    });
                    self.next += 1;
                }
            }
            Call::Ack {
                packets,
                ecn,
                has_samples,
                application_limited,
                ecn_echo,
            } => {
                let packets = self.in_flight.len().min(packets.into());
                if packets == 0 {
                    return;
                }
                let mut last_sent_at = None;
                for (number, sent_at) in self.in_flight.drain(..packets) {
                    last_sent_at = Some(sent_at);
                    self.control.on_packet_acked(&AckedPacket {
                        number,
                        sent_at,
                        transmissions: 1,
                        ecn,
                    });
                }
                if ecn.is_ce() || ecn_echo {
                    let bytes = Some(packets as u64 * u64::from(BYTES));
                    let marked = MarkedPackets::new(now, packets as u32, bytes);
                    self.control.on_packets_marked(&marked);
                }
                let prior_delivered = self.delivered;
                self.delivered += packets as u64 * u64::from(BYTES);
                let rtt = last_sent_at.filter(|_| has_samples).map(|at| now - at);
                self.control.on_ack(&Ack {
                    now,
                    newly_acked: packets as u32,
                    marked: if ecn.is_ce() { packets as u32 } else { 0 },
                    in_flight: self.in_flight.len() as u32,
                    ack_ratio: 1,
                    rtt,
                    delivery_rate: rtt
                        .filter(|rtt| !rtt.is_zero())
                        .map(|interval| DeliveryRate {
                            delivered: self.delivered - prior_delivered,
                            interval,
                            prior_delivered,
                            total_delivered: self.delivered,
                            is_application_limited: application_limited,
                        }),
                    application_limited,
                    ecn_echo,
                    recovering: false,
                });
            }
            Call::Loss {
                packets,
                is_repeated,
            } => {
                let lost = self.in_flight.len().min(packets.into());
                for (number, sent_at) in self.in_flight.drain(..lost) {
                    let packet = LostPacket::new(now, number, sent_at, 1);
                    self.control.on_packet_lost(&packet);
                }
                self.control.on_loss(&Loss {
                    now,
                    in_flight,
                    lost: packets.into(),
                    is_repeated,
                });
            }
            Call::Mark => {
                let marked = MarkedPackets::new(now, 1, None);
                self.control.on_packets_marked(&marked);
                self.control.on_mark(&Mark {
                    now,
                    in_flight,
                    marked: 1,
                });
            }
            Call::Timeout => {
                self.control.on_timeout(now, in_flight);
                self.in_flight.clear();
            }
            Call::SpuriousLoss => self.control.on_spurious_loss(now),
            Call::Restart => self.control.on_restart(now),
            Call::ReceiverOverload(dropped) => {
                self.control.on_receiver_overload(now, dropped.into());
            }
            Call::LimitCwnd(limit) => self.control.limit_cwnd(limit),
            Call::Validation(packets) => self.control.on_validation(packets, packets),
        }
    }
}
