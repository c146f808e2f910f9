//! CCID 251: the acknowledgements of CCID 2, with a control of the sender's choice.
//!
//! This project's own, among the numbers that RFC 4340 section 10 leaves to experiments. On the wire
//! it is CCID 2 but for its number, which says that the sender may be anything but TCP-like: it
//! must not pretend to be CCID 2, whose peers count on RFC 4341. Both ends must know it; which
//! control the sender has, the receiver need not know.

use std::sync::Arc;

use skywave_congestion::{ControlContext, ControlKind, RenoParameters};

use super::{HalfContext, Mechanism, ReceiverHalf, SenderHalf};
use crate::dccp::ackvec::VectorKind;
use crate::dccp::ccid::{Ccid, Features, Row};
use crate::dccp::ccid2::{Receiver, Sender};

/// CCID 251 with a control.
#[derive(Clone, Debug)]
pub struct SendersChoice(Arc<dyn ControlKind>);

impl SendersChoice {
    /// With controls of this kind.
    pub fn new(kind: Arc<dyn ControlKind>) -> Self {
        Self(kind)
    }
}

impl Default for SendersChoice {
    /// RFC 5681.
    fn default() -> Self {
        Self(Arc::new(RenoParameters {}))
    }
}

impl Mechanism for SendersChoice {
    fn row(&self) -> &'static Row {
        &Row {
            ccid: Ccid::SENDERS_CHOICE,
            name: "sender's choice",
            features: Features {
                ack_vector: true,
                ..Features::NONE
            },
            options: &[],
            vector: VectorKind::Ack,
            data_ecn: None,
        }
    }

    fn sender(&self, context: &HalfContext<'_>) -> SenderHalf {
        let control = self.0.build(&ControlContext {
            packet_size: context.mps,
            initial_cwnd: context.ccid2.initial_cwnd(context.mps),
            initial_ssthresh: context.ccid2.initial_ssthresh,
            ns2: false,
        });
        Sender::with_control(context.ccid2, control, context.ack_ratio, VectorKind::Ack).into()
    }

    fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf {
        Receiver::new(context.ccid2, context.ack_ratio).into()
    }
}
