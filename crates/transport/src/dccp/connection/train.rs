//! Packets that come or leave together: what is the same for all of them is done once.

use std::ops::ControlFlow;

use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::dccp::{Kind, OptionList, Packet};

use super::{Connection, State};
use crate::Transmit;
use crate::dccp::ccid::{HcReceiver, HcSender, SentTrain, Train};

impl Connection {
    /// Packets have arrived together at `now`, all with `ecn` in their IP headers. It is the same as
    /// to [`receive`](crate::Endpoint::receive) them one after the other, with less work.
    pub fn receive_all(
        &mut self,
        now: Instant,
        ecn: Ecn,
        packets: impl IntoIterator<Item = Packet>,
    ) {
        let mut train = None;
        for mut packet in packets {
            if self.is_predicted(&packet) {
                self.add_to_train(now, ecn, &mut train, &packet);
                self.accept_data(&mut packet, false);
            } else {
                self.take_in(now, train.take());
                self.process(now, ecn, &mut packet);
            }
        }
        self.take_in(now, train);
    }

    /// Header prediction, as in TCP: whether this is data and nothing else, in order. Such a packet
    /// is new and passes all checks of steps 1 to 7 of RFC 4340 section 8.5, and step 8 finds no
    /// options.
    fn is_predicted(&self, packet: &Packet) -> bool {
        matches!(packet.kind, Kind::Data)
            && packet.seq == self.seq.gsr.next()
            && packet.extended
            && packet.options.is_empty()
            && packet.destination_port == self.local_port
            && packet.source_port == self.remote_port
            && self.state == State::Open
    }

    /// Appends a predicted packet to `train`, or begins another one with it.
    fn add_to_train(&mut self, now: Instant, ecn: Ecn, train: &mut Option<Train>, packet: &Packet) {
        self.seq.update_gsr(packet.seq);
        let data = packet.payload.len() as u32;
        match train {
            Some(train) if (train.data, train.ccval) == (data, packet.ccval) => train.count += 1,
            _ => {
                let next = Train {
                    first: packet.seq,
                    count: 1,
                    data,
                    ccval: packet.ccval,
                    ecn: self.readable_ecn(ecn),
                };
                self.take_in(now, train.replace(next));
            }
        }
    }

    /// Step 8 of section 8.5 for all packets of a train.
    fn take_in(&mut self, now: Instant, train: Option<Train>) {
        let Some(train) = train else { return };
        self.last_valid = Some(now);
        self.counters.packets_received += train.count;
        self.counters.data_packets_received += train.count;
        self.counters.bytes_received += train.count * u64::from(train.data);
        if train.ecn.is_ce() {
            self.counters.ce_received += train.count;
        }
        self.ack_vector
            .record_train(train.first, train.count, train.ecn);
        self.receiver.on_train(now, &train);
        self.sender.on_train(now, &train);
        self.heed_congestion_control(now);
    }

    /// Sends what may leave at `now`: behind a Data packet, all that may follow it at once.
    pub(super) fn send_trains(
        &mut self,
        now: Instant,
        take: &mut dyn FnMut(Transmit<Packet>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some(transmit) = self.next_packet(now) {
            let model = Model::of(&transmit);
            take(transmit)?;
            if let Some(model) = model {
                self.send_train(now, &model, take)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Sends the datagrams that may leave just as `model` has left. Nothing else has become due
    /// since then, for nothing has come and no time has passed.
    fn send_train(
        &mut self,
        now: Instant,
        model: &Model,
        take: &mut dyn FnMut(Transmit<Packet>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.config.ecn_nonces {
            return ControlFlow::Continue(());
        }
        let mut train = SentTrain {
            first: self.seq.gss.next(),
            count: 0,
            data: model.size as u32,
            ecn: model.ecn,
        };
        let permitted = self.sender.may_send_together();
        let mut step = ControlFlow::Continue(());
        while train.count < permitted
            && step.is_continue()
            && let Some(payload) = self
                .send_queue
                .pop_front_if(|next| next.len() == model.size)
        {
            train.count += 1;
            step = take(Transmit {
                ecn: model.ecn,
                packet: Packet {
                    source_port: self.local_port,
                    destination_port: self.remote_port,
                    ccval: model.ccval,
                    cscov: model.cscov,
                    extended: true,
                    seq: self.seq.take_next(),
                    kind: Kind::Data,
                    options: OptionList::new(),
                    payload,
                },
            });
        }
        self.counters.packets_sent += train.count;
        self.counters.data_packets_sent += train.count;
        self.counters.bytes_sent += train.count * u64::from(train.data);
        self.sender.on_train_sent(now, &train);
        step
    }
}

/// What the packets of a train have in common with the Data packet that leads it.
struct Model {
    size: usize,
    ccval: u8,
    cscov: u8,
    ecn: Ecn,
}

impl Model {
    /// Of a Data packet with nothing but data; `None` of others.
    fn of(Transmit { ecn, packet }: &Transmit<Packet>) -> Option<Self> {
        let is_plain =
            matches!(packet.kind, Kind::Data) && packet.extended && packet.options.is_empty();
        is_plain.then(|| Self {
            size: packet.payload.len(),
            ccval: packet.ccval,
            cscov: packet.cscov,
            ecn: *ecn,
        })
    }
}
