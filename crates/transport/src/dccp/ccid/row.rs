//! What a connection must know of a CCID.

use skywave_wire::Ecn;
use skywave_wire::dccp::OptionType;

use super::Ccid;
use crate::dccp::ackvec::VectorKind;

/// Features that a CCID uses beyond those of every connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Its sender cannot do without the peer's Ack Vectors: the Send Ack Vector feature is
    /// negotiated, and data waits for it (RFC 4340 section 11.5).
    pub ack_vector: bool,
    /// Send Loss Event Rate (RFC 4342 section 8.4).
    pub loss_event_rate: bool,
    /// Its receiver tells lost data from other lost packets: it asks for NDP Counts (RFC 4340 section
    /// 7.7.2).
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
    /// The features that go with it.
    pub features: Features,
    /// The option types of its own that its sender reads (RFC 4340 section 10.3).
    pub options: &'static [OptionType],
    /// The vectors that its receiver sends.
    pub vector: VectorKind,
    /// The code point of data packets, where routers write their own codes into the ECN field. What
    /// is no data then leaves with 00, so that they let it be; both ends must be ECN-capable. `None`
    /// is ECN as RFC 4340 section 12 has it.
    pub data_ecn: Option<Ecn>,
}
