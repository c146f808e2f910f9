//! Quick-Start for DCCP, whatever the CCID (RFC 5634 section 2): requests and responses. How a CCID
//! uses an approved rate is up to the CCID.

use rand::Rng;
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::dccp::{DccpOption, OptionList, SeqNo};
use skywave_wire::ip::DEFAULT_HOP_LIMIT;
use skywave_wire::quick_start::{QsNonce, QuickStart, RateField, RateRequest};

use super::QuickStartStats;

/// Initial_QSI (section 2.1.1).
const INITIAL_QSI: Duration = Duration::from_secs(6);

/// The greatest Quick-Start Interval. Beyond it, no further requests are sent (section 2.1.1).
const LONGEST_QSI: Duration = Duration::from_secs(64);

/// A connection's part in Quick-Start.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// The request that has not been answered yet.
    outstanding: Option<Outstanding>,
    /// When the latest request was sent, and the Quick-Start Interval from then on.
    latest: Option<(Instant, Duration)>,
    /// Whether no further request may be sent.
    has_ceased: bool,
    /// A Report of Approved Rate that is due.
    report: Option<QuickStart>,
    /// A response that is due.
    response: Option<DccpOption>,
    /// The option for the IP header of the packet built last.
    pub(super) option: Option<QuickStart>,
    /// The option of the packet that is being processed, and that packet's IP TTL.
    pub(super) arrived: Option<(QuickStart, u8)>,
    pub(super) stats: QuickStartStats,
}

/// A request that has left.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    seq: SeqNo,
    request: RateRequest,
}

/// What an acknowledgement says about the outstanding request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The rate is approved.
    Approved(Rate),
    /// The rate is not approved.
    Denied,
}

impl Exchange {
    /// Returns whether the Quick-Start Interval permits a request (section 2.1.1). Nor may there be
    /// two within a round-trip time (RFC 4782 section 4.1).
    pub(super) fn may_request(&self, now: Instant, rtt: Duration) -> bool {
        let is_over = |(at, interval): (Instant, Duration)| now - at >= interval.max(rtt);
        !self.has_ceased && self.latest.is_none_or(is_over)
    }

    /// Requests `rate`, rounded down to a rate that the field can express, in the packet `seq` that
    /// is about to leave. QS TTL and QS Nonce are random (RFC 4782 sections 3.1 and 3.4).
    pub(super) fn request(
        &mut self,
        now: Instant,
        rtt: Duration,
        seq: SeqNo,
        rate: Rate,
        rng: &mut impl Rng,
    ) {
        let rate = RateField::at_most(rate);
        if rate.is_zero() {
            return;
        }
        let request = RateRequest {
            rate,
            ttl: rng.next_u32() as u8,
            nonce: QsNonce::new(rng.next_u32()),
        };
        self.outstanding = Some(Outstanding { seq, request });
        self.option = Some(QuickStart::Request(request));
        let interval = match self.latest {
            None => INITIAL_QSI,
            Some((_, interval)) => (interval * 2).max(rtt * 4),
        };
        self.has_ceased |= interval > LONGEST_QSI;
        self.latest = Some((now, interval));
        self.stats.requests += 1;
    }

    /// Handles an acknowledgement of `ack` with these options; `None` if it says nothing about a
    /// request. Either way, a Report of Approved Rate becomes due (section 2.3; RFC 4782 section
    /// 4.4).
    pub(super) fn on_ack(&mut self, ack: SeqNo, options: &OptionList) -> Option<Verdict> {
        let Outstanding { seq, request } = self.outstanding?;
        if ack.is_before(seq) {
            return None;
        }
        self.outstanding = None;
        let approved = self.approved(&request, options);
        self.report = Some(QuickStart::Report {
            rate: approved.unwrap_or(RateField::ZERO),
            nonce: request.nonce,
        });
        let Some(approved) = approved else {
            return Some(Verdict::Denied);
        };
        if let Some((_, interval)) = &mut self.latest {
            *interval = INITIAL_QSI;
        }
        self.stats.approvals += 1;
        Some(Verdict::Approved(approved.rate()))
    }

