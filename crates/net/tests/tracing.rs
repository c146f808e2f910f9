//! The log events that a subscriber receives.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "udp/stranger.rs"]
mod stranger;
#[allow(dead_code, reason = "other tests use the rest")]
mod support;

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::{Mutex, OnceLock};
use std::thread::{self, ThreadId};

use skywave_net::EndpointConfig;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use stranger::Stranger;
use support::{PORT, endpoint, endpoint_with, pair, peer, quick, soon};

/// Keeps every event of the threads that requested it, with the fields of its span.
#[derive(Default)]
struct Recorder {
    spans: Vec<String>,
    threads: HashMap<ThreadId, Vec<(Level, String)>>,
}

static RECORDER: OnceLock<Mutex<Recorder>> = OnceLock::new();

/// Passes everything to [`RECORDER`]. All tests share it, because a callsite that another thread
/// reaches just as a subscriber is set may miss that subscriber.
struct ToRecorder;

/// The log events of this thread, and therefore of a test with all its tasks.
struct Log(ThreadId);

impl Log {
    fn start() -> Self {
        RECORDER.get_or_init(|| {
            tracing::subscriber::set_global_default(ToRecorder).unwrap();
            Mutex::default()
        });
        let thread = thread::current().id();
        recorder(|recorder| recorder.threads.insert(thread, Vec::new()));
        Self(thread)
    }

    /// The events of a level, oldest first.
    fn at(&self, level: Level) -> Vec<String> {
        recorder(|recorder| {
            let events = recorder.threads[&self.0].iter();
            let events = events.filter(|(at, _)| *at == level);
            events.map(|(_, text)| text.clone()).collect()
        })
    }
}

fn recorder<T>(act: impl FnOnce(&mut Recorder) -> T) -> T {
    let recorder = RECORDER.get().expect("a test has started it");
    act(&mut recorder
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner()))
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for ToRecorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("skywave")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = Text(span.metadata().name().to_owned());
        span.record(&mut text);
        let number = recorder(|recorder| {
            recorder.spans.push(text.0);
            recorder.spans.len()
        });
        Id::from_u64(number as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let parent = event.parent().map(|id| id.into_u64() as usize - 1);
        let span = parent.map(|span| recorder(|recorder| recorder.spans[span].clone()));
        let mut text = Text(span.unwrap_or_default());
        event.record(&mut text);
        recorder(|recorder| {
            if let Some(events) = recorder.threads.get_mut(&thread::current().id()) {
                events.push((*event.metadata().level(), text.0));
            }
        });
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn a_connection_is_one_line_at_each_end() {
    let log = Log::start();
    let pair = pair(quick()).await;
    let (here, there) = (pair.client.local_port(), pair.server.local_port());
    pair.client.send("hello").await.unwrap();
    assert!(soon(pair.server.recv()).await.unwrap().is_some());
    assert_eq!(log.at(Level::INFO), [""; 0]);
    pair.client.close().await.unwrap();
    soon(pair.server.closed()).await;
    let lines = log.at(Level::INFO);
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (port, peer_port) in [(here, there), (there, here)] {
        let ports = format!(" local_port={port} peer_port={peer_port}");
        let [line] = lines
            .iter()
            .filter(|line| line.contains(&ports))
            .collect::<Vec<_>>()[..]
        else {
            panic!("{lines:?}");
        };
        assert!(line.contains("peer=127.0.0.1:"), "{line}");
        assert!(line.contains("connection over"), "{line}");
        assert!(line.contains("reason=Closed"), "{line}");
    }
    assert_eq!(log.at(Level::WARN), [""; 0]);
}

#[tokio::test]
async fn each_change_of_state_is_logged() {
    let log = Log::start();
    let pair = pair(quick()).await;
    pair.client.close().await.unwrap();
    soon(pair.server.closed()).await;
    let changes = |port: u16| -> Vec<String> {
        let ports = format!(" local_port={port} ");
        let lines = log.at(Level::DEBUG);
        let lines = lines.iter().filter(|line| line.contains(&ports));
        let change = |line: &String| {
            let (_, states) = line.split_once("from=")?;
            Some(states.to_owned())
        };
        lines.filter_map(change).collect()
    };
    let client = changes(pair.client.local_port());
    assert_eq!(client.first().unwrap(), "REQUEST to=PARTOPEN");
    assert!(
        client.last().unwrap().ends_with("to=TIMEWAIT"),
        "{client:?}"
    );
    let server = changes(PORT);
    assert_eq!(server.first().unwrap(), "RESPOND to=OPEN");
    assert!(server.last().unwrap().ends_with("to=CLOSED"), "{server:?}");
}

#[tokio::test]
async fn a_reset_is_logged_with_its_code() {
    let log = Log::start();
    let pair = pair(quick()).await;
    pair.client.abort();
    soon(pair.server.closed()).await;
    let resets: Vec<_> = log.at(Level::DEBUG);
    let of = |origin: &str| {
        let is_of = |line: &&String| line.contains("reset") && line.contains(origin);
        resets.iter().filter(is_of).count()
    };
    assert_eq!(
        (
            of("origin=Local code=aborted"),
            of("origin=Remote code=aborted")
        ),
        (1, 1),
        "{resets:?}"
    );
}

// Requests from forged addresses come as fast as the network is.
#[tokio::test]
async fn a_flood_of_requests_does_not_fill_the_log() {
    const REQUESTS: u64 = 500;
    let log = Log::start();
    let server = endpoint_with(EndpointConfig {
        max_connections: 1,
        ..EndpointConfig::default()
    });
    let _listener = server.listen(PORT, quick()).unwrap();
    let stranger = Stranger::of(server.local_address());
    for count in 0..REQUESTS {
        stranger.request(count as u16, count, &[]);
        if count % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    soon(async {
        while server.stats().packets_received < REQUESTS {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(server.stats().too_busy > REQUESTS / 2);
    let (info, warnings) = (log.at(Level::INFO), log.at(Level::WARN));
    assert_eq!(info, [""; 0]);
    assert!(!warnings.is_empty() && warnings.len() < 60, "{warnings:?}");
    assert!(warnings[0].contains("too busy"), "{warnings:?}");
    assert_eq!(log.at(Level::ERROR), [""; 0]);
}

#[tokio::test]
async fn datagrams_are_not_logged_above_trace() {
    let log = Log::start();
    let pair = pair(quick()).await;
    let count =
        || [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG].map(|level| log.at(level).len());
    // Both ends are open after the first.
    for _ in 0..2 {
        pair.client.send("first").await.unwrap();
        assert!(soon(pair.server.recv()).await.unwrap().is_some());
        pair.server.send("first").await.unwrap();
        assert!(soon(pair.client.recv()).await.unwrap().is_some());
    }
    let before = count();
    for _ in 0..500 {
        pair.client.send("hello").await.unwrap();
        assert!(soon(pair.server.recv()).await.unwrap().is_some());
    }
    assert_eq!(count(), before);
}

// Nobody listens: the kernel of this host reports it, and the attempt ends.
#[tokio::test]
async fn errors_of_the_network_are_logged() {
    let log = Log::start();
    let (client, gone) = (endpoint(), endpoint());
    let target = peer(&gone);
    drop(gone);
    soon(async {
        while soon(client.connect(target, quick())).await.is_ok()
            || client.stats().network_errors == 0
        {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let lines = log.at(Level::DEBUG);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("network error") && line.contains("Unreachable")),
        "{lines:?}"
    );
}
