//! The congestion control of one connection, implemented by a Python object.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use skywave_congestion::{
    Ack, AckedPacket, AnyControl, Control, ControlContext, ControlKind, Interests, Loss,
    LostPacket, Mark, MarkedPackets, MemberFailure, Pacing, Sent, Wants,
};
use skywave_units::{Duration, Instant};

use super::callback;
use super::class::{Class, Place};
use super::round_trip::Round;
use super::values;
use crate::member::{self, shown};

/// A Python object and its latest decisions. They are stored because cwnd is read for every packet,
/// whereas Python is called only for events.
pub(super) struct ObjectControl {
    class: Class,
    /// Absent if it could not be created.
    object: Option<Py<PyAny>>,
    answers: Answers,
    round: Round,
    /// Bytes of data in the largest packet so far.
    packet_size: u32,
    failure: OnceLock<MemberFailure>,
}

/// The attributes that hold a control's decisions.
#[derive(Clone, Copy)]
struct Answers {
    cwnd: f64,
    ssthresh: f64,
    pacing: Option<values::Pacing>,
}

impl ObjectControl {
    /// Creates the object and calls its `on_start`.
    fn new(class: Class, context: &ControlContext) -> Self {
        let mut control = Self {
            object: None,
            answers: Answers {
                cwnd: context.initial_cwnd,
                ssthresh: context.initial_ssthresh,
                pacing: None,
            },
            round: Round::default(),
            packet_size: 0,
            failure: OnceLock::new(),
            class,
        };
        let made = control.run("__init__", |py| {
            let object = control.class.make(py)?;
            object.setattr(intern!(py, "cwnd"), context.initial_cwnd)?;
            object.setattr(intern!(py, "ssthresh"), context.initial_ssthresh)?;
            Ok(object.unbind())
        });
        match made {
            Some(Ok(object)) => control.object = Some(object),
            Some(Err(error)) => control.fail(error),
            None => control.fail(PyRuntimeError::new_err("the interpreter is about to end")),
        }
        control.call("on_start", || (values::Context::from(context),));
        control
    }

    /// Does `act`, which calls `method`; `None` if the program is about to end.
    fn run<T>(
        &self,
        method: &'static str,
        act: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> Option<PyResult<T>> {
        let class = &self.class.name;
        Python::try_attach(|py| match self.class.place {
            Place::Simulator => member::without_panic(class, method, || act(py)),
            Place::Socket => callback::on_socket(py, class, method, || act(py)),
        })
    }

    /// Calls a method and reads the object's decisions.
    ///
    /// After an exception or an invalid decision, no further method is called.
    fn call<A>(&mut self, method: &'static str, arguments: impl FnOnce() -> A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        let Some(object) = &self.object else { return };
        if self.failure.get().is_some() {
            return;
        }
        // There is nothing to decide for a program that is about to end.
        let outcome = self.run(method, |py| {
            let object = object.bind(py);
            let returned = object.call_method1(PyString::intern(py, method), arguments())?;
            if !returned.is_none() {
                return Err(PyValueError::new_err(format!(
                    "{}.{method} returned {}: return nothing, and set self.cwnd to decide",
                    self.class.name,
                    shown(&returned),
                )));
            }
            self.read(object, method)
        });
        match outcome {
            Some(Ok(answers)) => self.answers = answers,
            Some(Err(error)) => self.fail(error),
            None => {}
        }
    }

    /// Reads and checks the attributes after a call of `method`.
    fn read(&self, object: &Bound<'_, PyAny>, method: &str) -> PyResult<Answers> {
        let py = object.py();
        let wrong = |attribute: &str, value: &Bound<'_, PyAny>, what: &str| {
            PyValueError::new_err(format!(
                "{}.{method} left {attribute} = {}: set self.{attribute} to {what}",
                self.class.name,
                shown(value),
            ))
        };
        let value = object.getattr(intern!(py, "cwnd"))?;
        let cwnd = value.extract::<f64>().ok();
        let cwnd = cwnd.filter(|cwnd| *cwnd > 0.0 && *cwnd <= MOST_PACKETS);
        let cwnd =
            cwnd.ok_or_else(|| wrong("cwnd", &value, "packets, above 0 and at most 2**32"))?;
        let value = object.getattr(intern!(py, "ssthresh"))?;
        let ssthresh = value.extract::<f64>().ok().filter(|packets| *packets > 0.0);
        let ssthresh = ssthresh.ok_or_else(|| wrong("ssthresh", &value, "packets, above 0"))?;
        let value = object.getattr(intern!(py, "pacing"))?;
        let pacing = if value.is_none() {
            None
        } else {
            let pacing = value.cast::<values::Pacing>();
            let pacing = pacing.map_err(|_| wrong("pacing", &value, "a skywave.Pacing or None"))?;
            Some(*pacing.get())
        };
        Ok(Answers {
            cwnd,
            ssthresh,
            pacing,
        })
    }

