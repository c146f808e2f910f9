//! CCID 4, TFRC for small packets (RFC 5622): CCID 3 plus the rules of RFC 4828 and the Dropped
//! Packets option.

use skywave_congestion::tfrc::{self, SmallPackets};
use skywave_wire::dccp::OptionType;

use super::tfrc::FEATURES;
use super::{HalfContext, Mechanism, ReceiverHalf, SenderHalf};
use crate::dccp::ackvec::VectorKind;
use crate::dccp::ccid::{Ccid, Row};
use crate::dccp::ccid3::{Receiver, Sender};

/// Header bytes counted per packet: IPv4 and DCCP-Data with 48-bit sequence numbers (section 5).
const HEADER: u32 = 36;

/// Header bytes counted per packet with 24-bit sequence numbers.
const SHORT_HEADER: u32 = 32;

/// CCID 4.
#[derive(Clone, Copy, Debug)]
pub(super) struct TfrcSp;

impl Mechanism for TfrcSp {
    fn row(&self) -> &'static Row {
        &Row {
            ccid: Ccid::TFRC_SP,
            name: "TFRC-SP",
            features: FEATURES,
            options: &[
                OptionType::LOSS_EVENT_RATE,
                OptionType::LOSS_INTERVALS,
                OptionType::RECEIVE_RATE,
                OptionType::DROPPED_PACKETS,
            ],
            vector: VectorKind::Ack,
            data_ecn: None,
        }
    }

    fn sender(&self, context: &HalfContext<'_>) -> SenderHalf {
        SenderHalf::new(Sender::new(profile(context)))
    }

    fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf {
        ReceiverHalf::new(Receiver::new(&profile(context)))
    }
}

/// Selects CCID 4's parameters from those of TFRC.
pub(in crate::dccp) fn profile(context: &HalfContext<'_>) -> tfrc::Config {
    let header = if context.allow_short_seqnos {
        SHORT_HEADER
    } else {
        HEADER
    };
    tfrc::Config {
        small_packets: Some(SmallPackets {
            header,
            ..SmallPackets::rfc4828()
        }),
        ..context.tfrc.clone()
    }
}
