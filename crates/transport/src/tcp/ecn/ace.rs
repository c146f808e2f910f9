//! The ACE field: three control bits that count marked packets, or name a code point (sections 3.1.1
//! and 3.2.2 of draft-ietf-tcpm-accurate-ecn-34).

use skywave_wire::Ecn;
use skywave_wire::tcp::Flags;

/// The control bits AE, CWR and ECE.
pub(super) const ACE: Flags = Flags::AE.union(Flags::CWR).union(Flags::ECE);
/// The position of ECE, the lowest.
const SHIFT: u32 = Flags::ECE.bits().trailing_zeros();
/// Counters of packets are sent modulo this: DIVACE.
pub(super) const DIVACE: u32 = 8;

/// Returns the flags that encode the low three bits of `count`.
#[inline(always)]
pub(super) const fn of_count(count: u32) -> Flags {
    Flags::from_bits(((count % DIVACE) as u16) << SHIFT)
}

/// Returns the field's value.
#[inline(always)]
pub(super) const fn count_in(flags: Flags) -> u32 {
    ((flags.bits() & ACE.bits()) >> SHIFT) as u32
}

/// Returns the flags that report the code point of a SYN, or that of a SYN-ACK.
pub(super) const fn of_handshake(ecn: Ecn) -> Flags {
    of_count(match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    })
}

/// What the flags of a SYN-ACK say to a SYN that asked for Accurate ECN (section 3.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The peer counts marks. The SYN arrived with this code point; `None` if the peer does not say.
    Accurate(Option<Ecn>),
    /// The peer only knows RFC 3168.
    Classic,
    /// The peer does not know ECN, or reflects unknown flags.
    None,
}

impl Answer {
    pub(super) const fn in_flags(flags: Flags) -> Self {
        match count_in(flags) {
            0b010 => Self::Accurate(Some(Ecn::NotEct)),
            0b011 => Self::Accurate(Some(Ecn::Ect1)),
            0b100 => Self::Accurate(Some(Ecn::Ect0)),
            0b110 => Self::Accurate(Some(Ecn::Ce)),
            // Reserved: as if the SYN had arrived unchanged (section 3.1.3).
            0b101 => Self::Accurate(None),
            0b001 => Self::Classic,
            _ => Self::None,
        }
    }
}