    fn fail(&self, error: PyErr) {
        let _first = self.failure.set(MemberFailure::new(error));
    }

    fn read_inner_values(
        &self,
        object: &Bound<'_, PyAny>,
        record: &mut dyn FnMut(&'static str, f64),
    ) -> PyResult<()> {
        member::read_inner_values(object, &self.class.name, |name, value| {
            let name = lasting(name).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "{}.inner_values has more than {MOST_NAMES} different names: use the same ones",
                    self.class.name,
                ))
            })?;
            record(name, value);
            Ok(())
        })
    }
}

impl ControlKind for Class {
    fn wants(&self) -> Wants {
        self.wants
    }

    fn build(&self, context: &ControlContext) -> AnyControl {
        AnyControl::new(ObjectControl::new(self.clone(), context))
    }

    /// Classes in Python may share variables of their modules.
    fn shares_state(&self) -> bool {
        true
    }
}

#[deny(clippy::missing_trait_methods)]
impl Control for ObjectControl {
    fn interests(&self) -> Interests {
        Interests {
            packets: self.class.calls.acked_packets || self.class.calls.lost_packets,
            delivery_rate: self.class.calls.delivery_rate || self.class.calls.by_round_trip,
            ..Interests::default()
        }
    }

    /// Does nothing: a class in Python hears of nothing before the data.
    fn on_handshake(&mut self, _rtt: Duration) {}

    fn on_sent(&mut self, sent: &Sent) {
        self.packet_size = self.packet_size.max(sent.bytes);
        if self.class.calls.sent {
            self.call("on_sent", || (values::Sent::from(sent),));
        }
    }

    fn on_packet_acked(&mut self, packet: &AckedPacket) {
        if self.class.calls.acked_packets {
            self.call("on_packet_acked", || (values::AckedPacket::from(packet),));
        }
    }

    fn on_packet_lost(&mut self, packet: &LostPacket) {
        if self.class.calls.lost_packets {
            self.call("on_packet_lost", || (values::LostPacket::from(packet),));
        }
    }

    fn on_packets_marked(&mut self, marked: &MarkedPackets) {
        if self.class.calls.marked_packets {
            self.call("on_packets_marked", || {
                (values::MarkedPackets::from(marked),)
            });
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        if !self.class.calls.by_round_trip {
            self.call("on_ack", || (values::Ack::from(ack),));
        } else if let Some(report) = self.round.on_ack(ack) {
            self.call("on_round_trip", || (report,));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.round.on_loss(loss);
        self.call("on_loss", || (values::Loss::from(loss),));
    }

    fn on_mark(&mut self, mark: &Mark) {
        self.call("on_mark", || (values::Mark::from(mark),));
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u32) {
        self.call("on_timeout", || (values::Timeout::at(now, in_flight),));
    }

    fn on_spurious_loss(&mut self, now: Instant) {
        self.call("on_spurious_loss", || (now.as_secs_f64(),));
    }

    fn on_restart(&mut self, now: Instant) {
        self.call("on_restart", || (now.as_secs_f64(),));
    }

    fn on_receiver_overload(&mut self, now: Instant, dropped: u32) {
        self.call("on_receiver_overload", || (now.as_secs_f64(), dropped));
    }

    fn limit_cwnd(&mut self, limit: f64) {
        self.call("limit_cwnd", || (limit,));
        if self.failure.get().is_some() {
            self.answers.cwnd = self.answers.cwnd.min(limit.max(1.0));
        }
    }

    /// Lowers cwnd: a class in Python decides on ssthresh itself.
    fn on_validation(&mut self, cwnd: f64, _ssthresh: f64) {
        self.limit_cwnd(cwnd);
    }

    fn cwnd(&self) -> f64 {
        self.answers.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.answers.ssthresh
    }

    fn pacing(&self) -> Option<Pacing> {
        let pacing = self.answers.pacing?;
        Some(pacing.in_bytes(self.packet_size))
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if !self.class.calls.inner_values || self.failure.get().is_some() {
            return;
        }
        let Some(object) = &self.object else { return };
        let read = self.run("inner_values", |py| {
            self.read_inner_values(object.bind(py), record)
        });
        if let Some(Err(error)) = read {
            self.fail(error);
        }
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.failure.get().cloned()
    }
}

/// The largest window, in packets.
const MOST_PACKETS: f64 = (1_u64 << 32) as f64;

/// The maximum number of distinct names of inner values in a process, because they are never freed.
const MOST_NAMES: usize = 1000;

/// Returns the same name as a static string; `None` if there are too many.
fn lasting(name: &str) -> Option<&'static str> {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Some(known);
    }
    (names.len() < MOST_NAMES).then(|| {
        let name = &*Box::leak(name.to_owned().into_boxed_str());
        names.insert(name);
        name
    })
}
