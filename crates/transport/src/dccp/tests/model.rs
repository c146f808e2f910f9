//! A literal transcription of the pseudocode in RFC 4340 section 8.5, compared with a connection
//! packet by packet.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// The socket variables of section 8.5, as plain numbers far from any wrap, and W = 100.
#[derive(Debug)]
struct Socket {
    is_server: bool,
    state: State,
    iss: i64,
    isr: i64,
    osr: i64,
    gss: i64,
    gsr: i64,
    gar: i64,
}

/// The effect of a packet, as far as the pseudocode defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    Sync(i64),
    SyncAck(i64),
    Response,
    Close,
    ResetClosed,
}

impl Socket {
    fn receive(&mut self, kind: PacketType, seqno: i64, ackno: Option<i64>) -> Effect {
        use PacketType::*;
        let swl = (self.gsr + 1 - 25).max(self.isr);
        let awl = (self.gss + 1 - 100).max(self.iss);
        let (swh, awh) = (self.gsr + 75, self.gss);
        // Step 5.
        if matches!(kind, Sync | SyncAck) {
            let ackno = ackno.unwrap();
            if !(awl <= ackno && ackno <= awh && seqno >= swl) {
                return Effect::None;
            }
            self.gsr = self.gsr.max(seqno);
        }
        // Step 6. Packets accepted by step 5 pass.
        let (mut lswl, mut lawl) = (swl, awl);
        if matches!(kind, CloseReq | Close | Reset) {
            (lswl, lawl) = (self.gsr + 1, self.gar);
        }
        let passed = matches!(kind, Sync | SyncAck);
        let valid = lswl <= seqno && seqno <= swh;
        let valid = valid && ackno.is_none_or(|ackno| lawl <= ackno && ackno <= awh);
        if !(passed || valid) {
            return Effect::Sync(if kind == Reset { self.gsr } else { seqno });
        }
        self.gsr = self.gsr.max(seqno);
        if let Some(ackno) = ackno
            && kind != Sync
        {
            self.gar = self.gar.max(ackno);
        }
        // Step 7.
        let open = self.state >= State::Open;
        let unexpected = [
            self.is_server && kind == CloseReq,
            self.is_server && kind == Response,
            !self.is_server && kind == Request,
            open && kind == Request && seqno >= self.osr,
            open && kind == Response && seqno >= self.osr,
            self.state == State::Respond && kind == Data,
        ];
        if unexpected.contains(&true) {
            return Effect::Sync(seqno);
        }
        // Steps 9 and 11.
        if kind == Reset {
            self.state = State::TimeWait;
            return Effect::None;
        }
        if self.state == State::Respond {
            if kind == Request {
                return Effect::Response;
            }
            self.osr = seqno;
            self.state = State::Open;
        }
        // Steps 13 to 15.
        if kind == CloseReq && self.state < State::CloseReq {
            self.state = State::Closing;
            return Effect::Close;
        }
        match kind {
            Close => {
                self.state = State::Closed;
                Effect::ResetClosed
            }
            Sync => Effect::SyncAck(seqno),
            _ => Effect::None,
        }
    }
}

fn effect(sent: &[Packet]) -> Effect {
    let number = |ack: SeqNo| ack.get() as i64;
    sent.iter()
        .find_map(|packet| match packet.kind {
            Kind::Sync { ack } => Some(Effect::Sync(number(ack))),
            Kind::SyncAck { ack } => Some(Effect::SyncAck(number(ack))),
            Kind::Response { .. } => Some(Effect::Response),
            Kind::Close { .. } => Some(Effect::Close),
            Kind::Reset {
                code: ResetCode::CLOSED,
                ..
            } => Some(Effect::ResetClosed),
            Kind::Reset { .. } => panic!("{packet:?}"),
            _ => None,
        })
        .unwrap_or(Effect::None)
}

/// A packet: its type, and its numbers relative to GSR and GSS.
fn input() -> impl Strategy<Value = (u8, i64, i64)> {
    let near = |span: i64| prop_oneof![3 => -2..3i64, 2 => -span..span, 1 => Just(span)];
    let seq = prop_oneof![6 => near(30), 2 => 70..80i64, 1 => 1..4_000i64];
    let ack = prop_oneof![6 => near(10), 1 => -104..-94i64];
    // Sequence-ending types are drawn less often to keep runs long.
    let kind = prop_oneof![20 => 0u8..5, 8 => 8u8..10, 2 => 5u8..8];
    (kind, seq, ack)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// D8.5-1: the same packets lead to the same answers and states.
    #[test]
    fn agrees_with_the_pseudocode(
        side in prop_oneof![Just(Client), Just(Server)],
        responding in any::<bool>(),
        inputs in vec(input(), 1..40),
    ) {
        let mut pair = Pair::default();
        let respond = responding && side == Server;
        if respond {
            pair.run_for(millis(70));
        } else {
            pair.run_for(secs(1));
        }
        let firsts = |from| pair.log.iter().find(|sent| sent.from == from).unwrap();
        let first = |from| firsts(from).packet.seq.get() as i64;
        let mut socket = Socket {
            is_server: side == Server,
            state: pair.get(side).state(),
            iss: first(side),
            isr: first(side.other()),
            osr: pair.gss(side.other()) as i64,
            gss: pair.gss(side) as i64,
            gsr: if respond { first(Client) } else { pair.gss(side.other()) as i64 },
            gar: pair.gss(side) as i64,
        };
        if side == Server && !respond {
            // The client has not acknowledged the server's last Ack.
            socket.gar -= 1;
        }
        for (number, seq, ack) in inputs {
            if !(State::Respond..=State::Closing).contains(&socket.state) {
                break;
            }
            // Avoid the rate limit on Syncs, and the stricter checks of connections active within
            // the last three round-trip times; the time in RESPOND may count as a round-trip time.
            pair.now += if socket.state == State::Respond { millis(700) } else { secs(100) };
            let (seqno, ackno) = (socket.gsr + seq, socket.gss + ack);
            let kind = kind(number, SeqNo::new(ackno as u64));
            let ackno = kind.ack().map(|_| ackno);
            let expected = socket.receive(kind.packet_type(), seqno, ackno);
            let sent = pair.inject(side, packet(side.other(), seqno as u64, kind));
            prop_assert_eq!(effect(&sent), expected, "{:?} #{} {:?}", kind, seqno, &socket);
            prop_assert_eq!(pair.get(side).state(), socket.state, "{:?}", kind);
            socket.gss += sent.len() as i64;
        }
    }
}
