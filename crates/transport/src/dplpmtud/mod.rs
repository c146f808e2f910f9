//! Datagram Packetization Layer Path MTU Discovery (DPLPMTUD, RFC 8899): which packet sizes a path
//! carries, learned from what arrives, with or without ICMP.
//!
//! [`Discovery`] is the state machine of section 5.2. It sends nothing and reads no clock. Its user,
//! the packetization layer, sends probes of the requested size, one at a time, and reports which of
//! them were acknowledged.
//!
//! RFC 8899 leaves three choices open:
//!
//! - **Start.** A search that starts at BASE_PLPMTU gives every connection small packets at first.
//!   Discovery starts in SEARCH_COMPLETE instead, with the MTU of the first link (RFC 4340 section
//!   14.1): on most paths that is right, and the data confirms it without a single probe.
//! - **Black holes.** The user raises a suspicion (the third indicator of section 4.3) if no large
//!   packet was acknowledged for a while. Other things look like a black hole too: an outage,
//!   congestion, a reverse path that loses the acknowledgements. Therefore probes decide, and a
//!   probe of the current size counts as lost only if a smaller one was acknowledged right after
//!   it. No answer at all changes nothing.
//! - **Search.** A lost size costs [`MAX_PROBES`] times the PROBE_TIMER, three seconds or more, and
//!   an acknowledged one a round trip. Going up through a table of common MTUs loses one size,
//!   bisection several.

use skywave_units::{Duration, Instant};

/// MAX_PROBES: the probes of one size that must be lost before it counts as too large (section
/// 5.1.2).
const MAX_PROBES: u8 = 3;

/// PMTU_RAISE_TIMER: the time until the next search for a larger size (section 5.1.1).
pub(crate) const PMTU_RAISE_TIMER: Duration = Duration::from_secs(600);

/// The shortest PROBE_TIMER (section 5.1.1). The 15 s that the section recommends are for senders
/// that do not know the round-trip time.
const PROBE_TIMER_MIN: Duration = Duration::from_secs(1);

/// BASE_PLPMTU (section 5.1.2): without the headers of lower layers.
const BASE_PLPMTU: u16 = 1_200;

/// MIN_PLPMTU, with all headers: every host accepts packets of this size (RFC 791 section 3.1). IPv6
/// guarantees more, so its paths have no holes between this and BASE_PLPMTU.
pub(crate) const MIN_PLPMTU: u16 = 576;

/// The MTUs to search, in ascending order: plateaus of RFC 1191 section 7.1, IPv6's minimum, common
/// tunnels over Ethernet (WireGuard 1420 and 1440, VXLAN 1450, GRE 1476, IP in IP 1480, PPPoE 1492),
/// Ethernet, jumbo frames, and steps of about 5 % between them.
const SIZES: [u16; 26] = [
    768, 1_006, 1_280, 1_320, 1_360, 1_400, 1_420, 1_440, 1_450, 1_460, 1_476, 1_480, 1_492, 1_500,
    2_002, 2_304, 4_352, 4_464, 8_166, 8_950, 9_000, 9_216, 16_384, 17_914, 32_000, 65_535,
];

/// Returns the PROBE_TIMER for a path with this round-trip time.
pub(crate) fn probe_timer(rtt: Duration) -> Duration {
    (rtt * 2).max(PROBE_TIMER_MIN)
}

/// The discovery of one path. Sizes are those of IP packets, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Discovery {
    /// The largest packet to send.
    plpmtu: u16,
    /// BASE_PLPMTU with the headers of lower layers.
    base: u16,
    /// MAX_PLPMTU: the MTU of the first link.
    max: u16,
    /// PMTU_RAISE_TIMER: from one search to the next.
    raise_after: Duration,
    raise_at: Instant,
    /// The smallest size found too large since the last raise.
    too_large: Option<u16>,
    state: State,
    probe: Probe,
}

