//! The path: packet size limits, and what restarts on a path change (RFC 4340 sections 10.5 and
//! 14).

use skywave_units::Instant;
use skywave_wire::dccp::{QuotedHeader, SeqNo};

use super::Connection;
use crate::dccp::ccid::HcSender;
use crate::dccp::config::PATH_MTU_MIN;
use crate::dccp::{Config, Congestion, Event, State};

/// The header length of a DataAck with 48-bit numbers, the longest header in front of data.
const DATA_ACK_HEADER: u32 = 24;

/// The option bytes that fit next to a datagram of maximum size. A longer Ack Vector leaves in its
/// own packet (section 11.2).
pub(super) const OPTIONS_ROOM: u32 = 62;

/// Every link carries packets of this many bytes (RFC 791 section 3.2).
const LINK_MTU_MIN: u32 = 68;

/// Common link MTUs from RFC 1191 section 7.1, tried in turn if a router does not report its own.
const PLATEAUS: [u32; 8] = [
    32_000,
    17_914,
    8_166,
    4_352,
    2_002,
    1_492,
    1_006,
    PATH_MTU_MIN,
];

/// Congestion control counts from earlier paths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EarlierPaths {
    lost: u64,
    marked: u64,
    loss_events: u64,
    pub(super) timeouts: u64,
}

impl EarlierPaths {
    /// Returns the current path's state of congestion control with the counts of all paths added.
    pub(super) const fn and_now(self, mut now: Congestion) -> Congestion {
        match &mut now {
            Congestion::Window(window) => {
                window.lost += self.lost;
                window.marked += self.marked;
            }
            Congestion::Rate(rate) => rate.loss_events += self.loss_events,
        }
        now
    }
}

impl Connection {
    /// Returns the Maximum Packet Size: the most data that one datagram may carry now, in bytes
    /// (RFC 4340 section 14).
    ///
    /// It is [`Config::mps`], or less if the path requires it: the Path MTU minus the headers of
    /// lower layers, DCCP's own header, and the usual options. No CCID here has a limit of its own
    /// (CCMPS).
    pub fn mps(&self) -> u32 {
        mps(&self.config, self.path_mtu, self.lower_headers)
    }

    /// Describes a real path: its first link's MTU and the length of the headers in front of
    /// DCCP's, both in bytes, overriding [`Config`]. From then on the connection finds out what the
    /// path carries, as far as [`Config`] permits. Call it before the first packet leaves, because
    /// congestion control sizes its initial window for such packets.
    pub fn set_path(&mut self, now: Instant, mtu: u32, lower_headers: u32) {
        let before = self.mps();
        self.lower_headers = bytes(lower_headers);
        self.path_mtu = bytes(mtu);
        self.start_discovery(now, self.path_mtu);
        self.ecn_path.set_validated(self.config.ecn_validation);
        self.mps_changed(before);
        self.change_sender();
    }

    /// Reports the largest packet that this host now sends to the peer, in bytes, because its
    /// interface or routes have changed. A smaller one lowers the Path MTU at once; discovery
    /// searches up to a larger one.
    ///
    /// Such a report cannot be forged, unlike that of [`on_too_big`](Self::on_too_big): it needs no
    /// quotation, and values down to 68 bytes (RFC 791 section 3.2) are accepted.
    pub fn on_local_mtu(&mut self, now: Instant, mtu: u32) {
        let mtu = bytes(mtu.max(LINK_MTU_MIN));
        self.bound_discovery(now, mtu);
        self.follow_discovery();
        if mtu < self.path_mtu {
            self.set_path_mtu(mtu);
        }
    }

    /// Returns the Path MTU in bytes, including the headers of all layers: the largest packet that
    /// the path carries, as far as is known (section 14.1).
    pub const fn path_mtu(&self) -> u32 {
        self.path_mtu as u32
    }

