//! DCCP packets of every type, with every option that tshark knows.

use skywave_wire::dccp::{
    self, DccpOption, ElapsedTime, FeatureNumber, FeatureSide, Kind, LossInterval, OptionList,
    Packet, ResetCode, SeqNo, ServiceCode,
};
use skywave_wire::{Checksum, Ecn, Payload};
use smallvec::smallvec;

use super::{CHECKSUM_GOOD, capture, is_installed, pairs, tshark};
use crate::support;

fn packet(kind: Kind, options: OptionList, payload: u32) -> Packet {
    Packet {
        source_port: 40_001,
        destination_port: 40_002,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq: SeqNo::new(0xfedc_ba98_7654),
        kind,
        options,
        payload: Payload::from(vec![0x5a; payload as usize]),
    }
}

/// At least one packet of every type; together they carry every option.
fn packets() -> Vec<Packet> {
    let (ack, service) = (SeqNo::new(0x1234_5678_9abc), ServiceCode(1_717_858_426));
    let change = |side, feature, value: &[u8]| DccpOption::Change {
        side,
        feature,
        value: value.into(),
    };
    let confirm = |side, feature, value: &[u8]| DccpOption::Confirm {
        side,
        feature,
        value: value.into(),
    };
    let (local, remote) = (FeatureSide::Local, FeatureSide::Remote);
    let mut all = vec![
        packet(
            Kind::Request { service },
            smallvec![
                change(local, FeatureNumber::CCID, &[2, 3]),
                DccpOption::Mandatory,
                change(local, FeatureNumber::ECN_INCAPABLE, &[1]),
                change(
                    remote,
                    FeatureNumber::SEQUENCE_WINDOW,
                    &[0, 0, 0, 0, 0, 100]
                ),
                DccpOption::Timestamp(0xdead_beef),
            ],
            5,
        ),
        packet(
            Kind::Response { ack, service },
            smallvec![
                confirm(remote, FeatureNumber::CCID, &[3, 3, 2]),
                confirm(local, FeatureNumber::SEND_ACK_VECTOR, &[1]),
                DccpOption::InitCookie(smallvec![1, 2, 3, 4, 5]),
                DccpOption::TimestampEcho {
                    echo: 0xdead_beef,
                    elapsed: Some(ElapsedTime::Long(70_000))
                },
            ],
            0,
        ),
        packet(Kind::Data, smallvec![DccpOption::ndp_count(0x01_0203)], 201),
        packet(
            Kind::Ack { ack },
            smallvec![
                DccpOption::AckVector {
                    nonce: true,
                    cells: smallvec![0x00, 0xc0, 0x3f, 0x41]
                },
                DccpOption::DataDropped(smallvec![0x00, 0xb1]),
                DccpOption::ElapsedTime(ElapsedTime::Short(65_535)),
            ],
            0,
        ),
        packet(
            Kind::DataAck { ack },
            smallvec![
                DccpOption::SlowReceiver,
                DccpOption::AckVector {
                    nonce: false,
                    cells: smallvec![0x3f]
                },
                DccpOption::ndp_count(7),
            ],
            1400,
        ),
        packet(
            Kind::Ack { ack },
            smallvec![
                DccpOption::ElapsedTime(ElapsedTime::Long(65_536)),
                DccpOption::LossEventRate(17),
                DccpOption::LossIntervals {
                    skip_length: 1,
                    intervals: smallvec![LossInterval {
                        lossless_length: 0x01_0203,
                        nonce: true,
                        loss_length: 0x04_0506,
                        data_length: 0x07_0809,
                    }],
                },
                DccpOption::ReceiveRate(125_000),
            ],
            0,
        ),
        packet(Kind::CloseReq { ack }, OptionList::new(), 0),
        packet(
            Kind::Close { ack },
            smallvec![DccpOption::TimestampEcho {
                echo: 8,
                elapsed: None
            }],
            0,
        ),
        packet(
            Kind::Reset {
                ack,
                code: ResetCode::MANDATORY_ERROR,
                data: [32, 4, 9],
            },
            OptionList::new(),
            11,
        ),
        packet(
            Kind::Sync { ack },
            smallvec![DccpOption::Mandatory, DccpOption::ndp_count(0)],
            0,
        ),
        packet(Kind::SyncAck { ack }, OptionList::new(), 0),
        packet(Kind::Listen { service }, OptionList::new(), 0),
    ];
    // 24-bit numbers, CCVal, and every coverage of the checksum.
    for cscov in 0..16 {
        for kind in [Kind::Data, Kind::Ack { ack }, Kind::DataAck { ack }] {
            let mut short = packet(kind, OptionList::new(), 57);
            short.options.push(short.data_checksum());
            (short.ccval, short.cscov) = (cscov, cscov);
            support::shorten(&mut short);
            all.push(short);
        }
    }
    all
}