/// The states of section 5.2. DISABLED is having no `Discovery`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// SEARCH_COMPLETE.
    Complete,
    /// SEARCHING.
    Searching {
        /// PROBE_COUNT.
        lost: u8,
    },
    /// BASE, or ERROR if `fallback` is MIN_PLPMTU.
    Doubting {
        /// The size to fall back to.
        fallback: u16,
        /// Whether the next or current probe has that size, rather than the doubted one.
        is_falling_back: bool,
        /// Lost probes of the doubted size, each followed by an acknowledged `fallback`.
        lost: u8,
        /// Lost probes of size `fallback` in a row.
        silent: u8,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    None,
    /// Should leave now.
    Due(u16),
    /// Is lost unless acknowledged by this time (PROBE_TIMER).
    Sent {
        size: u16,
        lost_at: Instant,
    },
}

impl Discovery {
    /// Starts with the first link's `mtu`, on a path with this many bytes of headers in front of
    /// the packetization layer's, and with this PMTU_RAISE_TIMER.
    pub(crate) fn new(mtu: u16, lower_headers: u16, raise_after: Duration, now: Instant) -> Self {
        Self {
            plpmtu: mtu,
            base: BASE_PLPMTU.saturating_add(lower_headers),
            max: mtu,
            too_large: None,
            raise_after,
            raise_at: now + raise_after,
            state: State::Complete,
            probe: Probe::None,
        }
    }

    /// Returns PLPMTU with all headers: the largest packet to send.
    pub(crate) const fn plpmtu(&self) -> u16 {
        self.plpmtu
    }

    /// Returns the size of the probe to send now, if any.
    pub(crate) const fn due(&self) -> Option<u16> {
        match self.probe {
            Probe::Due(size) => Some(size),
            Probe::None | Probe::Sent { .. } => None,
        }
    }

    /// Returns whether a black hole is suspected and being investigated.
    pub(crate) const fn is_doubting(&self) -> bool {
        matches!(self.state, State::Doubting { .. })
    }

    /// Returns when [`expire`](Self::expire) must next be called, or [`Instant::MAX`] for never.
    pub(crate) const fn deadline(&self) -> Instant {
        match (self.probe, self.state) {
            (Probe::Sent { lost_at, .. }, _) => lost_at,
            (Probe::None, State::Complete) => self.raise_at,
            (Probe::None | Probe::Due(_), _) => Instant::MAX,
        }
    }

    /// Reports that the due probe has left on a path with this round-trip time.
    pub(crate) fn probe_sent(&mut self, now: Instant, rtt: Duration) {
        if let Some(size) = self.due() {
            let lost_at = now + probe_timer(rtt);
            self.probe = Probe::Sent { size, lost_at };
        }
    }

    /// Reports that the probe sent last was acknowledged.
    pub(crate) fn probe_acked(&mut self, now: Instant) {
        let Probe::Sent { size, .. } = self.probe else {
            return;
        };
        self.probe = Probe::None;
        match &mut self.state {
            State::Complete => {}
            State::Searching { .. } => {
                self.plpmtu = size;
                self.search(now);
            }
            State::Doubting {
                is_falling_back: false,
                ..
            } => self.settle(),
            State::Doubting {
                is_falling_back,
                lost,
                silent,
                ..
            } => {
                *lost += 1;
                *silent = 0;
                *is_falling_back = false;
                if *lost < MAX_PROBES {
                    self.probe = Probe::Due(self.plpmtu);
                } else {
                    self.too_large = Some(self.plpmtu);
                    self.plpmtu = size;
                    self.search(now);
                }
            }
        }
    }

    /// Reports that large packets were sent for a while and none was acknowledged.
    pub(crate) fn suspect(&mut self) {
        let lower = [self.base, MIN_PLPMTU];
        if let Some(fallback) = lower.into_iter().find(|&size| size < self.plpmtu)
            && !self.is_doubting()
        {
            self.state = State::Doubting {
                fallback,
                is_falling_back: false,
                lost: 0,
                silent: 0,
            };
            self.probe = Probe::Due(self.plpmtu);
        }
    }

    /// Reports that a large packet was acknowledged after all.
    pub(crate) fn trust(&mut self) {
        if self.is_doubting() {
            self.settle();
        }
    }

