use super::*;

/// IPv4 and UDP.
const LOWER: u16 = 28;
const BASE: u16 = BASE_PLPMTU + LOWER;
const RTT: Duration = Duration::from_millis(100);

/// A discovery and its path, which answers probes that fit.
struct Lab {
    discovery: Discovery,
    now: Instant,
    /// The path's MTU; zero while nothing passes.
    mtu: u16,
    /// The peer answers smaller probes only, whatever passes.
    answered: u16,
    /// The sizes of all probes.
    probes: Vec<u16>,
}

impl Lab {
    fn new(first_link: u16, mtu: u16) -> Self {
        Self {
            discovery: Discovery::new(first_link, LOWER, PMTU_RAISE_TIMER, Instant::ZERO),
            now: Instant::ZERO,
            mtu,
            answered: u16::MAX,
            probes: Vec::new(),
        }
    }

    /// Sends probes and lets timers fire for `time`. Returns how often a search has begun.
    fn run(&mut self, time: Duration) -> u32 {
        let end = self.now + time;
        let mut raises = 0;
        loop {
            if let Some(size) = self.discovery.due() {
                self.probes.push(size);
                self.discovery.probe_sent(self.now, RTT);
                if size <= self.mtu.min(self.answered) {
                    self.now += RTT;
                    self.discovery.probe_acked(self.now);
                    continue;
                }
            }
            let next = self.discovery.deadline();
            if next > end {
                self.now = end.max(self.now);
                return raises;
            }
            assert!(next >= self.now, "time runs backwards");
            self.now = next;
            raises += u32::from(self.discovery.expire(self.now, true));
        }
    }

    fn suspect(&mut self) -> Duration {
        let before = self.now;
        self.discovery.suspect();
        while self.discovery.is_doubting() {
            self.run(RTT);
        }
        self.now - before
    }
}

const TEN_MINUTES: Duration = PMTU_RAISE_TIMER;

const fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn a_path_that_carries_everything_is_not_probed() {
    let mut lab = Lab::new(1_500, 1_500);
    let raises = lab.run(TEN_MINUTES * 5 + secs(1));
    assert_eq!((lab.discovery.plpmtu(), raises), (1_500, 5));
    assert_eq!(lab.probes, [0; 0]);
}

/// P-4: section 4.3: after a black hole is confirmed, the largest common size that passes is
/// found, whatever it is.
#[test]
fn a_black_hole_ends_within_seconds() {
    for (mtu, found) in [
        (1_492, 1_492),
        (1_500 - 80, 1_420),
        (1_280, 1_280),
        (1_279, BASE),
        (1_000, 768),
        (576, 576),
    ] {
        let mut lab = Lab::new(1_500, mtu);
        let time = lab.suspect();
        assert!(time < secs(8), "{mtu}: {time}");
        let lowered = lab.discovery.plpmtu();
        assert!(lowered <= mtu, "{mtu}: {lowered}");
        lab.run(secs(10));
        assert_eq!(lab.discovery.plpmtu(), found, "{mtu}");
        assert!(lab.probes.len() < 24, "{mtu}: {:?}", lab.probes);
    }
}

/// P-3: section 5.1.2: one lost probe is no indication. Each loss of the doubted size counts only
/// together with a smaller probe that passed.
#[test]
fn what_is_doubted_is_probed_three_times() {
    let mut lab = Lab::new(1_500, 1_280);
    lab.suspect();
    let round = [1_500, BASE];
    assert_eq!(lab.probes[..6], [round, round, round].concat());
    lab.run(secs(10));
    assert_eq!(lab.probes[6..], [1_280, 1_320, 1_320, 1_320]);
}

/// Section 5.3.3: an outage is not a black hole, nor is a peer that answers no probe, or no large
/// one.
#[test]
fn silence_changes_nothing() {
    for answered in [0, 500] {
        let mut lab = Lab::new(1_500, 1_500);
        lab.answered = answered;
        lab.suspect();
        lab.run(secs(60));
        assert_eq!(lab.discovery.plpmtu(), 1_500);
        assert_eq!(lab.probes.len(), 7, "{:?}", lab.probes);
    }
}

#[test]
fn an_outage_that_ends_meanwhile_changes_nothing() {
    for outage in [500, 1_500, 2_500, 3_500, 4_500, 5_500, 6_500] {
        let mut lab = Lab::new(1_500, 0);
        lab.discovery.suspect();
        lab.run(Duration::from_millis(outage));
        lab.mtu = 1_500;
        lab.run(secs(60));
        assert_eq!(lab.discovery.plpmtu(), 1_500, "{outage} ms");
    }
}

