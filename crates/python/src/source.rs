//! Sources written in Python: iterators of the times and sizes of datagrams.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyIterator;
use skywave_registry::MemberFailure;
use skywave_traffic::{SendingEnd, Setup, Source, SourceKind, Sources};
use skywave_units::{Duration, Instant};
use skywave_wire::Payload;

use crate::member::{Class, Live, Object, look_for, shown, wrong};

/// Makes `sources` find sources in Python too.
pub(crate) fn look_for_sources(sources: &mut Sources, live: Live<'_>) {
    look_for(sources, live, "source", "Source", |given| {
        Ok(Arc::new(Kind {
            class: Class::new(given)?,
            largest: given.sample.getattr("largest")?.extract()?,
        }))
    });
}

struct Kind {
    class: Class,
    /// The size of the largest datagram, in bytes; `skywave.source` has checked it.
    largest: u32,
}

impl SourceKind for Kind {
    fn datagram(&self) -> u64 {
        self.largest.into()
    }

    /// Classes in Python may share variables of their modules.
    fn shares_state(&self) -> bool {
        true
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        let mut datagrams = None;
        let object = self.class.make(setup.random("source"), |object| {
            let made = object.call_method0("datagrams")?;
            datagrams = Some(made.try_iter()?.unbind());
            Ok(())
        });
        let mut source = ObjectSource {
            object,
            datagrams,
            largest: self.largest,
            start: setup.start,
            next: None,
            last: Duration::ZERO,
        };
        source.advance();
        Box::new(source)
    }
}

#[derive(Debug)]
struct ObjectSource {
    object: Object,
    datagrams: Option<Py<PyIterator>>,
    largest: u32,
    start: Instant,
    /// The next datagram: when it is sent, since the start, and its size.
    next: Option<(Duration, u32)>,
    /// When the one before it was sent.
    last: Duration,
}

impl ObjectSource {
    /// Asks for the next datagram.
    fn advance(&mut self) {
        let Self {
            datagrams,
            largest,
            last,
            ..
        } = self;
        let (largest, last) = (*largest, *last);
        let asked = self.object.call("datagrams", |object| {
            let py = object.py();
            let iterator = datagrams.as_ref().map(|all| all.bind(py).clone());
            let Some(item) = iterator.and_then(|mut iterator| iterator.next()) else {
                return Ok(None);
            };
            let item = item?;
            let error = |what: &str| {
                let what = format!("yielded {}: {what}", shown(&item));
                wrong(object, "datagrams", &what)
            };
            let (at_s, size): (f64, u32) = item.extract().map_err(|_| {
                error("yield the time in seconds since the start and the size in bytes")
            })?;
            let at = Duration::try_from_secs_f64(at_s)
                .filter(|at| *at <= MOST)
                .ok_or_else(|| error("a time is between 0 and 1e9 seconds"))?;
            if at < last {
                return Err(error(&format!("the one before it was at {last}")));
            }
            if size == 0 || size > largest {
                return Err(error(&format!("a size is between 1 and {largest} bytes")));
            }
            Ok(Some((at, size)))
        });
        self.next = asked.flatten();
    }

    fn due(&self) -> Option<Instant> {
        self.next.map(|(at, _)| self.start + at)
    }
}

/// No run is as long.
const MOST: Duration = Duration::from_secs(1_000_000_000);

impl Source for ObjectSource {
    fn begins(&self) -> Instant {
        self.due().unwrap_or(self.start)
    }

    fn act(&mut self, _now: Instant, transport: &mut dyn SendingEnd) -> Option<Instant> {
        let (at, size) = self.next?;
        // An application that does not wait: what the transport refuses is lost.
        let _accepted = transport.send(Payload::Synthetic(size));
        self.last = at;
        self.advance();
        self.due()
    }

    fn is_done(&self) -> bool {
        self.next.is_none()
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.object.failure()
    }
}
