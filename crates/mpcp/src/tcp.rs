//! Load factors over TCP.
//!
//! Data segments, including retransmissions, carry the load factor's code in the ECN field. The
//! flags ECE and CWR of an acknowledgement return, as low and high bit, the largest code of the
//! segments since the last one. Acknowledgements are sent with 00, so routers leave them alone.
//! Both ends are assumed to agree. The VCP authors do not specify how TCP's header carries the
//! code; this encoding is our own.
//!
//! In a chain of more than one packet, headers encode each segment's position (see `chain`), and
//! the receiver acknowledges every segment at once with its position and code.

use skywave_congestion::ControlContext;
use skywave_registry::ParameterError;
use skywave_transport::tcp::{
    Header, ReceiverExtension, SenderControl, SenderExtension, TcpControlKind, TcpControls,
};
use skywave_units::Instant;
use skywave_wire::Ecn;
use skywave_wire::tcp::Flags;

use crate::chain::{Encoding, Known};
use crate::load::Zone;
use crate::{Mpcp, SenderParameters};

/// Shift between the flags CWR and ECE and the two bits of a code.
const CODE_SHIFT: u16 = 6;

impl SenderExtension for Mpcp {
    fn write(&mut self, mut header: Header) -> (Header, Ecn) {
        if self.packets() > 1 {
            let place = self.next_place();
            self.encoding().put(&mut header, place);
        }
        (header, Zone::Low.code())
    }

    fn read(&mut self, now: Instant, mut header: Header, next: u32) -> Header {
        if self.packets() == 1 {
            return header;
        }
        let place = self.encoding().take(&mut header, Known::Seq(next));
        let flags = header.flags;
        if flags.contains(Flags::ACK) && !flags.contains(Flags::SYN) && !flags.contains(Flags::RST)
        {
            self.on_feedback(now, place, self.echo(flags));
        }
        header
    }

    fn echo(&self, flags: Flags) -> Ecn {
        Ecn::from_bits((flags.bits() >> CODE_SHIFT) as u8)
    }
}

/// The receiver's half.
#[derive(Clone, Debug)]
struct Echo {
    encoding: Encoding,
    /// The largest code since the last acknowledgement; with chains, that of the last segment.
    code: Ecn,
    /// The position of the last segment in its chain.
    place: u8,
}

impl Echo {
    fn has_chains(&self) -> bool {
        self.encoding != Encoding::Absent
    }
}

impl ReceiverExtension for Echo {
    fn read(&mut self, mut header: Header, ack: u32) -> Header {
        if self.has_chains() {
            self.place = self.encoding.take(&mut header, Known::Ack(ack));
        }
        header
    }

    fn on_data(&mut self, ecn: Ecn) {
        self.code = if self.has_chains() {
            ecn
        } else {
            self.code.max(ecn)
        };
    }

    fn acks_at_once(&self) -> bool {
        self.has_chains()
    }

    fn write(&mut self, mut header: Header) -> Header {
        let code = core::mem::take(&mut self.code);
        let code = Flags::from_bits(u16::from(code.bits()) << CODE_SHIFT);
        header.flags = header.flags.union(code);
        if self.has_chains() {
            self.encoding.put(&mut header, self.place);
        }
        header
    }
}

impl SenderParameters {
    fn encoding(&self) -> Encoding {
        Encoding::new(self.packets(), self.order())
    }
}

impl TcpControlKind for SenderParameters {
    fn check(&self) -> Result<(), ParameterError> {
        Self::check(self)
    }

    fn build(&self, context: &ControlContext) -> SenderControl {
        SenderControl::Extended(Box::new(Mpcp::new(self.config(context.initial_cwnd))))
    }

    fn receiver(&self) -> Option<Box<dyn ReceiverExtension + Send>> {
        Some(Box::new(Echo {
            encoding: self.encoding(),
            code: Ecn::NotEct,
            place: 0,
        }))
    }

    fn tag(&self, header: Header) -> u8 {
        self.encoding().place(header)
    }

    fn has_tags(&self) -> bool {
        self.packets() > 1
    }

    fn owns_ecn(&self) -> bool {
        true
    }

    fn check_routers(&self, codes: &[(&'static str, u32)]) -> Result<(), String> {
        crate::check_routers(self.packets(), self.fallback, codes)
    }
}

/// Registers the control `vcp`, whose parameter `chain` extends it to MPCP.
pub(crate) fn register(controls: &mut TcpControls) {
    skywave_transport::tcp::register_tcp_control::<SenderParameters>(
        controls,
        "vcp",
        "Follows the load factor written by routers: VCP, or MPCP with chains of packets.",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{VcpConfig, chain};

    /// Without a chain, an acknowledgement returns the largest code since the previous one, so a
    /// delayed one loses no overload.
    #[test]
    fn acknowledgements_carry_back_the_largest_code() {
        let sender = Mpcp::new(VcpConfig::chen2010(4.0));
        let mut receiver = SenderParameters::default().receiver().unwrap();
        for zone in [Zone::Low, Zone::High, Zone::Over] {
            receiver.on_data(zone.code());
            receiver.on_data(Zone::Low.code());
            let ack = receiver.write(Header::of(&chain::tests::segment(1, 1)));
            assert!(ack.flags.contains(Flags::ACK));
            assert_eq!(sender.echo(ack.flags), zone.code());
        }
        let ack = receiver.write(Header::of(&chain::tests::segment(1, 1)));
        assert_eq!(ack.flags, Flags::ACK);
    }
}
