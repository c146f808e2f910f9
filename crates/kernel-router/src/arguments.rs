//! The arguments of the command.

use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use skywave_kernel_router::Config;
use skywave_units::Rate;

use crate::Outcome;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
usage: kernel-router DEVICE --rate RATE [OPTION VALUE]...
       kernel-router --compile FILE

Makes the queue of DEVICE, such as tbf, a router of VCP or MPCP, until Ctrl-C. It takes root.

  --rate RATE               rate of the queueing discipline, e.g. \"4 Mbps\"
  --chain N                 packets per load factor: 1 (VCP, the default), 2 (DPCP), 3 (TPCP), to 8
  --interval TIME           t_rho, between computations of the load factor; default: 200 ms
  --sampling TIME           t_q, between samples of the queue; default: 10 ms
  --queue-share X           kappa_q, the part of the queue that counts as load; default: 0.5
  --target-utilisation X    gamma; default: 0.98
  --average NAME            of the queue: samples (the default) or means
  --flows N                 flows whose chains are tracked; default: 4096
  --order NAME              where TCP has a packet's place in its chain: tcp-numbers (the default)
                            or ip-identification
  --dccp-udp-port PORT      of DCCP in UDP; 0 for none; default: 6511
  --every TIME              between reports; default: 1 s
  --object FILE             the compiled program; without it, clang compiles it now
  --compile FILE            compile the program into FILE, for machines without clang";

/// What to do.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    /// Print the help.
    Help,
    /// Compile the program into a file.
    Compile(PathBuf),
    /// Run a router.
    Route(Box<Router>),
}

/// A router to run.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    pub(crate) device: String,
    pub(crate) config: Config,
    pub(crate) object: Option<PathBuf>,
    pub(crate) every: Duration,
}

impl Command {
    /// Reads the arguments after the name of the command.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let (mut device, mut rate, mut object) = (None, None, None);
        let mut every = Duration::from_secs(1);
        let (mut order, mut port) = (None, None);
        // All others are fields of the parameters of the simulator's router.
        let mut fields = Map::new();
        while let Some(argument) = arguments.next() {
            if argument == "-h" {
                return Ok(Self::Help);
            }
            let Some(name) = argument.strip_prefix("--") else {
                if device.replace(argument.clone()).is_some() {
                    return Err(format!("{argument}: give one device").into());
                }
                continue;
            };
            if name == "help" {
                return Ok(Self::Help);
            }
            let value = arguments.next();
            let value = value.ok_or_else(|| format!("--{name}: give a value, as --help says"))?;
            match name {
                "compile" => return Ok(Self::Compile(value.into())),
                "object" => object = Some(value.into()),
                "rate" => rate = Some(read::<Rate>(name, value)?),
                "every" => {
                    let time: skywave_units::Duration = read(name, value)?;
                    every = Duration::from_nanos(time.as_nanos());
                }
                "order" => order = Some(read(name, value)?),
                "dccp-udp-port" => port = Some(read::<u16>(name, value)?),
                _ => {
                    fields.insert(name.replace('-', "_"), guess(value));
                }
            }
        }
        let device = device.ok_or("give a device, as --help says")?;
        let rate = rate.ok_or("--rate: give the rate of the queueing discipline")?;
        let mut config = Config::new(rate);
        config.load = serde_json::from_value(fields.into())?;
        config.order = order.unwrap_or(config.order);
        config.dccp_udp_port = match port {
            Some(0) => None,
            given => given.or(config.dccp_udp_port),
        };
        Ok(Self::Route(Box::new(Router {
            device,
            config,
            object,
            every,
        })))
    }
}

/// Reads a value as a number if it is one, otherwise as text.
fn guess(value: String) -> Value {
    serde_json::from_str::<serde_json::Number>(&value).map_or(Value::String(value), Value::Number)
}

fn read<T: DeserializeOwned>(name: &str, value: String) -> Outcome<T> {
    serde_json::from_value(guess(value)).map_err(|error| format!("--{name}: {error}").into())
}

#[cfg(test)]
mod tests {
    use skywave_mpcp::{OrderParameter, RouterParameters};
    use skywave_units::Duration as Time;

    use super::*;

    fn parsed(line: &str) -> Outcome<Command> {
        let words = line.split(' ').map(|word| word.replace('_', " "));
        Command::parse(words)
    }

    #[test]
    fn options_are_the_fields_of_the_simulators_router() {
        let line = "eth1 --rate 4_Mbps --chain 2 --interval 100_ms --queue-share 0.25 --order \
                    ip-identification --dccp-udp-port 0";
        let Command::Route(router) = parsed(line).unwrap() else {
            panic!("a router")
        };
        assert_eq!(router.device, "eth1");
        let expected = Config {
            load: RouterParameters {
                chain: 2,
                interval: Time::from_millis(100),
                queue_share: 0.25,
                ..RouterParameters::default()
            },
            order: OrderParameter::IpIdentification,
            dccp_udp_port: None,
            ..Config::new(Rate::from_bps(4_000_000))
        };
        assert_eq!(router.config, expected);
    }

    #[test]
    fn errors_name_the_option() {
        for (line, part) in [
            ("--rate 4_Mbps", "device"),
            ("eth1", "--rate"),
            ("eth1 --rate", "--rate"),
            ("eth1 --rate 4", "--rate"),
            ("eth1 --rate 4_Mbps --chains 2", "chains"),
            ("eth1 eth2", "one device"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.contains(part), "{line}: {error}");
        }
    }
}
