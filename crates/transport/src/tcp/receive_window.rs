//! The receive window: fixed, or sized by the data that the connection delivers.

use skywave_units::{Duration, Instant};

/// The largest window that scaling can express (RFC 7323 section 2.3).
const MAX_WINDOW: u32 = 1 << 30;

/// The largest window scale shift (RFC 7323 section 2.3).
pub(super) const MAX_WINDOW_SHIFT: u8 = 14;

/// The largest window that a SYN can announce, because it is never scaled (RFC 7323 section 2.2).
const FIRST_WINDOW: u32 = 65_535;

/// The window to which Linux's first buffer grows: 61 % of 131,072 bytes (`tcp_rmem[1]`). The rest is
/// overhead, as measured with Linux 6.12 and segments of 1448 bytes.
const FIRST_BUFFER: u32 = 80_384;

/// Segments by which the window grows with each one that arrives (Linux's `tcp_grow_window`).
const GROWTH: u32 = 2;

/// Segments that the first round trip may deliver without a larger window: Linux's initial cwnd.
const FIRST_SEGMENTS: u32 = 10;

/// Segments added to the window, so that small variations of the rate fit (Linux).
const SPARE_SEGMENTS: u32 = 16;

/// The number of bytes that a [`Receiver`](super::Receiver) accepts beyond those acknowledged. At
/// most 2^30 (RFC 7323 section 2.3); more is reduced to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// Always this many bytes.
    Fixed(u32),
    /// At first at most 65,535 bytes, then at least twice the data that a round trip delivers, at once
    /// or, with [`ReceiverConfig::quick_acks`](super::ReceiverConfig::quick_acks), step by step:
    /// dynamic right-sizing (Fisk and Feng 2001), with the formula of Linux's
    /// `tcp_rcv_space_adjust`. It never shrinks.
    ///
    /// With timestamps, the receiver times each round trip. Without them it times the handshake, and
    /// then how long it takes to receive a whole window, as Fisk and Feng do. That is a round trip if
    /// the window limits the sender, and longer otherwise. Linux takes the shortest such time; this
    /// receiver takes the latest, so that the window also follows a round-trip time that grows with a
    /// queue. The window therefore rarely limits a sender below `max`, but that of a long connection
    /// may be larger than necessary.
    Autotuned {
        /// The largest window, in bytes.
        max: u32,
    },
}

impl Default for ReceiveWindow {
    /// Returns an autotuned window with a maximum of 32 MiB: Linux's `tcp_rmem[2]` since version
    /// 6.16 on a machine with enough memory (`Documentation/networking/ip-sysctl.rst`). There it
    /// limits the buffer, here the window.
    fn default() -> Self {
        Self::Autotuned { max: 32 << 20 }
    }
}

impl ReceiveWindow {
    /// Returns the largest value that the window can reach, in bytes.
    pub const fn max(self) -> u32 {
        let (Self::Fixed(max) | Self::Autotuned { max }) = self;
        if max < MAX_WINDOW { max } else { MAX_WINDOW }
    }

    /// Returns the smallest window scale shift with which [`ReceiveWindow::max`] can be announced.
    pub(super) fn shift(self) -> u8 {
        let fits = |shift: &u8| self.max() >> shift <= u32::from(u16::MAX);
        (0..MAX_WINDOW_SHIFT).find(fits).unwrap_or(MAX_WINDOW_SHIFT)
    }

    /// Returns the window at the start of a connection.
    pub(super) fn initial(self) -> u32 {
        match self {
            Self::Fixed(_) => self.max(),
            // A multiple of what the header can express: RFC 7323 section 2.4 advises against a
            // right edge that moves back because a window is rounded.
            Self::Autotuned { .. } => self.max().min(FIRST_WINDOW) >> self.shift() << self.shift(),
        }
    }

    /// Returns the window at the start of a connection, as encoded in the header.
    pub(super) fn field(self, shift: u8) -> u16 {
        u16::try_from(self.initial() >> shift).unwrap_or(u16::MAX)
    }

    /// Returns the state that adjusts an autotuned window, or `None` for a fixed one. Segments have
    /// `segment` bytes. If `follows_segments`, the window grows with the segments that arrive.
    pub(super) fn right_sizing(self, segment: u16, follows_segments: bool) -> Option<RightSizing> {
        let Self::Autotuned { .. } = self else {
            return None;
        };
        let segment = segment.max(1);
        Some(RightSizing {
            segment,
            target: if follows_segments {
                FIRST_BUFFER.min(self.max())
            } else {
                self.initial()
            },
            follows_segments,
            rtt: Duration::ZERO,
            is_timed: false,
            opened_from: 1,
            opened_at: None,
            opened: self.initial(),
            from: 1,
            since: Instant::ZERO,
            // A sender fills a window of few segments in each round trip. Only more than this shows
            // that a larger window is needed.
            most: (FIRST_SEGMENTS * u32::from(segment)).min(self.initial()),
        })
    }
}