    /// Returns the rate that a valid response approves (RFC 4782 section 4.4). Without one, the
    /// request was denied.
    fn approved(&mut self, request: &RateRequest, options: &OptionList) -> Option<RateField> {
        let (rate, ttl_diff, nonce) = options.iter().rev().find_map(|option| match option {
            DccpOption::QuickStartResponse {
                rate,
                ttl_diff,
                nonce,
                ..
            } => Some((*rate, *ttl_diff, *nonce)),
            _ => None,
        })?;
        let agrees = nonce.agrees(request.nonce, rate);
        // "MUST NOT send additional Quick-Start Requests during the life of the connection."
        self.has_ceased |= !agrees;
        let is_valid = !rate.is_zero()
            && rate <= request.rate
            && ttl_diff == request.ttl_diff(DEFAULT_HOP_LIMIT);
        (is_valid && agrees).then_some(rate)
    }

    /// Puts a due Report of Approved Rate into the IP header of the packet that is about to leave:
    /// the first Quick-Start Packet, or a packet without data before it (section 2.3).
    pub(super) fn send_report(&mut self) {
        self.option = self.report.take();
    }

    /// Handles the option of a packet that has arrived. Returns whether a response is due, which is
    /// so if a rate is requested (section 2.2).
    pub(super) fn respond(&mut self) -> bool {
        let Some((QuickStart::Request(request), ttl)) = self.arrived.take() else {
            return false;
        };
        if request.rate.is_zero() {
            return false;
        }
        self.response = Some(DccpOption::QuickStartResponse {
            rate: request.rate,
            ttl_diff: request.ttl_diff(ttl),
            nonce: request.nonce,
            reserved: 0,
        });
        true
    }

    /// Takes the response for an acknowledgement that is about to leave. It is never repeated
    /// (section 2.2).
    pub(super) const fn take_response(&mut self) -> Option<DccpOption> {
        self.response.take()
    }
}

#[cfg(test)]
mod tests {
    use skywave_units::Random;
    use skywave_units::rand_core::SeedableRng;
    use smallvec::smallvec;

    use super::*;

    const RTT: Duration = Duration::from_millis(500);
    const SEQ: SeqNo = SeqNo::new(1_000);

    fn at(secs: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(secs)
    }

    /// An exchange with a request for 1.28 Mbit/s outstanding.
    fn requested() -> (Exchange, RateRequest) {
        let mut exchange = Exchange::default();
        request(&mut exchange, at(0), 1_500_000);
        let Some(QuickStart::Request(request)) = exchange.option.take() else {
            panic!("{exchange:?}")
        };
        (exchange, request)
    }

    fn request(exchange: &mut Exchange, now: Instant, bps: u64) {
        let mut rng = Random::seed_from_u64(3);
        exchange.request(now, RTT, SEQ, Rate::from_bps(bps), &mut rng);
    }

    /// The response of a peer that received `request` after `hops` routers, if `approving` of
    /// them approved it.
    fn response(request: RateRequest, hops: u8, approving: u8) -> OptionList {
        let received = RateRequest {
            ttl: request.ttl.wrapping_sub(approving),
            ..request
        };
        let mut peer = Exchange {
            arrived: Some((QuickStart::Request(received), DEFAULT_HOP_LIMIT - hops)),
            ..Exchange::default()
        };
        assert!(peer.respond());
        let response = peer.take_response();
        assert_eq!(peer.take_response(), None, "never resent");
        smallvec![response.expect("it is due")]
    }

    fn report(exchange: &mut Exchange) -> Option<QuickStart> {
        exchange.send_report();
        exchange.option.take()
    }

    /// Section 2.3, RFC 4782 section 4.4: a response with the right TTL Diff, rate and nonce is
    /// valid, and the approved rate is reported.
    #[test]
    fn a_valid_response_approves() {
        let (mut exchange, request) = requested();
        assert_eq!(request.rate.bits(), 5, "rounded down");
        let options = response(request, 3, 3);
        assert_eq!(exchange.on_ack(SEQ.sub(1), &options), None, "too early");
        let approved = Verdict::Approved(Rate::from_bps(1_280_000));
        assert_eq!(exchange.on_ack(SEQ, &options), Some(approved));
        assert_eq!(exchange.on_ack(SEQ, &options), None, "once");
        let (rate, nonce) = (request.rate, request.nonce);
        assert_eq!(
            report(&mut exchange),
            Some(QuickStart::Report { rate, nonce })
        );
        assert_eq!(report(&mut exchange), None);
    }

