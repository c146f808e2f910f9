//! The throughput equation (RFC 5348 section 3.1), with b = 1 and t_RTO = 4 R.

/// The search range of loss event rates is from this value to 1.
const SMALLEST_P: f64 = 1e-15;

/// Returns f(p) of RFC 5348 section 8.1: with loss event rate `p`, a sender sends one packet per
/// f(p) round-trip times.
pub fn response(p: f64) -> f64 {
    (2.0 * p / 3.0).sqrt() + 12.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p)
}

/// Returns X_Bps: the bytes per second of a TCP with segments of `s` bytes, a round-trip time of
/// `rtt` seconds and loss event rate `p`; infinite if `p` is zero.
pub fn throughput(s: f64, rtt: f64, p: f64) -> f64 {
    s / (rtt * response(p))
}

/// Inverts the equation: returns the loss event rate at which the equation gives `packets` packets
/// per round-trip time, between 1e-15 and 1. Exact up to rounding, although section 6.3.1 permits
/// an error of 5 %.
pub fn loss_event_rate(packets: f64) -> f64 {
    let wanted = 1.0 / packets;
    let (mut low, mut high) = (SMALLEST_P, 1.0);
    // f increases with p. The interval spans 15 decades; each step halves its logarithm.
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if response(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// T-1: the equation of section 3.1 with its two square roots worked out by hand (six digits),
    /// for s = 1460 bytes and R = 100 ms.
    ///
    /// p = 0.01: sqrt(0.00666667) = 0.0816497; sqrt(0.00375) = 0.0612372, times 12 * 0.01 * 1.0032 =
    /// 0.120384, is 0.00737198; 1460 / (0.1 * 0.0890216) = 164005.
    /// p = 0.0001: 0.00816497 + 12 * 0.00612372 * 0.0001 * 1.00000032 = 0.00817231; 1786520.
    /// p = 0.1: 0.258199 + 12 * 0.193649 * 0.1 * 1.32 = 0.306740; sum 0.564939; 25843.5.
    /// p = 1: 0.816497 + 12 * 0.612372 * 33 = 242.499; sum 243.316; 60.0043.
    #[test]
    fn t_1_throughput_by_hand() {
        for (p, by_hand) in [
            (0.0001, 1_786_520.0),
            (0.01, 164_005.0),
            (0.1, 25_843.5),
            (1.0, 60.0043),
        ] {
            let x = throughput(1460.0, 0.1, p);
            assert!((x / by_hand - 1.0).abs() < 1e-5, "p = {p}: {x}");
            assert_eq!(throughput(1460.0, 0.2, p), x / 2.0);
            assert_eq!(throughput(730.0, 0.1, p), x / 2.0);
        }
        assert_eq!(throughput(1460.0, 0.1, 0.0), f64::INFINITY);
    }

    /// T-16: the ends of the range.
    #[test]
    fn t_16_inverse_has_bounds() {
        assert_eq!(loss_event_rate(0.0), 1.0);
        assert_eq!(loss_event_rate(1e-9), 1.0);
        assert!(loss_event_rate(1e12) <= 2.0 * SMALLEST_P);
        assert!(loss_event_rate(f64::INFINITY) <= 2.0 * SMALLEST_P);
    }

    proptest! {
        /// T-16: the error is far below the 5 % that section 6.3.1 allows.
        #[test]
        fn t_16_inverse_gives_the_rate_back(packets in 0.005f64..1e6) {
            let p = loss_event_rate(packets);
            let back = throughput(1.0, 1.0, p);
            prop_assert!((back / packets - 1.0).abs() < 1e-9, "{} is not {}", back, packets);
        }
    }
}
