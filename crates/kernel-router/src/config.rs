//! The parameters of a router.

use skywave_mpcp::load::MeterConfig;
use skywave_mpcp::{OrderParameter, RouterParameters};
use skywave_registry::ParameterError;
use skywave_units::Rate;

/// The UDP port of DCCP in UDP (RFC 6773 section 5.1).
const DCCP_UDP_PORT: u16 = 6511;

/// The parameters of a router in the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// C: the rate of the device's queueing discipline. The load is relative to it.
    pub rate: Rate,
    /// The parameters of the load factor, as in the simulator. The capacity is the queueing
    /// discipline's and cannot be given here.
    pub load: RouterParameters,
    /// Where TCP's segments carry their position in a chain. With
    /// [`OrderParameter::IpIdentification`], every IPv4 packet except DCCP's carries it there, so
    /// that IPsec does not hide it.
    pub order: OrderParameter,
    /// The UDP port of DCCP in UDP, at either end; `None` if UDP carries no DCCP.
    pub dccp_udp_port: Option<u16>,
}

impl Config {
    /// Returns the defaults for a link of `rate`: VCP, with the parameters of the simulator's
    /// router.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            load: RouterParameters::default(),
            order: OrderParameter::TcpNumbers,
            dccp_udp_port: Some(DCCP_UDP_PORT),
        }
    }

    /// Checks the parameters, and returns those of the meter.
    pub(crate) fn meter(&self) -> Result<MeterConfig, ParameterError> {
        ParameterError::unless(self.rate.as_bps() > 0, "rate", || {
            "a link of 0 bps carries nothing: give the rate of the queueing discipline".to_owned()
        })?;
        for (field, is_absent) in [
            ("packets", self.load.packets.is_none()),
            ("bytes", self.load.bytes.is_none()),
        ] {
            ParameterError::unless(is_absent, field, || {
                "the capacity is the queueing discipline's: set it with tc".to_owned()
            })?;
        }
        self.load.meter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_parameters_are_named() {
        let right = Config::new(Rate::from_bps(4_000_000));
        assert!(right.meter().is_ok());
        let wrong = |change: fn(&mut Config)| {
            let mut config = right.clone();
            change(&mut config);
            config.meter().unwrap_err().field
        };
        assert_eq!(wrong(|config| config.rate = Rate::from_bps(0)), "rate");
        assert_eq!(wrong(|config| config.load.packets = Some(9)), "packets");
        assert_eq!(wrong(|config| config.load.chain = 9), "chain");
    }
}
