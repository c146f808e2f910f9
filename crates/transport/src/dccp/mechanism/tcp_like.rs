//! CCID 2, TCP-like congestion control (RFC 4341).

use super::{HalfContext, Mechanism, ReceiverHalf, SenderHalf};
use crate::dccp::ackvec::VectorKind;
use crate::dccp::ccid::{Ccid, Features, Row};
use crate::dccp::ccid2::{Receiver, Sender};

/// CCID 2.
#[derive(Clone, Copy, Debug)]
pub(in crate::dccp) struct TcpLike;

impl TcpLike {
    pub(in crate::dccp) const ROW: Row = Row {
        ccid: Ccid::TCP_LIKE,
        name: "TCP-like",
        features: Features {
            ack_vector: true,
            ..Features::NONE
        },
        options: &[],
        vector: VectorKind::Ack,
        data_ecn: None,
    };
}

impl Mechanism for TcpLike {
    fn row(&self) -> &'static Row {
        &Self::ROW
    }

    fn sender(&self, context: &HalfContext<'_>) -> SenderHalf {
        Sender::new(context.ccid2, context.mps, context.ack_ratio).into()
    }

    fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf {
        Receiver::new(context.ccid2, context.ack_ratio).into()
    }
}
