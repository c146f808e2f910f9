//! What a discipline in Python is told: the head of the link, and packets.
//! `python/skywave/_core.pyi` documents the fields.

use std::mem;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use skywave_path::{Arrival, DropReason};
use skywave_units::{Duration, Instant};

/// What methods of packets have asked for, until the queue looks.
pub(super) struct Book {
    may_mark: bool,
    drops: Mutex<Vec<(u64, DropReason)>>,
}

impl Book {
    pub(super) const fn new(may_mark: bool) -> Self {
        Self {
            may_mark,
            drops: Mutex::new(Vec::new()),
        }
    }

    /// Returns the packets that have been dropped since the last call.
    pub(super) fn take(&self) -> Vec<(u64, DropReason)> {
        mem::take(&mut *self.drops.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where a packet is, as bits.
mod state {
    /// It has arrived, and nothing is decided.
    pub(super) const ARRIVING: u8 = 0;
    /// It waits.
    pub(super) const WAITING: u8 = 1;
    /// It has left, or was dropped or refused.
    pub(super) const GONE: u8 = 2;
    /// In addition: it was marked.
    pub(super) const MARKED: u8 = 4;
}

/// What waits in front of an arriving packet.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub(super) packets: u64,
    pub(super) bytes: u64,
}

/// A packet at a queue.
#[pyclass(frozen, module = "skywave.queue", skip_from_py_object)]
pub(crate) struct Packet {
    #[pyo3(get)]
    arrived_s: f64,
    #[pyo3(get)]
    pub(super) size: u32,
    #[pyo3(get)]
    flow: u64,
    #[pyo3(get)]
    traffic_class: u8,
    #[pyo3(get)]
    pub(super) can_be_marked: bool,
    #[pyo3(get)]
    packets_ahead: u64,
    #[pyo3(get)]
    bytes_ahead: u64,
    #[pyo3(get)]
    idle_since_s: Option<f64>,
    pub(super) number: u64,
    state: AtomicU8,
    /// That of its queue, if the queue holds packets.
    book: Option<Arc<Book>>,
}

impl Packet {
    /// Returns the description of a packet that arrives at `now`.
    pub(super) fn arriving(
        now: Instant,
        arrival: Arrival,
        waiting: Waiting,
        idle_since: Option<Instant>,
    ) -> Self {
        Self {
            arrived_s: now.as_secs_f64(),
            size: arrival.size,
            flow: arrival.flow,
            traffic_class: arrival.class,
            can_be_marked: arrival.can_be_marked,
            packets_ahead: waiting.packets,
            bytes_ahead: waiting.bytes,
            idle_since_s: idle_since.map(Instant::as_secs_f64),
            number: 0,
            state: AtomicU8::new(state::ARRIVING),
            book: None,
        }
    }

    /// Returns the same with its number in a queue that holds it.
    pub(super) fn of(mut self, number: u64, book: &Arc<Book>) -> Self {
        self.number = number;
        self.book = Some(Arc::clone(book));
        self
    }

    /// Returns whether it waits in the queue that has this book.
    pub(super) fn is_of(&self, book: &Arc<Book>) -> bool {
        self.is_waiting() && self.book.as_ref().is_some_and(|own| Arc::ptr_eq(own, book))
    }

    pub(super) fn is_marked(&self) -> bool {
        self.state.load(Ordering::Relaxed) & state::MARKED != 0
    }

    /// Notes that it waits from now on, or that it is gone.
    pub(super) fn settle(&self, waits: bool) {
        let marked = self.state.load(Ordering::Relaxed) & state::MARKED;
        let settled = if waits { state::WAITING } else { state::GONE };
        self.state.store(settled | marked, Ordering::Relaxed);
    }

    fn is_waiting(&self) -> bool {
        self.state.load(Ordering::Relaxed) & !state::MARKED == state::WAITING
    }

    /// Refuses to do something to a packet that does not wait.
    fn check_waiting(&self, what: &str, instead: &str) -> PyResult<()> {
        let state = self.state.load(Ordering::Relaxed) & !state::MARKED;
        if state == state::WAITING {
            return Ok(());
        }
        Err(PyValueError::new_err(if state == state::ARRIVING {
            format!("cannot {what} a packet that arrives: return {instead} from enqueue")
        } else {
            format!("cannot {what} a packet that has left the queue, was dropped or was refused")
        }))
    }
}

#[pymethods]
impl Packet {
    #[new]
    #[pyo3(signature = (
        *,
        arrived_s = 0.0,
        size = 1000,
        flow = 0,
        traffic_class = 0,
        can_be_marked = false,
        packets_ahead = 0,
        bytes_ahead = 0,
        idle_since_s = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "all are given by name")]
    const fn new(
        arrived_s: f64,
        size: u32,
        flow: u64,
        traffic_class: u8,
        can_be_marked: bool,
        packets_ahead: u64,
        bytes_ahead: u64,
        idle_since_s: Option<f64>,
    ) -> Self {
        Self {
            arrived_s,
            size,
            flow,
            traffic_class,
            can_be_marked,
            packets_ahead,
            bytes_ahead,
            idle_since_s,
            number: 0,
            state: AtomicU8::new(state::WAITING),
            book: None,
        }
    }

