//! Sequence and acknowledgement numbers of a connection, and the sequence-validity checks (RFC 4340
//! section 7).

use skywave_wire::dccp::{Circular, PacketType};

/// Wmax, the largest Sequence Window (section 7.5.2).
pub(crate) const SEQUENCE_WINDOW_MAX: u64 = window_max(48);

/// Returns Wmax for numbers of `bits` bits: a quarter of them.
const fn window_max(bits: u32) -> u64 {
    (1 << (bits - 2)) - 1
}

/// The sequence number variables of section 7.1, and OSR of section 8.5. Numbers have 48 bits; tests
/// also use 8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequenceNumbers<const BITS: u32 = 48> {
    /// Initial Sequence Number Sent.
    pub(crate) iss: Circular<BITS>,
    /// Initial Sequence Number Received.
    pub(crate) isr: Circular<BITS>,
    /// Greatest Sequence Number Sent.
    pub(crate) gss: Circular<BITS>,
    /// Greatest Sequence Number Received on an acknowledgeable packet.
    pub(crate) gsr: Circular<BITS>,
    /// Greatest Acknowledgement Number Received on any packet but a Sync.
    pub(crate) gar: Circular<BITS>,
    /// Packets up to this number are acknowledged or given up as lost.
    settled: Circular<BITS>,
    /// First sequence number received in OPEN state.
    pub(crate) osr: Option<Circular<BITS>>,
    /// Whether SWL must not fall below ISR: only at the beginning (section 7.5.1).
    clamp_to_isr: bool,
    /// Whether AWL must not fall below ISS: only at the beginning.
    clamp_to_iss: bool,
}

/// The widths of the two windows, in packets (section 7.5.1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// W, the peer's Sequence Window: the width of [SWL, SWH].
    pub(crate) sequence: u64,
    /// W', our own Sequence Window: the width of [AWL, AWH].
    pub(crate) acknowledgement: u64,
}

impl<const BITS: u32> SequenceNumbers<BITS> {
    /// Creates the variables of an endpoint whose first packet will be `iss`.
    pub(crate) const fn new(iss: Circular<BITS>) -> Self {
        Self {
            iss,
            isr: Circular::ZERO,
            gss: iss.previous(),
            gsr: Circular::ZERO,
            gar: iss,
            settled: iss,
            osr: None,
            clamp_to_isr: true,
            clamp_to_iss: true,
        }
    }

    /// Sets the peer's first sequence number (steps 3 and 4 of section 8.5), so that its packet,
    /// even a Reset, passes the checks of step 6.
    pub(crate) const fn start_receiving(&mut self, isr: Circular<BITS>) {
        self.isr = isr;
        self.gsr = isr.previous();
        self.clamp_to_isr = true;
    }

    /// Returns the next number for a packet to send. Every packet uses one, whatever its type
    /// (section 7.1).
    pub(crate) const fn take_next(&mut self) -> Circular<BITS> {
        self.take(1);
        self.gss
    }

    /// Skips the next `count` numbers.
    pub(crate) const fn take(&mut self, count: u64) {
        self.gss = self.gss.add(count);
        self.clamp_to_iss &= is_at_beginning(self.gss, self.iss);
    }

    /// Returns SWL.
    pub(crate) const fn swl(&self, windows: Windows) -> Circular<BITS> {
        let low = self.gsr.add(1).sub(windows.sequence / 4);
        if self.clamp_to_isr {
            low.max(self.isr)
        } else {
            low
        }
    }

    /// Returns SWH.
    pub(crate) const fn swh(&self, windows: Windows) -> Circular<BITS> {
        // W <= 2^46 - 1, so 3W does not overflow; a larger W saturates instead of wrapping.
        self.gsr.add(windows.sequence.saturating_mul(3).div_ceil(4))
    }

    /// Returns how many more packets may leave before an acknowledgement must arrive. Within this
    /// room, the peer accepts each even if all in flight were lost (SWH is 3W'/4 ahead of the
    /// peer's GSR, and that is at least our GAR), and no acknowledgement in flight falls below AWL.
    /// The quarter of W' that is left is for packets without data, which are not held back.
    #[inline(always)]
    pub(crate) const fn room(&self, windows: Windows) -> u64 {
        let width = windows.acknowledgement;
        let in_flight = self.gss.distance_from(self.settled);
        (width - width / 4).saturating_sub(if in_flight > 0 { in_flight as u64 } else { 0 })
    }

    /// Gives up all packets in flight as lost. A Sync must follow, so that the peer accepts the
    /// numbers after it.
    pub(crate) const fn give_up_in_flight(&mut self) {
        self.settled = self.gss;
    }

    /// Returns AWL.
    pub(crate) const fn awl(&self, windows: Windows) -> Circular<BITS> {
        let low = self.gss.add(1).sub(windows.acknowledgement);
        if self.clamp_to_iss {
            low.max(self.iss)
        } else {
            low
        }
    }

