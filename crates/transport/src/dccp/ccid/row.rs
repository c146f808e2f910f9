//! The facts a connection needs to know about a CCID.

use skywave_wire::Ecn;
use skywave_wire::dccp::OptionType;

use super::Ccid;
use crate::dccp::ackvec::VectorKind;

/// The features that a CCID uses in addition to those of every connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Whether the sender requires the peer's Ack Vectors. If so, the Send Ack Vector feature is
    /// negotiated and data waits for it (RFC 4340 section 11.5).
    pub ack_vector: bool,
    /// Send Loss Event Rate (RFC 4342 section 8.4).
    pub loss_event_rate: bool,
    /// Whether the receiver distinguishes lost data from other lost packets and therefore asks for
    /// NDP Counts (RFC 4340 section 7.7.2).
    pub ndp_count: bool,
    /// Send RTT Estimate (RFC 6323 section 3.2.2).
    pub rtt_estimate: bool,
}

impl Features {
    /// None of them.
    pub const NONE: Self = Self {
        ack_vector: false,
        loss_event_rate: false,
        ndp_count: false,
        rtt_estimate: false,
    };
}

/// The facts of a CCID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub ccid: Ccid,
    /// Its name.
    pub name: &'static str,
    /// The features it uses.
    pub features: Features,
    /// The CCID-specific option types that its sender reads (RFC 4340 section 10.3).
    pub options: &'static [OptionType],
    /// The kind of vector its receiver sends.
    pub vector: VectorKind,
    /// The code point of data packets, for CCIDs whose routers write their own codes into the ECN
    /// field. Packets without data then leave with 00, so that routers leave them alone, and both
    /// ends must be ECN-capable. `None` means ECN as in RFC 4340 section 12.
    pub data_ecn: Option<Ecn>,
}

impl Row {
    /// Returns whether its receiver's acknowledgements say which packets have arrived.
    pub(crate) const fn names_packets(&self) -> bool {
        self.features.ack_vector || matches!(self.vector, VectorKind::Load)
    }
}
