//! The inner values that controls and queue disciplines report.

use skywave_units::Instant;

/// Named inner values over time of many `S` (flows, links).
pub(super) struct InnerValues<S> {
    /// The names seen so far. A control or a queue has only a few.
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Row<S>>,
}

pub(super) struct Row<S> {
    pub(super) at: Instant,
    pub(super) source: S,
    /// The index of its name in `names`.
    pub(super) name: u32,
    pub(super) value: f64,
}

impl<S> InnerValues<S> {
    pub(super) const fn new() -> Self {
        Self {
            names: Vec::new(),
            rows: Vec::new(),
        }
    }

    pub(super) fn record(&mut self, at: Instant, source: S, name: &str, value: f64) {
        let known = self.names.iter().position(|known| known == name);
        let name = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.rows.push(Row {
            at,
            source,
            name: name as u32,
            value,
        });
    }
}