    /// RFC 4782 section 3.3 and 4.4: a router without Quick-Start leaves a TTL Diff that does not
    /// match. The report is of rate zero.
    #[test]
    fn a_router_that_does_not_take_part_denies() {
        let (mut exchange, request) = requested();
        let options = response(request, 3, 2);
        assert_eq!(exchange.on_ack(SEQ, &options), Some(Verdict::Denied));
        let nonce = request.nonce;
        let rate = RateField::ZERO;
        assert_eq!(
            report(&mut exchange),
            Some(QuickStart::Report { rate, nonce })
        );
        assert!(exchange.may_request(at(6), RTT));
    }

    /// RFC 4782 section 3.1: an acknowledgement without a response denies the request.
    #[test]
    fn an_acknowledgement_without_a_response_denies() {
        let (mut exchange, _) = requested();
        let none = OptionList::new();
        assert_eq!(exchange.on_ack(SEQ.next(), &none), Some(Verdict::Denied));
    }

    /// RFC 4782 section 4.4: a receiver that raises the rate has to guess the nonce; if it fails,
    /// there are no more requests.
    #[test]
    fn a_receiver_that_lies_is_not_believed() {
        let (mut exchange, request) = requested();
        let received = RateRequest {
            nonce: request.nonce.lowered(
                request.rate,
                RateField::from_bits(3),
                !request.nonce.get(),
            ),
            ..request
        };
        let options = response(received, 1, 1);
        assert_eq!(exchange.on_ack(SEQ, &options), Some(Verdict::Denied));
        assert!(!exchange.may_request(at(1_000), RTT));

        // A higher rate than requested fails, whatever the nonce.
        let (mut exchange, request) = requested();
        let raised = RateRequest {
            rate: RateField::MAX,
            ..request
        };
        let options = response(raised, 1, 1);
        assert_eq!(exchange.on_ack(SEQ, &options), Some(Verdict::Denied));
    }

    /// Section 2.2: no response to a request of rate zero, nor to a report.
    #[test]
    fn a_cleared_request_is_not_answered() {
        let report = QuickStart::Report {
            rate: RateField::MAX,
            nonce: QsNonce::default(),
        };
        for option in [QuickStart::Request(RateRequest::default()), report] {
            let mut peer = Exchange {
                arrived: Some((option, DEFAULT_HOP_LIMIT)),
                ..Exchange::default()
            };
            assert!(!peer.respond());
            assert_eq!(peer.take_response(), None);
        }
    }

    /// Section 2.1.1: the interval starts with 6 s and doubles; above 64 s there are no more
    /// requests.
    #[test]
    fn the_quick_start_interval_backs_off() {
        let (mut exchange, _) = requested();
        let mut sent = 0;
        for interval in [6, 12, 24, 48] {
            assert!(!exchange.may_request(at(sent + interval - 1), RTT));
            assert!(exchange.may_request(at(sent + interval), RTT));
            sent += interval;
            request(&mut exchange, at(sent), 80_000);
        }
        assert!(!exchange.may_request(at(100_000), RTT));
    }

    /// Section 2.1.1: an approval resets the interval.
    #[test]
    fn an_approval_resets_the_interval() {
        let (mut exchange, _) = requested();
        request(&mut exchange, at(6), 80_000);
        assert!(!exchange.may_request(at(12), RTT));
        let Some(QuickStart::Request(second)) = exchange.option else {
            panic!("{exchange:?}")
        };
        exchange.on_ack(SEQ, &response(second, 1, 1));
        assert!(exchange.may_request(at(12), RTT));
    }

    /// A rate below the smallest of table 1 is not requested.
    #[test]
    fn too_small_a_rate_is_not_requested() {
        let mut exchange = Exchange::default();
        request(&mut exchange, at(0), 79_999);
        assert_eq!(exchange.option, None);
        assert!(exchange.may_request(at(0), RTT));
    }
}
