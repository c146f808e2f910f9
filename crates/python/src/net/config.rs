//! Reads the configurations of connections and endpoints, `skywave.net.Config` and
//! `skywave.net.EndpointConfig`.

use std::error::Error;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use schemars::generate::SchemaSettings;
use serde_json::json;
use skywave_net::EndpointConfig;
use skywave_registry::{ParameterError, typed};
use skywave_scenario::SocketSpec;
use skywave_transport::dccp;

use crate::control::{Place, look_for_controls};
use crate::member::Live;
use crate::own;

/// Returns the configuration that `config` describes, or the default if it is `None`.
pub(super) fn read(config: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<dccp::Config>> {
    let mut registry = own::registry();
    let spec = match config {
        None => SocketSpec::default(),
        Some(config) => {
            let (text, live) = to_core(config, "Config")?;
            look_for_controls(&mut registry.controls, live, Place::Socket);
            SocketSpec::from_json(&text).map_err(refused)?
        }
    };
    Ok(Arc::new(spec.config(&registry).map_err(refused)?))
}

/// Returns the configuration of an endpoint that `config` describes, or the default if it is `None`.
pub(super) fn read_endpoint(config: Option<&Bound<'_, PyAny>>) -> PyResult<EndpointConfig> {
    let Some(config) = config else {
        return Ok(EndpointConfig::default());
    };
    let (text, _) = to_core(config, "EndpointConfig")?;
    let value = serde_json::from_str(&text)
        .map_err(|error| refused(ParameterError::new("", error.to_string())))?;
    typed(&value).map_err(refused)
}

/// Returns the JSON Schema of `skywave.net.EndpointConfig`.
#[pyfunction]
pub(super) fn endpoint_schema() -> String {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<EndpointConfig>();
    json!({ "$defs": generator.take_definitions(true) }).to_string()
}

/// Returns a configuration as JSON, with the classes of controls that are written in Python.
fn to_core<'py>(config: &Bound<'py, PyAny>, class: &str) -> PyResult<(String, Live<'py>)> {
    if !is_a(config, class)? {
        let message = format!("config is {}: give a skywave.net.{class}", config.repr()?);
        return Err(PyTypeError::new_err(message));
    }
    config.call_method0("to_core")?.extract()
}

/// Checks a `skywave.net.Config` or `skywave.net.EndpointConfig` and raises `ValueError` with the first
/// field that is wrong.
#[pyfunction]
pub(super) fn check_config(config: &Bound<'_, PyAny>) -> PyResult<()> {
    if is_a(config, "EndpointConfig")? {
        return read_endpoint(Some(config))?.check().map_err(refused);
    }
    read(Some(config))?.check().map_err(refused)
}

fn is_a(config: &Bound<'_, PyAny>, class: &str) -> PyResult<bool> {
    let classes = config.py().import("skywave.net.config")?;
    config.is_instance(&classes.getattr(class)?)
}

fn refused(error: impl Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
