//! The progress of a region's elements, and how it judges their division.

use std::slice;

use skywave_units::{Duration, Instant};

use super::border::{Border, Inlet};
use super::{EVENTS_PER_REPORT, INSTANT};
use crate::world::elements::{Division, Members};
use crate::world::network::Network;
use crate::world::partition::RegionPlan;

/// The number of events after which a network is divided for the first time. A shorter run would gain
/// nothing.
const FIRST: u64 = EVENTS_PER_REPORT;

/// The number of events and turns after which a division is judged.
const WORK: u64 = EVENTS_PER_REPORT;

/// The number of events that are worth a turn. With fewer, it costs more than the order of all
/// events that it saves.
const WORTH_A_TURN: u64 = 32;

/// The progress of a region's elements.
pub(super) struct Rounds {
    pub(super) elements: Vec<Element>,
    /// The time before which everything has happened.
    pub(super) until: Instant,
    /// How far the elements may advance in a round. It adapts so that a round has about as many
    /// events as there are between two reports: packets that wait for their receivers' turn should
    /// stay in a cache.
    pub(super) stride: Duration,
    /// How the region is divided if that pays.
    pub(super) division: Division,
    /// What is divided, if that is not the whole network.
    pub(super) plan: Option<RegionPlan>,
    /// How many events a single element executes before the region is divided.
    pub(super) patience: u64,
    pub(super) work: Work,
    /// When to join the elements.
    pub(super) joins_at: Option<Instant>,
}

/// What a region has shown about its division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    Divide,
    Join,
}

/// What has been done since the division was last judged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    turns: u64,
    events: u64,
}

/// The progress of an element.
pub(super) struct Element {
    pub(super) inputs: Vec<Input>,
    /// The link that ends in it, if that is one from another element and there are no others.
    pub(super) only_link: Option<u32>,
    /// The outlets that begin in it, by their places.
    pub(super) outlets: Vec<u32>,
    /// The time before which everything in it has happened.
    pub(super) until: Instant,
}

/// A link that ends in an element and begins in another one.
pub(super) struct Input {
    pub(super) link: u32,
    from: Origin,
    lookahead: Duration,
}

/// Where an input begins.
enum Origin {
    Element(u32),
    /// In another region: its place among the inlets.
    Inlet(u32),
}

impl Work {
    pub(super) const fn add(&mut self, turns: u64, events: u64) {
        self.turns += turns;
        self.events += events;
    }
}

impl Element {
    /// Returns an element with these members. `begins` returns the one in which a link begins that is
    /// no inlet.
    fn of(
        members: &Members,
        begins: &impl Fn(u32) -> u32,
        network: &Network,
        inlets: &[Inlet],
        until: Instant,
    ) -> Self {
        let input = |&link: &u32| match inlets.binary_search_by_key(&link, |inlet| inlet.link) {
            Ok(inlet) => Input {
                link,
                from: Origin::Inlet(inlet as u32),
                lookahead: inlets[inlet].lookahead,
            },
            Err(_) => Input {
                link,
                from: Origin::Element(begins(link)),
                lookahead: network.links[link as usize].lookahead(),
            },
        };
        Self {
            inputs: members.inputs.iter().map(input).collect(),
            only_link: match (&members.links[..], &members.inputs[..]) {
                ([link], [_]) => Some(*link),
                _ => None,
            },
            outlets: Vec::new(),
            until,
        }
    }
}

impl Input {
    /// Returns its place among the inlets, if it begins in another region.
    pub(super) fn inlet(&self) -> Option<usize> {
        match self.from {
            Origin::Element(_) => None,
            Origin::Inlet(inlet) => Some(inlet as usize),
        }
    }
}

impl Rounds {
    /// Creates the rounds of a network that is one element.
    pub(super) fn new(division: Division) -> Self {
        let whole = Element {
            inputs: Vec::new(),
            only_link: None,
            outlets: Vec::new(),
            until: Instant::ZERO,
        };
        Self {
            elements: vec![whole],
            until: Instant::ZERO,
            stride: division.stride(),
            division,
            plan: None,
            patience: FIRST,
            work: Work::default(),
            joins_at: None,
        }
    }

    /// Creates the rounds of a region that is one element.
    pub(super) fn of_region(
        division: Division,
        plan: RegionPlan,
        network: &Network,
        border: &mut Border,
    ) -> Self {
        let mut rounds = Self::new(division);
        rounds.set_elements(slice::from_ref(&plan.whole), |_| 0, network, border);
        rounds.plan = Some(plan);
        rounds
    }

    /// Continues with other elements than before. `begins` returns the one in which a link begins.
    pub(super) fn set_elements(
        &mut self,
        members: &[Members],
        begins: impl Fn(u32) -> u32,
        network: &Network,
        border: &mut Border,
    ) {
        let of = |members| Element::of(members, &begins, network, &border.inlets, self.until);
        self.elements = members.iter().map(of).collect();
        for (place, outlet) in (0..).zip(&mut border.outlets) {
            outlet.element = begins(outlet.link);
            self.elements[outlet.element as usize].outlets.push(place);
        }
    }

    /// Returns how the region is divided if that pays.
    pub(super) const fn division(&self) -> Division {
        self.division
    }

    /// Returns the time before which everything in an element has happened.
    pub(super) fn until_of(&self, element: u32) -> Instant {
        self.elements[element as usize].until
    }

    /// Returns the time up to which to execute rounds until `end`.
    pub(super) fn end(&self, end: Instant) -> Instant {
        self.joins_at.unwrap_or(end).min(end)
    }

    /// Moves all elements to a time before which nothing happens.
    pub(super) fn skip_to(&mut self, time: Instant) {
        for element in &mut self.elements {
            element.until = element.until.max(time);
        }
        self.note_until();
    }

    pub(super) fn note_until(&mut self) {
        let reached = self.elements.iter().map(|element| element.until);
        self.until = reached.min().unwrap_or(self.until);
    }

    pub(super) fn adapt_stride(&mut self, executed: u64) {
        if executed > 2 * EVENTS_PER_REPORT {
            self.stride = (self.stride / 2).max(INSTANT);
        } else if executed < EVENTS_PER_REPORT / 2 {
            self.stride = (self.stride * 2).min(self.division.stride());
        }
    }

    /// Returns the time that an element has reached and none has passed. It may be in the middle of
    /// the events at that instant.
    pub(super) fn furthest(&self) -> Instant {
        let reached = self.elements.iter().map(|element| element.until);
        reached.max().unwrap_or(self.until)
    }

    /// Judges the division from time to time.
    pub(super) fn judge(&mut self) -> Verdict {
        let Work { turns, events } = self.work;
        if !self.division.adapts() || self.joins_at.is_some() {
            return Verdict::Keep;
        }
        if self.elements.len() == 1 {
            return if events < self.patience {
                Verdict::Keep
            } else {
                Verdict::Divide
            };
        }
        if events + turns < WORK {
            return Verdict::Keep;
        }
        self.work = Work::default();
        if events < turns * WORTH_A_TURN {
            Verdict::Join
        } else {
            Verdict::Keep
        }
    }

    /// Returns the time before which an element knows everything that will arrive.
    pub(super) fn horizon(&self, element: usize, inlets: &[Inlet], end: Instant) -> Instant {
        let inputs = self.elements[element].inputs.iter();
        let known = inputs.map(|input| {
            let until = match input.from {
                Origin::Element(element) => self.elements[element as usize].until,
                Origin::Inlet(inlet) => inlets[inlet as usize].until,
            };
            until + input.lookahead
        });
        known.fold(end, Instant::min)
    }
}
