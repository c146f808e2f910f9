//! DPLPMTUD over DCCP: which packets carry the probes, and when probes are necessary.
//!
//! Probes are Syncs, padded with data that the peer ignores (RFC 4340 section 14.1). They put no
//! datagram at risk, congestion control does not limit them, and the peer confirms each at once
//! with a SyncAck under any CCID.
//!
//! Most connections send none, because acknowledgements of data confirm the size: an
//! acknowledgement number names a packet that has arrived (section 7.4). A [`Watch`] waits for the
//! acknowledgement of one of the largest packets; if none arrives in time, there may be a black
//! hole.

use arrayvec::ArrayVec;
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;
use skywave_wire::dccp::{DataHeader, Kind, Packet, SeqNo};

use super::Connection;
use super::path::OPTIONS_ROOM;
use crate::Transmit;
use crate::dccp::ccid::HcSender;
use crate::dccp::timer::Backoff;
use crate::dplpmtud::{Discovery, MIN_PLPMTU, probe_timer};

/// The longest time that large packets may go unacknowledged before a black hole is suspected. It
/// starts at the PROBE_TIMER, and doubles with every suspicion that leads to nothing.
const PATIENCE_MAX: Duration = Duration::from_secs(64);

/// The runs of packets that a watch remembers. Only packets of a different size split a run.
const RUNS: usize = 8;

/// Path MTU discovery of a connection.
#[derive(Debug)]
pub(super) struct PathDiscovery {
    search: Discovery,
    /// The Sync sent last as a probe.
    probe: Option<SeqNo>,
    watch: Option<Watch>,
    patience: Backoff,
    /// Whether data has been sent since the last search.
    is_used: bool,
    /// Whether a search has begun since the driver last asked.
    has_raised: bool,
}

/// Packets of about the same size, none of them acknowledged yet. Their options may
/// differ, and acknowledgements may never name the few packets with more options.
#[derive(Clone, Debug)]
struct Watch {
    size: u16,
    /// When the first left.
    since: Instant,
    /// The first and last number of each run, oldest first.
    runs: ArrayVec<(SeqNo, SeqNo), RUNS>,
}

impl PathDiscovery {
    fn new(search: Discovery) -> Self {
        Self {
            search,
            probe: None,
            watch: None,
            patience: Backoff::default(),
            is_used: false,
            has_raised: false,
        }
    }

    /// Watches for the acknowledgement of `count` data packets, each of `size` bytes as an IP
    /// packet.
    fn sent(&mut self, now: Instant, first: SeqNo, count: u64, size: u16) {
        self.is_used = true;
        if size <= MIN_PLPMTU || count == 0 {
            return;
        }
        let last = first.add(count - 1);
        match &mut self.watch {
            Some(watch) if size.abs_diff(watch.size) <= OPTIONS_ROOM as u16 => {
                watch.add(first, last);
            }
            // A small packet says nothing about large ones.
            Some(watch) if size < watch.size => {}
            watch => {
                *watch = Some(Watch {
                    size,
                    since: now,
                    runs: [(first, last)].into_iter().collect(),
                });
            }
        }
    }

    /// Processes an acknowledgement number, which names a packet that has arrived.
    #[inline]
    pub(super) fn acked(&mut self, ack: SeqNo) {
        let is_watched = |watch: &mut Watch| watch.contains(ack);
        if self.watch.take_if(is_watched).is_some() {
            self.patience.reset();
            self.search.trust();
        }
    }

    /// Returns when [`expire`](Self::expire) must next be called, or [`Instant::MAX`] for never.
    pub(super) fn deadline(&self, rtt: Duration) -> Instant {
        self.search.deadline().min(self.suspicious_at(rtt))
    }

    /// Returns when to suspect a black hole.
    fn suspicious_at(&self, rtt: Duration) -> Instant {
        match &self.watch {
            Some(watch) if !self.search.is_doubting() => {
                watch.since + self.patience.interval(probe_timer(rtt), PATIENCE_MAX)
            }
            _ => Instant::MAX,
        }
    }

    fn expire(&mut self, now: Instant, rtt: Duration) {
        let was_doubting = self.search.is_doubting();
        // The end of a doubt may be overdue for the next search.
        while self.search.deadline() <= now {
            if self.search.expire(now, self.is_used) {
                self.is_used = false;
                self.has_raised = true;
            }
        }
        if was_doubting {
            self.settle();
        } else if self.suspicious_at(rtt) <= now {
            self.patience.advance();
            self.search.suspect();
            self.settle();
        }
    }

    /// Returns whether this confirms a black hole.
    fn probe_acked(&mut self, now: Instant) -> bool {
        self.probe = None;
        let (was_doubting, before) = (self.search.is_doubting(), self.search.plpmtu());
        self.search.probe_acked(now);
        if was_doubting {
            self.settle();
        }
        self.search.plpmtu() < before
    }

    /// Starts a new watch once a doubt is over, or if there is none.
    fn settle(&mut self) {
        if !self.search.is_doubting() {
            self.watch = None;
        }
    }
}

