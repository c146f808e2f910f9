//! Fast paths for packets that arrive or leave together: common work is done once per train.

use std::ops::ControlFlow;

use bytes::{Buf, Bytes};
use skywave_units::Instant;
use skywave_wire::dccp::{DataHeader, Packet, PacketType};
use skywave_wire::{Checksum, Ecn, Payload};

use super::{Connection, State};
use crate::dccp::ccid::{HcReceiver, HcSender, ReceivedTrain, SentTrain};
use crate::dccp::queue::Queue;
use crate::{Drain, Transmit};

impl Connection {
    /// Handles packets that arrived together at `now`, all with `ecn` in their IP headers.
    /// Equivalent to [reading](Packet::read) each and passing it to
    /// [`receive`](crate::End::receive), but faster. Returns the number of malformed packets, which
    /// are dropped.
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

    /// Returns whether the packet is plain in-order data (header prediction, as in TCP). Such a
    /// packet is new, passes all checks of steps 1 to 7 of RFC 4340 section 8.5, and has no options
    /// for step 8.
    #[inline(always)]
    fn is_predicted(&self, header: &DataHeader) -> bool {
        header.seq == self.seq.gsr.next()
            && header.destination_port == self.local_port
            && header.source_port == self.remote_port
            && self.state == State::Open
    }

    /// Appends a predicted packet with `data` bytes to `train`, or starts a new train.
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

    /// Performs step 8 of section 8.5 for a whole train.
    fn take_in(&mut self, now: Instant, train: Option<ReceivedTrain>) {
        let Some(train) = train else { return };
        #[cfg(test)]
        {
            self.trains.received += u64::from(train.count > 1);
        }
        self.last_valid = Some(now);
        self.count_received(now, Some(train.data), train.ecn, train.count);
        self.ack_vector
            .record_train(train.first, train.count, train.ecn);
        self.receiver.on_train_received(now, &train);
        self.sender.on_train_received(now, &train);
        self.heed_congestion_control(now);
    }

    /// Sends the datagrams that may leave in the same way as the packet whose header is `leader`.
    /// Nothing else can have become due since then: no packet has arrived and no time has passed.
    #[inline(always)]
    fn send_train(
        &mut self,
        now: Instant,
        leader: &Leader,
        outlet: &mut impl Outlet,
    ) -> ControlFlow<()> {
        if self.config.ecn_nonces || self.send_queue.is_empty() {
            return ControlFlow::Continue(());
        }
        let before_skip = self.packets_before_skip();
        let room = self.seq.room(self.windows());
        let header = DataHeader {
            seq: self.seq.gss.next(),
            ..leader.header
        };
        let mut train = Train {
            ecn: leader.ecn,
            header,
            size: leader.size,
            permitted: self
                .sender
                .may_send_together(now, leader.size as u32)
                .min(before_skip)
                .min(room),
            queue: &mut self.send_queue,
        };
        let step = outlet.train(&mut train);
        let count = train.header.seq.distance_from(header.seq).unsigned_abs();
        let sent = SentTrain {
            first: header.seq,
            count,
            data: leader.size as u32,
            ecn: leader.ecn,
            is_last: self.send_queue.is_empty(),
        };
        self.seq.take(count);
        #[cfg(test)]
        {
            self.trains.sent += u64::from(count > 1);
        }
        self.watch_train(now, header.seq, count, leader.size);
        self.count_sent(now, PacketType::Data, Some(sent.data), count);
        self.sender.on_train_sent(now, &sent);
        step
    }
}

/// A sink for packets that leave together.
pub trait Outlet {
    /// Takes one packet. Breaks if no further packet would fit; this one is taken nevertheless.
    fn packet(&mut self, transmit: Transmit<Packet>) -> ControlFlow<()>;

    /// Takes Data packets out of `train`. Breaks if no further packet would fit. Packets left in
    /// the train have not been sent.
    fn train(&mut self, train: &mut Train<'_>) -> ControlFlow<()> {
        let ecn = train.ecn();
        let all = train.take_out(usize::MAX, |header, payload| {
            let packet = header.into_packet(payload.clone());
            match self.packet(Transmit { ecn, packet }) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(()),
            }
        });
        all.map_or_else(ControlFlow::Break, ControlFlow::Continue)
    }
}

impl<F: FnMut(Transmit<Packet>) -> ControlFlow<()>> Outlet for F {
    fn packet(&mut self, transmit: Transmit<Packet>) -> ControlFlow<()> {
        self(transmit)
    }
}

/// Data packets that may leave back to back, all with the same size and ECN bits.
#[derive(Debug)]
pub struct Train<'a> {
    ecn: Ecn,
    /// The header of the next packet.
    header: DataHeader,
    size: usize,
    permitted: u64,
    queue: &'a mut Queue<Payload>,
}

impl Train<'_> {
    /// Returns the ECN bits for their IP headers.
    pub const fn ecn(&self) -> Ecn {
        self.ecn
    }

    /// Returns the length of each packet without IP, in bytes: header plus data.
    pub const fn packet_len(&self) -> usize {
        DataHeader::LEN + self.size
    }

    /// Takes out at most `limit` packets in order and passes the header and data of each to `emit`,
    /// until `emit` fails. Each packet taken out has been sent.
    ///
    /// # Errors
    ///
    /// The error of `emit` for the last packet taken out.
    #[inline(always)]
    pub fn take_out<E>(
        &mut self,
        limit: usize,
        mut emit: impl FnMut(DataHeader, &Payload) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut header, mut count, mut result) = (self.header, 0, Ok(()));
        let limit = usize::try_from(self.permitted).map_or(limit, |permitted| permitted.min(limit));
        for payload in self.queue.iter().take(limit) {
            if payload.len() != self.size || result.is_err() {
                break;
            }
            result = emit(header, payload);
            header.seq = header.seq.next();
            count += 1;
        }
        self.queue.remove_front(count, self.size);
        self.header = header;
        self.permitted -= count as u64;
        result
    }
}

impl Drain<'_, Connection> {
    /// Sends all packets that may leave, until `outlet` breaks. Equivalent to repeated calls of
    /// [`transmit`](Self::transmit), but faster. After a break, call it again for the remaining
    /// packets.
    pub fn transmit_all(&mut self, outlet: &mut impl Outlet) -> ControlFlow<()> {
        while let Some(transmit) = self.transmit() {
            let leader = Leader::of(&transmit);
            outlet.packet(transmit)?;
            if let Some(leader) = leader {
                self.end.send_train(self.now, &leader, outlet)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// What the packets of a train share with the packet in front of them.
struct Leader {
    header: DataHeader,
    size: usize,
    ecn: Ecn,
}

impl Leader {
    /// Returns the leader described by a plain Data packet; `None` for any other packet.
    fn of(Transmit { ecn, packet }: &Transmit<Packet>) -> Option<Self> {
        DataHeader::of(packet).map(|header| Self {
            header,
            size: packet.payload.len(),
            ecn: *ecn,
        })
    }
}

/// The number of trains of more than one packet so far.
#[cfg(test)]
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::dccp) struct Trains {
    pub(in crate::dccp) sent: u64,
    pub(in crate::dccp) received: u64,
}
