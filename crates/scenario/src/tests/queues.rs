//! Errors in queue disciplines.

use super::{QUEUE, assert_errors};

#[test]
fn errors_of_weighted_queues_name_their_field() {
    assert_errors(&[
        (
            QUEUE,
            "queue = { weighted = { queues = [] } }",
            "links[0].queue.weighted.queues",
            "0 sub-queues: between 1 and 4",
        ),
        (
            QUEUE,
            "queue = { weighted = { queues = [{ weight = 1 }, { weight = 0 }] } }",
            "links[0].queue.weighted.queues[1].weight",
            "0: between 1 and 1000",
        ),
        (
            QUEUE,
            "queue = { weighted = { queues = [{ weight = 1, queue = { drop-tail = {} } }] } }",
            "links[0].queue.weighted.queues[0].queue.drop-tail",
            "give either `packets` or `bytes`",
        ),
        (
            QUEUE,
            "queue = { weighted = { queues = [{ weight = 1, queue = { weighted = { queues = [] } } }] } }",
            "links[0].queue.weighted.queues[0].queue",
            "a weighted queue has no weighted sub-queues",
        ),
    ]);
}

#[test]
fn errors_of_adaptive_red_name_their_field() {
    assert_errors(&[(
        QUEUE,
        "queue = { adaptive-red = { packets = 9, max_p = 1.5 } }",
        "links[0].queue.adaptive-red.max_p",
        "1.5 is not a probability",
    )]);
}

#[test]
fn errors_of_red_name_their_field() {
    assert_errors(&[
        (
            QUEUE,
            "queue = { red = {} }",
            "links[0].queue.red",
            "give either `packets` or `bytes`",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, min_threshold = 7, max_threshold = 5 } }",
            "links[0].queue.red.max_threshold",
            "5 is not above `min_threshold`, 7",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, max_threshold = 5 } }",
            "links[0].queue.red.max_threshold",
            "give `min_threshold` too",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, min_threshold = nan } }",
            "links[0].queue.red.min_threshold",
            "NaN: give a finite number",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, weight = 0.0 } }",
            "links[0].queue.red.weight",
            "a weight is above 0",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, weight = 0.5, time_constant = \"1 s\" } }",
            "links[0].queue.red.time_constant",
            "give either `weight` or `time_constant`",
        ),
        (
            QUEUE,
            "queue = { red = { packets = 9, mean_packet = \"0 B\" } }",
            "links[0].queue.red.mean_packet",
            "0 B is not a packet",
        ),
    ]);
}

#[test]
fn errors_of_fq_codel_name_their_field() {
    assert_errors(&[(
        QUEUE,
        "queue = { fq-codel = { flows = 0 } }",
        "links[0].queue.fq-codel.flows",
        "0 queues: between 1 and 65536",
    )]);
}

#[test]
fn errors_of_codel_name_their_field() {
    assert_errors(&[(
        QUEUE,
        "queue = { codel = { packets = 9, interval = \"5 ms\" } }",
        "links[0].queue.codel.interval",
        "5 ms is not above `target`, 5 ms",
    )]);
}

#[test]
fn errors_of_pie_name_their_field() {
    assert_errors(&[
        (
            QUEUE,
            "queue = { pie = { packets = 9, update = \"0 s\" } }",
            "links[0].queue.pie.update",
            "0 s between updates",
        ),
        (
            QUEUE,
            "queue = { pie = { packets = 9, mark_p = 0 } }",
            "links[0].queue.pie.mark_p",
            "0 is not a probability: above 0 and up to 1",
        ),
        (
            QUEUE,
            "queue = { pie = { packets = 9, mark_p = 1.1 } }",
            "links[0].queue.pie.mark_p",
            "1.1 is not a probability",
        ),
    ]);
}

#[test]
fn errors_of_dualpi2_name_their_field() {
    assert_errors(&[
        (
            QUEUE,
            "queue = { dualpi2 = { packets = 9, k = 0 } }",
            "links[0].queue.dualpi2.k",
            "0 couples nothing: above 0 (RFC 9332 recommends 2)",
        ),
        (
            QUEUE,
            "queue = { dualpi2 = { packets = 9, t_update = \"0 s\" } }",
            "links[0].queue.dualpi2.t_update",
            "0 s between updates",
        ),
    ]);
}

#[test]
fn errors_of_queues_name_their_field() {
    assert_errors(&[
        (
            "packets = 20",
            "packets = 0",
            "links[0].queue.drop-tail.packets",
            "a queue of 0",
        ),
        (
            "packets = 20",
            "",
            "links[0].queue.drop-tail",
            "give either",
        ),
        (
            QUEUE,
            "queue = { blue = {} }",
            "links[0].queue",
            "\"blue\" is not a known queue discipline: use adaptive-red",
        ),
    ]);
}