impl Watch {
    fn add(&mut self, first: SeqNo, last: SeqNo) {
        match self.runs.last_mut() {
            Some((_, end)) if end.next() == first => *end = last,
            _ => {
                if self.runs.is_full() {
                    self.runs.remove(0);
                }
                self.runs.push((first, last));
            }
        }
    }

    fn contains(&self, number: SeqNo) -> bool {
        let is_within = |&(first, last): &(SeqNo, SeqNo)| number.is_within(first, last);
        self.runs.iter().any(is_within)
    }
}

impl Connection {
    /// Starts path MTU discovery, if it is configured, on a path whose first link has this MTU.
    pub(super) fn start_discovery(&mut self, now: Instant, mtu: u16) {
        self.discovery = self.config.path_mtu_discovery.then(|| {
            let raise_after = self.config.path_mtu_raise;
            let search = Discovery::new(mtu, self.lower_headers, raise_after, now);
            Box::new(PathDiscovery::new(search))
        });
    }

    /// Returns whether a search for a larger Path MTU has begun since the last call. The first
    /// link's MTU bounds it and may have grown, so the driver should look it up and report it with
    /// [`on_local_mtu`](Self::on_local_mtu).
    pub fn wants_local_mtu(&mut self) -> bool {
        let discovery = self.discovery.as_mut();
        discovery.is_some_and(|it| core::mem::take(&mut it.has_raised))
    }

    /// Reports the MTU of this host's own link.
    pub(super) fn bound_discovery(&mut self, now: Instant, mtu: u16) {
        if let Some(discovery) = &mut self.discovery {
            discovery.search.set_max(mtu, now);
            discovery.settle();
        }
    }

    /// Processes a router's report that a packet was too big. Returns whether it says anything new.
    pub(super) fn discovery_too_big(&mut self, now: Instant, mtu: u16) -> bool {
        self.discovery.as_mut().is_some_and(|discovery| {
            let is_new = discovery.search.too_big(mtu, now);
            discovery.settle();
            is_new
        })
    }

    /// Watches the acknowledgements of `count` data packets of `length` bytes each, without the
    /// headers of lower layers.
    #[inline]
    pub(super) fn watch_sizes(&mut self, now: Instant, first: SeqNo, count: u64, length: usize) {
        if let Some(discovery) = &mut self.discovery {
            let size = length + usize::from(self.lower_headers);
            discovery.sent(now, first, count, u16::try_from(size).unwrap_or(u16::MAX));
        }
    }

    /// Watches a train of packets with `data` bytes of data each, like
    /// [`watch_sizes`](Self::watch_sizes).
    #[inline]
    pub(super) fn watch_train(&mut self, now: Instant, first: SeqNo, count: u64, data: usize) {
        self.watch_sizes(now, first, count, DataHeader::LEN + data);
    }

    /// Returns the size of the probe to send now, if any.
    #[inline]
    pub(super) fn probe_due(&self) -> Option<u16> {
        self.discovery.as_ref()?.search.due()
    }

    /// Builds a probe: a Sync of `size` bytes as an IP packet.
    pub(super) fn probe(&mut self, now: Instant, size: u16) -> Transmit<Packet> {
        let ack = self.ack_number();
        let mut sent = self.build(now, Kind::Sync { ack }, Payload::EMPTY);
        let packet = &mut sent.packet;
        let room = usize::from(size.saturating_sub(self.lower_headers));
        let padding = room.saturating_sub(packet.encoded_len());
        packet.payload = Payload::Synthetic(padding as u32);
        self.counters.mtu_probes_sent += 1;
        let (seq, rtt) = (packet.seq, self.timer_rtt());
        if let Some(discovery) = &mut self.discovery {
            discovery.probe = Some(seq);
            discovery.search.probe_sent(now, rtt);
        }
        sent
    }

    /// Processes the acknowledgement of a Sync, which may be a probe.
    pub(super) fn sync_acked(&mut self, now: Instant, ack: SeqNo) {
        if let Some(discovery) = &mut self.discovery
            && discovery.probe == Some(ack)
        {
            let is_black_hole = discovery.probe_acked(now);
            self.follow_discovery();
            if is_black_hole {
                // The lost packets were too large. The timeouts say nothing about congestion on
                // what is most likely another path (section 10.5), and their back-off would delay
                // data for as long again.
                self.restart_sender();
            }
        }
    }

    /// Handles the timers of discovery that are due.
    pub(super) fn expire_discovery(&mut self, now: Instant) {
        let rtt = self.timer_rtt();
        if let Some(discovery) = &mut self.discovery {
            discovery.expire(now, rtt);
            self.follow_discovery();
        }
    }

    /// Adopts the Path MTU that discovery has found.
    pub(super) fn follow_discovery(&mut self) {
        if let Some(discovery) = &self.discovery {
            let (before, mtu) = (self.path_mtu, discovery.search.plpmtu());
            if mtu != before {
                self.set_path_mtu(mtu);
            }
            if mtu > before {
                self.sender.on_larger_packets(before.into(), mtu.into());
            }
        }
    }
}
