use skywave_congestion::{Aimd, AimdConfig};
use skywave_wire::Payload;
use skywave_wire::tcp::{Flags, SackBlock, TcpOptions};

use super::*;
use crate::tcp::algorithm::{AnyDetection, AnyRecovery};
use crate::tcp::loss::{Begin, Detection, Found, LossRecovery, News, NoPhase};
use crate::tcp::sent_log::SentLog;

/// How long this detection waits for a late segment.
const REORDERING: Duration = Duration::from_millis(10);

/// A detection like RACK: a segment is lost if one that was sent later has arrived, and some time
/// has passed since.
#[derive(Debug, Default)]
struct ByTime {
    deadline: Option<Instant>,
}

impl Detection for ByTime {
    fn on_duplicate(&mut self, news: &News, _log: &mut SentLog) -> Found {
        if news.has_sacked {
            self.deadline.get_or_insert(news.now + REORDERING);
        }
        Found::Nothing
    }

    fn on_progress(&mut self, _news: &News, _log: &mut SentLog) -> Found {
        self.deadline = None;
        Found::Nothing
    }

    fn on_timeout(&mut self, _now: Instant, _at: Position, _log: &mut SentLog) {
        self.deadline = None;
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn expire(&mut self, _now: Instant, _at: Position, _log: &mut SentLog) -> Found {
        self.deadline = None;
        Found::Loss { is_repeated: false }
    }

    fn lost_below(&self, at: Position, log: &SentLog) -> u64 {
        log.sacks().hole(at.una).map_or(0, |hole| hole.end)
    }

    fn is_quiet(&self, _log: &SentLog) -> bool {
        self.deadline.is_none()
    }

    fn heap_size(&self) -> usize {
        0
    }
}

fn sender() -> Sender {
    let config = SenderConfig::rfc(RecoveryAlgorithm::Sack);
    let control = Aimd::new(AimdConfig::rfc5681(536));
    let ports = Ports {
        local: 1,
        remote: 2,
    };
    Sender::new(config, control, ports, 1)
}

/// Returns a segment of the peer, whose initial sequence number is 0.
fn from_peer(sender: &Sender, flags: Flags, ack: u64, sacked: Option<(u64, u64)>) -> Segment {
    let block = |(left, right)| SackBlock {
        left: sender.local.wire(left),
        right: sender.local.wire(right),
    };
    Segment {
        source_port: 2,
        destination_port: 1,
        seq: u32::from(!flags.contains(Flags::SYN)),
        ack: sender.local.wire(ack),
        flags,
        window: u16::MAX,
        checksum_offset: 0,
        identification: 0,
        options: TcpOptions {
            sack_permitted: true,
            sack: sacked.map(block).into_iter().collect(),
            ..TcpOptions::default()
        },
        payload: Payload::EMPTY,
    }
}

/// Returns the offsets of the data that leaves now.
fn sent(sender: &mut Sender, now: Instant) -> Vec<u64> {
    let mut offsets = Vec::new();
    while let Some(sent) = sender.transmit(now) {
        if !sent.packet.payload.is_empty() {
            offsets.extend(sender.local.offset(sent.packet.seq, sender.una));
        }
    }
    offsets
}

/// A detection with its own timer needs nothing from the sender.
#[test]
fn a_loss_that_a_timer_finds_is_retransmitted_and_reduces_the_window() {
    let mut sender = sender();
    let keeps = sender.config.recovery.keeps();
    sender.loss = LossRecovery::from_parts(
        AnyDetection::Other(Box::new(ByTime::default())),
        AnyRecovery::NoPhase(NoPhase(Begin::Retransmit)),
        keeps,
    );
    let mut now = Instant::ZERO;
    sender.write_unlimited().unwrap();
    assert!(sent(&mut sender, now).is_empty(), "a SYN");
    now += Duration::from_millis(100);
    let syn_ack = from_peer(&sender, Flags::SYN.union(Flags::ACK), 1, None);
    sender.receive(now, Ecn::NotEct, syn_ack);
    let first = sent(&mut sender, now);
    assert_eq!(first[..3], [1, 537, 1073]);
    let cwnd = sender.stats().cwnd;

    now += Duration::from_millis(100);
    let sack = from_peer(&sender, Flags::ACK, 1, Some((537, 1073)));
    sender.receive(now, Ecn::NotEct, sack);
    assert!(!sent(&mut sender, now).contains(&1));
    assert_eq!(sender.deadline(), Some(now + REORDERING));
    now += REORDERING;
    sender.expire(now);
    assert_eq!(sent(&mut sender, now)[0], 1);
    assert!(sender.stats().cwnd < cwnd);
    assert_eq!(sender.stats().fast_retransmits, 1);
    assert_ne!(sender.deadline(), Some(now));

    // A segment that was merely late is not retransmitted.
    let sack = from_peer(&sender, Flags::ACK, 537, Some((1073, 1609)));
    sender.receive(now, Ecn::NotEct, sack);
    sent(&mut sender, now);
    let ack = from_peer(&sender, Flags::ACK, 1609, None);
    sender.receive(now, Ecn::NotEct, ack);
    now += REORDERING;
    sender.expire(now);
    assert!(!sent(&mut sender, now).contains(&1609));
    assert_eq!(sender.stats().fast_retransmits, 1);
}
