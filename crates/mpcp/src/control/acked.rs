//! What the packets of one acknowledgement tell.

use super::reader::Reading;
use crate::load::{Level, Zone};

/// How many packets came back under which level, and the last word on overload.
#[derive(Clone, Debug, Default)]
pub(super) struct Acked {
    /// Its packets by sequence number, as they were reported.
    pub(super) news: Vec<(u64, Zone)>,
    /// Few: a level lasts for many packets.
    levels: Vec<(Level, u32)>,
    over: Option<Reading>,
}

impl Acked {
    pub(super) fn record(&mut self, reading: Reading) {
        let level = reading.level;
        let is_better_known = self
            .over
            .is_none_or(|over| reading.is_whole || !over.is_whole);
        if level.zone() == Zone::Over && is_better_known {
            self.over = Some(reading);
        }
        match self.levels.iter_mut().find(|(known, _)| *known == level) {
            Some((_, packets)) => *packets += 1,
            None => self.levels.push((level, 1)),
        }
    }

    pub(super) fn clear(&mut self) {
        self.news.clear();
        self.levels.clear();
        self.over = None;
    }

    /// Packets by the zone of their level.
    pub(super) fn zones(&self) -> [u32; 3] {
        let mut zones = [0; 3];
        for (level, packets) in &self.levels {
            zones[level.zone() as usize] += packets;
        }
        zones
    }

    /// Packets whose level was told by one packet alone, by zone: VCP's.
    pub(super) fn vcp(&self) -> [u32; 3] {
        let mut zones = [0; 3];
        for (level, packets) in self.levels.iter().filter(|(level, _)| level.packets() == 1) {
            zones[level.zone() as usize] += packets;
        }
        zones
    }

    /// Levels that a chain told, with their packets.
    pub(super) fn chains(&self) -> impl Iterator<Item = (Level, u32)> {
        self.levels
            .iter()
            .copied()
            .filter(|(level, _)| level.packets() > 1)
    }

    /// The last level of overload, if there was one: the last one that is known whole, if there was
    /// such.
    pub(super) const fn over(&self) -> Option<Reading> {
        self.over
    }
}
