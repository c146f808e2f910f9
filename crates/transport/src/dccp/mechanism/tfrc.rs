//! CCID 3, TCP-Friendly Rate Control (RFC 4342).

use skywave_congestion::tfrc;
use skywave_wire::dccp::OptionType;

use super::{HalfContext, Mechanism, ReceiverHalf, SenderHalf};
use crate::dccp::ackvec::VectorKind;
use crate::dccp::ccid::{Ccid, Features, Row};
use crate::dccp::ccid3::{Receiver, Sender};

/// CCID 3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tfrc;

/// The features of CCIDs 3 and 4.
pub(super) const FEATURES: Features = Features {
    ack_vector: false,
    loss_event_rate: true,
    ndp_count: true,
    rtt_estimate: true,
};

impl Mechanism for Tfrc {
    fn row(&self) -> &'static Row {
        &Row {
            ccid: Ccid::TFRC,
            name: "TFRC",
            features: FEATURES,
            options: &[
                OptionType::LOSS_EVENT_RATE,
                OptionType::LOSS_INTERVALS,
                OptionType::RECEIVE_RATE,
            ],
            vector: VectorKind::Ack,
            data_ecn: None,
        }
    }

    fn sender(&self, context: &HalfContext<'_>) -> SenderHalf {
        SenderHalf::new(Sender::new(profile(context.tfrc)))
    }

    fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf {
        ReceiverHalf::new(Receiver::new(&profile(context.tfrc)))
    }
}

/// Selects CCID 3's parameters from those of TFRC.
fn profile(config: &tfrc::Config) -> tfrc::Config {
    tfrc::Config {
        small_packets: None,
        ..config.clone()
    }
}
