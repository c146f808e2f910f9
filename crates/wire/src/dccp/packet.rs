//! A DCCP packet as a typed value (RFC 4340 section 5).

use core::fmt;

use super::{OptionList, SeqNo};
use crate::Payload;

/// A Service Code (RFC 4340 section 8.1.2, RFC 5595): the application-level service that a
/// connection is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceCode(pub u32);

impl ServiceCode {
    /// Zero: no meaningful Service Code.
    pub const NONE: Self = Self(0);
    /// 4294967295 is not a valid Service Code (RFC 4340 section 8.1.2).
    pub const INVALID: Self = Self(u32::MAX);
}

/// The number of a packet type (RFC 4340 section 5.1, RFC 5596 for Listen).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PacketType {
    /// Opens a connection.
    Request = 0,
    /// Answers a Request.
    Response = 1,
    /// Carries data.
    Data = 2,
    /// Acknowledges.
    Ack = 3,
    /// Carries data and acknowledges.
    DataAck = 4,
    /// The server asks the client to close.
    CloseReq = 5,
    /// Closes.
    Close = 6,
    /// Ends a connection.
    Reset = 7,
    /// Resynchronises sequence numbers.
    Sync = 8,
    /// Answers a Sync.
    SyncAck = 9,
    /// Opens a path through a middlebox for a server (RFC 5596).
    Listen = 10,
}

impl PacketType {
    /// Returns its name in the RFCs, such as `DCCP-DataAck`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "DCCP-Request",
            Self::Response => "DCCP-Response",
            Self::Data => "DCCP-Data",
            Self::Ack => "DCCP-Ack",
            Self::DataAck => "DCCP-DataAck",
            Self::CloseReq => "DCCP-CloseReq",
            Self::Close => "DCCP-Close",
            Self::Reset => "DCCP-Reset",
            Self::Sync => "DCCP-Sync",
            Self::SyncAck => "DCCP-SyncAck",
            Self::Listen => "DCCP-Listen",
        }
    }
}

/// The type-specific fields after the generic header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// DCCP-Request.
    Request {
        /// The service that the client asks for.
        service: ServiceCode,
    },
    /// DCCP-Response.
    Response {
        /// Greatest sequence number received.
        ack: SeqNo,
        /// The Request's Service Code, repeated.
        service: ServiceCode,
    },
    /// DCCP-Data.
    Data,
    /// DCCP-Ack.
    Ack {
        /// Greatest sequence number received.
        ack: SeqNo,
    },
    /// DCCP-DataAck.
    DataAck {
        /// Greatest sequence number received.
        ack: SeqNo,
    },
    /// DCCP-CloseReq.
    CloseReq {
        /// Greatest sequence number received.
        ack: SeqNo,
    },
    /// DCCP-Close.
    Close {
        /// Greatest sequence number received.
        ack: SeqNo,
    },
    /// DCCP-Reset.
    Reset {
        /// Greatest sequence number received, or that of the packet that caused the Reset.
        ack: SeqNo,
        /// The reason.
        code: ResetCode,
        /// Data 1, Data 2 and Data 3, whose meaning depends on the code.
        data: [u8; 3],
    },
    /// DCCP-Sync.
    Sync {
        /// A received sequence number, valid or not (RFC 4340 section 5.7).
        ack: SeqNo,
    },
    /// DCCP-SyncAck.
    SyncAck {
        /// The sequence number of the Sync.
        ack: SeqNo,
    },
    /// DCCP-Listen (RFC 5596): sequence number zero, no acknowledgement.
    Listen {
        /// The service on offer.
        service: ServiceCode,
    },
}

impl Kind {
    /// Returns the packet type.
    pub const fn packet_type(&self) -> PacketType {
        match self {
            Self::Request { .. } => PacketType::Request,
            Self::Response { .. } => PacketType::Response,
            Self::Data => PacketType::Data,
            Self::Ack { .. } => PacketType::Ack,
            Self::DataAck { .. } => PacketType::DataAck,
            Self::CloseReq { .. } => PacketType::CloseReq,
            Self::Close { .. } => PacketType::Close,
            Self::Reset { .. } => PacketType::Reset,
            Self::Sync { .. } => PacketType::Sync,
            Self::SyncAck { .. } => PacketType::SyncAck,
            Self::Listen { .. } => PacketType::Listen,
        }
    }

