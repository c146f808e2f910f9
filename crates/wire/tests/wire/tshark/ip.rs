//! IP headers, and the capture file itself.

use skywave_wire::{AddressPair, Ecn, udp};

use super::{capture, is_installed, pairs, tshark};

#[test]
fn tshark_reads_ip_and_time_as_they_were_meant() {
    if !is_installed() {
        return;
    }
    let bytes = vec![0; 50];
    let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]
        .map(|ecn| pairs().map(|pair| (pair, ecn, bytes.clone())));
    let emitted = all.concat();
    let path = capture("ip.pcapng", udp::IP_PROTOCOL, &emitted);
    let names = [
        "frame.interface_name",
        "frame.time_epoch",
        "ip.src",
        "ip.dst",
        "ip.dsfield.ecn",
        "ip.checksum.status",
        "ip.ttl",
        "ip.proto",
        "ipv6.src",
        "ipv6.dst",
        "ipv6.tclass.ecn",
        "ipv6.hlim",
        "ipv6.nxt",
    ];
    for (index, (row, (pair, ecn, _))) in tshark(&path, &names).iter().zip(&emitted).enumerate() {
        let time = format!("{index}.00000000{}", 7 * index % 10);
        let time = if 7 * index < 10 {
            time
        } else {
            format!("{index}.0000000{}", 7 * index)
        };
        let (source, destination) = (pair.source().to_string(), pair.destination().to_string());
        let ecn = ecn.bits().to_string();
        let (name, none) = ("bottleneck".to_owned(), String::new);
        let expected = match pair {
            AddressPair::V4 { .. } => {
                let ip = [
                    source,
                    destination,
                    ecn,
                    "1".into(),
                    "64".into(),
                    "17".into(),
                ];
                [vec![name, time], ip.into(), vec![none(); 5]].concat()
            }
            AddressPair::V6 { .. } => {
                let ip = [source, destination, ecn, "64".into(), "17".into()];
                [vec![name, time], vec![none(); 6], ip.into()].concat()
            }
        };
        assert_eq!(row, &expected);
    }
}
