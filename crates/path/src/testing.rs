//! A packet for the tests of this crate.

use skywave_wire::Ecn;

use crate::Packet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) id: u32,
    size: u32,
    ecn: Ecn,
    flow: u32,
    class: u8,
    place: u8,
}

impl Parcel {
    pub(crate) fn new(id: u32, size: u32) -> Self {
        Self {
            id,
            size,
            ecn: Ecn::NotEct,
            flow: 0,
            class: 0,
            place: 0,
        }
    }

    pub(crate) fn with_ecn(self, ecn: Ecn) -> Self {
        Self { ecn, ..self }
    }

    pub(crate) fn of_flow(self, flow: u32) -> Self {
        Self { flow, ..self }
    }

    pub(crate) fn at_place(self, place: u8) -> Self {
        Self { place, ..self }
    }

    pub(crate) fn of_class(self, class: u8) -> Self {
        Self { class, ..self }
    }
}

impl Packet for Parcel {
    fn size(&self) -> u32 {
        self.size
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn flow(&self) -> u64 {
        u64::from(self.flow)
    }

    fn class(&self) -> u8 {
        self.class
    }

    fn place(&self) -> u8 {
        self.place
    }
}
