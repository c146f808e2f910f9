//! Queue disciplines written in Python.
//!
//! A class that defines only `enqueue` decides on arrival, and becomes an [`Admission`]: one call for
//! each packet. One that defines `dequeue` too holds packets ([`Keeps`]): a call when a packet arrives
//! and one when the link is ready for the next. The packets themselves stay here; Python has a
//! [`Packet`] for each, a description with a number. So no packet can be lost or forged: what a
//! method returns is looked up, and what the class may do ([`Conduct`]) is checked at each call.

mod contract;
mod packet;
mod store;

use std::collections::VecDeque;
use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use skywave_path::Packet as PathPacket;
use skywave_path::{
    Admission, AnyQueue, Arrival, Conduct, DropReason, Dropped, Head, Keeps, Limit, Line,
    QueueKind, Queues, Verdict, Writes,
};
use skywave_registry::MemberFailure;
use skywave_units::Instant;
use skywave_wire::Ecn;

use self::packet::{Book, Packet, Waiting};
use self::store::Store;
use crate::member::{Class, Given, Live, Object, look_for, shown, wrong};

/// Adds the functions and classes for queue disciplines in Python to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(contract::check_queue, module)?)?;
    module.add_class::<Packet>()?;
    module.add_class::<packet::Head>()
}

/// Makes `queues` find disciplines in Python too.
pub(crate) fn look_for_queues<P: PathPacket + Send + 'static>(
    queues: &mut Queues<P>,
    live: Live<'_>,
) {
    look_for(queues, live, "queue", "Queue", |given| {
        Ok(Arc::new(Kind {
            class: Class::new(given)?,
            conduct: conduct(given)?,
            keeps: given.overrides("dequeue")?,
        }))
    });
}

/// Reads what the class declares; `skywave.queue` has checked it.
fn conduct(given: &Given<'_>) -> PyResult<Conduct> {
    let declared = given.sample.call_method0("conduct")?;
    let is = |name: &str| declared.getattr(name)?.extract::<bool>();
    let most = |name: &str| declared.getattr(name)?.extract::<Option<u64>>();
    Ok(Conduct {
        most_packets: most("packets")?,
        most_bytes: most("bytes")?,
        one_limit: is("one_limit")?,
        fifo: is("fifo")?,
        drops_early: is("drops_early")?,
        drops_inside: is("drops_accepted")?,
        writes: Writes::marks_if(is("marks")?),
        has_classes: is("has_classes")?,
        ..Conduct::fifo(Limit::Unlimited)
    })
}

struct Kind {
    class: Class,
    conduct: Conduct,
    keeps: bool,
}

impl<P: PathPacket + Send + 'static> QueueKind<P> for Kind {
    fn conduct(&self) -> Conduct {
        self.conduct
    }

    /// Classes in Python may share variables of their modules.
    fn shares_state(&self) -> bool {
        true
    }

    fn build(&self, head: &Head<'_>) -> AnyQueue<P> {
        let object = self.class.make(head.random(), |object| {
            let py = object.py();
            let head = packet::Head::from(head);
            object.call_method1(intern!(py, "on_start"), (head,))?;
            Ok(())
        });
        let judge = Judge {
            object,
            conduct: self.conduct,
        };
        if self.keeps {
            AnyQueue::keeps(Keeping {
                book: Arc::new(Book::new(judge.may_mark())),
                judge,
                store: Store::new(),
                dropped: VecDeque::new(),
                idle_since: Some(Instant::ZERO),
            })
        } else {
            AnyQueue::admission(Deciding(judge))
        }
    }
}

/// A Python object, and what it may do.
struct Judge {
    object: Object,
    conduct: Conduct,
}

impl Judge {
    fn may_mark(&self) -> bool {
        self.conduct.writes != Writes::Nothing
    }

