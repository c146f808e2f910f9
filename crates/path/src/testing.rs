//! A packet for the tests of this crate.

use skywave_wire::Ecn;

use crate::Packet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    pub(crate) id: u32,
    size: u32,
    ecn: Ecn,
}

impl Parcel {
    pub(crate) fn new(id: u32, size: u32) -> Self {
        Self {
            id,
            size,
            ecn: Ecn::NotEct,
        }
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
}
