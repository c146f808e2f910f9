//! The three load zones and their code points.

use skywave_wire::Ecn;

/// From this load factor on, the load is high (Chen et al. 2010, appendix).
const HIGH_LOAD: f64 = 0.8;
/// From this load factor on, the link is overloaded: the target utilisation is reached (ibid.).
const OVERLOAD: f64 = 1.0;

/// How busy a link is (Xia et al. 2005; Chen et al. 2010, appendix).
///
/// A zone is encoded in the ECN field of data packets. The sender writes [`Zone::Low`], and routers
/// raise it. The codes are incompatible with RFC 3168, where ECT(0) and ECT(1) are equivalent, so
/// packets of both kinds must not share a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// Below 80 %: senders increase multiplicatively.
    Low,
    /// From 80 % to 100 %: senders increase additively.
    High,
    /// 100 % or more: senders decrease multiplicatively.
    Over,
}

impl Zone {
    /// Returns the zone of a load factor, which is 1 at the target utilisation.
    pub fn of(load: f64) -> Self {
        if load < HIGH_LOAD {
            Self::Low
        } else if load < OVERLOAD {
            Self::High
        } else {
            Self::Over
        }
    }

    /// Returns the code point: 01, 10 or 11.
    pub const fn code(self) -> Ecn {
        match self {
            Self::Low => Ecn::Ect1,
            Self::High => Ecn::Ect0,
            Self::Over => Ecn::Ce,
        }
    }

    /// Returns the zone of a code point, or `None` for 00, whose sender does not use load factors.
    pub const fn from_code(code: Ecn) -> Option<Self> {
        match code {
            Ecn::NotEct => None,
            Ecn::Ect1 => Some(Self::Low),
            Ecn::Ect0 => Some(Self::High),
            Ecn::Ce => Some(Self::Over),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zones_meet_where_the_papers_say() {
        let zones = [0.0, 0.799, 0.8, 0.999, 1.0, 7.0].map(Zone::of);
        use Zone::{High, Low, Over};
        assert_eq!(zones, [Low, Low, High, High, Over, Over]);
    }

    #[test]
    fn codes_grow_with_the_load_and_read_back() {
        let zones = [Zone::Low, Zone::High, Zone::Over];
        assert_eq!(zones.map(|zone| zone.code().bits()), [1, 2, 3]);
        for zone in zones {
            assert_eq!(Zone::from_code(zone.code()), Some(zone));
        }
        assert_eq!(Zone::from_code(Ecn::NotEct), None);
    }
}
