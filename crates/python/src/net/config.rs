//! `skywave.net.Config` as the options of a connection.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skywave_congestion::{ControlKind, built_in_controls};
use skywave_transport::dccp::{self, Ccid, SendersChoice};
use skywave_units::Duration;
use skywave_wire::dccp::ServiceCode;

use crate::control::{Live, look_in_python};

/// A `skywave.net.Config`: attributes of the same names.
#[derive(FromPyObject, IntoPyObject)]
pub(super) struct Config {
    ccid: u8,
    service_codes: Vec<Code>,
    send_queue: usize,
    receive_queue: usize,
    ecn: bool,
    checksum_coverage: u8,
    minimum_checksum_coverage: u8,
    data_checksum: bool,
    connect_timeout_s: f64,
    linger_s: f64,
    control: Option<Py<PyAny>>,
}

/// A Service Code: a number, or up to four characters (RFC 5595).
#[derive(FromPyObject, IntoPyObject)]
enum Code {
    Number(u32),
    Text(String),
}

impl Code {
    fn read(&self) -> PyResult<ServiceCode> {
        match self {
            Self::Number(number) => Ok(ServiceCode(*number)),
            Self::Text(text) => {
                let bytes: [u8; 4] = text.as_bytes().try_into().map_err(|_| {
                    PyValueError::new_err(format!(
                        "service code \"{text}\" is not four ASCII characters; pad it with spaces"
                    ))
                })?;
                Ok(ServiceCode(u32::from_be_bytes(bytes)))
            }
        }
    }
}

/// The options that `config` gives, or the defaults where there is none.
pub(super) fn read(py: Python<'_>, config: Option<Config>) -> PyResult<Arc<dccp::Config>> {
    let mut base = dccp::Config::default();
    for mechanism in skywave_mpcp::ccids() {
        base.ccids.enter_shared(mechanism);
    }
    let Some(config) = config else {
        return Ok(Arc::new(base));
    };
    let mut first = Ccid(config.ccid);
    if base.ccids.get(first).is_none() {
        let known: Vec<_> = base.ccids.numbers().map(|ccid| ccid.to_string()).collect();
        let message = format!("ccid is {first}; give one of {}", known.join(", "));
        return Err(PyValueError::new_err(message));
    }
    if let Some(control) = &config.control {
        if ![Ccid::INITIAL, Ccid::SENDERS_CHOICE].contains(&first) {
            let message = format!("ccid is {first}, which has a control of its own; leave it out");
            return Err(PyValueError::new_err(message));
        }
        base.ccids
            .enter(SendersChoice::new(chosen(control.bind(py))?));
        first = Ccid::SENDERS_CHOICE;
    }
    let codes: PyResult<Vec<_>> = config.service_codes.iter().map(Code::read).collect();
    Ok(Arc::new(dccp::Config {
        service_codes: codes?,
        sender_ccids: vec![first],
        receiver_ccids: vec![first],
        send_queue: config.send_queue,
        receive_queue: config.receive_queue,
        ecn_incapable: !config.ecn,
        checksum_coverage: config.checksum_coverage,
        minimum_checksum_coverage: config.minimum_checksum_coverage,
        send_data_checksum: config.data_checksum,
        request_give_up: seconds("connect_timeout_s", config.connect_timeout_s)?,
        linger: seconds("linger_s", config.linger_s)?,
        ..base
    }))
}

/// The control that a configuration chooses: a name, a name with parameters, or an object.
fn chosen(control: &Bound<'_, PyAny>) -> PyResult<Arc<dyn ControlKind>> {
    let module = control.py().import("skywave.control")?;
    let chosen = module.getattr("chosen")?.call1((control,))?;
    let (name, parameters, live): (String, String, Live<'_>) = chosen.extract()?;
    let mut controls = built_in_controls();
    look_in_python(&mut controls, live);
    let found = controls.read(&name, &parameters.parse().unwrap_or_default());
    let found = found.map_err(|error| PyValueError::new_err(format!("control: {error}")))?;
    Ok(found.member)
}

/// What `skywave.net.Config()` must be, to mean the same as no configuration.
#[pyfunction]
pub(super) fn config_defaults() -> Config {
    let dccp::Config {
        service_codes,
        sender_ccids,
        send_queue,
        receive_queue,
        ecn_incapable,
        checksum_coverage,
        minimum_checksum_coverage,
        send_data_checksum,
        request_give_up,
        linger,
        ..
    } = dccp::Config::default();
    Config {
        ccid: sender_ccids[0].0,
        service_codes: service_codes
            .into_iter()
            .map(|code| Code::Number(code.0))
            .collect(),
        send_queue,
        receive_queue,
        ecn: !ecn_incapable,
        checksum_coverage,
        minimum_checksum_coverage,
        data_checksum: send_data_checksum,
        connect_timeout_s: request_give_up.as_secs_f64(),
        linger_s: linger.as_secs_f64(),
        control: None,
    }
}

fn seconds(name: &str, value: f64) -> PyResult<Duration> {
    if value.is_finite() && value >= 0.0 {
        Ok(Duration::from_secs_f64(value))
    } else {
        Err(PyValueError::new_err(format!(
            "{name} is {value}; give seconds, 0 or more"
        )))
    }
}
