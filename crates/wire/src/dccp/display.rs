//! Prints DCCP packets on one line.

use core::fmt;

use super::{
    AckState, AckVectorCell, DccpOption, ElapsedTime, FeatureSide, Kind, LoadVectorCell,
    LossInterval, Packet, PacketType, ServiceCode,
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

/// The type and its specific fields, without sequence numbers.
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
        f.write_str(self.name().trim_start_matches("DCCP-"))
    }
}

/// `SC:fdpz` if the four bytes can be written like that, otherwise `SC=42` (RFC 4340 section
/// 8.1.2).
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

impl fmt::Display for FeatureSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "L",
            Self::Remote => "R",
        })
    }
}

/// `10x3` for three packets that arrived with code 10; `-x1` for one that did not arrive.
impl fmt::Display for LoadVectorCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code() {
            Some(code) => write!(f, "{:02b}x{}", code.bits(), self.packets()),
            None => write!(f, "-x{}", self.packets()),
        }
    }
}

/// State and number of packets: `R` received, `C` congestion experienced, `N` not yet received, `?`
/// reserved. `R5` stands for five packets.
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

/// `10+2E/9`: lossless length, loss length, `E` if the nonce echo is one, data length.
impl fmt::Display for LossInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nonce = if self.nonce { "E" } else { "" };
        write!(
            f,
            "{}+{}{nonce}/{}",
            self.lossless_length, self.loss_length, self.data_length
        )
    }
}

/// Prints the bytes of a feature's value, each preceded by a comma.
pub(super) fn listed(value: &[u8]) -> impl fmt::Display {
    fmt::from_fn(move |f| value.iter().try_for_each(|byte| write!(f, ", {byte}")))
}

/// Prints a list, as in `[1 2 3]`.
pub(super) fn list<T: fmt::Display>(items: impl Iterator<Item = T> + Clone) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        f.write_str("[")?;
        for (index, item) in items.clone().enumerate() {
            write!(f, "{}{item}", if index > 0 { " " } else { "" })?;
        }
        f.write_str("]")
    })
}

/// Prints the time since a Timestamp arrived, if present.
pub(super) fn after(elapsed: Option<ElapsedTime>) -> impl fmt::Display {
    fmt::from_fn(move |f| match elapsed {
        None => Ok(()),
        Some(elapsed) => write!(f, " after {elapsed}"),
    })
}

/// Prints the loss event rate of an option that contains its inverse.
pub(super) fn loss_event_rate(inverse: u32) -> impl fmt::Display {
    fmt::from_fn(move |f| match inverse {
        u32::MAX => f.write_str("0"),
        inverse => write!(f, "1/{inverse}"),
    })
}
