//! CCIDs 248, 249 and 250: VCP, DPCP and TPCP over DCCP. They are CCID 2 with a control that
//! follows the routers' load factor, carried by one, two or three packets, instead of losses and
//! marks. They are this project's own; RFC 4340 section 10 reserves their numbers for experiments.
//!
//! - Data packets leave with code point 01, low load. Packets without data leave with 00, which
//!   routers leave alone.
//! - The receiver acknowledges as under CCID 2, but with Load Vectors instead of Ack Vectors: the
//!   same run-length cells, containing each packet's code. They need no negotiation.
//! - A packet's position in its chain is its sequence number modulo the length of the chain. Every
//!   packet has its own number, so no header needs rewriting, and losses or reordering never cause
//!   a wrong position.
//! - Both ends must be ECN-capable.

use std::sync::Arc;

use skywave_congestion::AnyControl;
use skywave_registry::ParameterError;
use skywave_transport::dccp::ccid::{Features, Row};
use skywave_transport::dccp::mechanism::{
    CcidKinds, HalfContext, Mechanism, ReceiverHalf, SenderHalf,
};
use skywave_transport::dccp::{Ccid, VectorKind, ccid2};
use skywave_wire::dccp::{OptionType, Packet, SeqNo};

use crate::load::Zone;
use crate::{ChainOrder, Mpcp, MpcpConfig, SenderParameters, VcpConfig};

const fn row(ccid: Ccid, name: &'static str) -> Row {
    Row {
        ccid,
        name,
        features: Features::NONE,
        options: &[OptionType::LOAD_VECTOR],
        vector: VectorKind::Load,
        data_ecn: Some(Zone::Low.code()),
    }
}

/// In order of the length of the chain, from 1.
static ROWS: [Row; 3] = [
    row(LoadFactor::VCP, "VCP"),
    row(LoadFactor::DPCP, "DPCP"),
    row(LoadFactor::TPCP, "TPCP"),
];

/// CCID 248, 249 or 250.
#[derive(Clone, Debug)]
pub struct LoadFactor {
    config: MpcpConfig,
    row: &'static Row,
}

impl LoadFactor {
    /// VCP: a load factor takes one packet.
    pub const VCP: Ccid = Ccid(248);
    /// DPCP: a load factor takes two packets.
    pub const DPCP: Ccid = Ccid(249);
    /// TPCP: a load factor takes three packets.
    pub const TPCP: Ccid = Ccid(250);

    /// Creates `ccid` with a control that has these parameters.
    ///
    /// # Errors
    /// [`ParameterError`] if `ccid` is not one of the three, or if a parameter is wrong, in
    /// particular a chain of a different length, or growth per acknowledgement with one of several
    /// packets.
    pub fn new(ccid: Ccid, parameters: &SenderParameters) -> Result<Self, ParameterError> {
        parameters.check()?;
        let Some((packets, row)) = (1..).zip(&ROWS).find(|(_, row)| row.ccid == ccid) else {
            let message = format!("{ccid} is not a CCID of VCP or MPCP: use 248, 249 or 250");
            return Err(ParameterError::new("", message));
        };
        if parameters.chain.is_some_and(|given| given != packets) {
            let message = format!(
                "CCID {ccid} has chains of {packets}: omit `chain`, or use ccid 248 for 1 packet, 249 \
                 for 2 and 250 for 3"
            );
            return Err(ParameterError::new("chain", message));
        }
        parameters.check_growth(packets)?;
        if parameters.order.is_some() {
            let message = "over DCCP, a packet's sequence number tells its position: omit `order`";
            return Err(ParameterError::new("order", message));
        }
        Ok(Self {
            config: MpcpConfig {
                packets,
                order: ChainOrder::SequenceNumbers,
                // Replaced by the connection's own initial window.
                ..parameters.config(1.0)
            },
            row,
        })
    }

    /// Returns the position of a packet in its chain, which is all that a router reads.
    pub fn place(&self, seq: SeqNo) -> u8 {
        (seq.get() % u64::from(self.config.packets)) as u8
    }

    /// Returns the number of packets per load factor.
    pub const fn packets(&self) -> u8 {
        self.config.packets
    }
}

impl Mechanism for LoadFactor {
    fn row(&self) -> &'static Row {
        self.row
    }

    fn sender(&self, context: &HalfContext<'_>) -> SenderHalf {
        let control = Mpcp::new(MpcpConfig {
            vcp: VcpConfig {
                initial_cwnd: context.ccid2.initial_cwnd(context.mps),
                ..self.config.vcp
            },
            ..self.config
        });
        let (control, ratio) = (AnyControl::new(control), context.ack_ratio);
        ccid2::Sender::with_control(context.ccid2, control, ratio, self.row.vector).into()
    }

    fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf {
        ccid2::Receiver::new(context.ccid2, context.ack_ratio).into()
    }

    fn tag(&self, packet: &Packet) -> u8 {
        self.place(packet.seq)
    }

    fn has_tags(&self) -> bool {
        self.packets() > 1
    }

    fn check_routers(&self, codes: &[(&'static str, u32)]) -> Result<(), String> {
        crate::check_routers(self.packets(), self.config.vcp.falls_back, codes)
    }
}

const ALL: [Ccid; 3] = [LoadFactor::VCP, LoadFactor::DPCP, LoadFactor::TPCP];

/// Registers the three CCIDs, whose parameters are under `vcp`.
pub(crate) fn register(ccids: &mut CcidKinds) {
    for ccid in ALL {
        ccids.register(ccid, "vcp", move |parameters: SenderParameters| {
            Ok(Arc::new(LoadFactor::new(ccid, &parameters)?))
        });
    }
}

/// Returns the three CCIDs for sockets. The fallback is enabled, because routers on the Internet do
/// not support VCP.
pub fn ccids() -> impl Iterator<Item = Arc<dyn Mechanism>> {
    let parameters = SenderParameters {
        fallback: true,
        ..SenderParameters::default()
    };
    ALL.into_iter()
        .filter_map(move |ccid| LoadFactor::new(ccid, &parameters).ok())
        .map(|mechanism| Arc::new(mechanism) as Arc<dyn Mechanism>)
}