/// Measures the data delivered per round trip, and sizes the window by it. Positions are offsets.
#[derive(Clone, Copy, Debug)]
pub(super) struct RightSizing {
    /// The size of a full segment, in bytes.
    segment: u16,
    /// The window that the data delivered asks for, in bytes.
    target: u32,
    /// Whether the window approaches the target with each segment, rather than at once.
    follows_segments: bool,
    /// At least the round-trip time, once established. If timestamps measure it, longer ones are
    /// smoothed.
    rtt: Duration,
    /// Whether timestamps measure it.
    is_timed: bool,
    /// A window: where it begins, when it was opened, and its size in bytes. At first, it is opened
    /// by the SYN-ACK.
    opened_from: u64,
    opened_at: Option<Instant>,
    opened: u32,
    /// Where the current count began, and when.
    from: u64,
    since: Instant,
    /// The largest amount of data that a round trip has delivered, in bytes.
    most: u32,
}

impl RightSizing {
    /// Handles a SYN-ACK, of which the first starts the first measurement.
    pub(super) fn on_syn_ack(&mut self, now: Instant) {
        self.opened_at.get_or_insert(now);
    }

    /// Handles the first segment that shows that the SYN-ACK arrived.
    pub(super) fn on_established(&mut self, now: Instant) {
        self.rtt = self
            .opened_at
            .map_or(Duration::ZERO, |sent_at| now - sent_at);
        (self.opened_at, self.since) = (Some(now), now);
    }