    /// Returns AWH.
    pub(crate) const fn awh(&self) -> Circular<BITS> {
        self.gss
    }

    /// Returns whether `ack` lies in [AWL, AWH].
    pub(crate) const fn ack_in_window(&self, ack: Circular<BITS>, windows: Windows) -> bool {
        is_between(ack, self.awl(windows), self.awh())
    }

    /// Returns whether a Sync or SyncAck is sequence-valid (step 5, section 7.5.3). The second,
    /// stricter table applies if the connection is `active`.
    pub(crate) const fn sync_is_valid(
        &self,
        seq: Circular<BITS>,
        ack: Circular<BITS>,
        windows: Windows,
        active: bool,
    ) -> bool {
        self.ack_in_window(ack, windows)
            && !seq.is_before(self.swl(windows))
            && (!active || !seq.is_after(self.swh(windows)))
    }

    /// Returns whether a packet of any type other than Sync and SyncAck is sequence-valid (step 6,
    /// section 7.5.3).
    pub(crate) const fn is_valid(
        &self,
        packet: PacketType,
        seq: Circular<BITS>,
        ack: Option<Circular<BITS>>,
        windows: Windows,
    ) -> bool {
        let ends_connection = matches!(
            packet,
            PacketType::CloseReq | PacketType::Close | PacketType::Reset
        );
        let (low, ack_low) = if ends_connection {
            (self.gsr.next(), self.gar)
        } else {
            (self.swl(windows), self.awl(windows))
        };
        let seq_valid = is_between(seq, low, self.swh(windows));
        match ack {
            None => seq_valid,
            Some(ack) => seq_valid && is_between(ack, ack_low, self.awh()),
        }
    }

    /// Updates GSR with the sequence number of a valid packet.
    pub(crate) const fn update_gsr(&mut self, seq: Circular<BITS>) {
        self.gsr = self.gsr.max(seq);
        self.clamp_to_isr &= is_at_beginning(self.gsr, self.isr);
    }

    /// Updates GAR with the acknowledgement number of a valid packet that is not a Sync.
    pub(crate) const fn update_gar(&mut self, ack: Circular<BITS>) {
        self.gar = self.gar.max(ack);
        self.settled = self.settled.max(ack);
    }
}

/// Returns whether `low <= number <= high` in circular arithmetic. An interval whose ends have
/// crossed is empty.
const fn is_between<const BITS: u32>(
    number: Circular<BITS>,
    low: Circular<BITS>,
    high: Circular<BITS>,
) -> bool {
    !number.is_before(low) && !number.is_after(high)
}

/// Returns whether a connection whose numbers have advanced from `initial` to `greatest` is at its
/// beginning: whether a window could still reach below `initial`. A Sync may move GSR by almost
/// half of all numbers, so `initial` may next appear to lie ahead.
const fn is_at_beginning<const BITS: u32>(
    greatest: Circular<BITS>,
    initial: Circular<BITS>,
) -> bool {
    // GSR is one before ISR until the first packet has been processed.
    greatest.is_within(initial.previous(), initial.add(window_max(BITS)))
}

/// Keeps `number` (FGSR or FGSS) behind `greatest` (GSR or GSS), which may advance by more than half
/// of all numbers until `number` is next compared with another (erratum 974 on section 6.6.4).
pub(crate) const fn keep_behind<const BITS: u32>(
    number: Circular<BITS>,
    greatest: Circular<BITS>,
) -> Circular<BITS> {
    // Exactly half of all numbers apart, each is "before" the other.
    if greatest.is_before(number) {
        greatest.sub(window_max(BITS))
    } else {
        number
    }
}