    /// Returns what a method has decided on an arriving packet, if it may decide so.
    fn verdict(
        &self,
        object: &Bound<'_, PyAny>,
        answer: &Bound<'_, PyAny>,
        arrival: &Packet,
        waiting: Waiting,
    ) -> PyResult<Result<Verdict, DropReason>> {
        let error = |what: &str| {
            let what = format!("returned {}: {what}", shown(answer));
            Err(wrong(object, "enqueue", &what))
        };
        let text = answer.cast::<PyString>().ok().map(|text| text.to_str());
        let verdict = match text.transpose()? {
            Some("accept") => Ok(Verdict::Keep),
            Some("mark") => Ok(Verdict::Mark),
            Some("full") => Err(DropReason::Full),
            Some("early") => Err(DropReason::Early),
            _ => return error("return \"accept\", \"mark\", \"full\" or \"early\""),
        };
        let Waiting { packets, bytes } = waiting;
        let has_room = self.conduct.has_room_for(arrival.size, packets, bytes);
        match verdict {
            Ok(_) if !has_room => error(&format!(
                "a packet of {} bytes does not fit: {packets} packets of {bytes} bytes wait, and the \
                 limit is in its conduct",
                arrival.size
            )),
            Ok(Verdict::Mark) if !self.may_mark() => {
                error("it does not declare marks: return Conduct(.., marks=True) from conduct")
            }
            Ok(Verdict::Mark) if !arrival.can_be_marked => {
                error("this packet cannot be marked: look at packet.can_be_marked")
            }
            Err(DropReason::Full) if has_room && self.conduct.one_limit => error(&format!(
                "a packet of {} bytes fits: {packets} packets of {bytes} bytes wait, and the limit \
                 is in its conduct; \"early\" drops packets before that",
                arrival.size
            )),
            Err(DropReason::Early) if !self.conduct.drops_early => error(
                "it does not declare early drops: return Conduct(.., drops_early=True) from conduct",
            ),
            verdict => Ok(verdict),
        }
    }
}

/// A discipline that decides on arrival.
struct Deciding(Judge);

impl Admission for Deciding {
    fn admit(
        &mut self,
        now: Instant,
        line: &mut Line<'_>,
        arrival: Arrival,
    ) -> Result<Verdict, DropReason> {
        let waiting = Waiting {
            packets: line.packets() as u64,
            bytes: line.bytes(),
        };
        let packet = Packet::arriving(now, arrival, waiting, line.idle_since());
        let verdict = self.0.object.call("enqueue", |object| {
            let py = object.py();
            let packet = Bound::new(py, packet)?;
            let answer = object.call_method1(intern!(py, "enqueue"), (&packet,))?;
            self.0.verdict(object, &answer, packet.get(), waiting)
        });
        verdict.unwrap_or(Err(DropReason::Full))
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        self.0.object.inner_values(record);
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.0.object.failure()
    }
}

/// A discipline that holds packets.
struct Keeping<P> {
    judge: Judge,
    /// The packets that it has accepted.
    store: Store<P>,
    /// What methods of packets have asked for.
    book: Arc<Book>,
    dropped: VecDeque<Dropped<P>>,
    /// Since when it has been empty; `None` if it is not.
    idle_since: Option<Instant>,
}

impl<P: PathPacket> Keeping<P> {
    /// Drops the accepted packets that a method has dropped.
    fn drop_kept(&mut self, method: &str) {
        for (number, reason) in self.book.take() {
            let Some(packet) = self.store.take(number) else {
                continue;
            };
            self.dropped.push_back(Dropped::new(packet, reason));
            if !self.judge.conduct.permits_drop_inside(reason) {
                self.judge.object.call("drop", |object| -> PyResult<()> {
                    let what = format!(
                        "dropped a packet that it had accepted as \"{}\", which it does not declare: \
                         return Conduct(.., drops_accepted=True{}) from conduct",
                        reason.name(),
                        if reason == DropReason::Early { ", drops_early=True" } else { "" },
                    );
                    Err(wrong(object, method, &what))
                });
            }
        }
    }
}

