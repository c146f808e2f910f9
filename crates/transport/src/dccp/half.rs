//! The data-sending half of a connection under the CCID in force, with that CCID's row.

use core::ops::{Deref, DerefMut};

use skywave_congestion::Ect;
use skywave_wire::Ecn;
use skywave_wire::dccp::DccpOption;

use super::Config;
use super::ccid::{Ccid, Row};
use super::mechanism::{Mechanism, SenderHalf, TcpLike};

/// The current data-sending half.
#[derive(Debug)]
pub(crate) struct Sender {
    row: &'static Row,
    /// The code point that its control asks for on data.
    ect: Option<Ecn>,
    half: SenderHalf,
}

impl Sender {
    /// Creates the sender of a new connection: the initial CCID, on a path with this Maximum Packet
    /// Size.
    pub(crate) fn initial(config: &Config, mps: u32) -> Self {
        Self::with(initial(config), config, mps)
    }

    /// Creates the sender of `ccid` on a path with this Maximum Packet Size; `None` if the CCID is
    /// unknown.
    pub(crate) fn of(ccid: Ccid, config: &Config, mps: u32) -> Option<Self> {
        Some(Self::with(config.ccids.get(ccid)?, config, mps))
    }

    fn with(mechanism: &dyn Mechanism, config: &Config, mps: u32) -> Self {
        Self {
            row: mechanism.row(),
            ect: mechanism.wants().ecn.map(|code| match code {
                Ect::Zero => Ecn::Ect0,
                Ect::One => Ecn::Ect1,
            }),
            half: mechanism.sender(&config.half_context(mps, config.ack_ratio)),
        }
    }

    /// Returns the row of its CCID.
    pub(crate) const fn row(&self) -> &'static Row {
        self.row
    }

    /// Returns the code point that its control asks for on data.
    pub(crate) const fn ect(&self) -> Option<Ecn> {
        self.ect
    }

    /// Returns whether the CCID understands this CCID-specific option from the peer's receiving
    /// half (RFC 4340 section 10.3).
    pub(crate) fn reads(&self, option: &DccpOption) -> bool {
        let kind = option.option_type();
        let is_malformed = matches!(option, DccpOption::Other { .. }) && kind.is_known();
        self.row.options.contains(&kind) && !is_malformed
    }
}

/// Returns the mechanism with which connections start: the table's entry for the initial CCID.
pub(crate) fn initial(config: &Config) -> &dyn Mechanism {
    config.ccids.get(Ccid::INITIAL).unwrap_or(&TcpLike)
}

impl Deref for Sender {
    type Target = SenderHalf;

    fn deref(&self) -> &SenderHalf {
        &self.half
    }
}

impl DerefMut for Sender {
    fn deref_mut(&mut self) -> &mut SenderHalf {
        &mut self.half
    }
}

#[cfg(test)]
mod tests {
    use skywave_wire::dccp::{OptionBytes, OptionType};

    use super::*;
    use crate::dccp::mechanism::{HalfContext, ReceiverHalf};

    const OWN_OPTION: OptionType = OptionType(210);

    /// A user-defined CCID 2 with its own option.
    #[derive(Debug)]
    struct Own;

    impl Mechanism for Own {
        fn row(&self) -> &'static Row {
            const ROW: Row = Row {
                ccid: Ccid::INITIAL,
                name: "own",
                options: &[OWN_OPTION, OptionType::RECEIVE_RATE],
                ..TcpLike::ROW
            };
            &ROW
        }

        fn sender(&self, context: &HalfContext<'_>) -> SenderHalf {
            TcpLike.sender(context)
        }

        fn receiver(&self, context: &HalfContext<'_>) -> ReceiverHalf {
            TcpLike.receiver(context)
        }
    }

    #[test]
    fn connections_begin_with_what_replaces_ccid_2() {
        let sender = Sender::initial(&Config::default().with_ccid(Own), 1000);
        assert_eq!(sender.row().name, "own");
        assert_eq!(
            Sender::initial(&Config::default(), 1000).row().name,
            "TCP-like"
        );
    }

    /// The codec does not know a user-defined option. Of those it knows, invalid values are not
    /// understood.
    #[test]
    fn options_of_ones_own_are_read() {
        let sender = Sender::initial(&Config::default().with_ccid(Own), 1000);
        let option = |kind: OptionType, data: &[u8]| DccpOption::parse(kind, data);
        assert!(sender.reads(&option(OWN_OPTION, &[1, 2, 3])));
        assert!(!sender.reads(&option(OptionType(211), &[1, 2, 3])));
        assert!(sender.reads(&option(OptionType::RECEIVE_RATE, &[0; 4])));
        let malformed = option(OptionType::RECEIVE_RATE, &[0; 3]);
        assert!(
            matches!(&malformed, DccpOption::Other { value: Some(value), .. }
            if *value == OptionBytes::from_slice(&[0; 3]))
        );
        assert!(!sender.reads(&malformed));
    }
}
