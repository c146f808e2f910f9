//! Prints TCP segments on one line.

use core::fmt;

use super::{AccurateEcn, Flags, SackBlock, Segment, TcpOptions};

/// `49152 > 80 [P.] seq 1:101 ack 17 win 65535, sack 5:9, 100 bytes`, similar to tcpdump.
impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} > {} [{}]",
            self.source_port, self.destination_port, self.flags
        )?;
        write!(f, " seq {}", self.seq)?;
        if !self.payload.is_empty() {
            write!(f, ":{}", self.seq.wrapping_add(self.payload.len() as u32))?;
        }
        if self.flags.contains(Flags::ACK) {
            write!(f, " ack {}", self.ack)?;
        }
        write!(
            f,
            " win {}{}, {} bytes",
            self.window,
            self.options,
            self.payload.len()
        )
    }
}

/// tcpdump's letters: `S` SYN, `.` ACK, `F` FIN, `R` RST, `P` PSH, `U` URG, `E` ECE, `W` CWR, `e`
/// AE.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("none");
        }
        for (flag, letter) in [
            (Self::FIN, "F"),
            (Self::SYN, "S"),
            (Self::RST, "R"),
            (Self::PSH, "P"),
            (Self::URG, "U"),
            (Self::ECE, "E"),
            (Self::CWR, "W"),
            (Self::AE, "e"),
            (Self::ACK, "."),
        ] {
            if self.contains(flag) {
                f.write_str(letter)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for SackBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.left, self.right)
    }
}

/// Each option preceded by a comma; nothing if there is none.
impl fmt::Display for TcpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(mss) = self.mss {
            write!(f, ", mss {mss}")?;
        }
        if let Some(shift) = self.window_scale {
            write!(f, ", wscale {shift}")?;
        }
        if self.sack_permitted {
            f.write_str(", sackOK")?;
        }
        if let Some(timestamps) = self.timestamps {
            write!(f, ", TS {} ecr {}", timestamps.value, timestamps.echo)?;
        }
        for (index, block) in self.sack.iter().enumerate() {
            write!(f, "{}{block}", if index == 0 { ", sack " } else { " " })?;
        }
        match &self.accurate_ecn {
            Some(accurate_ecn) => write!(f, ", {accurate_ecn}"),
            None => Ok(()),
        }
    }
}

/// `AccECN ce 1460 ect1 9001`: the counters that are present.
impl fmt::Display for AccurateEcn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccECN")?;
        for (name, counter) in [
            ("ce", self.ce()),
            ("ect0", self.ect0()),
            ("ect1", self.ect1()),
        ] {
            if let Some(counter) = counter {
                write!(f, " {name} {counter}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Payload;

    #[test]
    fn reads_like_tcpdump() {
        let segment = Segment {
            source_port: 49152,
            destination_port: 80,
            seq: u32::MAX,
            ack: 17,
            flags: Flags::ACK.union(Flags::PSH),
            window: 512,
            checksum_offset: 0,
            identification: 0,
            options: TcpOptions {
                mss: Some(1460),
                sack: [
                    SackBlock { left: 5, right: 9 },
                    SackBlock { left: 1, right: 3 },
                ]
                .into_iter()
                .collect(),
                ..TcpOptions::default()
            },
            payload: Payload::Synthetic(10),
        };
        assert_eq!(
            segment.to_string(),
            "49152 > 80 [P.] seq 4294967295:9 ack 17 win 512, mss 1460, sack 5:9 1:3, 10 bytes"
        );
        assert_eq!(Flags::from_bits(u16::MAX).to_string(), "FSRPUEWe.");
        assert_eq!(Flags::default().to_string(), "none");
    }
}
