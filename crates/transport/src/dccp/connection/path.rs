//! The path: how large a packet may be, and what begins anew on another one (RFC 4340 sections
//! 10.5 and 14).

use skywave_wire::dccp::{QuotedHeader, SeqNo};

use super::Connection;
use crate::dccp::ccid::HcSender;
use crate::dccp::config::PATH_MTU_MIN;
use crate::dccp::{Config, Congestion, Event, State};

/// The header of a DataAck with 48-bit numbers, the longest that data stands behind.
const DATA_ACK_HEADER: u32 = 24;

/// Bytes of options that find room beside a datagram of the maximum size. A longer Ack Vector
/// leaves in a packet of its own (section 11.2).
pub(super) const OPTIONS_ROOM: u32 = 62;

/// Every link takes packets of this length (RFC 791 section 3.2), in bytes.
const LINK_MTU_MIN: u32 = 68;

/// MTUs of links in common use, from RFC 1191 section 7.1: what to try next where a router does not
/// tell its own.
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

/// What congestion control has counted on earlier paths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EarlierPaths {
    lost: u64,
    marked: u64,
    loss_events: u64,
    pub(super) timeouts: u64,
}

impl EarlierPaths {
    /// The state of congestion control on the path of now, with the counts of all paths.
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
    /// The Maximum Packet Size: the most data that one datagram may carry now, in bytes (RFC 4340
    /// section 14).
    ///
    /// It is [`Config::mps`], or less where the path takes less: its MTU,
    /// without the headers of lower layers and DCCP's own, and without what options usually need.
    /// No CCID here sets a limit of its own (CCMPS).
    pub fn mps(&self) -> u32 {
        mps(&self.config, self.path_mtu, self.lower_headers)
    }

    /// The way to the peer, for a driver that knows it better than
    /// [`Config`] does: the MTU of its first link, and the headers before
    /// DCCP's own, both in bytes. To be called before the first packet leaves: congestion control
    /// begins with a window for packets of that size.
    pub fn set_path(&mut self, mtu: u32, lower_headers: u32) {
        let before = self.mps();
        self.lower_headers = bytes(lower_headers);
        self.path_mtu = bytes(mtu);
        self.mps_changed(before);
        self.change_sender();
    }

    /// This host itself refuses to send more than `mtu` bytes in one packet to the peer: its
    /// interface or its routes have changed.
    ///
    /// As [`on_too_big`](Self::on_too_big), but the report cannot be forged: it needs no quotation,
    /// and values down to 68 bytes (RFC 791 section 3.2) are believed.
    pub fn on_local_mtu(&mut self, mtu: u32) {
        if mtu < self.path_mtu() {
            self.set_path_mtu(mtu.max(LINK_MTU_MIN));
        }
    }

    /// The Path MTU in bytes, headers of all layers included: the most that the path takes in one
    /// packet, as far as is known (section 14.1).
    pub const fn path_mtu(&self) -> u32 {
        self.path_mtu as u32
    }

    /// A router reports that a packet of ours was too big for its next link, whose MTU it gives;
    /// zero where it does not (RFC 1191). `quoted` is what it quotes of our packet.
    ///
    /// The Path MTU falls, and [`Event::PathMtu`] tells of it. Datagrams that wait and are larger
    /// than the new MPS are discarded. Says whether the report was believed: it must quote the
    /// ports and a sequence number that was sent lately, and the MTU must be lower than the one
    /// known. Values below 576 bytes are taken for 576. The packet counts as lost to congestion all
    /// the same.
    pub fn on_too_big(&mut self, mtu: u32, quoted: QuotedHeader) -> bool {
        let is_ours =
            quoted.source_port == self.local_port && quoted.destination_port == self.remote_port;
        let seq = if quoted.extended {
            quoted.seq
        } else {
            SeqNo::extend24(quoted.seq.low24(), self.seq.gss)
        };
        let has_sent = (State::Request..=State::Closing).contains(&self.state);
        if !has_sent || !is_ours || !self.seq.ack_in_window(seq, self.windows()) {
            return false;
        }
        let next_plateau = || {
            PLATEAUS
                .into_iter()
                .find(|&plateau| plateau < self.path_mtu())
        };
        let mtu = match mtu {
            0 => next_plateau().unwrap_or(PATH_MTU_MIN),
            _ => mtu.max(PATH_MTU_MIN),
        };
        if mtu >= self.path_mtu() {
            return false;
        }
        self.set_path_mtu(mtu);
        true
    }

    /// The connection takes another path from now on, whose first link has this MTU: congestion
    /// control and the round-trip time begin anew (section 10.5), and so does the Path MTU.
    pub fn on_path_change(&mut self, mtu: u32) {
        let earlier = self.earlier_paths.get_or_insert_default();
        earlier.timeouts += self.sender.timeouts();
        match self.sender.congestion() {
            Congestion::Window(window) => {
                earlier.lost += window.lost;
                earlier.marked += window.marked;
            }
            Congestion::Rate(rate) => earlier.loss_events += rate.loss_events,
        }
        self.handshake.rtt = None;
        self.set_path_mtu(mtu.max(PATH_MTU_MIN));
        self.change_sender();
        self.change_receiver();
        self.paced_until = None;
    }

    fn set_path_mtu(&mut self, mtu: u32) {
        let before = self.mps();
        self.path_mtu = bytes(mtu);
        self.mps_changed(before);
    }

    fn mps_changed(&mut self, before: u32) {
        let mps = self.mps();
        if mps == before {
            return;
        }
        let waiting = self.send_queue.len();
        self.send_queue
            .retain(|datagram| datagram.len() <= mps as usize);
        let discarded = waiting - self.send_queue.len();
        self.events.push_back(Event::PathMtu { mps, discarded });
    }

    /// Bytes of a whole DCCP packet that the path takes.
    pub(super) fn packet_limit(&self) -> usize {
        self.path_mtu.saturating_sub(self.lower_headers).into()
    }
}

/// The Maximum Packet Size on a path.
pub(super) fn mps(config: &Config, path_mtu: u16, lower_headers: u16) -> u32 {
    let headers = DATA_ACK_HEADER + OPTIONS_ROOM;
    let room = u32::from(path_mtu.saturating_sub(lower_headers));
    config.mps.min(room.saturating_sub(headers))
}

/// A length, no greater than IP's length fields tell.
pub(super) fn bytes(length: u32) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}