    /// Returns the acknowledgement number, if the type has one.
    pub const fn ack(&self) -> Option<SeqNo> {
        match *self {
            Self::Request { .. } | Self::Data | Self::Listen { .. } => None,
            Self::Response { ack, .. }
            | Self::Ack { ack }
            | Self::DataAck { ack }
            | Self::CloseReq { ack }
            | Self::Close { ack }
            | Self::Reset { ack, .. }
            | Self::Sync { ack }
            | Self::SyncAck { ack } => Some(ack),
        }
    }

    /// Returns whether the type may carry application data that is delivered: Request, Response,
    /// Data and DataAck. (A Reset's data is text for humans; RFC 4340 section 5.6.)
    pub const fn carries_data(&self) -> bool {
        matches!(
            self,
            Self::Request { .. } | Self::Response { .. } | Self::Data | Self::DataAck { .. }
        )
    }
}

/// A DCCP packet.
///
/// If `extended` is false (X = 0; only Data, Ack and DataAck), the header has 24-bit numbers. `seq`
/// and the acknowledgement number then contain only those 24 bits, and the receiving endpoint
/// extends them ([`SeqNo::extend`]).
///
/// The checksum is not a field: it is computed on encoding and verified on decoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// CCVal: four bits for the sending half-connection's CCID.
    pub ccval: u8,
    /// CsCov: how much of the data the checksum covers. 0 covers everything, n > 0 covers (n - 1) *
    /// 4 bytes (RFC 4340 section 9.2). Four bits.
    pub cscov: u8,
    /// X: whether sequence and acknowledgement numbers are 48 bits long.
    pub extended: bool,
    /// Sequence number.
    pub seq: SeqNo,
    /// Packet type and its own fields.
    pub kind: Kind,
    /// Options, in packet order.
    pub options: OptionList,
    /// Application data.
    pub payload: Payload,
}

/// Why a connection was reset (RFC 4340 section 5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResetCode(pub u8);

impl ResetCode {
    /// No particular reason.
    pub const UNSPECIFIED: Self = Self(0);
    /// Normal close.
    pub const CLOSED: Self = Self(1);
    /// The sender gave up.
    pub const ABORTED: Self = Self(2);
    /// There is no such connection.
    pub const NO_CONNECTION: Self = Self(3);
    /// A packet of an unexpected type; Data 1 is the type.
    pub const PACKET_ERROR: Self = Self(4);
    /// An erroneous option; Data 1 to 3 are its [`reset_data`](super::DccpOption::reset_data).
    pub const OPTION_ERROR: Self = Self(5);
    /// An option after Mandatory could not be processed; Data 1 to 3 are its
    /// [`reset_data`](super::DccpOption::reset_data).
    pub const MANDATORY_ERROR: Self = Self(6);
    /// Nobody listens on that port.
    pub const CONNECTION_REFUSED: Self = Self(7);
    /// The port does not offer that service.
    pub const BAD_SERVICE_CODE: Self = Self(8);
    /// The server is too busy.
    pub const TOO_BUSY: Self = Self(9);
    /// The Init Cookie was wrong or missing.
    pub const BAD_INIT_COOKIE: Self = Self(10);
    /// The peer was caught cheating.
    pub const AGGRESSION_PENALTY: Self = Self(11);
    /// Another connection has taken over the encapsulating UDP ports (RFC 6773 section 3.8).
    pub const ENCAPSULATED_PORT_REUSE: Self = Self(12);
}

impl fmt::Display for ResetCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match *self {
            Self::UNSPECIFIED => "unspecified",
            Self::CLOSED => "closed",
            Self::ABORTED => "aborted",
            Self::NO_CONNECTION => "no connection",
            Self::PACKET_ERROR => "packet error",
            Self::OPTION_ERROR => "option error",
            Self::MANDATORY_ERROR => "mandatory error",
            Self::CONNECTION_REFUSED => "connection refused",
            Self::BAD_SERVICE_CODE => "bad service code",
            Self::TOO_BUSY => "too busy",
            Self::BAD_INIT_COOKIE => "bad init cookie",
            Self::AGGRESSION_PENALTY => "aggression penalty",
            Self::ENCAPSULATED_PORT_REUSE => "encapsulated port reuse",
            _ => return write!(f, "code {}", self.0),
        };
        f.write_str(name)
    }
}