    /// Handles a round-trip time that timestamps have measured: Linux's `tcp_rcv_rtt_update`.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = if self.is_timed && rtt >= self.rtt {
            self.rtt - self.rtt / 8 + rtt / 8
        } else {
            rtt
        };
        self.is_timed = true;
    }

    /// Returns whether a segment of `length` bytes has at least half of what fits. A shorter one may
    /// follow a pause, which is no round trip.
    pub(super) fn is_long(&self, length: u64) -> bool {
        2 * length >= u64::from(self.segment)
    }

    /// Returns the window, given the one before, after a segment has arrived in order and before what
    /// is delivered with it is counted.
    #[inline(always)]
    pub(super) fn on_segment(&self, window: u32) -> u32 {
        if self.follows_segments {
            self.target
                .min(window + GROWTH * u32::from(self.segment))
                .max(window)
        } else {
            window
        }
    }

    /// Returns the window, given the one before and the largest one, once everything before `next` has
    /// been delivered.
    #[inline(always)]
    pub(super) fn on_delivered(&mut self, now: Instant, next: u64, window: u32, max: u32) -> u32 {
        let fills_window = !self.is_timed && next - self.opened_from >= u64::from(self.opened);
        let delivered = if fills_window {
            self.rtt = now - self.opened_at.unwrap_or(now);
            next - self.opened_from
        } else if now - self.since >= self.rtt {
            next - self.from
        } else {
            return window;
        };
        (self.from, self.since) = (next, now);
        self.target = self.window_for(delivered).min(max).max(self.target);
        let adjusted = if self.follows_segments {
            window
        } else {
            self.target.max(window)
        };
        if fills_window {
            (self.opened_from, self.opened_at, self.opened) = (next, Some(now), adjusted);
        }
        adjusted
    }

    /// Returns the window for a sender that had `delivered` bytes delivered in a round trip. Twice
    /// as much leaves room while a loss is repaired. A sender in slow start doubles its rate, so
    /// the window also grows in proportion to the growth since the largest earlier delivery.
    fn window_for(&mut self, delivered: u64) -> u32 {
        let most = u64::from(self.most);
        if delivered <= most {
            return 0;
        }
        let spare = u64::from(SPARE_SEGMENTS * u32::from(self.segment));
        let steady = delivered.saturating_mul(2).saturating_add(spare);
        let growth = steady.saturating_mul(delivered - most) / most;
        self.most = u32::try_from(delivered).unwrap_or(u32::MAX);
        let window = steady.saturating_add(growth.saturating_mul(2));
        u32::try_from(window).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A connection with a round-trip time of 100 ms and segments of 1000 bytes.
    fn connection() -> (RightSizing, u32) {
        let window = ReceiveWindow::Autotuned { max: MAX_WINDOW };
        let mut right_sizing = window.right_sizing(1000, false).expect("autotuned");
        right_sizing.on_syn_ack(at(900));
        right_sizing.on_established(at(1000));
        (right_sizing, window.initial())
    }

    /// Linux's `tcp_rcv_space_adjust`, worked by hand: the window is twice the data delivered and
    /// 16 segments, plus twice the growth of that sum.
    #[test]
    fn a_window_is_sized_by_what_a_round_trip_delivers() {
        let (mut right_sizing, initial) = connection();
        assert_eq!(initial, 49_152, "a multiple of 2^14");
        // Before a round trip is over.
        assert_eq!(
            right_sizing.on_delivered(at(1099), 10_001, initial, MAX_WINDOW),
            initial
        );
        // 20,000 bytes, after 10 segments of 1000: 56,000, and twice 56,000 * 10 / 10.
        let window = right_sizing.on_delivered(at(1100), 20_001, initial, MAX_WINDOW);
        assert_eq!(window, 168_000);
        // 20,000 bytes again: no growth.
        assert_eq!(
            right_sizing.on_delivered(at(1200), 40_001, window, MAX_WINDOW),
            window
        );
        // 30,000 bytes in a round trip: 76,000, and twice 76,000 * 10 / 20.
        let (mut faster, _) = connection();
        faster.on_delivered(at(1100), 15_001, initial, MAX_WINDOW);
        faster.most = 20_000;
        assert_eq!(
            faster.on_delivered(at(1200), 45_001, initial, MAX_WINDOW),
            152_000
        );
    }

    /// Fisk and Feng 2001: the time in which a whole window arrives is the round-trip time.
    #[test]
    fn a_window_that_is_filled_is_timed() {
        let (mut right_sizing, initial) = connection();
        let next = 1 + u64::from(initial);
        let window = right_sizing.on_delivered(at(1250), next, initial, MAX_WINDOW);
        assert_eq!(right_sizing.rtt, Duration::from_millis(250));
        // 49,152 bytes, after 10,000: 114,304, and twice 114,304 * 39,152 / 10,000.
        assert_eq!(window, 1_009_350);
        let next = next + u64::from(window);
        assert_eq!(
            right_sizing.on_delivered(at(1499), next - 1, window, MAX_WINDOW),
            window
        );
        // 1,009,350 bytes, after 49,152.
        assert_eq!(
            right_sizing.on_delivered(at(1650), next, window, MAX_WINDOW),
            81_531_560
        );
        assert_eq!(right_sizing.rtt, Duration::from_millis(400));
    }

    /// Linux 6.12's `tcp_rcv_rtt_update` and `tcp_grow_window`, worked by hand.
    #[test]
    fn a_window_follows_segments_and_timed_round_trips() {
        let window = ReceiveWindow::Autotuned { max: 1_000_000 };
        let mut right_sizing = window.right_sizing(1000, true).expect("autotuned");
        right_sizing.on_syn_ack(at(900));
        right_sizing.on_established(at(1000));
        right_sizing.on_rtt(Duration::from_millis(80));
        right_sizing.on_rtt(Duration::from_millis(160));
        assert_eq!(right_sizing.rtt, Duration::from_millis(90));
        right_sizing.on_rtt(Duration::from_millis(85));
        assert_eq!(right_sizing.rtt, Duration::from_millis(85), "shorter");
        right_sizing.on_rtt(Duration::from_millis(125));
        assert_eq!(right_sizing.rtt, Duration::from_millis(90));

        let mut window = window.initial();
        assert_eq!(window, 65_520, "a multiple of 16");
        let grow = |right_sizing: &RightSizing, window: &mut u32| {
            *window = right_sizing.on_segment(*window);
            *window
        };
        assert_eq!(grow(&right_sizing, &mut window), 67_520);
        right_sizing.on_delivered(at(1089), 20_001, window, MAX_WINDOW);
        assert_eq!(right_sizing.target, FIRST_BUFFER);
        right_sizing.on_delivered(at(1090), 20_001, window, MAX_WINDOW);
        assert_eq!(right_sizing.target, 168_000);
        let steps = (0..100).map(|_| grow(&right_sizing, &mut window));
        let steps: Vec<u32> = steps.take_while(|window| *window < 168_000).collect();
        assert_eq!(steps.len(), 50);
        assert_eq!(grow(&right_sizing, &mut window), 168_000);
        // A whole window in more than a round trip: only the round trip counts.
        let next = 20_001 + 200_000;
        right_sizing.on_delivered(at(1179), next, window, MAX_WINDOW);
        assert_eq!(right_sizing.target, 168_000);
    }

    /// RFC 7323 section 2.2: the field of a window is shifted, and the bits that do not fit are cut
    /// off.
    #[test]
    fn rfc7323_2_2_a_window_is_shifted_into_its_field() {
        let fixed = ReceiveWindow::Fixed(1_000_000);
        assert_eq!(fixed.shift(), 4);
        assert_eq!((fixed.field(4), fixed.field(0)), (62_500, u16::MAX));
        assert_eq!(ReceiveWindow::Fixed(5000).field(0), 5000);
    }
}
