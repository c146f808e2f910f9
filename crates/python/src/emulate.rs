//! Emulated links between namespaces.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use skywave_emulate::{EmulateError, Namespace, Network, Options};
use skywave_scenario::LinkSpec;

use crate::member::raised_by;
use crate::members::look_in_python;
use crate::own;
use crate::run::{created, scenario_error};

/// The names of a link's ends: its forward direction leads from the first to the second.
const ENDS: [&str; 2] = ["command", "peer"];

/// A link between two hosts, as it runs.
#[pyclass(frozen, module = "skywave._core")]
pub(crate) struct Emulation(Mutex<Option<skywave_emulate::Emulation>>);

#[pymethods]
impl Emulation {
    /// Starts it. The second host is a new namespace, or the one that the caller is in.
    #[new]
    #[pyo3(signature = (link, directory, *, new_peer, seed, spin, capture=None))]
    fn new(
        py: Python<'_>,
        link: &str,
        directory: PathBuf,
        new_peer: bool,
        seed: u64,
        spin: bool,
        capture: Option<PathBuf>,
    ) -> PyResult<Self> {
        let network = network(link, &directory, seed)?;
        let options = Options {
            spins: spin,
            capture: capture.map(created).transpose()?,
        };
        let started = py.detach(|| {
            let (peer, sharing) = if new_peer {
                (Namespace::new()?, &[][..])
            } else {
                (Namespace::current()?, &[1][..])
            };
            let hosts = vec![Namespace::new()?, peer];
            skywave_emulate::Emulation::start(network, hosts, sharing, options)
        });
        Ok(Self(Mutex::new(Some(started.map_err(emulate_error)?))))
    }

    /// The addresses of both hosts, IPv4 first.
    #[getter]
    fn addresses(&self) -> PyResult<Vec<[String; 2]>> {
        self.running(|emulation| {
            let all = emulation.addresses().iter();
            all.map(|pair| pair.map(|address| address.to_string()))
                .collect()
        })
    }

    /// Starts a program at a host, with more variables in its environment; gives its process.
    fn spawn(
        &self,
        host: usize,
        program: Vec<String>,
        environment: Vec<(String, String)>,
    ) -> PyResult<u32> {
        let spawned = self.running(|emulation| {
            let namespace = emulation.hosts().get(host).ok_or_else(|| {
                std::io::Error::new(std::io::ErrorKind::InvalidInput, "there is no such host")
            })?;
            namespace.run(move || {
                let (name, arguments) = program.split_first().ok_or_else(|| {
                    std::io::Error::new(std::io::ErrorKind::InvalidInput, "there is no command")
                })?;
                let mut command = Command::new(name);
                command.args(arguments).envs(environment).spawn()
            })
        })?;
        Ok(spawned?.id())
    }

    /// What has happened so far, as JSON. Raises what has ended it.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        if self.running(skywave_emulate::Emulation::has_ended)? {
            return self.stop(py);
        }
        let report = py.detach(|| self.running(skywave_emulate::Emulation::report))?;
        json(&report)
    }

    /// Stops it; gives what has happened, as JSON.
    fn stop(&self, py: Python<'_>) -> PyResult<String> {
        let emulation = self.lock().take().ok_or_else(ended)?;
        let report = py.detach(|| emulation.stop()).map_err(|error| {
            let failure = error.get_ref().and_then(|inner| inner.downcast_ref());
            match failure {
                Some(failure) => raised_by(failure, None),
                None => error.into(),
            }
        })?;
        json(&report)
    }
}

impl Emulation {
    fn running<T>(&self, ask: impl FnOnce(&skywave_emulate::Emulation) -> T) -> PyResult<T> {
        self.lock().as_ref().map(ask).ok_or_else(ended)
    }

    fn lock(&self) -> MutexGuard<'_, Option<skywave_emulate::Emulation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks the description of a link that is to be emulated.
#[pyfunction]
pub(crate) fn check_emulated_link(link: &str, directory: PathBuf) -> PyResult<()> {
    network(link, &directory, 0).map(drop)
}

fn network(link: &str, directory: &Path, seed: u64) -> PyResult<Network> {
    let mut registry = own::emulator_registry();
    look_in_python(&mut registry, None);
    let nodes = ENDS.map(str::to_owned);
    LinkSpec::from_toml_beside(link, &registry, directory, ENDS)
        .and_then(|link| Network::new(&nodes, &[link], &nodes, &registry, seed))
        .map_err(scenario_error)
}

fn emulate_error(error: EmulateError) -> PyErr {
    match error {
        EmulateError::Scenario(error) => scenario_error(error),
        error => PyOSError::new_err(error.to_string()),
    }
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the emulation has been stopped")
}

fn json(report: &skywave_emulate::Report) -> PyResult<String> {
    serde_json::to_string(report).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Adds the classes and functions of this module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Emulation>()?;
    module.add_function(wrap_pyfunction!(check_emulated_link, module)?)
}
