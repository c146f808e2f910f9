//! NATs: what they do to the TCP segments of the connections that pass them.

use std::collections::BTreeMap;

use skywave_scenario::{NatChecksum, NatSpec};
use skywave_wire::tcp::{Flags, Segment};

use crate::world::ids::{FlowId, HostId};
use crate::world::packet::Body;

/// The least window within which acknowledgements of old data pass (van Rooij 2000):
/// a full window of 64 KiB and a packet.
const LEAST_ACK_WINDOW: u32 = 66_000;

/// A NAT with the connections that it tracks.
#[derive(Clone, Debug)]
pub(crate) struct Nat {
    spec: NatSpec,
    connections: BTreeMap<FlowId, Connection>,
}

/// A tracked connection: its ends, sender of the flow first.
#[derive(Clone, Copy, Debug, Default)]
struct Connection([Side; 2]);

/// What is known about an end.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// The end of the data that it has sent; `None` before its first segment.
    end: Option<u32>,
    /// The end of the data that its peer may accept: the largest sum of an acknowledgement number
    /// and its window.
    limit: u32,
    /// The largest window that it has announced in bytes.
    window: u32,
    /// The shift of the windows that it announces.
    shift: u8,
}

impl Nat {
    pub(crate) const fn new(spec: NatSpec) -> Self {
        Self {
            spec,
            connections: BTreeMap::new(),
        }
    }

    /// Handles a packet of this host. Returns whether it passes.
    pub(crate) fn pass(&mut self, from: HostId, body: &mut Body) -> bool {
        if self.spec.checksum == NatChecksum::Recomputed {
            body.recompute_checksum();
        }
        let segment = match body {
            _ if !self.spec.tracking => return true,
            Body::Bare(bare) => Segment::from(bare.clone()),
            Body::Tcp(segment) => (**segment).clone(),
            Body::Dccp(_) | Body::Udp(_) => return true,
        };
        let connection = self.connections.entry(from.flow()).or_default();
        connection.pass(usize::from(!from.is_sender()), &segment)
    }
}

impl Connection {
    /// Handles a segment of one side. Returns whether it is part of the connection.
    fn pass(&mut self, side: usize, segment: &Segment) -> bool {
        let flags = segment.flags;
        let is_syn = flags.contains(Flags::SYN);
        if is_syn && !flags.contains(Flags::ACK) {
            *self = Self::default();
        }
        let [mut here, mut there] = [self.0[side], self.0[1 - side]];
        let length = segment.payload.len() as u32
            + u32::from(is_syn)
            + u32::from(flags.contains(Flags::FIN));
        let end = segment.seq.wrapping_add(length);
        if is_syn {
            here.shift = segment.options.window_scale.unwrap_or(0);
        }
        let shift = if is_syn { 0 } else { here.shift };
        let window = u32::from(segment.window) << shift;
        let passes = match (here.end, there.end) {
            // The first segment of an end has nothing to be compared with.
            (None, _) => true,
            (Some(sent), Some(acceptable)) => {
                let ack_window = here.window.max(LEAST_ACK_WINDOW);
                is_at_most(segment.seq, here.limit)
                    && is_at_most(sent.wrapping_sub(there.window), end)
                    && (!flags.contains(Flags::ACK)
                        || is_at_most(segment.ack, acceptable)
                            && is_at_most(acceptable.wrapping_sub(ack_window), segment.ack))
            }
            (Some(_), None) => true,
        };
        if passes {
            here.window = here.window.max(window);
            here.end = Some(here.end.map_or(end, |known| later(known, end)));
            if flags.contains(Flags::ACK) {
                there.limit = match there.end {
                    Some(_) => later(there.limit, segment.ack.wrapping_add(window)),
                    None => segment.ack.wrapping_add(window),
                };
            }
            self.0[side] = here;
            self.0[1 - side] = there;
        }
        passes
    }
}

/// Returns whether a <= b, as sequence numbers.
const fn is_at_most(a: u32, b: u32) -> bool {
    b.wrapping_sub(a).cast_signed() >= 0
}

const fn later(a: u32, b: u32) -> u32 {
    if is_at_most(a, b) { b } else { a }
}
