//! CCIDs chosen in a file: by number, with typed parameters.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use skywave_congestion::{ControlKind, Controls};
use skywave_registry::{Found, OpenSet, ParameterError, Value};

use super::Mechanism;
use super::senders_choice::SendersChoice;
use super::table::Ccids;
use crate::dccp::ccid::Ccid;

/// The control used if none is named.
const DEFAULT_CONTROL: &str = "reno";

/// CCIDs by number, from which [`Ccids`] are built if parameters come from a file.
#[derive(Clone, Debug, Default)]
pub struct CcidKinds(BTreeMap<Ccid, Member>);

#[derive(Clone)]
enum Member {
    /// A CCID without parameters here.
    Fixed(Arc<dyn Mechanism>),
    /// A CCID whose parameters are under `key`.
    WithParameters {
        key: String,
        set: OpenSet<dyn Mechanism>,
    },
    /// A CCID that takes any control; parameters are under the control's name.
    WithControl(fn(Arc<dyn ControlKind>) -> Arc<dyn Mechanism>),
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fixed(_) => "Fixed",
            Self::WithParameters { .. } => "WithParameters",
            Self::WithControl(_) => "WithControl",
        })
    }
}

impl CcidKinds {
    /// Returns the CCIDs that every DCCP configuration supports.
    pub fn built_in() -> Self {
        let known = Ccids::default();
        let fixed = |ccid| Some((ccid, Member::Fixed(known.get_shared(ccid)?)));
        let mut set = Self(known.numbers().filter_map(fixed).collect());
        set.register_with_control(Ccid::SENDERS_CHOICE, |kind| {
            Arc::new(SendersChoice::new(kind))
        });
        set
    }

    /// Registers a CCID, replacing any of the same number. A file gives its parameters, of type
    /// `P`, under `key`; `make` checks them and creates a mechanism.
    pub fn register<P>(
        &mut self,
        ccid: Ccid,
        key: &str,
        make: impl Fn(P) -> Result<Arc<dyn Mechanism>, ParameterError> + Send + Sync + 'static,
    ) where
        P: JsonSchema + Serialize + DeserializeOwned,
    {
        let key = key.to_owned();
        let mut set = OpenSet::new("CCID");
        set.register(&key, "", make);
        self.0.insert(ccid, Member::WithParameters { key, set });
    }

    /// Registers a CCID that takes any control named by the file.
    pub fn register_with_control(
        &mut self,
        ccid: Ccid,
        make: fn(Arc<dyn ControlKind>) -> Arc<dyn Mechanism>,
    ) {
        self.0.insert(ccid, Member::WithControl(make));
    }

    /// Creates the mechanism of a CCID. `table` returns the parameters under a name; `controls` are
    /// the available controls; the file names one of them in `control`.
    ///
    /// # Errors
    /// [`ParameterError`] if the CCID or the control is unknown, or a parameter is wrong.
    pub fn read(
        &self,
        ccid: Ccid,
        control: Option<&str>,
        table: impl Fn(&str) -> Value,
        controls: &Controls,
    ) -> Result<Found<dyn Mechanism>, ParameterError> {
        match self.0.get(&ccid) {
            None => {
                let known = self.listed(|_| true);
                let message = format!("{ccid} is not a known CCID: use {known}");
                Err(ParameterError::new("", message))
            }
            Some(Member::Fixed(mechanism)) => Ok(Found {
                member: Arc::clone(mechanism),
                parameters: Value::Null,
            }),
            Some(Member::WithParameters { key, set }) => set.read(key, &table(key)),
            Some(Member::WithControl(make)) => {
                let name = control.unwrap_or(DEFAULT_CONTROL);
                let found = controls.read(name, &table(name))?;
                Ok(Found {
                    member: make(found.member),
                    parameters: found.parameters,
                })
            }
        }
    }

    /// Returns the name under which a CCID's parameters are given.
    pub fn key<'a>(&'a self, ccid: Ccid, control: Option<&'a str>) -> Option<&'a str> {
        match self.0.get(&ccid)? {
            Member::Fixed(_) => None,
            Member::WithParameters { key, .. } => Some(key),
            Member::WithControl(_) => Some(control.unwrap_or(DEFAULT_CONTROL)),
        }
    }

    /// Returns the JSON Schemas of CCIDs' own parameters, by the key under which a file gives them.
    pub fn schemas<'a>(
        &'a self,
        generator: &'a mut SchemaGenerator,
    ) -> impl Iterator<Item = (&'a str, Schema)> {
        self.0.values().filter_map(|member| match member {
            Member::WithParameters { key, set } => Some((&**key, set.schema(key, generator)?)),
            Member::Fixed(_) | Member::WithControl(_) => None,
        })
    }

    /// Returns the numbers that are known, in ascending order.
    pub fn numbers(&self) -> impl Iterator<Item = Ccid> {
        self.0.keys().copied()
    }

    /// Returns whether the CCID is known.
    pub fn contains(&self, ccid: Ccid) -> bool {
        self.0.contains_key(&ccid)
    }

    /// Returns whether a CCID takes a control.
    pub fn takes_control(&self, ccid: Ccid) -> bool {
        matches!(self.0.get(&ccid), Some(Member::WithControl(_)))
    }

    /// Returns the CCIDs that satisfy `holds`, formatted as in "2, 3 or 4"; empty if there are
    /// none.
    pub fn listed(&self, holds: impl Fn(Ccid) -> bool) -> String {
        let numbers = self.0.keys().filter(|&&ccid| holds(ccid));
        let mut numbers: Vec<_> = numbers.map(Ccid::to_string).collect();
        match numbers.pop() {
            None => String::new(),
            Some(last) if numbers.is_empty() => last,
            Some(last) => format!("{} or {last}", numbers.join(", ")),
        }
    }
}
