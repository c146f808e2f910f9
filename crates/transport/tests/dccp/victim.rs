//! A client with a lying server: the server knows all numbers, so its packets are accepted, and it
//! puts into them whatever a test wants.

use std::iter;

use skywave_transport::Driven;
use skywave_transport::dccp::{Ccid, Config, Connection, Event, State, Stats, WindowStats};
use skywave_units::{Duration, Instant};
use skywave_wire::dccp::{DccpOption, FeatureNumber, FeatureSide, Kind, Packet, ResetCode, SeqNo};
use skywave_wire::{Checksum, Ecn, Payload};

use crate::network::{CLIENT_PORT, SERVER_PORT, seeded};

pub(crate) const MILLISECOND: Duration = Duration::from_millis(1);

/// A client in OPEN state, and what its lying server knows.
pub(crate) struct Victim {
    pub(crate) end: Driven<Connection>,
    pub(crate) now: Instant,
    pub(crate) deadline: Option<Instant>,
    /// The number of the liar's next packet.
    pub(crate) next: SeqNo,
    /// The numbers of the client's first packet and of its latest.
    pub(crate) iss: SeqNo,
    pub(crate) gss: SeqNo,
    /// The ECN bits of packets that the client has sent and the liar has not reported.
    pub(crate) unreported: Vec<Ecn>,
}

pub(crate) fn change(side: FeatureSide, feature: u8, value: &[u8]) -> DccpOption {
    DccpOption::Change {
        side,
        feature: FeatureNumber(feature),
        value: value.into(),
    }
}

pub(crate) fn confirm(side: FeatureSide, feature: u8, value: &[u8]) -> DccpOption {
    DccpOption::Confirm {
        side,
        feature: FeatureNumber(feature),
        value: value.into(),
    }
}

impl Victim {
    /// The state after a correct handshake. Numbers are always long.
    pub(crate) fn new(config: Config) -> Self {
        Self::seeded(config, 1)
    }

    /// As [`new`](Self::new), with random numbers from `seed`.
    pub(crate) fn seeded(config: Config, seed: u64) -> Self {
        let mut victim = Self::in_request_seeded(config, seed);
        let agreed = [confirm(
            FeatureSide::Local,
            FeatureNumber::SEND_ACK_VECTOR.0,
            &[1],
        )];
        let service = Default::default();
        let ack = victim.gss;
        victim.say(Kind::Response { ack, service }, &agreed);
        victim.say(Kind::Ack { ack: victim.gss }, &[]);
        assert_eq!(victim.state(), State::Open);
        victim
    }

    pub(crate) fn in_request(config: Config) -> Self {
        Self::in_request_seeded(config, 1)
    }

    fn in_request_seeded(config: Config, seed: u64) -> Self {
        let now = Instant::ZERO + Duration::from_secs(1_000);
        let client = Connection::client(config, CLIENT_PORT, SERVER_PORT, now, seeded(seed));
        let mut victim = Self {
            end: Driven::new(client),
            now,
            deadline: None,
            next: SeqNo::new(1 << 20),
            iss: SeqNo::ZERO,
            gss: SeqNo::ZERO,
            unreported: Vec::new(),
        };
        let sent = victim.drain();
        victim.iss = sent.first().expect("a Request").seq;
        victim
    }

    pub(crate) fn state(&self) -> State {
        self.end.get().state()
    }

    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        let unreported = &mut self.unreported;
        let (sent, deadline) = self.end.drain(self.now, |mut drain| {
            let mut sent = Vec::new();
            while sent.len() < 1_000
                && let Some(transmit) = drain.transmit()
            {
                unreported.push(transmit.ecn);
                sent.push(transmit.packet);
            }
            assert!(sent.len() < 1_000, "it never stops sending");
            drain.finish().map(|deadline| (sent, deadline))
        });
        self.deadline = deadline;
        for packet in &sent {
            assert!(packet.to_bytes(Checksum::Ignored).is_ok(), "{packet}");
        }
        if let Some(last) = sent.last() {
            self.gss = last.seq;
        }
        sent
    }

    /// The liar's next packet.
    pub(crate) fn packet(&mut self, kind: Kind, options: &[DccpOption]) -> Packet {
        let seq = self.next;
        self.next = seq.next();
        Packet {
            source_port: SERVER_PORT,
            destination_port: CLIENT_PORT,
            ccval: 0,
            cscov: 0,
            extended: true,
            seq,
            kind,
            options: options.iter().cloned().collect(),
            payload: Payload::EMPTY,
        }
    }

    pub(crate) fn hear(&mut self, packet: Packet) -> Vec<Packet> {
        self.end
            .receive(self.now, Ecn::Ect0, packet, |drain| drain.postpone());
        self.check();
        self.drain()
    }

    pub(crate) fn say(&mut self, kind: Kind, options: &[DccpOption]) -> Vec<Packet> {
        let packet = self.packet(kind, options);
        self.hear(packet)
    }

    /// An Ack of everything with these options.
    pub(crate) fn acknowledge(&mut self, options: &[DccpOption]) -> Vec<Packet> {
        self.say(Kind::Ack { ack: self.gss }, options)
    }

    /// Performs an action of the application; the consequences are left for [`drain`](Self::drain).
    pub(crate) fn apply<T>(&mut self, action: impl FnOnce(&mut Connection) -> T) -> T {
        let (answer, ()) = self.end.apply(self.now, action, |drain| drain.postpone());
        answer
    }

    pub(crate) fn send(&mut self, count: u32) -> Vec<Packet> {
        for _ in 0..count {
            let _ = self.apply(|end| end.send(Payload::Synthetic(100)));
        }
        self.drain()
    }

    pub(crate) fn wait(&mut self, time: Duration) -> Vec<Packet> {
        let end = self.now + time;
        let mut sent = Vec::new();
        while let Some(at) = self.deadline.filter(|&at| at <= end) {
            self.now = self.now.max(at);
            self.end.expire(self.now, |drain| drain.postpone());
            sent.extend(self.drain());
            assert!(
                self.deadline.is_none_or(|at| at > self.now),
                "a timer in the past"
            );
        }
        self.now = end;
        sent
    }

    pub(crate) fn events(&mut self) -> Vec<Event> {
        self.apply(|end| iter::from_fn(|| end.event()).collect())
    }

    /// Checks that congestion control believes nothing impossible: pipe and cwnd stay within what
    /// was sent.
    fn check(&self) {
        let stats = self.end.get().stats();
        let sent = stats.counters.data_packets_sent;
        let window = window(&stats);
        assert!(u64::from(window.pipe) <= sent, "{stats:?}");
        assert!(window.cwnd <= 4.0 + sent as f64, "{stats:?}");
        assert!(window.lost <= sent && window.marked <= sent, "{stats:?}");
    }
}

/// The window of a victim; all run CCID 2.
pub(crate) fn window(stats: &Stats) -> WindowStats {
    *stats.congestion.window().unwrap()
}

/// A configuration that accepts CCID 2 only.
pub(crate) fn tcp_like() -> Config {
    Config {
        sender_ccids: vec![Ccid::TCP_LIKE],
        receiver_ccids: vec![Ccid::TCP_LIKE],
        ..Config::default()
    }
}

pub(crate) fn reset_code(sent: &[Packet]) -> Option<ResetCode> {
    sent.iter().find_map(|packet| match packet.kind {
        Kind::Reset { code, .. } => Some(code),
        _ => None,
    })
}