#[test]
fn data_that_arrive_dispel_the_doubt() {
    let mut lab = Lab::new(1_500, 1_500);
    lab.discovery.suspect();
    assert_eq!(lab.discovery.due(), Some(1_500));
    lab.discovery.trust();
    assert_eq!(
        (lab.discovery.due(), lab.discovery.is_doubting()),
        (None, false)
    );
    lab.run(secs(60));
    assert_eq!(lab.probes, [0; 0]);
}

/// P-5: section 5.1.1, PMTU_RAISE_TIMER: the search starts again every ten minutes, and finds what the
/// path carries by then.
#[test]
fn the_mtu_rises_with_the_path() {
    let mut lab = Lab::new(1_500, 1_280);
    lab.suspect();
    lab.run(secs(30));
    lab.mtu = 1_492;
    lab.probes.clear();
    lab.run(TEN_MINUTES - secs(60));
    assert_eq!((lab.discovery.plpmtu(), lab.probes.len()), (1_280, 0));
    lab.run(secs(60) + RTT * 40);
    assert_eq!(lab.discovery.plpmtu(), 1_492);
    assert_eq!(lab.probes.len(), 10 + 2 + 1, "{:?}", lab.probes);
}

/// P-5, P-6: section 8: the interval between probes is at least one round-trip time.
#[test]
fn a_long_round_trip_lengthens_the_probe_timer() {
    assert_eq!(probe_timer(RTT), secs(1));
    assert_eq!(probe_timer(secs(3)), secs(6));
}

/// Section 5.1.1: nothing is probed while nothing is sent.
#[test]
fn an_idle_path_is_not_searched() {
    let mut lab = Lab::new(1_500, 1_500);
    lab.suspect();
    let raise_at = lab.discovery.deadline();
    assert!(!lab.discovery.expire(raise_at, false));
    assert_eq!(lab.discovery.due(), None);
    assert_eq!(lab.discovery.deadline(), raise_at + TEN_MINUTES);
}

/// P-2: section 5.1.2, MAX_PLPMTU.
#[test]
fn the_first_link_bounds_the_search() {
    let mut lab = Lab::new(1_500, 9_000);
    lab.discovery.set_max(9_000, lab.now);
    lab.run(secs(60));
    assert_eq!(lab.discovery.plpmtu(), 9_000);
    lab.discovery.set_max(1_000, lab.now);
    lab.run(TEN_MINUTES + secs(1));
    assert_eq!(lab.discovery.plpmtu(), 1_000);
    lab.discovery.set_max(1_300, lab.now);
    lab.run(secs(60));
    assert_eq!(lab.discovery.plpmtu(), 1_300);
    assert!(lab.probes.iter().all(|&size| size <= 9_000));
    // It shrinks during a search.
    lab.discovery.set_max(9_000, lab.now);
    assert!(lab.discovery.due().is_some());
    lab.discovery.set_max(1_300, lab.now);
    assert_eq!(lab.discovery.due(), None);
}

/// P-7: section 4.6.2: reports of routers (PTB).
#[test]
fn reports_shorten_the_search() {
    let mut lab = Lab::new(1_500, 1_500);
    assert!(!lab.discovery.too_big(1_500, lab.now));
    assert!(lab.discovery.too_big(1_280, lab.now));
    assert_eq!(lab.discovery.plpmtu(), 1_280);

    // "PLPMTU < PL_PTB_SIZE < PROBED_SIZE": the next size to try.
    lab.mtu = 1_300;
    lab.now = lab.discovery.deadline();
    lab.discovery.expire(lab.now, true);
    assert!(
        !lab.discovery.too_big(1_300, lab.now),
        "nothing has left yet"
    );
    lab.discovery.probe_sent(lab.now, RTT);
    assert!(!lab.discovery.too_big(1_320, lab.now));
    assert!(lab.discovery.too_big(1_300, lab.now));
    lab.run(secs(60));
    assert_eq!(lab.discovery.plpmtu(), 1_300);

    // "PL_PTB_SIZE = PLPMTU": the search is over.
    lab.now = lab.discovery.deadline();
    lab.discovery.expire(lab.now, true);
    lab.discovery.probe_sent(lab.now, RTT);
    assert!(lab.discovery.too_big(1_300, lab.now));
    assert_eq!((lab.discovery.due(), lab.discovery.plpmtu()), (None, 1_300));
}

/// Where the first link is smaller than BASE_PLPMTU, or than any fallback.
#[test]
fn small_first_links() {
    let mut lab = Lab::new(1_000, 600);
    lab.suspect();
    assert_eq!(lab.discovery.plpmtu(), 576);
    let mut lab = Lab::new(500, 400);
    lab.suspect();
    assert_eq!((lab.discovery.plpmtu(), lab.probes.len()), (500, 0));
}

#[test]
fn sizes_ascend() {
    assert!(SIZES.is_sorted());
}
