//! A one-way path, which loses, duplicates, delays, reorders, marks and alters packets.

use rand::RngExt;
use skywave_units::{Duration, Instant, Random};
use skywave_wire::Ecn;

/// One direction of a path. Probabilities are per packet and independent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// The minimum delay.
    pub(crate) delay: Duration,
    /// The maximum additional delay, by which packets overtake each other.
    pub(crate) jitter: Duration,
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    /// A packet is held back by up to [`HOLD`].
    pub(crate) reordering: f64,
    /// An ECN-capable packet is marked.
    pub(crate) marking: f64,
    /// Bits are flipped, or the end is truncated.
    pub(crate) corruption: f64,
    /// The packet is altered in a way that the Internet checksum cannot detect.
    pub(crate) forgery: f64,
    /// Longer packets vanish, in bytes.
    pub(crate) longest: Option<usize>,
    /// Nothing passes between the first and the second time.
    pub(crate) blackouts: Vec<(Instant, Instant)>,
}

/// The longest that a reordered packet is held back.
const HOLD: Duration = Duration::from_millis(400);

/// A packet that comes out of a path.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    pub(crate) delay: Duration,
    pub(crate) ecn: Ecn,
    pub(crate) bytes: Vec<u8>,
    /// Whether its bytes have changed.
    pub(crate) is_altered: bool,
}

impl Path {
    /// A path that only delays packets.
    pub(crate) fn clean(delay: Duration) -> Self {
        Self {
            delay,
            ..Self::default()
        }
    }

    /// The fate of a packet: any number of copies.
    pub(crate) fn carry(
        &self,
        now: Instant,
        ecn: Ecn,
        bytes: &[u8],
        rng: &mut Random,
    ) -> Vec<Copy> {
        let blacked_out = |&(from, to): &(Instant, Instant)| from <= now && now < to;
        let is_too_long = self.longest.is_some_and(|longest| bytes.len() > longest);
        if is_too_long || self.blackouts.iter().any(blacked_out) || rng.random_bool(self.loss) {
            return Vec::new();
        }
        let copies = if rng.random_bool(self.duplication) {
            rng.random_range(2..=4)
        } else {
            1
        };
        (0..copies).map(|_| self.copy(ecn, bytes, rng)).collect()
    }

    fn copy(&self, ecn: Ecn, bytes: &[u8], rng: &mut Random) -> Copy {
        let mut copy = Copy {
            delay: self.delay + up_to(self.jitter, rng),
            ecn,
            bytes: bytes.to_vec(),
            is_altered: false,
        };
        if rng.random_bool(self.reordering) {
            copy.delay += up_to(HOLD, rng);
        }
        if ecn.is_capable() && rng.random_bool(self.marking) {
            copy.ecn = Ecn::Ce;
        }
        if rng.random_bool(self.corruption) {
            corrupt(&mut copy.bytes, rng);
        }
        if rng.random_bool(self.forgery) {
            swap_words(&mut copy.bytes, rng);
        }
        copy.is_altered = copy.bytes != bytes;
        copy
    }
}

/// A random time up to `most`.
pub(crate) fn up_to(most: Duration, rng: &mut Random) -> Duration {
    Duration::from_nanos(rng.random_range(0..=most.as_nanos()))
}

fn corrupt(bytes: &mut Vec<u8>, rng: &mut Random) {
    if rng.random_bool(0.1) {
        bytes.truncate(rng.random_range(0..bytes.len()));
        return;
    }
    for _ in 0..rng.random_range(1..=4) {
        let bit = rng.random_range(0..8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Swaps two 16-bit words: the Internet checksum does not depend on the order of words. Leaves the
/// word with Data Offset and Checksum Coverage, which determines what the checksum covers.
fn swap_words(bytes: &mut [u8], rng: &mut Random) {
    const COVERAGE: usize = 4;
    let words = bytes.len() / 2;
    if words == 0 {
        return;
    }
    let one = 2 * rng.random_range(0..words);
    let other = 2 * rng.random_range(0..words);
    if one == COVERAGE || other == COVERAGE {
        return;
    }
    for byte in 0..2 {
        bytes.swap(one + byte, other + byte);
    }
}

#[test]
fn the_checksum_does_not_see_swapped_words() {
    use rand::SeedableRng;
    use skywave_wire::dccp::{DccpOption, Kind, Packet, SeqNo};
    use skywave_wire::{AddressPair, Checksum, Payload};

    let checksum = Checksum::Over(AddressPair::V4 {
        source: [192, 0, 2, 1].into(),
        destination: [192, 0, 2, 2].into(),
    });
    let packet = Packet {
        source_port: 1,
        destination_port: 2,
        ccval: 0,
        cscov: 0,
        extended: true,
        seq: SeqNo::new(0x1234_5678_9abc),
        kind: Kind::Data,
        options: [DccpOption::Timestamp(7)].into_iter().collect(),
        payload: Payload::from((0..101).collect::<Vec<u8>>()),
    };
    let bytes = packet.to_bytes(checksum).unwrap();
    let mut rng = Random::seed_from_u64(1);
    let (mut passed, mut caught) = (0, 0);
    for _ in 0..1_000 {
        let mut swapped = bytes.to_vec();
        swap_words(&mut swapped, &mut rng);
        // Lengths and types may be invalid, but the checksum matches.
        match Packet::parse(&swapped.into(), checksum) {
            Ok(read) => passed += u32::from(read != packet),
            Err(error) => assert!(!error.to_string().contains("checksum"), "{error}"),
        }
        let mut corrupted = bytes.to_vec();
        corrupt(&mut corrupted, &mut rng);
        caught += u32::from(Packet::parse(&corrupted.into(), checksum).is_err());
    }
    assert!(passed > 500, "{passed}");
    assert!(caught > 980, "{caught}");
}
