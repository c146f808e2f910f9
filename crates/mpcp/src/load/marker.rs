//! The router's side: writes one digit of its level into each packet.

use core::cmp::Ordering;

use skywave_wire::Ecn;

use super::{Level, MAX_PACKETS, Zone};

/// The state of a flow's chain that is passing through.
#[derive(Clone, Copy, Debug)]
struct Chain {
    flow: u64,
    /// The router's level when the chain started. It is kept for the whole chain; a change would
    /// mix the digits of two levels.
    level: Level,
    /// How it compares with the level in the packets, as far as is known.
    ours: Ordering,
}

// With this size, the limit of 2^20 flows (`MOST_FLOWS` of the queue `vcp`) takes 16 MiB.
const _: () = assert!(size_of::<Option<Chain>>() <= 16);

/// Writes the digits of a router's level into chains of packets: Algorithm 2 of Li and
/// Yousefi'zadeh 2009, generalised to any number of packets, and including the case of equal first
/// digits, which is missing in print.
///
/// The first digit is overwritten if the router's is larger. If so, all other digits of the chain
/// are overwritten; if the packet's digit was larger, none is; if both were equal, the next digits
/// decide. The result is the complete largest level on the path.
///
/// Chains of one packet (VCP) need no memory. Longer chains use one slot per flow, in a table of
/// fixed size. A flow's slot is determined by a hash; a flow that finds another flow there replaces
/// it. A flow that lost its slot is treated as if all digits had been equal so far, with the
/// current level, so it is never signalled less than the largest level on its path.
#[derive(Clone, Debug)]
pub struct Marker {
    packets: u8,
    slots: Box<[Option<Chain>]>,
}

impl Marker {
    /// Creates a marker for chains of `packets` packets (clamped to 1 to [`MAX_PACKETS`]) of up to
    /// `flows` flows.
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

    /// Returns the number of packets in a chain.
    pub const fn packets(&self) -> u8 {
        self.packets
    }

    /// Returns the ECN field of a packet after this router, given the field `code` before it.
    /// `load` is the router's load factor, `position` the packet's position in its chain. A packet
    /// without a code is not changed.
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
        // The high bits of a product with the golden ratio spread neighbouring values.
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
    /// the result.
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
        /// Li and Yousefi'zadeh 2009, section 3.3: the result is the complete level of the busiest
        /// router.
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

        /// Two flows with alternating packets share one slot, and each takes it from the other;
        /// neither is signalled less load than there is.
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

    /// A router's level changes between the packets of a chain: both digits are from the level at
    /// its start.
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
