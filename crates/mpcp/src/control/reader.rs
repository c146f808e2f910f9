//! Reads load levels from the digits of chains.

use skywave_units::{Duration, Instant};

use super::{Acts, MpcpConfig};
use crate::chain::ChainOrder;
use crate::load::{Level, MAX_PACKETS, Zone};

/// This many packets in a row with the same position mean that the order is lost (Li and
/// Yousefi'zadeh 2009, section 3.4).
const TROUBLE: u8 = 3;
/// The number of round-trip times for which a sender then does without chains (the paper says
/// "several round-trip times"). If it happens again within the same time after that, it does
/// without them for good.
const ROUNDS_WITHOUT_CHAINS: u64 = 4;

/// The load factor that the sender assumes when a packet is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) level: Level,
    /// The chain that reported it.
    pub(super) chain: u64,
    /// Whether all digits have arrived, so that none was assumed to be the worst.
    pub(super) is_whole: bool,
}

/// The digits received so far, and their interpretation.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    packets: u8,
    acts: Acts,
    order: ChainOrder,
    /// The contiguous digits of the current chain that have arrived.
    chain: Option<Level>,
    /// The number of that chain: from sequence numbers, or counted.
    number: u64,
    /// The load factor assumed by the sender.
    level: Level,
    /// Whether all of its digits have arrived.
    is_whole: bool,
    headers: Headers,
}

/// Positions read from headers.
#[derive(Clone, Debug, Default)]
struct Headers {
    mode: Mode,
    /// The position of the next packet to be sent.
    next: u8,
    /// The position in the last acknowledgement, and how many times in a row it was the same.
    last: Option<u8>,
    repeats: u8,
}

/// Whether chains are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// In use from the start.
    #[default]
    Chains,
    /// In use again, but acknowledgements are still for packets sent before.
    Returning { suspicious_until: Instant },
    /// In use again. If order is lost before this time, they are given up for good.
    Resumed { suspicious_until: Instant },
    /// Not in use until this time: each packet carries VCP's code.
    Vcp { until: Instant },
    /// Given up for good, because the path loses or reorders too much.
    VcpForGood,
}

impl Mode {
    const fn is_vcp(self) -> bool {
        matches!(self, Self::Vcp { .. } | Self::VcpForGood)
    }
}

impl Reader {
    pub(super) fn new(config: &MpcpConfig) -> Self {
        let packets = config.packets.clamp(1, MAX_PACKETS);
        Self {
            packets,
            acts: config.acts,
            order: config.order,
            chain: None,
            number: 0,
            level: Level::lowest(packets),
            is_whole: true,
            headers: Headers::default(),
        }
    }

    /// Returns the configured length of a chain.
    pub(super) const fn packets(&self) -> u8 {
        self.packets
    }

    /// Returns whether each packet is its own chain, by configuration or because order was lost.
    pub(super) const fn is_vcp(&self) -> bool {
        self.packets == 1 || self.headers.mode.is_vcp()
    }

    /// Returns the load level after packet `seq` was acknowledged with `zone`.
    pub(super) fn on_packet(&mut self, seq: u64, zone: Zone) -> Reading {
        if self.packets == 1 {
            self.level = Level::begin(zone);
        } else if self.order == ChainOrder::SequenceNumbers {
            let (number, place) = (seq / u64::from(self.packets), seq % u64::from(self.packets));
            self.on_digit(number, place as u8, zone);
        }
        Reading {
            level: self.level,
            chain: self.number,
            is_whole: self.is_whole,
        }
    }

    /// Handles a digit of a chain whose number is known. Ignores digits of older chains, and digits
    /// that follow a missing one.
    fn on_digit(&mut self, number: u64, place: u8, zone: Zone) {
        match self.chain {
            _ if place == 0 && number >= self.number => {
                self.number = number;
                self.take_in(Level::begin(zone));
            }
            Some(chain) if number == self.number && place == chain.packets() => {
                self.take_in(chain.with(zone));
            }
            _ => {}
        }
    }

    fn take_in(&mut self, chain: Level) {
        self.chain = Some(chain);
        let is_whole = chain.packets() == self.packets;
        if is_whole || self.acts == Acts::AtOnce {
            self.level = chain.completed(Zone::Over, self.packets);
            self.is_whole = is_whole;
        }
    }

    /// Handles a digit whose position is known only from a header (section 3.4).
    pub(super) fn on_header(&mut self, now: Instant, rtt: Duration, place: u8, zone: Zone) {
        if place >= self.packets {
            // No sender of such chains wrote it.
            return;
        }
        self.pass(now, rtt);
        if self.headers.mode.is_vcp() {
            // A later digit of a chain sent before no longer has a meaning.
            if place == 0 {
                self.take_vcp(zone);
            }
            return;
        }
        let headers = &mut self.headers;
        let is_repeated = headers.last.replace(place) == Some(place);
        headers.repeats = if is_repeated { headers.repeats + 1 } else { 1 };
        if let Mode::Returning { suspicious_until } = headers.mode {
            headers.repeats = 1;
            if place == 0 {
                // It was either sent without a chain, or starts the first one.
                self.take_vcp(zone);
                self.chain = Some(self.level);
                return;
            }
            headers.mode = Mode::Resumed { suspicious_until };
        }
        if headers.repeats >= TROUBLE {
            return self.give_up_chains(now, rtt, zone);
        }
        self.number += u64::from(place == 0);
        let first = self.chain.map(Level::zone);
        match self.chain {
            // Of two first digits in a row, the larger one counts.
            _ if place == 0 && is_repeated => {
                self.take_in(Level::begin(first.map_or(zone, |first| first.max(zone))));
            }
            _ if place == 0 => self.take_in(Level::begin(zone)),
            Some(chain) if chain.packets() == place => self.take_in(chain.with(zone)),
            // A gap, or a repeated position: only the first digit is certain.
            _ => {
                if let Some(first) = first {
                    self.take_in(Level::begin(first));
                }
            }
        }
    }

    /// Handles a VCP code, which is complete on its own.
    const fn take_vcp(&mut self, zone: Zone) {
        self.level = Level::begin(zone);
        self.is_whole = true;
        self.number += 1;
    }

    fn give_up_chains(&mut self, now: Instant, rtt: Duration, zone: Zone) {
        let again = match self.headers.mode {
            Mode::Resumed { suspicious_until } => now < suspicious_until,
            _ => false,
        };
        self.headers = Headers {
            mode: if again {
                Mode::VcpForGood
            } else {
                Mode::Vcp {
                    until: now + rtt * ROUNDS_WITHOUT_CHAINS,
                }
            },
            ..Headers::default()
        };
        let first = self.chain.take().map_or(zone, Level::zone);
        self.level = Level::begin(first);
        self.is_whole = true;
    }

    /// Returns to chains when it is time. The next packet starts one.
    fn pass(&mut self, now: Instant, rtt: Duration) {
        if let Mode::Vcp { until } = self.headers.mode
            && until <= now
        {
            self.headers.mode = Mode::Returning {
                suspicious_until: now + rtt * ROUNDS_WITHOUT_CHAINS,
            };
        }
    }

    /// Returns the position of the packet that leaves now.
    pub(super) fn next_place(&mut self) -> u8 {
        if self.is_vcp() {
            return 0;
        }
        let place = self.headers.next;
        self.headers.next = (place + 1) % self.packets;
        place
    }
}

#[cfg(test)]
mod tests;