    /// Handles timers that are due. `is_used` tells whether anything was sent since the last raise:
    /// an idle path is not searched. Returns whether a search for a larger size begins, before
    /// which the first link's MTU may have changed.
    pub(crate) fn expire(&mut self, now: Instant, is_used: bool) -> bool {
        if self.deadline() > now {
            return false;
        }
        match self.probe {
            Probe::Sent { size, .. } => {
                self.probe_lost(now, size);
                false
            }
            _ if !is_used => {
                self.complete(now);
                false
            }
            _ => {
                self.too_large = None;
                self.search(now);
                true
            }
        }
    }

    /// Reports the MTU of the first link, which bounds the search.
    pub(crate) fn set_max(&mut self, mtu: u16, now: Instant) {
        let has_grown = mtu > core::mem::replace(&mut self.max, mtu);
        let resumes = match (self.state, self.probe) {
            (State::Complete, _) => has_grown,
            (_, Probe::Due(size) | Probe::Sent { size, .. }) => size > mtu,
            (_, Probe::None) => false,
        };
        if mtu < self.plpmtu {
            self.lower(mtu, now);
        } else if resumes {
            self.search(now);
        }
    }

    /// Processes a validated report from a router (Packet Too Big, PTB) whose next link has this
    /// MTU. Returns whether it says anything new.
    ///
    /// Section 4.6.2 would go down to BASE_PLPMTU and probe the reported size. RFC 4340 section 14.1
    /// has DCCP take the reported size at once; if that is still too large, the next report or a
    /// suspicion tells.
    pub(crate) fn too_big(&mut self, mtu: u16, now: Instant) -> bool {
        if mtu < self.plpmtu {
            self.lower(mtu, now);
            return true;
        }
        let Probe::Sent { size, .. } = self.probe else {
            return false;
        };
        // "PLPMTU < PL_PTB_SIZE < PROBED_SIZE": the next size to try.
        let is_new = mtu < size && matches!(self.state, State::Searching { .. });
        if is_new {
            self.too_large = Some(mtu + 1);
            if mtu > self.plpmtu {
                self.state = State::Searching { lost: 0 };
                self.probe = Probe::Due(mtu);
            } else {
                self.complete(now);
            }
        }
        is_new
    }

    /// Handles the loss of a probe.
    fn probe_lost(&mut self, now: Instant, size: u16) {
        self.probe = Probe::Due(size);
        match &mut self.state {
            State::Complete => self.probe = Probe::None,
            State::Searching { lost } => {
                *lost += 1;
                if *lost == MAX_PROBES {
                    self.too_large = Some(size);
                    self.complete(now);
                }
            }
            State::Doubting {
                fallback,
                is_falling_back,
                lost,
                silent,
            } => {
                if !core::mem::replace(is_falling_back, true) {
                    self.probe = Probe::Due(*fallback);
                    return;
                }
                *silent += 1;
                if *silent < MAX_PROBES {
                    return;
                }
                if *fallback > MIN_PLPMTU {
                    (*fallback, *lost, *silent) = (MIN_PLPMTU, 0, 0);
                    self.probe = Probe::Due(MIN_PLPMTU);
                } else {
                    // Nothing passes, or the peer does not answer: size is not the reason.
                    self.settle();
                }
            }
        }
    }

    /// Lowers PLPMTU to what is known to be the limit.
    fn lower(&mut self, mtu: u16, now: Instant) {
        self.plpmtu = mtu;
        self.complete(now);
    }

    /// Ends a search.
    fn complete(&mut self, now: Instant) {
        self.raise_at = now + self.raise_after;
        self.settle();
    }

    /// Enters SEARCH_COMPLETE.
    fn settle(&mut self) {
        self.state = State::Complete;
        self.probe = Probe::None;
    }

    /// Probes the next larger size, or ends the search.
    fn search(&mut self, now: Instant) {
        let may_pass = |size: &u16| {
            *size > self.plpmtu
                && *size <= self.max
                && self.too_large.is_none_or(|too_large| *size < too_large)
        };
        let next = SIZES
            .into_iter()
            .chain([self.base, self.max])
            .filter(may_pass)
            .min();
        match next {
            Some(size) => {
                self.state = State::Searching { lost: 0 };
                self.probe = Probe::Due(size);
            }
            None => self.complete(now),
        }
    }
}

#[cfg(test)]
mod tests;
