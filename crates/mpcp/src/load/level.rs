//! Levels of load: a load factor told by a chain of packets (MPCP).

use core::cmp::Ordering;

use super::Zone;

/// The most packets of a chain. A sender knows a load factor whole only after so many packets, and
/// each one more makes the levels three times as fine: 6561 with eight.
pub const MAX_PACKETS: u8 = 8;

/// Bits of a digit.
const DIGIT: u8 = 2;

/// Upper bounds of DPCP's levels, by zone (Li and Yousefi'zadeh 2009, Table 1).
const DPCP: [[f64; 3]; 3] = [[0.2, 0.4, 0.8], [0.85, 0.95, 1.0], [1.05, 1.4, 2.0]];
/// What DPCP leaves of cwnd on the levels of overload (likewise).
const DPCP_DECREASE: [f64; 3] = [0.875, 0.6, 0.43];
/// What VCP leaves of it (Xia et al. 2005).
pub(crate) const VCP_DECREASE: f64 = 0.875;

/// One of the 3^n levels of load that n packets can tell: a digit for each packet of the chain, the
/// first packet's first. A digit is one of three codes, those of the zones; the first digit is the
/// zone itself, so whoever knows only VCP reads no wrong thing in it.
///
/// - One digit: the zones of VCP.
/// - Two: DPCP's levels, as published in Table 1 of Li and Yousefi'zadeh, "MPCP: Multi Packet
///   Congestion-control Protocol" (2009).
/// - Three and more: no thresholds are published. Here each level of the chain that is shorter by
///   one is cut into three of the same width.
///
/// A level is less than another one if its load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// Codes of two bits, the first digit's highest; 00 where there is none.
    digits: u16,
}

impl Level {
    /// Idle, told by as many packets: what a sender takes for granted at first.
    pub(crate) fn lowest(packets: u8) -> Self {
        Self::begin(Zone::Low).completed(Zone::Low, packets)
    }

    /// The level of a load factor, 1 being the target utilisation, told by `packets` packets: one to
    /// [`MAX_PACKETS`]; less or more is taken for the nearest of these.
    pub fn of(load: f64, packets: u8) -> Self {
        let packets = packets.min(MAX_PACKETS);
        let mut level = Self::begin(Zone::of(load));
        while level.packets() < packets {
            let digits = [Zone::Low, Zone::High, Zone::Over];
            // What exceeds the last level is told by it.
            let digit = digits
                .into_iter()
                .find(|&digit| load < level.with(digit).upper())
                .unwrap_or(Zone::Over);
            level = level.with(digit);
        }
        level
    }

    /// A level of which the first digit is known.
    pub(crate) const fn begin(zone: Zone) -> Self {
        Self {
            digits: (zone.code().bits() as u16) << (16 - DIGIT),
        }
    }

    /// The level with one digit more.
    ///
    /// # Panics
    ///
    /// If there are [`MAX_PACKETS`] already.
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

    /// The level with the digits that are missing to `packets` all being `digit`. With
    /// [`Zone::Over`] this is the worst that can still come.
    pub(crate) const fn completed(self, digit: Zone, packets: u8) -> Self {
        let mut level = self;
        while level.packets() < packets {
            level = level.with(digit);
        }
        level
    }

    /// How many packets tell it.
    pub(crate) const fn packets(self) -> u8 {
        (16 - self.digits.trailing_zeros() as u8).div_ceil(DIGIT)
    }

    /// The digit of the packet at this place, from 0; `None` beyond the last.
    pub fn digit(self, place: u8) -> Option<Zone> {
        if place >= MAX_PACKETS {
            return None;
        }
        let shift = 16 - DIGIT * (place + 1);
        Zone::from_code(skywave_wire::Ecn::from_bits(
            (self.digits >> shift) as u8 & 3,
        ))
    }

    /// The zone: its first digit.
    pub fn zone(self) -> Zone {
        self.digit(0).unwrap_or(Zone::Low)
    }

    /// The load factor up to which it reaches. The last one of all, 2, stands for more as well.
    pub(crate) fn upper(self) -> f64 {
        self.bounds().1
    }

    /// From which load factor up to which.
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
            // The bound of a part is that of the whole where it is the last.
            let end = if index == 2 { upper } else { third(index + 1) };
            (lower, upper) = (third(index), end);
        }
        (lower, upper)
    }

    /// By how much load may grow in t_rho to stay below a load factor of 1, and of it a quarter:
    /// xi(u) = (1 - u) / (4 u), of the level's upper bound u; 0 under overload.
    ///
    /// VCP's xi of 1/16 is that of its low load (Xia et al. 2005); for more levels it is not
    /// published.
    pub(crate) fn increase(self) -> f64 {
        let u = self.upper();
        (0.25 * (1.0 - u) / u).max(0.0)
    }

    /// beta: what a multiplicative decrease leaves of cwnd on this level of overload; `None` with one
    /// packet, where it is a parameter of VCP. With three packets and more, not published:
    /// min(0.875, 0.86 / u), which like DPCP's comes down to between 0.83 and 0.92 of the target.
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
