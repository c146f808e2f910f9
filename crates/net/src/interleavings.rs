//! Tests of the state that threads share, under every order in which they may take their steps
//! (`make loom`).
//!
//! Loom runs a test once for each order. A task that is never woken is a deadlock, which it reports.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use loom::future::block_on;
use loom::model::Builder;
use loom::thread::spawn;
use skywave_transport::dccp::{Config, Stats};
use skywave_units::{Duration, Instant};

use crate::EndpointConfig;
use crate::limits::memory::{Memory, Share};
use crate::path::{Key, Path};
use crate::shared::closing::Closing;
use crate::shared::mailbox::Mailbox;
use crate::shared::pending::Pending;
use crate::shared::table::{Opened, Table};
use crate::shared::timers::Timers;
use crate::sync::{Mutex, locked};
use crate::system::alarm::OneShot;
use crate::system::clock::Clock;

/// How often a thread may be interrupted where it could continue. With more, the number of orders
/// explodes, and faults that need more are rare.
const PREEMPTIONS: usize = 3;

/// Runs a test under all orders with at most that many interruptions.
fn model(test: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(test);
}

/// A connection is a number here.
type Flow = u8;

fn mailbox() -> Arc<Mailbox<Flow>> {
    Arc::new(Mailbox::new(Arc::new(Config::default())))
}

/// Waits for a connection and takes it; none once the listener is closed.
fn accept(mailbox: &Mailbox<Flow>) -> Option<Arc<Flow>> {
    loop {
        if let Some(flow) = mailbox.take() {
            return Some(flow);
        }
        if mailbox.is_closed() {
            return None;
        }
        block_on(mailbox.ready());
    }
}

#[test]
fn a_delivered_connection_is_handed_over_or_refused_by_a_closing_listener() {
    model(|| {
        let mailbox = mailbox();
        let delivering = {
            let mailbox = Arc::clone(&mailbox);
            spawn(move || mailbox.deliver(&Arc::new(1)))
        };
        let left = mailbox.close();
        let is_taken = delivering.join().unwrap();
        assert_eq!(left.len(), usize::from(is_taken));
        assert!(mailbox.take().is_none());
    });
}

#[test]
fn each_connection_is_accepted_once() {
    model(|| {
        let mailbox = mailbox();
        let accepting = [(); 2].map(|()| {
            let mailbox = Arc::clone(&mailbox);
            spawn(move || accept(&mailbox).unwrap())
        });
        for number in [1, 2] {
            assert!(mailbox.deliver(&Arc::new(number)));
        }
        let mut accepted = accepting.map(|accepting| *accepting.join().unwrap());
        accepted.sort_unstable();
        assert_eq!(accepted, [1, 2]);
    });
}

/// A task may be woken for a connection and give up before it takes the connection.
#[test]
fn a_cancelled_accept_takes_no_connection_from_others() {
    model(|| {
        let mailbox = mailbox();
        let accepting = {
            let mailbox = Arc::clone(&mailbox);
            spawn(move || accept(&mailbox).unwrap())
        };
        let cancelled = {
            let mailbox = Arc::clone(&mailbox);
            spawn(move || {
                let mut ready = pin!(mailbox.ready());
                let mut polls = 0;
                block_on(poll_fn(|context| {
                    polls += 1;
                    let is_over = ready.as_mut().poll(context).is_ready() || polls == 2;
                    if is_over {
                        Poll::Ready(())
                    } else {
                        Poll::Pending
                    }
                }));
            })
        };
        assert!(mailbox.deliver(&Arc::new(1)));
        assert_eq!(*accepting.join().unwrap(), 1);
        let _ = mailbox.close();
        cancelled.join().unwrap();
    });
}

#[test]
fn a_closing_listener_lets_nobody_wait() {
    model(|| {
        let mailbox = mailbox();
        let accepting = {
            let mailbox = Arc::clone(&mailbox);
            spawn(move || accept(&mailbox))
        };
        let _ = mailbox.close();
        assert!(accepting.join().unwrap().is_none());
    });
}

#[test]
fn a_place_in_the_backlog_is_given_once() {
    model(|| {
        let mailbox = mailbox();
        let entering = [(); 2].map(|()| {
            let mailbox = Arc::clone(&mailbox);
            spawn(move || mailbox.enter(1))
        });
        let given = entering.map(|entering| entering.join().unwrap());
        assert_ne!(given[0], given[1]);
        mailbox.leave();
        assert!(mailbox.enter(1));
    });
}

