//! Sockets without `async`.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::pending;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use skywave_net::blocking::{OfProcess, Runtime, WaitError};
use skywave_net::{Endpoint, EndpointConfig, Peer};
use skywave_transport::dccp::Config;
use tokio::time::sleep;

const SHORT: Duration = Duration::from_millis(20);

fn runtime() -> Runtime {
    Runtime::of_process().expect("a runtime")
}

#[test]
fn the_runtime_is_one_for_all_threads() {
    let ids: Vec<_> = (0..8)
        .map(|_| thread::spawn(|| runtime().handle().id()))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert!(ids.iter().all(|&id| id == runtime().handle().id()));
    assert!(Runtime::started().is_some());
}

#[test]
fn a_wait_ends_at_its_limit() {
    let began = Instant::now();
    let waited = runtime().wait(Some(SHORT), pending::<()>());
    assert_eq!(waited, Err(WaitError::TimedOut));
    assert!((SHORT..SHORT * 50).contains(&began.elapsed()));
}

#[test]
fn what_is_ready_needs_no_time() {
    assert_eq!(runtime().wait(Some(Duration::ZERO), async { 1 }), Ok(1));
    assert_eq!(runtime().wait(Some(Duration::MAX), async { 2 }), Ok(2));
    assert_eq!(runtime().wait(None, async { 3 }), Ok(3));
}

#[test]
fn a_wait_can_be_interrupted() {
    let polls = Cell::new(0);
    let interrupt = || {
        polls.set(polls.get() + 1);
        // The network may be used meanwhile.
        assert_eq!(runtime().wait(None, async { 1 }), Ok(1));
        if polls.get() < 3 {
            Ok(())
        } else {
            Err("Ctrl-C")
        }
    };
    let waited = runtime().wait_unless(interrupt, None, pending::<()>());
    assert_eq!(waited, Err(WaitError::Interrupted("Ctrl-C")));
    assert_eq!(polls.get(), 3);
}

#[test]
fn a_wait_goes_on_after_it_was_not_interrupted() {
    let interrupt = || Ok::<_, Infallible>(());
    let long = async {
        sleep(Duration::from_millis(250)).await;
        1
    };
    assert_eq!(runtime().wait_unless(interrupt, None, long), Ok(1));
}

#[test]
fn a_thread_of_the_network_cannot_wait_for_it() {
    let waited = runtime().wait(None, async { runtime().wait(None, async {}) });
    assert_eq!(waited, Ok(Err(WaitError::InsideRuntime)));
    let waited = runtime().enter(|| runtime().wait(None, async {}));
    assert_eq!(waited, Err(WaitError::InsideRuntime));
}

#[test]
fn what_ends_in_the_background_can_be_awaited() {
    let has_ended = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&has_ended);
    runtime().in_background(async move {
        sleep(SHORT).await;
        end.store(true, Ordering::Release);
    });
    assert_eq!(runtime().wait(None, runtime().background_ended()), Ok(()));
    assert!(has_ended.load(Ordering::Acquire));
}

#[test]
fn an_endpoint_is_dropped_with_what_holds_it() {
    let open = || Endpoint::udp((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::default());
    let endpoint = OfProcess::new(runtime().enter(open).unwrap());
    let clone = endpoint.get().unwrap().clone();
    let listener = clone.listen(5001, Config::default()).unwrap();
    let peer = Peer {
        address: clone.local_address(),
        port: 5001,
    };
    let client = runtime()
        .wait(None, clone.connect(peer, Config::default()))
        .unwrap()
        .unwrap();
    let client = OfProcess::new(client);
    let server = runtime().wait(None, listener.accept()).unwrap().unwrap();
    drop(client);
    // The peer learns of it.
    assert_eq!(runtime().wait(None, server.recv()).unwrap(), Ok(None));
    drop(endpoint);
}
