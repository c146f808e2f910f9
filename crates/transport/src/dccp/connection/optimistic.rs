//! Catches optimistic acknowledgements. A peer that acknowledges what it has not received makes this
//! end send faster than the path allows (RFC 9000 section 21.4 describes the attack on QUIC).
//!
//! Now and then this end skips a sequence number before a data packet. To the peer, the number
//! looks like that of a lost packet without data, and NDP Counts agree (RFC 4340 section 7.7), so
//! no receiver misses data. At this end there is no packet: congestion control neither counts it in
//! pipe nor infers its loss. A peer whose Acknowledgement Number or Ack Vector reports it as
//! received claims what it cannot know.
//!
//! The first such report counts as a mark, and another number is skipped soon. The second ends the
//! connection with Reset Code 11, "Aggression Penalty". Section 12.3 asks for this second check,
//! because an attacker who injects a packet with that number into the connection makes an honest
//! peer report it.
//!
//! Only Ack Vectors and Load Vectors name packets, so nothing is skipped under CCIDs whose receivers
//! send neither.

use core::ops::{ControlFlow, RangeInclusive};

use rand::RngExt as _;
use skywave_units::{Instant, Random};
use skywave_wire::dccp::{OptionList, ResetCode, SeqNo};

use super::Connection;
use crate::dccp::ackvec::{Vector, vectors};
use crate::dccp::ccid::HcSender;

/// The number of packets from one skipped number to the next, at first. Each honest report doubles
/// the upper end, so that a peer that has proved honest misses ever fewer numbers.
const DISTANCE: RangeInclusive<u64> = 64..=256;
/// The largest upper end.
const DISTANCE_MAX: u64 = 1 << 16;
/// The number of packets from a false report to the next skipped number.
const RECHECK: RangeInclusive<u64> = 1..=32;

/// The sequence numbers that a sender skips, one at a time.
#[derive(Debug)]
pub(super) struct SkippedNumbers {
    /// The number to skip next; `None` until acknowledgements have passed the last one.
    next: Option<SeqNo>,
    /// The number skipped last, unless the peer has claimed it.
    last: Option<SeqNo>,
    /// The most packets to the next number, when it is next chosen.
    distance_max: u64,
    /// Whether the peer has claimed a skipped number.
    is_suspect: bool,
}

impl SkippedNumbers {
    /// Chooses the first number. `seq` is the number of the next packet.
    fn new(seq: SeqNo, rng: &mut Random) -> Self {
        let mut numbers = Self {
            next: None,
            last: None,
            distance_max: *DISTANCE.end(),
            is_suspect: false,
        };
        numbers.choose_next(seq, rng);
        numbers
    }

    fn choose_next(&mut self, seq: SeqNo, rng: &mut Random) {
        let distance = rng.random_range(*DISTANCE.start()..=self.distance_max);
        self.next = Some(seq.add(distance));
        self.distance_max = (self.distance_max * 2).min(DISTANCE_MAX);
    }

    /// Returns how many packets may leave, the next of them with number `seq`, before a number is
    /// skipped.
    #[inline(always)]
    fn packets_before(&self, seq: SeqNo) -> u64 {
        self.next
            .map_or(u64::MAX, |next| next.distance_from(seq).max(0) as u64)
    }
}

impl Connection {
    /// Chooses the first number to skip, if the configuration asks for it. Called when the handshake
    /// is over.
    pub(super) fn start_skipping(&mut self) {
        self.skipped = self.config.detect_optimistic_acks.then(|| {
            let seq = self.seq.gss.next();
            Box::new(SkippedNumbers::new(seq, &mut self.rng))
        });
    }

    /// Returns how many data packets may leave before a number is skipped.
    #[inline(always)]
    pub(super) fn packets_before_skip(&self) -> u64 {
        self.skipped.as_ref().map_or(u64::MAX, |skipped| {
            skipped.packets_before(self.seq.gss.next())
        })
    }

    /// Skips a sequence number if its turn has come. Call it before each data packet.
    #[inline(always)]
    pub(super) fn skip_if_due(&mut self) {
        if self.packets_before_skip() == 0 {
            self.skip();
        }
    }

    #[cold]
    fn skip(&mut self) {
        if !self.sender.row().names_packets() {
            // Nor will it later: once data has left, its CCID does not change.
            self.skipped = None;
        } else if let Some(skipped) = &mut self.skipped {
            skipped.next = None;
            skipped.last = Some(self.seq.take_next());
            self.non_data_run += 1;
        }
    }

    /// Looks for a skipped number among those that the peer reports as received. Breaks if the
    /// connection has ended.
    #[inline]
    pub(super) fn judge_acknowledgement(
        &mut self,
        now: Instant,
        ack: SeqNo,
        options: &OptionList,
    ) -> ControlFlow<()> {
        if let Some(skipped) = &self.skipped
            && let Some(number) = skipped.last
            && !ack.is_before(number)
        {
            return self.judge_report_of(now, number, ack, options);
        }
        ControlFlow::Continue(())
    }

    fn judge_report_of(
        &mut self,
        now: Instant,
        number: SeqNo,
        ack: SeqNo,
        options: &OptionList,
    ) -> ControlFlow<()> {
        let is_claimed = ack == number
            || vectors(self.sender.row().vector, ack, options)
                .flat_map(Vector::runs)
                .take_while(|run| !run.newest.is_before(number))
                .any(|run| run.code.is_some() && number.is_within(run.oldest(), run.newest));
        let Some(skipped) = &mut self.skipped else {
            return ControlFlow::Continue(());
        };
        let next_seq = self.seq.gss.next();
        if is_claimed {
            skipped.last = None;
            if skipped.is_suspect {
                self.reset(now, ResetCode::AGGRESSION_PENALTY, [0; 3]);
                return ControlFlow::Break(());
            }
            skipped.is_suspect = true;
            skipped.distance_max = *DISTANCE.end();
            skipped.next = Some(next_seq.add(self.rng.random_range(RECHECK)));
            self.sender.on_false_ack(now);
        } else if skipped.next.is_none() {
            skipped.choose_next(next_seq, &mut self.rng);
        }
        ControlFlow::Continue(())
    }
}
