//! CCID 251: CCID 2's acknowledgements with a control chosen by the sender.
//!
//! This project's own, from the range that RFC 4340 section 10 reserves for experiments. On the
//! wire it differs from CCID 2 only in its number, which says that the sender may not be TCP-like:
//! it must not claim to be CCID 2, whose peers rely on RFC 4341. Both ends must support it, but the
//! receiver need not know which control the sender uses.

use std::sync::Arc;

use skywave_congestion::{Control, ControlContext, ControlKind, RenoParameters, Wants};

use super::{HalfContext, Mechanism, ReceiverHalf, SenderHalf};
use crate::dccp::ackvec::VectorKind;
use crate::dccp::ccid::{Ccid, Features, Row};
use crate::dccp::ccid2::{Receiver, Sender};

/// CCID 251 with a control.
#[derive(Clone, Debug)]
pub struct SendersChoice(Arc<dyn ControlKind>);

impl SendersChoice {
    /// Creates CCID 251 with controls of this kind.
    pub fn new(kind: Arc<dyn ControlKind>) -> Self {
        Self(kind)
    }
}

impl Default for SendersChoice {
    /// Returns CCID 251 with AIMD as in RFC 5681.
    fn default() -> Self {
        Self(Arc::new(RenoParameters::default()))
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

    fn wants(&self) -> Wants {
        self.0.wants()
    }

    fn shares_state(&self) -> bool {
        self.0.shares_state()
    }

    fn sender(&self, context: &HalfContext<'_>) -> SenderHalf {
        let control = self.0.build(&ControlContext {
            packet_size: context.mps,
            initial_cwnd: context.ccid2.initial_cwnd(context.mps),
            initial_ssthresh: context.ccid2.initial_ssthresh,
            ns2: false,
            linux: false,
        });
        let interests = control.interests();
        let sender =
            Sender::with_control(context.ccid2, control, context.ack_ratio, VectorKind::Ack);
        // As over TCP, where these are what makes the sender record sending times.
        let every_rtt = interests.packets || interests.delivery_rate || interests.every_rtt;
        let sender = sender.with_every_rtt(every_rtt);
        sender.with_pacing(self.wants().pacing).into()
    }

    fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf {
        Receiver::new(context.ccid2, context.ack_ratio).into()
    }
}
