//! The data-sending half in force in a connection, beside the facts of its CCID.

use core::ops::{Deref, DerefMut};

use skywave_wire::dccp::DccpOption;

use super::Config;
use super::ccid::{Ccid, Row};
use super::mechanism::{Mechanism, SenderHalf, TcpLike};

/// The data-sending half in force.
#[derive(Debug)]
pub(crate) struct Sender {
    row: &'static Row,
    half: SenderHalf,
}

impl Sender {
    /// The sender of a new connection, under the CCID that connections begin with, on a path with this
    /// Maximum Packet Size.
    pub(crate) fn initial(config: &Config, mps: u32) -> Self {
        Self::with(initial(config), config, mps)
    }

    /// The sender of `ccid` on a path with this Maximum Packet Size, where the CCID is known.
    pub(crate) fn of(ccid: Ccid, config: &Config, mps: u32) -> Option<Self> {
        Some(Self::with(config.ccids.get(ccid)?, config, mps))
    }

    fn with(mechanism: &dyn Mechanism, config: &Config, mps: u32) -> Self {
        Self {
            row: mechanism.row(),
            half: mechanism.sender(&config.half_context(mps, config.ack_ratio)),
        }
    }

    /// The facts of its CCID.
    pub(crate) const fn row(&self) -> &'static Row {
        self.row
    }

    /// Whether the CCID understands this option of its own, which the receiving half at the peer has
    /// sent (RFC 4340 section 10.3).
    pub(crate) fn reads(&self, option: &DccpOption) -> bool {
        let kind = option.option_type();
        let is_malformed = matches!(option, DccpOption::Other { .. }) && kind.is_known();
        self.row.options.contains(&kind) && !is_malformed
    }
}

/// The mechanism with which connections begin: what the table has under that number.
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

    /// A CCID 2 of one's own, with an option of its own.
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

    /// The codec does not know an option of one's own; of those that it knows, an impossible value is
    /// not understood.
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
