//! What a router writes of its load: one digit of a level into each packet.

use core::cmp::Ordering;

use skywave_wire::Ecn;

use super::{Level, MAX_PACKETS, Zone};

/// A flow's chain, as far as it has passed.
#[derive(Clone, Copy, Debug)]
struct Chain {
    flow: u64,
    /// The router's level when the chain began. It holds for the whole chain, or a change in between
    /// would mix the digits of two.
    level: Level,
    /// How it compares with the level that the packets carry, as far as is known.
    ours: Ordering,
}

// A scenario's limit of 2^20 flows (`MOST_FLOWS` of its VCP queue) stands for 16 MiB.
const _: () = assert!(size_of::<Option<Chain>>() <= 16);

/// Writes the digits of a router's level into the packets of chains: Algorithm 2 of Li and
/// Yousefi'zadeh 2009 for any number of packets, with the case of equal first digits, which its
/// printed form has lost.
///
/// A first digit is written if it is larger. If it was, all others of the chain are written; if the
/// packet's was, none; while they are equal, the next ones decide. So the largest level on the way
/// comes out, whole.
///
/// A chain of one packet (VCP) needs no memory. Longer ones take one slot for each flow: there are as
/// many slots as were asked for and no more, a flow finds its own by a hash, and one that finds
/// another's there takes it over. A flow whose slot was taken is served as if its digits had been
/// equal so far, by the level of the moment; what it is told then is never less than the largest
/// level on its way.
#[derive(Clone, Debug)]
pub struct Marker {
    packets: u8,
    slots: Box<[Option<Chain>]>,
}

impl Marker {
    /// For chains of `packets` packets, one to [`MAX_PACKETS`], of up to `flows` flows.
    pub fn new(packets: u8, flows: usize) -> Self {
        let slots = match packets {
            0 | 1 => 0,
            _ => flows.max(1),
        };
        Self {
            packets: packets.clamp(1, MAX_PACKETS),
            slots: vec![None; slots].into(),
        }
    }

    /// How many packets a chain has.
    pub const fn packets(&self) -> u8 {
        self.packets
    }

    /// What stands in the ECN field of a packet after this router: `code` stood there before it.
    /// `load` is the router's load factor, `position` the packet's place in its chain. What carries
    /// no code gets none.
    pub fn mark(&mut self, flow: u64, position: u8, load: f64, code: Ecn) -> Ecn {
        let Some(carried) = Zone::from_code(code) else {
            return code;
        };
        if self.packets == 1 {
            return Zone::of(load).max(carried).code();
        }
        let now = Level::of(load, self.packets);
        let slot = self.slot(flow);
        if position == 0 {
            let ours = now.zone();
            *slot = Some(Chain {
                flow,
                level: now,
                ours: ours.cmp(&carried),
            });
            return ours.max(carried).code();
        }
        let mut passing = Chain {
            flow,
            level: now,
            ours: Ordering::Equal,
        };
        let chain = match slot {
            Some(chain) if chain.flow == flow => chain,
            _ => &mut passing,
        };
        let Some(digit) = chain.level.digit(position) else {
            return code;
        };
        match chain.ours {
            Ordering::Greater => digit.code(),
            Ordering::Less => code,
            Ordering::Equal => {
                chain.ours = digit.cmp(&carried);
                digit.max(carried).code()
            }
        }
    }

    fn slot(&mut self, flow: u64) -> &mut Option<Chain> {
        // The high bits of a product with the golden ratio: neighbours lie far apart.
        let hash = flow.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let index = (u128::from(hash) * self.slots.len() as u128) >> 64;
        &mut self.slots[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sends a chain with the lowest digits of `flow` through routers with these loads, and reads
    /// what comes out.
    fn through(routers: &mut [(Marker, f64)], flow: u64, packets: u8) -> Level {
        let mut codes = (0..packets).map(|position| {
            routers
                .iter_mut()
                .fold(Zone::Low.code(), |code, (router, load)| {
                    router.mark(flow, position, *load, code)
                })
        });
        let first = Level::begin(Zone::from_code(codes.next().unwrap()).unwrap());
        codes.fold(first, |level, code| {
            level.with(Zone::from_code(code).unwrap())
        })
    }

    proptest! {
        /// Li and Yousefi'zadeh 2009, section 3.3: the busiest router's level comes out, whole.
        #[test]
        fn the_largest_level_on_the_way_comes_out(
            loads in proptest::collection::vec(0.0..2.0_f64, 1..6), packets in 1..=5_u8,
        ) {
            let mut routers: Vec<_> =
                loads.iter().map(|&load| (Marker::new(packets, 16), load)).collect();
            let largest = loads.iter().copied().fold(0.0, f64::max);
            for flow in 0..3 {
                prop_assert_eq!(through(&mut routers, flow, packets), Level::of(largest, packets));
            }
        }

        /// With one slot for two flows whose packets alternate, each takes the other's slot; no
        /// flow is told of less load than there is.
        #[test]
        fn a_flow_that_loses_its_slot_is_told_of_no_less(
            ours in 0.0..2.0_f64, upstream in 0.0..2.0_f64, packets in 2..=4_u8,
        ) {
            let mut router = Marker::new(packets, 1);
            let carried = Level::of(upstream, packets);
            let mut told = [Level::begin(Zone::Low); 2];
            for position in 0..packets {
                for flow in [0, 1] {
                    let code = carried.digit(position).unwrap().code();
                    let code = Zone::from_code(router.mark(flow, position, ours, code)).unwrap();
                    let level = &mut told[flow as usize];
                    *level = if position == 0 { Level::begin(code) } else { level.with(code) };
                }
            }
            let largest = carried.max(Level::of(ours, packets));
            prop_assert!(told[0] >= largest && told[1] >= largest);
        }
    }

    /// A router's level changes between the packets of a chain: both digits are those of when it
    /// began.
    #[test]
    fn a_chain_keeps_the_level_that_it_began_with() {
        let mut router = Marker::new(2, 16);
        let low = Zone::Low.code();
        assert_eq!(router.mark(1, 0, 0.82, low), Zone::High.code());
        assert_eq!(router.mark(1, 1, 1.9, low), Zone::Low.code(), "not 1011");
        assert_eq!(router.mark(1, 0, 1.9, low), Zone::Over.code());
        assert_eq!(router.mark(1, 1, 0.0, low), Zone::Over.code());
    }

    #[test]
    fn memory_is_bounded_whatever_flows_come() {
        let mut router = Marker::new(2, 100);
        for flow in 0..100_000 {
            router.mark(flow, 0, 0.9, Zone::Low.code());
        }
        assert_eq!(router.slots.len(), 100);
        assert!(Marker::new(1, 100).slots.is_empty(), "VCP needs none");
    }

    #[test]
    fn a_router_raises_a_code_never_lowers_it_and_gives_none() {
        let mut vcp = Marker::new(1, 0);
        assert_eq!(vcp.mark(1, 0, 0.9, Zone::Low.code()), Zone::High.code());
        assert_eq!(vcp.mark(1, 0, 0.9, Zone::Over.code()), Zone::Over.code());
        for packets in [1, 2] {
            let mut router = Marker::new(packets, 16);
            assert_eq!(router.mark(1, 0, 1.9, Ecn::NotEct), Ecn::NotEct);
        }
    }
}
