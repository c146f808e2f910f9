//! TCP segments.

use skywave_wire::tcp::{
    self, AccurateEcn, AccurateEcnOrder, Flags, SackBlock, Segment, TcpOptions, Timestamps,
};
use skywave_wire::{Checksum, Ecn, Payload};

use super::{CHECKSUM_GOOD, capture, is_installed, pairs, tshark};

fn segment(flags: Flags, options: TcpOptions, payload: u32) -> Segment {
    Segment {
        source_port: 40_001,
        destination_port: 40_002,
        seq: 4_000_000_000,
        ack: 3_000_000_000,
        flags,
        window: 1234,
        checksum_offset: 0,
        identification: 0,
        options,
        payload: Payload::Synthetic(payload),
    }
}

#[test]
fn tshark_reads_tcp_as_it_was_meant() {
    if !is_installed() {
        return;
    }
    let syn = TcpOptions {
        mss: Some(1448),
        window_scale: Some(9),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 5, echo: 6 }),
        ..TcpOptions::default()
    };
    let sack = |blocks| TcpOptions {
        sack: (0..blocks)
            .map(|i| SackBlock {
                left: 100 * i,
                right: 100 * i + 50,
            })
            .collect(),
        ..TcpOptions::default()
    };
    let cases = [
        (
            segment(Flags::SYN, syn, 0),
            ["40", "2", "1448", "9", "5", "6", "", ""],
        ),
        (
            segment(Flags::ACK.union(Flags::ECE), sack(2), 7),
            ["40", "80", "", "", "", "", "0,100", "50,150"],
        ),
        (
            segment(Flags::ACK.union(Flags::CWR), sack(4), 0),
            [
                "56",
                "144",
                "",
                "",
                "",
                "",
                "0,100,200,300",
                "50,150,250,350",
            ],
        ),
        (
            segment(Flags::ACK.union(Flags::AE), TcpOptions::default(), 1),
            ["20", "272", "", "", "", "", "", ""],
        ),
        (
            segment(Flags::ACK, TcpOptions::default(), 1001),
            ["20", "16", "", "", "", "", "", ""],
        ),
    ];
    let mut emitted = Vec::new();
    for (segment, _) in &cases {
        for pair in pairs() {
            let bytes = segment.to_bytes(Checksum::Over(pair)).unwrap();
            emitted.push((pair, Ecn::Ect1, bytes.to_vec()));
        }
    }
    let names = [
        "tcp.checksum.status",
        "_ws.malformed",
        "tcp.seq_raw",
        "tcp.ack_raw",
        "tcp.window_size_value",
        "tcp.len",
        "tcp.hdr_len",
        "tcp.flags",
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "tcp.options.timestamp.tsval",
        "tcp.options.timestamp.tsecr",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
    ];
    let rows = tshark(&capture("tcp.pcapng", tcp::IP_PROTOCOL, &emitted), &names);
    assert_eq!(rows.len(), 2 * cases.len());
    for (row, (segment, expected)) in rows
        .chunks_exact(2)
        .flatten()
        .zip(cases.iter().flat_map(|case| [case, case]))
    {
        let length = segment.payload.len().to_string();
        assert_eq!(
            row[..6],
            [
                CHECKSUM_GOOD,
                "",
                "4000000000",
                "3000000000",
                "1234",
                &length
            ]
        );
        let flags = u16::from_str_radix(row[7].trim_start_matches("0x"), 16)
            .unwrap()
            .to_string();
        assert_eq!(
            (row[6].as_str(), flags.as_str()),
            (expected[0], expected[1]),
            "{segment}"
        );
        assert_eq!(row[8..], expected[2..], "{segment}");
    }
}

#[test]
fn tshark_reads_the_counters_of_accurate_ecn() {
    if !is_installed() {
        return;
    }
    let cases = [
        (AccurateEcnOrder::Ect0First, &[1, 2, 3][..], ["1", "2", "3"]),
        (AccurateEcnOrder::Ect1First, &[1, 2, 3], ["3", "2", "1"]),
        (
            AccurateEcnOrder::Ect0First,
            &[0xff_ff_ff],
            ["16777215", "", ""],
        ),
        (AccurateEcnOrder::Ect1First, &[5, 6], ["", "6", "5"]),
    ];
    let block = SackBlock { left: 1, right: 2 };
    let mut emitted = Vec::new();
    for (order, counters, _) in &cases {
        let options = TcpOptions {
            sack: core::iter::repeat_n(block, 3).collect(),
            accurate_ecn: Some(AccurateEcn {
                order: *order,
                counters: counters.iter().copied().collect(),
            }),
            ..TcpOptions::default()
        };
        let [pair, ..] = pairs();
        let bytes = segment(Flags::ACK, options, 0).to_bytes(Checksum::Over(pair));
        emitted.push((pair, Ecn::NotEct, bytes.unwrap().to_vec()));
    }
    let names = [
        "tcp.options.acc_ecn.ee0b",
        "tcp.options.acc_ecn.eceb",
        "tcp.options.acc_ecn.ee1b",
        "_ws.malformed",
    ];
    let rows = tshark(
        &capture("accurate_ecn.pcapng", tcp::IP_PROTOCOL, &emitted),
        &names,
    );
    assert_eq!(rows.len(), cases.len());
    for (row, (.., expected)) in rows.iter().zip(&cases) {
        assert_eq!(
            (&row[..3], row[3].as_str()),
            (&expected.map(String::from)[..], "")
        );
    }
}