    /// Returns whether an ICMP error quotes one of our recent packets: it has our ports, and its
    /// sequence number is one that an acknowledgement might have. Attackers who do not see the
    /// packets have to guess it (RFC 5927 section 4).
    pub fn has_sent_recently(&self, quoted: QuotedHeader) -> bool {
        let is_ours =
            quoted.source_port == self.local_port && quoted.destination_port == self.remote_port;
        let seq = if quoted.extended {
            quoted.seq
        } else {
            SeqNo::extend(quoted.seq.short(), self.seq.gss)
        };
        let has_sent = (State::Request..=State::Closing).contains(&self.state);
        has_sent && is_ours && self.seq.ack_in_window(seq, self.windows())
    }

    /// Reports an ICMP error: a packet was too big for the next link. `mtu` is that link's MTU, or
    /// zero if the router does not report it (RFC 1191). `quoted` is the quoted part of our packet.
    ///
    /// Lowers the Path MTU, emits [`Event::PathMtu`], and discards queued datagrams larger than the
    /// new MPS. Returns whether the report was accepted: it must quote the ports and a recently
    /// sent sequence number, and the MTU must be lower than the current one or than the size of a
    /// probe. Values below 576 bytes are treated as 576. The packet still counts as lost to
    /// congestion.
    pub fn on_too_big(&mut self, now: Instant, mtu: u32, quoted: QuotedHeader) -> bool {
        if !self.has_sent_recently(quoted) {
            return false;
        }
        let next_plateau = || {
            PLATEAUS
                .into_iter()
                .find(|&plateau| plateau < self.path_mtu())
        };
        let mtu = bytes(match mtu {
            0 => next_plateau().unwrap_or(PATH_MTU_MIN),
            _ => mtu.max(PATH_MTU_MIN),
        });
        if self.discovery_too_big(now, mtu) {
            self.follow_discovery();
            return true;
        }
        let is_lower = mtu < self.path_mtu;
        if is_lower {
            self.set_path_mtu(mtu);
        }
        is_lower
    }

    /// Reports that the connection now takes another path, whose first link has this MTU. Restarts
    /// congestion control, the round-trip time (section 10.5) and the Path MTU.
    pub fn on_path_change(&mut self, now: Instant, mtu: u32) {
        self.handshake.rtt = None;
        self.ecn_path.restart();
        let mtu = bytes(mtu.max(PATH_MTU_MIN));
        if self.discovery.is_some() {
            self.start_discovery(now, mtu);
        }
        self.set_path_mtu(mtu);
        self.restart_sender();
        self.change_receiver();
    }

    /// Restarts congestion control of our data, and keeps its counts.
    pub(super) fn restart_sender(&mut self) {
        let earlier = self.earlier_paths.get_or_insert_default();
        earlier.timeouts += self.sender.timeouts();
        match self.sender.congestion() {
            Congestion::Window(window) => {
                earlier.lost += window.lost;
                earlier.marked += window.marked;
            }
            Congestion::Rate(rate) => earlier.loss_events += rate.loss_events,
        }
        self.change_sender();
        self.paced_until = None;
    }

    pub(super) fn set_path_mtu(&mut self, mtu: u16) {
        let before = self.mps();
        self.path_mtu = mtu;
        self.mps_changed(before);
    }

    fn mps_changed(&mut self, before: u32) {
        let mps = self.mps();
        if mps == before {
            return;
        }
        let discarded = self.send_queue.remove_longer(mps as usize);
        self.counters.datagrams_discarded += discarded as u64;
        self.events.push_back(Event::PathMtu { mps, discarded });
    }

    /// Returns the size of the largest DCCP packet that fits the path, in bytes.
    pub(super) fn packet_limit(&self) -> usize {
        self.path_mtu.saturating_sub(self.lower_headers).into()
    }
}

/// Returns the Maximum Packet Size for a given path.
pub(super) fn mps(config: &Config, path_mtu: u16, lower_headers: u16) -> u32 {
    let headers = DATA_ACK_HEADER + OPTIONS_ROOM;
    let room = u32::from(path_mtu.saturating_sub(lower_headers));
    config.mps.min(room.saturating_sub(headers))
}

/// Clamps a length to what IP's length fields can describe.
pub(super) fn bytes(length: u32) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}
