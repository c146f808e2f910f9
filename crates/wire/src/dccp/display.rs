//! DCCP packets as one line for a person to read.

use core::fmt;

use super::{
    AckState, AckVectorCell, DccpOption, ElapsedTime, FeatureNumber, FeatureSide, Kind,
    LoadVectorCell, Packet, PacketType, ServiceCode,
};

/// `5001 > 54380 DataAck seq 12 ack 7, Ack Vector [R2 N1 R], 200 bytes`.
impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} > {} {}",
            self.source_port, self.destination_port, self.kind
        )?;
        write!(f, " seq {}", self.seq)?;
        if let Some(ack) = self.kind.ack() {
            write!(f, " ack {ack}")?;
        }
        if !self.extended {
            f.write_str(" (24 bits)")?;
        }
        if self.ccval != 0 {
            write!(f, " ccval {}", self.ccval)?;
        }
        if self.cscov != 0 {
            write!(f, " cscov {}", self.cscov)?;
        }
        for option in self
            .options
            .iter()
            .filter(|&option| *option != DccpOption::Padding)
        {
            write!(f, ", {option}")?;
        }
        write!(f, ", {} bytes", self.payload.len())
    }
}

/// The type and what belongs to it alone; numbers are left to the packet.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.packet_type().fmt(f)?;
        match self {
            Self::Request { service }
            | Self::Response { service, .. }
            | Self::Listen { service } => {
                write!(f, " service {service}")
            }
            Self::Reset { code, data, .. } if *data != [0; 3] => {
                write!(f, " ({code}, data {data:?})")
            }
            Self::Reset { code, .. } => write!(f, " ({code})"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for PacketType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request => "Request",
            Self::Response => "Response",
            Self::Data => "Data",
            Self::Ack => "Ack",
            Self::DataAck => "DataAck",
            Self::CloseReq => "CloseReq",
            Self::Close => "Close",
            Self::Reset => "Reset",
            Self::Sync => "Sync",
            Self::SyncAck => "SyncAck",
            Self::Listen => "Listen",
        })
    }
}

/// `SC:fdpz` where the four bytes can be written so, else `SC=42` (RFC 4340 section 8.1.2).
impl fmt::Display for ServiceCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.to_be_bytes();
        let spaces = bytes.iter().rev().take_while(|&&byte| byte == b' ').count();
        let text = &bytes[..bytes.len() - spaces];
        let is_written = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_+.*/?@".contains(byte);
        match core::str::from_utf8(text) {
            Ok(text) if !text.is_empty() && text.bytes().all(|byte| is_written(&byte)) => {
                write!(f, "SC:{text}")
            }
            _ => write!(f, "SC={}", self.0),
        }
    }
}

impl fmt::Display for FeatureNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::CCID => "CCID",
            Self::ALLOW_SHORT_SEQNOS => "Allow Short Seqnos",
            Self::SEQUENCE_WINDOW => "Sequence Window",
            Self::ECN_INCAPABLE => "ECN Incapable",
            Self::ACK_RATIO => "Ack Ratio",
            Self::SEND_ACK_VECTOR => "Send Ack Vector",
            Self::SEND_NDP_COUNT => "Send NDP Count",
            Self::MINIMUM_CHECKSUM_COVERAGE => "Minimum Checksum Coverage",
            Self::CHECK_DATA_CHECKSUM => "Check Data Checksum",
            Self::SEND_LOSS_EVENT_RATE => "Send Loss Event Rate",
            Self(number) => return write!(f, "feature {number}"),
        })
    }
}

impl fmt::Display for FeatureSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "L",
            Self::Remote => "R",
        })
    }
}

/// State and number of packets: `R` received, `C` congestion experienced, `N` not yet received, `?`
/// reserved; `R5` is five packets.
impl fmt::Display for LoadVectorCell {
    /// `10x3`: three packets that came with code 10; `-x1`: one that has not come.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code() {
            Some(code) => write!(f, "{:02b}x{}", code.bits(), self.packets()),
            None => write!(f, "-x{}", self.packets()),
        }
    }
}