/// The values of all options of one kind, joined as in tshark's output.
fn joined<T: ToString>(packet: &Packet, value: impl Fn(&DccpOption) -> Option<T>) -> String {
    let values: Vec<_> = packet
        .options
        .iter()
        .filter_map(|o| Some(value(o)?.to_string()))
        .collect();
    values.join(",")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

type Expected = fn(&Packet) -> String;

/// tshark's fields, with the expected value of each for a packet.
fn fields() -> Vec<(&'static str, Expected)> {
    vec![
        ("dccp.srcport", |p| p.source_port.to_string()),
        ("dccp.dstport", |p| p.destination_port.to_string()),
        ("dccp.type", |p| (p.kind.packet_type() as u8).to_string()),
        ("dccp.checksum.status", |_| CHECKSUM_GOOD.into()),
        ("dccp.data_offset", |p| (p.header_len() / 4).to_string()),
        ("dccp.ccval", |p| p.ccval.to_string()),
        ("dccp.cscov", |p| p.cscov.to_string()),
        ("dccp.x", |p| u8::from(p.extended).to_string()),
        // tshark has separate fields for 48-bit ("raw") and 24-bit numbers.
        ("dccp.seq_raw", |p| {
            if p.extended {
                p.seq.to_string()
            } else {
                String::new()
            }
        }),
        ("dccp.seq", |p| {
            if p.extended {
                String::new()
            } else {
                p.seq.to_string()
            }
        }),
        ("dccp.ack_raw", |p| {
            p.kind.ack().map_or(String::new(), |ack| ack.to_string())
        }),
        ("dccp.service_code", |p| match p.kind {
            Kind::Request { service } | Kind::Response { service, .. } => service.0.to_string(),
            _ => String::new(),
        }),
        ("dccp.reset_code", |p| match p.kind {
            Kind::Reset { code, .. } => code.0.to_string(),
            _ => String::new(),
        }),
        ("dccp.data1", |p| reset_data(p, 0)),
        ("dccp.data2", |p| reset_data(p, 1)),
        ("dccp.data3", |p| reset_data(p, 2)),
        ("dccp.option_type", |p| {
            let length: usize = p.options.iter().map(DccpOption::encoded_len).sum();
            let padding = vec!["0".to_owned(); length.next_multiple_of(4) - length];
            let types = p
                .options
                .iter()
                .map(|option| option.option_type().0.to_string());
            types.chain(padding).collect::<Vec<_>>().join(",")
        }),
        ("dccp.feature_number", |p| {
            joined(p, |option| match option {
                DccpOption::Change { feature, .. } | DccpOption::Confirm { feature, .. } => {
                    Some(feature.0)
                }
                _ => None,
            })
        }),
        ("dccp.init_cookie", |p| {
            joined(p, |o| {
                if let DccpOption::InitCookie(c) = o {
                    Some(hex(c))
                } else {
                    None
                }
            })
        }),
        ("dccp.ndp_count", |p| {
            joined(p, |o| {
                if let DccpOption::NdpCount { count, .. } = o {
                    Some(*count)
                } else {
                    None
                }
            })
        }),
        ("dccp.ack_vector.nonce_0", |p| cells(p, false)),
        ("dccp.ack_vector.nonce_1", |p| cells(p, true)),
        ("dccp.data_dropped", |p| {
            joined(p, |o| {
                if let DccpOption::DataDropped(b) = o {
                    Some(hex(b))
                } else {
                    None
                }
            })
        }),
        ("dccp.timestamp", |p| {
            joined(p, |o| {
                if let DccpOption::Timestamp(t) = o {
                    Some(*t)
                } else {
                    None
                }
            })
        }),
        ("dccp.timestamp_echo", |p| {
            joined(p, |o| {
                if let DccpOption::TimestampEcho { echo, .. } = o {
                    Some(*echo)
                } else {
                    None
                }
            })
        }),
        ("dccp.elapsed_time", |p| {
            joined(p, |option| match option {
                DccpOption::TimestampEcho {
                    elapsed: Some(elapsed),
                    ..
                }
                | DccpOption::ElapsedTime(elapsed) => Some(elapsed.units()),
                _ => None,
            })
        }),
        ("dccp.checksum_data", |p| {
            joined(p, |o| {
                if let DccpOption::DataChecksum(c) = o {
                    Some(format!("{c:#010x}"))
                } else {
                    None
                }
            })
        }),
        ("dccp.ccid3_loss_event_rate", |p| {
            joined(p, |o| {
                if let DccpOption::LossEventRate(r) = o {
                    Some(*r)
                } else {
                    None
                }
            })
        }),
        ("dccp.ccid3_receive_rate", |p| {
            joined(p, |o| {
                if let DccpOption::ReceiveRate(r) = o {
                    Some(*r)
                } else {
                    None
                }
            })
        }),
        ("dccp.ccid3_loss_intervals", |p| {
            joined(p, |option| match option {
                DccpOption::LossIntervals { .. } => Some("01010203840506070809"),
                _ => None,
            })
        }),
        ("dccp.option.len.bad", |_| String::new()),
        ("_ws.malformed", |_| String::new()),
        ("_ws.expert.message", |_| String::new()),
    ]
}

fn reset_data(packet: &Packet, index: usize) -> String {
    match packet.kind {
        Kind::Reset { data, .. } => data[index].to_string(),
        _ => String::new(),
    }
}

fn cells(packet: &Packet, wanted: bool) -> String {
    joined(packet, |option| match option {
        DccpOption::AckVector { nonce, cells } if *nonce == wanted => Some(hex(cells)),
        _ => None,
    })
}

// D5.1-7, D5.8-1
#[test]
fn tshark_reads_dccp_as_it_was_meant() {
    if !is_installed() {
        return;
    }
    let packets: Vec<_> = packets()
        .into_iter()
        .flat_map(|packet| pairs().map(|pair| (pair, packet.clone())))
        .collect();
    let emitted: Vec<_> = packets
        .iter()
        .map(|(pair, packet)| {
            (
                *pair,
                Ecn::Ect0,
                packet.to_bytes(Checksum::Over(*pair)).unwrap().to_vec(),
            )
        })
        .collect();
    let fields = fields();
    let names: Vec<_> = fields.iter().map(|&(name, _)| name).collect();
    let rows = tshark(&capture("dccp.pcapng", dccp::IP_PROTOCOL, &emitted), &names);
    assert_eq!(rows.len(), packets.len());
    for ((_, packet), row) in packets.iter().zip(rows) {
        // tshark stops at the type of a Listen, which it does not know.
        let known = if matches!(packet.kind, Kind::Listen { .. }) {
            4
        } else {
            fields.len()
        };
        for ((name, expected), found) in fields.iter().zip(row).take(known) {
            assert_eq!(found, expected(packet), "{name} of {packet}");
        }
    }
}

#[test]
fn tshark_sees_a_wrong_checksum() {
    if !is_installed() {
        return;
    }
    let [v4, _] = pairs();
    let mut bytes = packets()[0].to_bytes(Checksum::Over(v4)).unwrap().to_vec();
    bytes[0] ^= 1;
    let path = capture(
        "wrong.pcapng",
        dccp::IP_PROTOCOL,
        &[(v4, Ecn::NotEct, bytes)],
    );
    assert_eq!(tshark(&path, &["dccp.checksum.status"]), [["0"]]);
}
