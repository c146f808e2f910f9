//! The contents of one acknowledgement.

use super::GrowthPer;
use super::reader::Reading;
use crate::load::{Level, Zone};

/// How many packets were acknowledged at each level, and the last overload.
#[derive(Clone, Debug, Default)]
pub(super) struct Acked {
    /// The acknowledged packets by sequence number, in the order of their report.
    pub(super) news: Vec<(u64, Zone)>,
    /// Few entries: a level lasts for many packets.
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

    /// Returns the number of packets in each zone.
    pub(super) fn zones(&self) -> [u32; 3] {
        let mut zones = [0; 3];
        for (level, packets) in &self.levels {
            zones[level.zone() as usize] += packets;
        }
        zones
    }

    /// Returns the number of increases due in each zone for levels that come from single packets,
    /// as in VCP.
    pub(super) fn vcp(&self, growth: GrowthPer) -> [u32; 3] {
        let mut zones = [0; 3];
        for (level, packets) in self.levels.iter().filter(|(level, _)| level.packets() == 1) {
            zones[level.zone() as usize] += packets;
        }
        if growth == GrowthPer::Ack
            && let Some(busiest) = zones.iter().rposition(|&packets| packets > 0)
        {
            zones = [0; 3];
            zones[busiest] = 1;
        }
        zones
    }

    /// Returns the levels carried by a chain, with their number of packets.
    pub(super) fn chains(&self) -> impl Iterator<Item = (Level, u32)> {
        self.levels
            .iter()
            .copied()
            .filter(|(level, _)| level.packets() > 1)
    }

    /// Returns the last overload level, if any; preferably one known completely.
    pub(super) const fn over(&self) -> Option<Reading> {
        self.over
    }
}
