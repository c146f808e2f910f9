//! What a one-way path does to packets: it loses, repeats, delays, reorders, marks and alters them.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;

/// One way of a path. Probabilities are per packet and independent of each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// How long every packet takes at least.
    pub(crate) delay: Duration,
    /// How much longer it may take: packets overtake each other.
    pub(crate) jitter: Duration,
    pub(crate) loss: f64,
    pub(crate) duplication: f64,
    /// A packet is held back by up to [`HOLD`].
    pub(crate) reordering: f64,
    /// A packet that is ECN-capable is marked.
    pub(crate) marking: f64,
    /// Bits flip, or the end is cut off.
    pub(crate) corruption: f64,
    /// The packet is altered in a way that the Internet checksum cannot see.
    pub(crate) forgery: f64,
    /// Nothing passes from the first to the second.
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
    /// Whether its bytes are others than those that went in.
    pub(crate) is_altered: bool,
}

impl Path {
    /// A path that does nothing but take time.
    pub(crate) fn clean(delay: Duration) -> Self {
        Self {
            delay,
            ..Self::default()
        }
    }

    /// What becomes of a packet: any number of copies.
    pub(crate) fn carry(
        &self,
        now: Instant,
        ecn: Ecn,
        bytes: &[u8],
        rng: &mut Xoshiro256PlusPlus,
    ) -> Vec<Copy> {
        let blacked_out = |&(from, to): &(Instant, Instant)| from <= now && now < to;
        if self.blackouts.iter().any(blacked_out) || rng.random_bool(self.loss) {
            return Vec::new();
        }
        let copies = if rng.random_bool(self.duplication) {
            rng.random_range(2..=4)
        } else {
            1
        };
        (0..copies).map(|_| self.copy(ecn, bytes, rng)).collect()
    }

    fn copy(&self, ecn: Ecn, bytes: &[u8], rng: &mut Xoshiro256PlusPlus) -> Copy {
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
pub(crate) fn up_to(most: Duration, rng: &mut Xoshiro256PlusPlus) -> Duration {
    Duration::from_nanos(rng.random_range(0..=most.as_nanos()))
}

fn corrupt(bytes: &mut Vec<u8>, rng: &mut Xoshiro256PlusPlus) {
    if rng.random_bool(0.1) {
        bytes.truncate(rng.random_range(0..bytes.len()));
        return;
    }
    for _ in 0..rng.random_range(1..=4) {
        let bit = rng.random_range(0..8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Swaps two 16-bit words: the Internet checksum is the same in any order of the words. Left where
/// it is: the word of Data Offset and Checksum Coverage, which says what the checksum covers.
fn swap_words(bytes: &mut [u8], rng: &mut Xoshiro256PlusPlus) {
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
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut passed, mut caught) = (0, 0);
    for _ in 0..1_000 {
        let mut swapped = bytes.to_vec();
        swap_words(&mut swapped, &mut rng);
        // Lengths and types may have become impossible, but the checksum agrees.
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
