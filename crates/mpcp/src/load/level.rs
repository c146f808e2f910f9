//! Load levels: load factors carried by a chain of packets (MPCP).

use core::cmp::Ordering;

use super::Zone;

/// The longest chain. A sender knows a load factor completely only after that many packets, and
/// each additional packet makes levels three times as fine: 6561 levels with eight.
pub const MAX_PACKETS: u8 = 8;

/// The number of bits per digit.
const DIGIT: u8 = 2;

/// Upper bounds of DPCP's levels, by zone (Li and Yousefi'zadeh 2009, Table 1).
const DPCP: [[f64; 3]; 3] = [[0.2, 0.4, 0.8], [0.85, 0.95, 1.0], [1.05, 1.4, 2.0]];
/// The fraction of cwnd that DPCP leaves at the levels of overload (same table).
const DPCP_DECREASE: [f64; 3] = [0.875, 0.6, 0.43];
/// The fraction of cwnd that VCP leaves (Xia et al. 2005).
pub(crate) const VCP_DECREASE: f64 = 0.875;

/// One of the 3^n load levels that n packets can represent: one digit per packet, first packet
/// first. A digit is one of the three zone codes. The first digit is the zone itself, so that a VCP
/// implementation reads it correctly.
///
/// - One digit: the zones of VCP.
/// - Two digits: DPCP's levels, as published in Table 1 of Li and Yousefi'zadeh, "MPCP: Multi
///   Packet Congestion-control Protocol" (2009).
/// - Three digits or more: no thresholds are published. Here each level with one digit less is
///   divided into three of equal width.
///
/// Levels are ordered by load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// Two-bit codes, the first digit in the highest bits; 00 if there is no digit.
    digits: u16,
}

impl Level {
    /// Returns the idle level with `packets` digits, which senders assume initially.
    pub(crate) fn lowest(packets: u8) -> Self {
        Self::begin(Zone::Low).completed(Zone::Low, packets)
    }

    /// Returns the level of a load factor, where 1 is the target utilisation, with `packets`
    /// digits; `packets` is clamped to 1 to [`MAX_PACKETS`].
    pub fn of(load: f64, packets: u8) -> Self {
        let packets = packets.min(MAX_PACKETS);
        let mut level = Self::begin(Zone::of(load));
        while level.packets() < packets {
            let digits = [Zone::Low, Zone::High, Zone::Over];
            // The last level also covers everything above it.
            let digit = digits
                .into_iter()
                .find(|&digit| load < level.with(digit).upper())
                .unwrap_or(Zone::Over);
            level = level.with(digit);
        }
        level
    }

    /// Returns a level with only the first digit.
    pub(crate) const fn begin(zone: Zone) -> Self {
        Self {
            digits: (zone.code().bits() as u16) << (16 - DIGIT),
        }
    }

    /// Appends a digit.
    ///
    /// # Panics
    ///
    /// If there are already [`MAX_PACKETS`] digits.
    pub(crate) const fn with(self, digit: Zone) -> Self {
        assert!(
            self.packets() < MAX_PACKETS,
            "a chain has at most MAX_PACKETS"
        );
        let place = 16 - DIGIT * (self.packets() + 1);
        Self {
            digits: self.digits | (digit.code().bits() as u16) << place,
        }
    }

    /// Appends `digit` until there are `packets` digits. With [`Zone::Over`] this is the worst
    /// level still possible.
    pub(crate) const fn completed(self, digit: Zone, packets: u8) -> Self {
        let mut level = self;
        while level.packets() < packets {
            level = level.with(digit);
        }
        level
    }

    /// Returns the number of digits.
    pub(crate) const fn packets(self) -> u8 {
        (16 - self.digits.trailing_zeros() as u8).div_ceil(DIGIT)
    }

    /// Returns the digit of the packet at this position, from 0, or `None` beyond the last.
    pub fn digit(self, place: u8) -> Option<Zone> {
        if place >= MAX_PACKETS {
            return None;
        }
        let shift = 16 - DIGIT * (place + 1);
        Zone::from_code(skywave_wire::Ecn::from_bits(
            (self.digits >> shift) as u8 & 3,
        ))
    }

    /// Returns the zone: its first digit.
    pub fn zone(self) -> Zone {
        self.digit(0).unwrap_or(Zone::Low)
    }

    /// Returns the upper bound of its load factors. The highest level, with bound 2, also covers
    /// anything above.
    pub(crate) fn upper(self) -> f64 {
        self.bounds().1
    }

    /// Returns the lower and upper bounds of its load factors.
    fn bounds(self) -> (f64, f64) {
        let zone = self.zone() as usize;
        let uppers = DPCP[zone];
        let zone_begins = zone.checked_sub(1).map_or(0.0, |below| DPCP[below][2]);
        let Some(second) = self.digit(1).map(|digit| digit as usize) else {
            return (zone_begins, uppers[2]);
        };
        let begins = second
            .checked_sub(1)
            .map_or(zone_begins, |below| uppers[below]);
        let (mut lower, mut upper) = (begins, uppers[second]);
        for digit in (2..self.packets()).filter_map(|place| self.digit(place)) {
            let third = |index: u8| lower + (upper - lower) * f64::from(index) / 3.0;
            let index = digit as u8;
            // The last part ends exactly where the whole does.
            let end = if index == 2 { upper } else { third(index + 1) };
            (lower, upper) = (third(index), end);
        }
        (lower, upper)
    }

    /// Returns xi(u) = (1 - u) / (4 u): a quarter of the relative growth per t_rho that would keep
    /// the load factor below 1, where u is the level's upper bound; 0 under overload.
    ///
    /// For VCP's low load this is its xi of 1/16 (Xia et al. 2005); for finer levels no values are
    /// published.
    pub(crate) fn increase(self) -> f64 {
        let u = self.upper();
        (0.25 * (1.0 - u) / u).max(0.0)
    }

    /// Returns beta, the fraction of cwnd left by a multiplicative decrease at this overload level;
    /// `None` with one digit, where it is a parameter of VCP. For three digits or more no values
    /// are published; here it is min(0.875, 0.86 / u), which like DPCP's values leads to between
    /// 0.83 and 0.92 of the target.
    pub(crate) fn decrease(self) -> Option<f64> {
        let second = self.digit(1)?;
        Some(if self.packets() == 2 {
            DPCP_DECREASE[second as usize]
        } else {
            VCP_DECREASE.min(0.86 / self.upper())
        })
    }
}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Level {
    fn cmp(&self, other: &Self) -> Ordering {
        self.digits.cmp(&other.digits)
    }
}

#[cfg(test)]
mod tests;
