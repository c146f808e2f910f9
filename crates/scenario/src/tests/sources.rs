//! Errors in sources.

use super::assert_errors;

#[test]
fn errors_of_cbr_name_their_field() {
    assert_errors(&[
        (
            "ftp = { datagram = \"160 B\" }",
            "cbr = { rate = \"10000 Gbps\", datagram = \"160 B\" }",
            "flows[1].source.cbr.rate",
            "10000 Gbps is more",
        ),
        (
            "ftp = { datagram = \"160 B\" }",
            "cbr = { rate = \"64 kbps\", datagram = \"1 MB\" }",
            "flows[1].source.cbr.datagram",
            "1000000 B",
        ),
        (
            "ftp = { datagram = \"160 B\" }",
            "cbr = { rate = \"64 kbps\", datagram = \"64496 B\" }",
            "flows[1].source.cbr.datagram",
            "64496 B do not fit a packet",
        ),
    ]);
}

#[test]
fn an_unknown_source_is_answered_with_those_that_are_known() {
    assert_errors(&[(
        "source = { ftp = {} }",
        "source = { webb = {} }",
        "flows[0].source",
        "\"webb\" is not a known source: use ",
    )]);
}

#[test]
fn errors_of_web_traffic_name_their_field() {
    assert_errors(&[
        (
            "source = { ftp = {} }",
            "source = { web = { think = [] } }",
            "flows[0].source.web.think",
            "give at least one part",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { think = [{ probability = 0.5, median = \"1 s\", shape = 2 }] } }",
            "flows[0].source.web.think",
            "the probabilities add up to 0.5, not to 1",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { think = [{ probability = 1.5, median = \"1 s\", shape = 2 }] } }",
            "flows[0].source.web.think[0].probability",
            "1.5: between 0 and 1",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { think = [{ probability = 1, median = \"0 s\", shape = 2 }] } }",
            "flows[0].source.web.think[0].median",
            "0 s: give a time above zero",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { think = [{ probability = 1, median = \"1 s\", shape = nan }] } }",
            "flows[0].source.web.think[0].shape",
            "NaN: give a finite number",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { size = { median = \"0 B\" } } }",
            "flows[0].source.web.size.median",
            "0 B: give a size above zero",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { size = { shape = 0 } } }",
            "flows[0].source.web.size.shape",
            "0: give a number above zero",
        ),
        (
            "source = { ftp = {} }",
            "source = { web = { datagram = \"1 MB\" } }",
            "flows[0].source.web.datagram",
            "1000000 B do not fit",
        ),
        (
            "tcp = {} }\n    source = { ftp = {} }",
            "udp = {} }\n    source = { web = {} }",
            "flows[0].source",
            "web traffic needs connections",
        ),
    ]);
}