impl<P: PathPacket> Keeps<P> for Keeping<P> {
    fn enqueue(&mut self, now: Instant, mut packet: P) -> Result<(), Dropped<P>> {
        let arrival = Arrival::of(&packet);
        let before = Waiting {
            packets: self.store.packets() as u64,
            bytes: self.store.bytes(),
        };
        let number = self.store.next_number();
        let idle_since = self.idle_since;
        let book = &self.book;
        let described = Packet::arriving(now, arrival, before, idle_since).of(number, book);
        let asked = self.judge.object.call("enqueue", |object| {
            let py = object.py();
            let described = Bound::new(py, described)?;
            let answer = object.call_method1(intern!(py, "enqueue"), (&described,))?;
            Ok((answer.unbind(), described.unbind()))
        });
        // It may have made room.
        self.drop_kept("enqueue");
        let waiting = Waiting {
            packets: self.store.packets() as u64,
            bytes: self.store.bytes(),
        };
        let verdict = asked.and_then(|(answer, described)| {
            self.judge.object.call("enqueue", |object| {
                let py = object.py();
                let described = described.bind(py).get();
                let verdict = self
                    .judge
                    .verdict(object, answer.bind(py), described, waiting)?;
                described.settle(verdict.is_ok());
                Ok(verdict)
            })
        });
        match verdict.unwrap_or(Err(DropReason::Full)) {
            Ok(verdict) => {
                if verdict == Verdict::Mark {
                    packet.set_ecn(Ecn::Ce);
                }
                self.store.push(packet);
                self.idle_since = None;
                Ok(())
            }
            Err(reason) => {
                if self.store.packets() == 0 {
                    self.idle_since.get_or_insert(now);
                }
                Err(Dropped::new(packet, reason))
            }
        }
    }

    fn dequeue(&mut self, now: Instant) -> Option<P> {
        if self.store.packets() == 0 {
            return None;
        }
        let chosen = self.judge.object.call("dequeue", |object| {
            let py = object.py();
            let answer = object.call_method1(intern!(py, "dequeue"), (now.as_secs_f64(),))?;
            if answer.is_none() {
                return Ok(None);
            }
            match answer.cast::<Packet>() {
                Ok(packet) if packet.get().is_of(&self.book) => {
                    packet.get().settle(false);
                    Ok(Some((packet.get().number, packet.get().is_marked())))
                }
                _ => {
                    let what = format!(
                        "returned {}: return a packet that is waiting, or None after dropping all",
                        shown(&answer)
                    );
                    Err(wrong(object, "dequeue", &what))
                }
            }
        });
        self.drop_kept("dequeue");
        let first = self.store.first();
        let (number, is_marked) = match (chosen.flatten(), first) {
            (Some(chosen), _) => chosen,
            // Of no use any more: what a failed object held leaves in order.
            (None, Some(first)) if self.judge.object.failure().is_some() => (first, false),
            (None, None) => {
                self.idle_since = Some(now);
                return None;
            }
            (None, Some(first)) => {
                let packets = self.store.packets();
                self.judge.object.call("dequeue", |object| -> PyResult<()> {
                    let what = format!("returned None: {packets} packets are waiting");
                    Err(wrong(object, "dequeue", &what))
                });
                (first, false)
            }
        };
        if self.judge.conduct.fifo && Some(number) != first {
            self.judge.object.call("dequeue", |object| -> PyResult<()> {
                let what = "returned a packet that is not the oldest: return Conduct(.., fifo=False) \
                            from conduct";
                Err(wrong(object, "dequeue", what))
            });
        }
        let mut packet = self.store.take(number)?;
        if is_marked {
            packet.set_ecn(Ecn::Ce);
        }
        if self.store.packets() == 0 {
            self.idle_since = Some(now);
        }
        Some(packet)
    }

    fn dropped(&mut self) -> Option<Dropped<P>> {
        self.dropped.pop_front()
    }

    fn packets(&self) -> usize {
        self.store.packets()
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn inner_values(&self, record: &mut dyn FnMut(&str, f64)) {
        self.judge.object.inner_values(record);
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.judge.object.failure()
    }
}
