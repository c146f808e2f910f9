//! A user-defined CCID: RFC 4341's with Load Vectors, for routers that write their own codes into
//! the ECN field. It uses only the public interface.

use skywave_congestion::{Aimd, AimdConfig};
use skywave_transport::dccp::ccid::{Features, Row};
use skywave_transport::dccp::mechanism::{HalfContext, Mechanism, ReceiverHalf, SenderHalf};
use skywave_transport::dccp::{Ccid, VectorKind, ccid2};
use skywave_wire::Ecn;
use skywave_wire::dccp::OptionType;

pub(crate) const LOAD_VECTORS: Ccid = Ccid(252);

#[derive(Debug)]
pub(crate) struct LoadVectors;

impl Mechanism for LoadVectors {
    fn row(&self) -> &'static Row {
        &Row {
            ccid: LOAD_VECTORS,
            name: "Load Vectors",
            features: Features::NONE,
            options: &[OptionType::LOAD_VECTOR],
            vector: VectorKind::Load,
            data_ecn: Some(Ecn::Ect1),
        }
    }

    fn sender(&self, context: &HalfContext<'_>) -> SenderHalf {
        let control = Aimd::new(AimdConfig::rfc4341(context.mps)).into();
        let ratio = context.ack_ratio;
        ccid2::Sender::with_control(context.ccid2, control, ratio, VectorKind::Load).into()
    }

    fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf {
        ccid2::Receiver::new(context.ccid2, context.ack_ratio).into()
    }
}
