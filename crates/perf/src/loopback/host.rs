//! CPU time that a virtual machine's host takes away.

use std::fs;

/// CPU time of all processors since the system started, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    all: u64,
    /// Time given to others by the host: `steal` in proc_stat(5).
    stolen: u64,
}

impl Ticks {
    /// Returns the current values; `None` if the system does not provide them.
    pub(super) fn now() -> Option<Self> {
        Self::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn read(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        // user, nice, system, idle, iowait, irq, softirq and steal; guest time is included in user.
        let ticks = line.split_whitespace().take(8).map(str::parse);
        let ticks: Vec<u64> = ticks.collect::<Result<_, _>>().ok()?;
        Some(Self {
            all: ticks.iter().sum(),
            stolen: *ticks.get(7)?,
        })
    }

    /// Returns the fraction of the time since `before` that the host gave to others.
    pub(super) fn stolen_since(self, before: Self) -> f64 {
        let all = self.all.saturating_sub(before.all).max(1);
        self.stolen.saturating_sub(before.stolen) as f64 / all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_of_all_processors_time() {
        let read = |stat: &str| Ticks::read(stat);
        let before = read("cpu  10 0 20 30 0 0 5 5 7 0\ncpu0 1 2 3\n").unwrap();
        let after = read("cpu  20 0 40 50 0 0 10 50 9 0\n").unwrap();
        assert_eq!(after.stolen_since(before), 0.45);
        assert_eq!(before.stolen_since(before), 0.0);
        for other in ["", "intr 1 2", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7 x"] {
            assert!(read(other).is_none(), "{other}");
        }
    }
}
