//! A windowed maximum ("BBR.max_bw Max Filter", "BBR.extra_acked").

use std::collections::VecDeque;

/// The maximum of the values of the last few units of a virtual time, which may pass without
/// values: old values expire only when a value replaces them.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowedMax {
    /// Times and the maxima since. Each value is less than those before it, and each time greater.
    values: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// UpdateWindowedMaxFilter: adds `value` at `time` and returns the maximum of the last `length`
    /// units of time, including the current one.
    pub(super) fn update(&mut self, value: f64, time: u64, length: u64) -> f64 {
        while self
            .values
            .pop_back_if(|(_, last)| *last <= value)
            .is_some()
        {}
        if self.values.back().is_none_or(|&(last, _)| last != time) {
            self.values.push_back((time, value));
        }
        let is_old = |(at, _): &mut (u64, f64)| time.saturating_sub(*at) >= length;
        while self.values.pop_front_if(is_old).is_some() {}
        self.values.front().map_or(value, |&(_, max)| max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_covers_the_current_unit_and_those_before_it() {
        let mut filter = WindowedMax::default();
        let maxima = [(9.0, 0), (3.0, 1), (5.0, 1), (1.0, 2), (2.0, 3), (1.0, 9)]
            .map(|(value, time)| filter.update(value, time, 2));
        assert_eq!(maxima, [9.0, 9.0, 9.0, 5.0, 2.0, 1.0]);
    }
}
