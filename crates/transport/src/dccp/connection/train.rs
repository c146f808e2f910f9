//! Packets that come or leave together: what is the same for all of them is done once.

use std::ops::ControlFlow;

use bytes::{Buf, Bytes};
use skywave_units::Instant;
use skywave_wire::dccp::{DataHeader, Kind, Packet, PacketType};
use skywave_wire::{Checksum, Ecn};

use super::{Connection, State};
use crate::dccp::ccid::{HcReceiver, HcSender, ReceivedTrain, SentTrain};
use crate::{Drain, Transmit};

impl Connection {
    /// Packets have arrived together at `now`, all with `ecn` in their IP headers. It is the same as
    /// to [read](Packet::read) each and to [`receive`](crate::Endpoint::receive) it, one after the
    /// other, with less work. Says how many of them were malformed, and so dropped.
    pub fn receive_all(
        &mut self,
        now: Instant,
        ecn: Ecn,
        checksum: Checksum,
        packets: impl IntoIterator<Item = Bytes>,
    ) -> u64 {
        let is_unchecked = matches!(checksum, Checksum::Ignored);
        let (mut train, mut malformed) = (None, 0);
        for mut packet in packets {
            if is_unchecked
                && let Some(header) = DataHeader::read(&packet)
                && self.is_predicted(&header)
            {
                packet.advance(DataHeader::LEN);
                self.add_to_train(now, ecn, &mut train, &header, packet.len());
                self.accept_plain_data(header.seq, packet.into());
                continue;
            }
            self.take_in(now, train.take());
            match Packet::read(packet, checksum) {
                Ok(mut packet) => self.process(now, ecn, &mut packet),
                Err(_) => malformed += 1,
            }
        }
        self.take_in(now, train);
        malformed
    }

    /// Header prediction, as in TCP: whether this is data and nothing else, in order. Such a packet
    /// is new and passes all checks of steps 1 to 7 of RFC 4340 section 8.5, and step 8 finds no
    /// options.
    #[inline(always)]
    fn is_predicted(&self, header: &DataHeader) -> bool {
        header.seq == self.seq.gsr.next()
            && header.destination_port == self.local_port
            && header.source_port == self.remote_port
            && self.state == State::Open
    }

    /// Appends a predicted packet with that much data to `train`, or begins another one with it.
    #[inline(always)]
    fn add_to_train(
        &mut self,
        now: Instant,
        ecn: Ecn,
        train: &mut Option<ReceivedTrain>,
        header: &DataHeader,
        data: usize,
    ) {
        self.seq.update_gsr(header.seq);
        let (data, ccval) = (data as u32, header.ccval);
        match train {
            Some(train) if (train.data, train.ccval) == (data, ccval) => train.count += 1,
            _ => {
                let next = ReceivedTrain {
                    first: header.seq,
                    count: 1,
                    data,
                    ccval,
                    ecn: self.readable_ecn(ecn),
                };
                self.take_in(now, train.replace(next));
            }
        }
    }

    /// Step 8 of section 8.5 for all packets of a train.
    fn take_in(&mut self, now: Instant, train: Option<ReceivedTrain>) {
        let Some(train) = train else { return };
        #[cfg(test)]
        {
            self.trains.received += u64::from(train.count > 1);
        }
        self.last_valid = Some(now);
        self.count_received(Some(train.data), train.ecn, train.count);
        self.ack_vector
            .record_train(train.first, train.count, train.ecn);
        self.receiver.on_train_received(now, &train);
        self.sender.on_train_received(now, &train);
        self.heed_congestion_control(now);
    }

    /// Sends the datagrams that may leave just as `model` has left. Nothing else has become due
    /// since then, for nothing has come and no time has passed.
    #[inline(always)]
    fn send_train(
        &mut self,
        now: Instant,
        model: &Model,
        take: &mut impl FnMut(Transmit<Packet>) -> ControlFlow<()>,
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
            let seq = self.seq.take_next();
            step = take(Transmit {
                ecn: model.ecn,
                packet: Packet {
                    ccval: model.ccval,
                    cscov: model.cscov,
                    payload,
                    ..self.empty_packet(Kind::Data, seq)
                },
            });
        }
        #[cfg(test)]
        {
            self.trains.sent += u64::from(train.count > 1);
        }
        self.count_sent(PacketType::Data, Some(train.data), train.count);
        self.sender.on_train_sent(now, &train);
        step
    }
}

impl Drain<'_, Connection> {
    /// Hands over all packets that are to be sent, until `take` breaks off: the same as
    /// [`transmit`](Self::transmit) again and again, with less work. Where it has broken off there may
    /// be more, for another call.
    pub fn transmit_all(
        &mut self,
        mut take: impl FnMut(Transmit<Packet>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some(transmit) = self.transmit() {
            let model = Model::of(&transmit);
            take(transmit)?;
            if let Some(model) = model {
                self.endpoint.send_train(self.now, &model, &mut take)?;
            }
        }
        ControlFlow::Continue(())
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

/// Trains of more than one packet so far.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::dccp) struct Trains {
    pub(in crate::dccp) sent: u64,
    pub(in crate::dccp) received: u64,
}
