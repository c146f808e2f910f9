//! RFC 5348 section 5.4: loss event rates of loss intervals, computed by hand.

use skywave_congestion::tfrc::loss_event_rate;

#[test]
fn rfc5348_5_4_the_mean_is_weighted_and_counts_the_current_interval_only_if_that_is_longer() {
    // The eight weights are 1, 1, 1, 1, 0.8, 0.6, 0.4 and 0.2, which add up to 6.
    for (lengths, mean) in [
        (&[25.0][..], 25.0),
        (&[5.0, 20.0], 20.0),
        (&[100.0, 20.0], 100.0),
        (&[30.0, 10.0, 99.0], 109.0 / 2.0),
        // Without the current one: 10 (1 + 1 + 1 + 1 + 0.8 + 0.6) + 0.4 * 31 + 0.2 * 20.
        (
            &[4.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 31.0, 20.0],
            70.4 / 6.0,
        ),
        // With it: 60 + 10 (1 + 1 + 1 + 0.8 + 0.6 + 0.4) + 0.2 * 31.
        (
            &[60.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 31.0, 20.0],
            114.2 / 6.0,
        ),
        // A tenth interval is too old.
        (
            &[4.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 31.0, 20.0, 1e9],
            70.4 / 6.0,
        ),
    ] {
        let p = loss_event_rate(lengths);
        assert!((p * mean - 1.0).abs() < 1e-12, "{p} of {lengths:?}");
    }
}

#[test]
fn it_is_a_fraction() {
    assert_eq!(loss_event_rate(&[]), 0.0, "nothing was lost");
    assert_eq!(loss_event_rate(&[0.5]), 1.0);
}