impl fmt::Display for AckVectorCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state() {
            AckState::Received => "R",
            AckState::ReceivedEcnMarked => "C",
            AckState::Reserved => "?",
            AckState::NotYetReceived => "N",
        })?;
        if self.packets() > 1 {
            write!(f, "{}", self.packets())
        } else {
            Ok(())
        }
    }
}

impl fmt::Display for ElapsedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_duration().fmt(f)
    }
}

impl fmt::Display for DccpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Padding => f.write_str("Padding"),
            Self::Mandatory => f.write_str("Mandatory"),
            Self::SlowReceiver => f.write_str("Slow Receiver"),
            Self::Change {
                side,
                feature,
                value,
            } => {
                write!(f, "Change {side}({feature}{})", Listed(value))
            }
            Self::Confirm {
                side,
                feature,
                value,
            } => {
                write!(f, "Confirm {side}({feature}{})", Listed(value))
            }
            Self::InitCookie(cookie) => write!(f, "Init Cookie of {} bytes", cookie.len()),
            Self::NdpCount { count, .. } => write!(f, "NDP Count {count}"),
            Self::LoadVector(cells) => {
                f.write_str("Load Vector ")?;
                separated(f, cells.iter().copied().map(LoadVectorCell::from_byte))
            }
            Self::AckVector { nonce, cells } => {
                write!(f, "Ack Vector [Nonce {}] ", u8::from(*nonce))?;
                separated(f, cells.iter().copied().map(AckVectorCell::from_byte))
            }
            Self::DataDropped(blocks) => write!(f, "Data Dropped {blocks:02x?}"),
            Self::Timestamp(value) => write!(f, "Timestamp {value}"),
            Self::TimestampEcho {
                echo,
                elapsed: None,
            } => write!(f, "Timestamp Echo {echo}"),
            Self::TimestampEcho {
                echo,
                elapsed: Some(elapsed),
            } => {
                write!(f, "Timestamp Echo {echo} after {elapsed}")
            }
            Self::ElapsedTime(elapsed) => write!(f, "Elapsed Time {elapsed}"),
            Self::DataChecksum(crc) => write!(f, "Data Checksum {crc:#010x}"),
            Self::RttEstimate { micros, .. } => write!(f, "RTT Estimate {micros} us"),
            Self::LossEventRate(u32::MAX) => f.write_str("Loss Event Rate 0"),
            Self::LossEventRate(inverse) => write!(f, "Loss Event Rate 1/{inverse}"),
            Self::LossIntervals {
                skip_length,
                intervals,
            } => {
                write!(f, "Loss Intervals skip {skip_length} ")?;
                separated(
                    f,
                    intervals.iter().map(|interval| {
                        format!(
                            "{}+{}{}/{}",
                            interval.lossless_length,
                            interval.loss_length,
                            if interval.nonce { "E" } else { "" },
                            interval.data_length
                        )
                    }),
                )
            }
            Self::ReceiveRate(rate) => write!(f, "Receive Rate {rate} B/s"),
            Self::DroppedPackets(counts) => {
                f.write_str("Dropped Packets ")?;
                separated(f, counts.iter())
            }
            Self::Other { kind, value: None } => write!(f, "option {kind}"),
            Self::Other {
                kind,
                value: Some(value),
            } => write!(f, "option {kind} {value:02x?}"),
            Self::Malformed(bytes) => write!(f, "malformed {bytes:02x?}"),
        }
    }
}

/// Bytes of a feature's value, each behind a comma.
struct Listed<'a>(&'a [u8]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, ", {byte}"))
    }
}

fn separated<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
) -> fmt::Result {
    f.write_str("[")?;
    for (index, item) in items.enumerate() {
        write!(f, "{}{item}", if index > 0 { " " } else { "" })?;
    }
    f.write_str("]")
}
