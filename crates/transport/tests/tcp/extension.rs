//! A user-defined header extension: numbers encoded in the checksum, and an answer in a flag.

use std::sync::{Arc, Mutex};

use skywave_congestion::{Ack, AckedPacket, Control, Interests, Loss};
use skywave_transport::tcp::{
    Header, Ports, Receiver, ReceiverConfig, ReceiverExtension, Sender, SenderConfig,
    SenderControl, SenderExtension,
};
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::tcp::Flags;

use crate::network::{Direction, Fate, Link, Network, Seen};

/// What the two halves have seen.
#[derive(Debug, Default)]
struct Log {
    /// The numbers that arrived at the receiver.
    numbers: Vec<u8>,
    /// The echo reported to the sender for each segment.
    echoes: Vec<Ecn>,
    /// The values of `next` and `ack` passed to the halves.
    constants: Vec<u32>,
}

/// Numbers its segments from 1 on, by checksum offsets.
struct Numbering {
    next: u8,
    log: Arc<Mutex<Log>>,
}

impl Control for Numbering {
    fn interests(&self) -> Interests {
        Interests {
            packets: true,
            ..Interests::default()
        }
    }
    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        self.log.lock().unwrap().echoes.push(packet.ecn);
    }
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_loss(&mut self, loss: &Loss) {
        panic!("nothing was lost: {loss:?}");
    }
    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}
    fn limit_cwnd(&mut self, _limit: f64) {}
    fn cwnd(&self) -> f64 {
        5.0
    }
}

impl SenderExtension for Numbering {
    fn write(&mut self, header: Header) -> (Header, Ecn) {
        assert_eq!(header.checksum_offset, 0);
        let numbered = Header {
            checksum_offset: self.next,
            ..header
        };
        self.next += 1;
        (numbered, Ecn::Ect1)
    }

    fn read(&mut self, _now: Instant, header: Header, next: u32) -> Header {
        assert_eq!(header.seq, next);
        self.log.lock().unwrap().constants.push(next);
        header
    }

    fn echo(&self, flags: Flags) -> Ecn {
        if flags.contains(Flags::URG) {
            Ecn::Ce
        } else {
            Ecn::Ect1
        }
    }
}

/// Reads the numbers, and answers odd ones with a flag that TCP here ignores.
#[derive(Debug)]
struct Reading {
    is_odd: bool,
    log: Arc<Mutex<Log>>,
}

impl ReceiverExtension for Reading {
    fn read(&mut self, header: Header, ack: u32) -> Header {
        let number = header.checksum_offset;
        if number == 0 {
            return header;
        }
        assert_eq!(header.ack, ack);
        self.is_odd = number % 2 == 1;
        self.log.lock().unwrap().numbers.push(number);
        Header {
            checksum_offset: 0,
            ..header
        }
    }

    fn on_data(&mut self, _ecn: Ecn) {}

    fn acks_at_once(&self) -> bool {
        true
    }

    fn write(&mut self, header: Header) -> Header {
        assert!(!header.flags.contains(Flags::SYN));
        let flags = if self.is_odd {
            Flags::URG
        } else {
            Flags::default()
        };
        Header {
            flags: header.flags.union(flags),
            ..header
        }
    }
}

#[test]
fn what_one_half_writes_the_other_one_reads() {
    const SEGMENTS: u8 = 100;
    let log = Arc::new(Mutex::new(Log::default()));
    let (local, remote) = (1, 2);
    let config = SenderConfig {
        segment_size: 1000,
        ..SenderConfig::default()
    };
    let control = SenderControl::Extended(Box::new(Numbering {
        next: 1,
        log: log.clone(),
    }));
    let sender = Sender::new(config, control, Ports { local, remote }, 1);
    let ports = Ports {
        local: remote,
        remote: local,
    };
    let reading = Reading {
        is_odd: false,
        log: log.clone(),
    };
    let receiver =
        Receiver::new(ReceiverConfig::default(), ports, 2).with_extension(Box::new(reading));
    let link = || Link::new("10 Mbps", "10 ms");
    let fate = |_: Direction, _, _: &_| Fate::Pass;
    let mut network = Network::new(sender, receiver, link(), link(), fate);
    let mut data_sent = Vec::new();
    let mut see = |_, seen: Seen<'_>| {
        if let Seen::Sent(segment) = seen
            && !segment.payload.is_empty()
        {
            data_sent.push(segment.checksum_offset);
        }
    };
    network.apply(&mut see, |sender| {
        sender.write(u64::from(SEGMENTS) * 1000).unwrap();
        sender.close();
    });
    network.run(Instant::ZERO + Duration::from_secs(100), &mut see);
    assert!(network.sender.get().is_over());
    let numbers: Vec<_> = (1..=SEGMENTS).collect();
    assert_eq!(data_sent, numbers);
    let log = log.lock().unwrap();
    assert_eq!(log.numbers, numbers);
    // One acknowledgement per segment, regardless of the receiver's delay.
    let echoes = numbers.iter().map(|number| match number % 2 {
        0 => Ecn::Ect1,
        _ => Ecn::Ce,
    });
    assert!(log.echoes.iter().copied().eq(echoes), "{:?}", log.echoes);
    assert_eq!(log.constants.len(), usize::from(SEGMENTS));
}