/// The driver goes to sleep only if it has nothing left to do.
#[test]
fn what_is_left_to_the_driver_is_done() {
    model(|| {
        let pending = Arc::new(Pending::<Flow>::default());
        let deferring = [1, 2].map(|number| {
            let pending = Arc::clone(&pending);
            spawn(move || pending.defer(Arc::new(number)))
        });
        let (mut flows, mut count) = (Vec::new(), 0);
        block_on(poll_fn(|context| {
            pending.driven_by(context.waker());
            pending.take(&mut flows);
            count += flows.drain(..).count();
            if count == 2 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
        for deferring in deferring {
            deferring.join().unwrap();
        }
        assert!(pending.is_empty());
    });
}

/// An alarm that fires at once.
#[derive(Debug, Default)]
struct Eager(Mutex<(bool, Option<Waker>)>);

impl OneShot for Eager {
    fn set(&self, _delay: Duration) -> io::Result<()> {
        let mut state = locked(&self.0);
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    fn poll_fired(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = locked(&self.0);
        if core::mem::take(&mut state.0) {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

/// All deadlines are in the past for the driver.
#[test]
fn no_deadline_is_forgotten() {
    const NOW: Instant = Instant::from_nanos(10);
    model(|| {
        let timers = Arc::new(Timers::<Flow, Eager>::new(Clock::new(), Eager::default()));
        let setting = [(1, 5), (2, 3)].map(|(id, at)| {
            let timers = Arc::clone(&timers);
            spawn(move || {
                timers.set(id, &Arc::new(0), None, Some(Instant::from_nanos(at)));
            })
        });
        let mut due = Vec::new();
        block_on(poll_fn(|context| {
            while timers.poll(context).is_ready() {
                timers.take_due(NOW, &mut due);
            }
            if due.len() == 2 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
        for setting in setting {
            setting.join().unwrap();
        }
    });
}

/// A deadline may be moved while it passes: the flow is called once more at most, and never missed.
#[test]
fn a_moved_deadline_is_kept() {
    let at = Instant::from_nanos;
    model(move || {
        let timers = Arc::new(Timers::<Flow, Eager>::new(Clock::new(), Eager::default()));
        let flow = Arc::new(0);
        timers.set(1, &flow, None, Some(at(9)));
        let moving = {
            let timers = Arc::clone(&timers);
            spawn(move || timers.set(1, &flow, Some(at(9)), Some(at(4))))
        };
        let mut due = Vec::new();
        timers.take_due(at(10), &mut due);
        moving.join().unwrap();
        timers.take_due(at(10), &mut due);
        assert!((1..=2).contains(&due.len()));
        due.clear();
        timers.take_due(at(10), &mut due);
        assert!(due.is_empty());
    });
}

const KEY: Key = Key {
    path: Path {
        local: IpAddr::V4(Ipv4Addr::LOCALHOST),
        peer: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1),
    },
    local_port: 2,
    remote_port: 3,
};

/// A connection ends while another takes its place and the endpoint shuts down.
#[test]
fn every_connection_leaves_the_table_once() {
    model(|| {
        let table = Arc::new(Mutex::new(Table::new(&EndpointConfig::default())));
        let (first, second) = (Arc::new(1), Arc::new(2));
        let _ = locked(&table).insert(KEY, Arc::clone(&first), Opened::ByPeer);
        let remove = |flow: &Arc<Flow>| {
            let (table, flow) = (Arc::clone(&table), Arc::clone(flow));
            move || locked(&table).remove(KEY, &flow, &Stats::default(), None)
        };
        let ending = spawn(remove(&first));
        let replacing = {
            let (table, remove) = (Arc::clone(&table), remove(&first));
            let second = Arc::clone(&second);
            spawn(move || {
                // Like dispatch, discards the previous one first.
                remove();
                let before = locked(&table).insert(KEY, second, Opened::ByPeer);
                assert!(before.is_none());
            })
        };
        let listed = {
            let mut table = locked(&table);
            let _ = table.close();
            table.flows().len()
        };
        assert!(listed <= 1);
        ending.join().unwrap();
        replacing.join().unwrap();
        assert_eq!(locked(&table).live(), 1, "the one that took its place");
        remove(&second)();
        let table = locked(&table);
        assert_eq!((table.live(), table.ended().connections), (0, 2));
    });
}

#[test]
fn what_is_taken_from_the_memory_is_given_back() {
    model(|| {
        let memory = Arc::new(Memory::new(10));
        let taking = [3, 4].map(|bytes| {
            let memory = Arc::clone(&memory);
            spawn(move || {
                let mut share = Share::default();
                memory.settle(&mut share, bytes);
                assert!(memory.used() >= bytes);
                memory.settle(&mut share, 0);
            })
        });
        for taking in taking {
            taking.join().unwrap();
        }
        assert_eq!((memory.used(), memory.room()), (0, 10));
    });
}

/// If several connections begin to close at once, only as many stay as have room.
#[test]
fn too_many_closing_connections_give_way() {
    model(|| {
        let closing = Arc::new(Closing::<Flow>::new(1));
        let entering = [1, 2].map(|number| {
            let closing = Arc::clone(&closing);
            spawn(move || closing.enter(&Arc::new(number)).1.is_some())
        });
        let gave_way = entering.map(|entering| entering.join().unwrap());
        assert_ne!(gave_way[0], gave_way[1]);
        assert_eq!(closing.count(), 1);
    });
}
