//! The fraction of packets that the network marks (RFC 8257 section 3.3).

/// An exponentially weighted moving average of the fraction of marked packets, updated once per
/// window of data: when as many packets have been acknowledged as were in flight after the last
/// update. Lost packets lengthen a window.
///
/// It counts packets, where the RFC counts bytes. The two agree only for full packets: DCTCP's echo is
/// counted in full segments, and so is the flight. With Accurate ECN, the mark of a SACKed packet counts
/// before the packet does.
#[derive(Clone, Debug)]
pub(crate) struct MarkedFraction {
    /// g: the weight of the latest window.
    gain: f64,
    /// Alpha.
    average: f64,
    /// The number of steps from 0 to 1 in which the average is rounded; `None` for none.
    steps: Option<f64>,
    acked: u32,
    marked: u32,
    /// Packets that this window of data has. The first acknowledgement of all ends a window, since
    /// WindowEnd is SND.UNA before it.
    window: u32,
}

impl MarkedFraction {
    /// Creates the average with its initial value. Both are from 0 to 1.
    pub(crate) const fn new(gain: f64, initial: f64) -> Self {
        Self {
            gain,
            average: initial,
            steps: None,
            acked: 0,
            marked: 0,
            window: 0,
        }
    }

    /// Computes with integers, as section 4.2 describes: the average is a multiple of `1 / steps`,
    /// each term of an update is rounded down, and a term too small to round down takes the average
    /// to zero.
    pub(crate) const fn in_steps(mut self, steps: f64) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Notes a packet acknowledged for the first time.
    pub(crate) const fn on_packet_acked(&mut self) {
        self.acked = self.acked.saturating_add(1);
    }

    /// Notes packets reported as marked.
    pub(crate) const fn on_packets_marked(&mut self, packets: u32) {
        self.marked = self.marked.saturating_add(packets);
    }

    /// Ends an acknowledgement, after which `in_flight` packets are in flight. Returns whether it
    /// ended a window of data.
    pub(crate) fn on_ack(&mut self, in_flight: u32) -> bool {
        if self.acked == 0 || self.acked < self.window {
            return false;
        }
        self.end_window();
        self.window = in_flight;
        true
    }

    /// Takes the fraction of a window that ends into the average. Nothing happens if no packet has
    /// been acknowledged in it.
    pub(crate) fn end_window(&mut self) {
        if self.acked == 0 {
            return;
        }
        // Without exact reports, marks may outnumber the packets.
        let latest = (f64::from(self.marked) / f64::from(self.acked)).min(1.0);
        self.average = match self.steps {
            None => self.average + self.gain * (latest - self.average),
            Some(steps) => {
                let (average, latest) = (self.average * steps, latest * steps);
                let decay = (self.gain * average).floor();
                let left = if decay > 0.0 { average - decay } else { 0.0 };
                (left + (self.gain * latest).floor()).min(steps) / steps
            }
        };
        self.acked = 0;
        self.marked = 0;
    }

    /// Returns the average, from 0 to 1.
    pub(crate) const fn average(&self) -> f64 {
        self.average
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of `acked` packets, `marked` of them marked, with one in flight after it.
    fn window(fraction: &mut MarkedFraction, acked: u32, marked: u32) -> f64 {
        for _ in 0..acked {
            fraction.on_packet_acked();
        }
        fraction.on_packets_marked(marked);
        assert!(fraction.on_ack(1));
        fraction.average()
    }

    /// Step 6: alpha (1 - g) + g M.
    #[test]
    fn rfc8257_3_3_it_is_a_moving_average() {
        let mut fraction = MarkedFraction::new(0.25, 1.0);
        assert_eq!(window(&mut fraction, 10, 0), 0.75);
        assert_eq!(window(&mut fraction, 10, 10), 0.8125);
        assert_eq!(window(&mut fraction, 10, 5), 0.734_375);
    }

    #[test]
    fn rfc8257_3_3_a_window_ends_when_what_was_in_flight_is_acknowledged() {
        let mut fraction = MarkedFraction::new(0.5, 0.0);
        fraction.on_packet_acked();
        assert!(fraction.on_ack(3), "the first acknowledgement ends one");
        fraction.on_packets_marked(1);
        let ends: Vec<_> = (0..4)
            .map(|_| {
                fraction.on_packet_acked();
                fraction.on_ack(7)
            })
            .collect();
        assert_eq!(ends, [false, false, true, false]);
        assert_eq!(fraction.average(), 0.5 / 3.0);
    }

    #[test]
    fn an_acknowledgement_of_nothing_ends_no_window() {
        let mut fraction = MarkedFraction::new(0.5, 1.0);
        assert!(!fraction.on_ack(0));
        assert_eq!(fraction.average(), 1.0);
    }

    /// "DCTCP.Alpha MUST be clamped after an update."
    #[test]
    fn rfc8257_4_2_it_is_at_most_one() {
        for mut fraction in [
            MarkedFraction::new(0.5, 1.0),
            MarkedFraction::new(0.5, 1.0).in_steps(1024.0),
        ] {
            assert_eq!(window(&mut fraction, 10, 20), 1.0);
        }
    }

    /// "A scaling implementation SHOULD ensure that DCTCP.Alpha is able to reach 0 once it falls
    /// below the smallest shifted value."
    #[test]
    fn rfc8257_4_2_in_steps_it_reaches_zero() {
        let mut fraction = MarkedFraction::new(1.0 / 16.0, 17.0 / 1024.0).in_steps(1024.0);
        assert_eq!(window(&mut fraction, 10, 0), 16.0 / 1024.0);
        assert_eq!(window(&mut fraction, 10, 0), 15.0 / 1024.0);
        assert_eq!(window(&mut fraction, 10, 0), 0.0);
        // One mark among 100 packets is less than a step.
        assert_eq!(window(&mut fraction, 100, 1), 0.0);
        // 64 / 3, rounded down.
        assert_eq!(window(&mut fraction, 3, 1), 21.0 / 1024.0);
    }
}