#[cfg(test)]
mod exhaustive;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use skywave_wire::dccp::SeqNo;

    const W100: Windows = Windows {
        sequence: 100,
        acknowledgement: 100,
    };

    fn at(gss: u64, gsr: u64) -> SequenceNumbers {
        SequenceNumbers {
            iss: SeqNo::new(1),
            isr: SeqNo::new(1),
            gss: SeqNo::new(gss),
            gsr: SeqNo::new(gsr),
            gar: SeqNo::new(gss - 10),
            settled: SeqNo::new(gss - 10),
            osr: None,
            clamp_to_isr: true,
            clamp_to_iss: true,
        }
    }

    /// D7.5-1: the window formulas, rounding included, and the clamps.
    #[test]
    fn windows_follow_section_7_5_1() {
        let numbers = at(5_000, 9_000);
        for (w, w2, swl, swh, awl) in [
            (100, 100, 8_976, 9_075, 4_901),
            (101, 33, 8_976, 9_076, 4_968),
            (102, 32, 8_976, 9_077, 4_969),
            (103, 1_000, 8_976, 9_078, 4_001),
            (32, 4_999, 8_993, 9_024, 2),
            (40_000, 6_000, 1, 39_000, 1),
        ] {
            let windows = Windows {
                sequence: w,
                acknowledgement: w2,
            };
            assert_eq!(numbers.swl(windows).get(), swl, "SWL for W = {w}");
            assert_eq!(numbers.swh(windows).get(), swh, "SWH for W = {w}");
            assert_eq!(numbers.awl(windows).get(), awl, "AWL for W' = {w2}");
            assert_eq!(numbers.awh().get(), 5_000);
        }
    }

    /// D7.5-1: the clamps end with the beginning of the connection.
    #[test]
    fn a_long_connection_that_wraps_is_not_clamped() {
        let mut numbers = SequenceNumbers::new(SeqNo::new(500));
        numbers.start_receiving(SeqNo::new(500));
        for step in 1..=8 {
            numbers.update_gsr(SeqNo::new(500 + step * (1 << 45)));
        }
        numbers.update_gsr(SeqNo::new(510));
        assert_eq!(numbers.gsr, SeqNo::new(510));
        assert_eq!(
            numbers.swl(W100),
            SeqNo::new(486),
            "below ISR = 500 once more"
        );
    }

    /// D7.5-4: the validity table, each bound from both sides.
    #[test]
    fn validity_table_of_section_7_5_3() {
        use PacketType::*;
        // GSR 9000: SWL 8976, SWH 9075. GSS 5000: AWL 4901, AWH 5000. GAR 4990.
        let numbers = at(5_000, 9_000);
        let bounds = [
            (Request, 8_976, None),
            (Response, 8_976, Some(4_901)),
            (Data, 8_976, None),
            (Ack, 8_976, Some(4_901)),
            (DataAck, 8_976, Some(4_901)),
            (CloseReq, 9_001, Some(4_990)),
            (Close, 9_001, Some(4_990)),
            (Reset, 9_001, Some(4_990)),
        ];
        for (kind, low, ack_low) in bounds {
            let valid = |seq: u64, ack: Option<u64>| {
                numbers.is_valid(kind, SeqNo::new(seq), ack.map(SeqNo::new), W100)
            };
            let high_ack = ack_low.map(|_| 5_000);
            assert!(valid(low, ack_low), "{kind:?}");
            assert!(valid(9_075, high_ack), "{kind:?}");
            assert!(!valid(low - 1, high_ack), "{kind:?}");
            assert!(!valid(9_076, high_ack), "{kind:?}");
            if let Some(ack_low) = ack_low {
                assert!(!valid(low, Some(ack_low - 1)), "{kind:?}");
                assert!(!valid(low, Some(5_001)), "{kind:?}");
            }
        }
    }

    /// D7.5-4: Syncs are checked loosely, and against SWH while the connection is active.
    #[test]
    fn sync_validity() {
        let numbers = at(5_000, 9_000);
        let valid = |seq: u64, ack: u64, active| {
            numbers.sync_is_valid(SeqNo::new(seq), SeqNo::new(ack), W100, active)
        };
        assert!(valid(8_976, 4_901, true));
        assert!(valid(9_075, 5_000, true));
        assert!(!valid(8_975, 5_000, false));
        assert!(!valid(9_076, 5_000, true), "beyond SWH while active");
        assert!(
            valid(1 << 40, 5_000, false),
            "anything later when not active"
        );
        assert!(!valid(9_000, 4_900, false));
        assert!(!valid(9_000, 5_001, false));
    }

    proptest! {
        /// D3.1-3: all of it is circular: shifting every number changes no verdict.
        #[test]
        fn validity_does_not_depend_on_the_origin(
            shift in 0..SeqNo::MODULUS,
            seq in 8_900u64..9_200,
            ack in 4_800u64..5_100,
            w in 32u64..400,
        ) {
            let windows = Windows { sequence: w, acknowledgement: w };
            let plain = at(5_000, 9_000);
            let moved = SequenceNumbers {
                iss: plain.iss.add(shift),
                isr: plain.isr.add(shift),
                gss: plain.gss.add(shift),
                gsr: plain.gsr.add(shift),
                gar: plain.gar.add(shift),
                settled: plain.settled.add(shift),
                ..plain
            };
            let (seq, ack) = (SeqNo::new(seq), SeqNo::new(ack));
            for kind in [PacketType::Ack, PacketType::Close] {
                prop_assert_eq!(
                    plain.is_valid(kind, seq, Some(ack), windows),
                    moved.is_valid(kind, seq.add(shift), Some(ack.add(shift)), windows)
                );
            }
            prop_assert_eq!(
                plain.sync_is_valid(seq, ack, windows, true),
                moved.sync_is_valid(seq.add(shift), ack.add(shift), windows, true)
            );
        }
    }
}