    fn mark(&self) -> PyResult<()> {
        self.check_waiting("mark", "\"mark\"")?;
        let may_mark = self.book.as_ref().is_none_or(|book| book.may_mark);
        if !may_mark {
            return Err(PyValueError::new_err(
                "cannot mark a packet, since the queue does not declare it: return \
                 Conduct(.., marks=True) from conduct",
            ));
        }
        if !self.can_be_marked {
            return Err(PyValueError::new_err(
                "cannot mark a packet whose transport does not support it: look at packet.can_be_marked",
            ));
        }
        self.state.fetch_or(state::MARKED, Ordering::Relaxed);
        Ok(())
    }

    fn drop(&self, reason: &str) -> PyResult<()> {
        let reason = match reason {
            "full" => DropReason::Full,
            "early" => DropReason::Early,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "cannot drop a packet for the reason {reason:?}: use \"full\" or \"early\""
                )));
            }
        };
        self.check_waiting("drop", "the reason")?;
        self.settle(false);
        if let Some(book) = &self.book {
            let mut drops = book.drops.lock().unwrap_or_else(PoisonError::into_inner);
            drops.push((self.number, reason));
        }
        Ok(())
    }

    #[getter]
    fn marked(&self) -> bool {
        self.is_marked()
    }

    #[getter]
    fn waiting(&self) -> bool {
        self.is_waiting()
    }

    fn __repr__(&self) -> String {
        format!(
            "Packet(arrived_s={:?}, size={}, flow={}, traffic_class={})",
            self.arrived_s, self.size, self.flow, self.traffic_class
        )
    }
}

/// The head of a link.
#[pyclass(frozen, get_all, module = "skywave.queue", skip_from_py_object)]
pub(crate) struct Head {
    link: String,
    rate_bps: u64,
    share_bps: u64,
    delay_s: f64,
}

#[pymethods]
impl Head {
    #[new]
    #[pyo3(signature = (*, link = "a->b", rate_bps = 8_000_000, share_bps = 8_000_000, delay_s = 0.01))]
    fn new(link: &str, rate_bps: u64, share_bps: u64, delay_s: f64) -> Self {
        Self {
            link: link.to_owned(),
            rate_bps,
            share_bps,
            delay_s,
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "Head(link={:?}, rate_bps={}, share_bps={}, delay_s={:?})",
            self.link, self.rate_bps, self.share_bps, self.delay_s
        )
    }
}

impl From<&skywave_path::Head<'_>> for Head {
    fn from(head: &skywave_path::Head<'_>) -> Self {
        Self {
            link: head.link.to_owned(),
            rate_bps: head.rate.as_bps(),
            share_bps: head.share.as_bps(),
            delay_s: Duration::as_secs_f64(head.delay),
        }
    }
}
