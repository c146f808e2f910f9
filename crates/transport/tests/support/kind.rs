//! DCCP packets by type number (RFC 4340 section 5.1), for unit and integration tests.

use skywave_wire::dccp::{Kind, ResetCode, SeqNo, ServiceCode};

/// The packet kind with this type number; 10 and above are Listen.
pub(crate) fn kind(number: u8, ack: SeqNo) -> Kind {
    let service = ServiceCode::NONE;
    match number {
        0 => Kind::Request { service },
        1 => Kind::Response { ack, service },
        2 => Kind::Data,
        3 => Kind::Ack { ack },
        4 => Kind::DataAck { ack },
        5 => Kind::CloseReq { ack },
        6 => Kind::Close { ack },
        7 => Kind::Reset {
            ack,
            code: ResetCode::CLOSED,
            data: [0; 3],
        },
        8 => Kind::Sync { ack },
        9 => Kind::SyncAck { ack },
        _ => Kind::Listen { service },
    }
}
