//! Quick-Start requests and responses of a connection (RFC 5634 section 2).

use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::dccp::{OptionList, Packet, SeqNo};
use skywave_wire::quick_start::QuickStart;

use super::Connection;
use crate::dccp::ccid::HcSender;
use crate::dccp::quick_start::Verdict;

impl Connection {
    /// Handles a packet whose IP header had a Quick-Start option and this TTL. Otherwise the same
    /// as [`End::receive`](crate::End::receive).
    pub fn receive_with_quick_start(
        &mut self,
        now: Instant,
        ecn: Ecn,
        mut packet: Packet,
        option: QuickStart,
        ttl: u8,
    ) {
        self.quick_start.get_or_insert_default().arrived = Some((option, ttl));
        self.process(now, ecn, &mut packet);
        if let Some(exchange) = &mut self.quick_start {
            exchange.arrived = None;
        }
    }

    /// Chooses the Quick-Start option for the IP header of the packet `seq`, which is about to
    /// leave: a report that is due, or a request if the CCID wants one. Requests travel with data,
    /// which is acknowledged (section 2.1); the first is on the first data packet after the
    /// handshake.
    #[cold]
    pub(super) fn add_quick_start(&mut self, now: Instant, seq: SeqNo, has_data: bool) {
        let rtt = self.timer_rtt();
        let Some(exchange) = &mut self.quick_start else {
            return;
        };
        exchange.send_report();
        if exchange.option.is_some() || !has_data || !exchange.may_request(now, rtt) {
            return;
        }
        if let Some(rate) = self.sender.quick_start_request() {
            exchange.request(now, rtt, seq, rate, &mut self.rng);
        }
    }

    /// Handles the request that arrived with a packet, and what its acknowledgement of `ack` and
    /// its options say about our own.
    ///
    /// A response leaves at once in an acknowledgement. Under CCIDs 3 and 4 this is also a report,
    /// which restarts the receiver's clock of reports, as section 3.2.2 demands.
    #[cold]
    pub(super) fn heed_quick_start(
        &mut self,
        now: Instant,
        is_new: bool,
        ack: Option<SeqNo>,
        options: &OptionList,
    ) {
        let Some(exchange) = &mut self.quick_start else {
            return;
        };
        self.outbox.ack |= is_new && exchange.respond();
        let verdict = ack.and_then(|ack| exchange.on_ack(ack, options));
        if let Some(Verdict::Approved(rate)) = verdict {
            self.sender.on_quick_start(now, rate);
        }
    }
}
