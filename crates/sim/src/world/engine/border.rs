//! The border of a region: links that begin in one region and end in another, and the packets on
//! them.

use std::mem;

use skywave_units::{Duration, Instant};
use skywave_wire::quick_start::QuickStart;

use super::plane::Plane;
use super::{Simulator, World};
use crate::world::bodies::{Label, RemoteSlot};
use crate::world::network::Network;
use crate::world::observe::{Chronicle, Observer};
use crate::world::packet::{Body, Frame};
use crate::world::partition::{Map, RegionPlan};

/// The border of a region: the links that cross it.
#[derive(Default)]
pub(super) struct Border {
    /// Links that begin in another region, in ascending order.
    pub(super) inlets: Vec<Inlet>,
    /// Links that end in another region, in ascending order.
    pub(super) outlets: Vec<Outlet>,
    /// The region's own index.
    region: u32,
}

/// A link that begins in another region.
pub(super) struct Inlet {
    pub(super) link: u32,
    /// The link's; its stand-in in this region does not know it.
    pub(super) lookahead: Duration,
    /// The time before which everything has happened in the element where it begins.
    pub(super) until: Instant,
    /// The region where it begins, and its place among the outlets there.
    region: usize,
    outlet: usize,
    /// What has been handed over since the last turn of the element in which the link ends.
    mail: Mail,
}

/// A link that ends in another region.
pub(super) struct Outlet {
    pub(super) link: u32,
    /// The element in which it begins.
    pub(super) element: u32,
    /// What has been sent in this round.
    mail: Mail,
}

/// Packets on a link that crosses a border.
#[derive(Default)]
struct Mail {
    packets: Vec<Crossing>,
    /// The Quick-Start options of some of these packets, by their place.
    options: Vec<(usize, QuickStart)>,
}

/// A packet on a link that crosses a border.
struct Crossing {
    arrival: Instant,
    frame: Frame,
    label: Label,
    body: Body,
}

impl<O: Observer + Chronicle, W: World> Simulator<O, W> {
    /// Hands over what crosses borders: packets, and how far the elements are from which they come.
    pub(super) fn exchange(&mut self) {
        for to in 0..self.regions.len() {
            for inlet in 0..self.regions[to].border.inlets.len() {
                let from = self.regions[to].border.inlets[inlet].region;
                let both = self.regions.get_disjoint_mut([from, to]);
                let [from, to] = both.expect("a link that crosses a border has two regions");
                let inlet = &mut to.border.inlets[inlet];
                let outlet = &mut from.border.outlets[inlet.outlet];
                inlet.until = from.rounds.until_of(outlet.element);
                inlet.mail.receive(&mut outlet.mail);
            }
        }
    }
}

impl Mail {
    /// Takes what is in other mail, after what is in this.
    fn receive(&mut self, other: &mut Self) {
        if self.packets.is_empty() {
            // The memory goes back and forth.
            return mem::swap(self, other);
        }
        let before = self.packets.len();
        self.packets.append(&mut other.packets);
        let options = other.options.drain(..);
        self.options
            .extend(options.map(|(of, option)| (before + of, option)));
    }
}

impl<O: Observer + Chronicle, W: World> Plane<O, W> {
    /// Puts packets from another region on their link.
    pub(super) fn take_in(&mut self, inlet: &mut Inlet) {
        let link = &mut self.network.links[inlet.link as usize];
        let mut options = inlet.mail.options.drain(..).peekable();
        for (place, packet) in inlet.mail.packets.drain(..).enumerate() {
            let key = self.bodies.insert_labelled(packet.label, packet.body);
            if let Some((_, option)) = options.next_if(|&(of, _)| of == place) {
                self.options.insert(key as usize, option);
            }
            link.carry(packet.arrival, packet.frame.with_body(key));
        }
    }

    /// Moves the packets on a link into the mail for the region where it ends.
    fn send_out(&mut self, outlet: &mut Outlet, region: u32) {
        let link = &mut self.network.links[outlet.link as usize];
        let mail = &mut outlet.mail;
        while let Some((arrival, frame)) = link.dequeue_before(Instant::MAX) {
            let slot = frame.body();
            let mut label = self.bodies.label(slot);
            let was_sent_here = RemoteSlot::of(label.number).is_none();
            let body = if self.log.is_some() && was_sent_here {
                // The packet gets its number in this slot, which is not used again until then.
                let slot = slot as u32;
                label.number = RemoteSlot { region, slot }.to_number();
                self.bodies.take(frame.body())
            } else {
                self.bodies.remove(slot)
            };
            if !self.options.is_empty()
                && let Some(option) = self.options.remove(&slot)
            {
                mail.options.push((mail.packets.len(), option));
            }
            mail.packets.push(Crossing {
                arrival,
                frame,
                label,
                body,
            });
        }
    }
}

impl Border {
    /// Sends out what is on links that begin in an element.
    pub(super) fn send_out<O: Observer + Chronicle, W: World>(
        &mut self,
        outlets: &[u32],
        plane: &mut Plane<O, W>,
    ) {
        for &outlet in outlets {
            plane.send_out(&mut self.outlets[outlet as usize], self.region);
        }
    }
}

impl Inlet {
    /// Returns when the first packet arrives that is not on its link yet.
    pub(super) fn first_arrival(&self) -> Option<Instant> {
        self.mail.packets.iter().map(|packet| packet.arrival).min()
    }
}

/// Returns the border of each region.
pub(super) fn borders(plans: &[RegionPlan], map: &Map, network: &Network) -> Vec<Border> {
    let border = |region| Border {
        region,
        ..Border::default()
    };
    let mut borders: Vec<_> = (0..plans.len() as u32).map(border).collect();
    for &link in plans.iter().flat_map(|plan| &plan.whole.inputs) {
        borders[map.of_link(link)].outlets.push(Outlet {
            link,
            element: 0,
            mail: Mail::default(),
        });
    }
    for border in &mut borders {
        border.outlets.sort_by_key(|outlet| outlet.link);
    }
    for (to, plan) in plans.iter().enumerate() {
        let inlet = |&link: &u32| {
            let region = map.of_link(link);
            let outlets = &borders[region].outlets;
            Inlet {
                link,
                lookahead: network.links[link as usize].lookahead(),
                until: Instant::ZERO,
                region,
                outlet: outlets.partition_point(|outlet| outlet.link < link),
                mail: Mail::default(),
            }
        };
        borders[to].inlets = plan.whole.inputs.iter().map(inlet).collect();
    }
    borders
}
