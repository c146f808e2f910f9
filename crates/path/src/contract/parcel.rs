//! A packet for tests.

use skywave_wire::Ecn;

use crate::Packet;

/// A minimal packet for tests of queue disciplines: the properties that a path sees, and an
/// identifying number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// The number.
    pub id: u32,
    size: u32,
    ecn: Ecn,
    flow: u32,
    class: u8,
    tag: u8,
}

impl Parcel {
    /// Creates a packet of `size` bytes in flow 0 and class 0 that cannot be marked.
    pub const fn new(id: u32, size: u32) -> Self {
        Self {
            id,
            size,
            ecn: Ecn::NotEct,
            flow: 0,
            class: 0,
            tag: 0,
        }
    }

    /// Sets the ECN field.
    #[must_use]
    pub const fn with_ecn(self, ecn: Ecn) -> Self {
        Self { ecn, ..self }
    }

    /// Sets the flow.
    #[must_use]
    pub const fn of_flow(self, flow: u32) -> Self {
        Self { flow, ..self }
    }

    /// Sets the class.
    #[must_use]
    pub const fn of_class(self, class: u8) -> Self {
        Self { class, ..self }
    }

    /// Sets the tag.
    #[must_use]
    pub const fn tagged(self, tag: u8) -> Self {
        Self { tag, ..self }
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

    fn tag(&self) -> u8 {
        self.tag
    }
}
