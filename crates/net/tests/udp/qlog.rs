//! qlog files of connections, read back by the library that defines the format.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use qlog::events::{Event, EventData};
use qlog::reader::{Event as Read, QlogSeqReader};
use skywave_net::{ConnectError, Endpoint, EndpointConfig, OpenError};
use skywave_transport::dccp::Stats;

use crate::stranger::Stranger;
use crate::{PORT, endpoint, endpoint_with, peer, quick, soon};

/// A directory that is empty at first and removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let own = format!("skywave-qlog-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(own))
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn logging(directory: &Directory) -> EndpointConfig {
    EndpointConfig {
        qlog: Some(directory.0.clone()),
        ..EndpointConfig::default()
    }
}

/// The events of a file; each must be one that qlog defines.
fn events(file: &Path) -> Vec<Event> {
    let mut bytes = fs::read(file).unwrap();
    let records = bytes.iter().filter(|&&byte| byte == 0x1e).count();
    // The reader takes a record for complete when the next one begins.
    bytes.push(0x1e);
    let reader = QlogSeqReader::new(Box::new(&bytes[..])).unwrap();
    assert_eq!(reader.qlog.qlog_version, "0.3", "the one that qvis reads");
    let events: Vec<_> = reader
        .map(|event| match event {
            Read::Qlog(event) => event,
            Read::Json(event) => panic!("not of qlog: {event:?}"),
        })
        .collect();
    assert_eq!(events.len() + 1, records);
    events
}

/// Checks the log of one end against the counters of that end.
fn assert_logged(file: &Path, stats: &Stats) {
    let (mut sent, mut received, mut data) = (Vec::new(), BTreeSet::new(), 0);
    let (mut cwnd, mut before) = (None, 0.0);
    for event in events(file) {
        assert!(event.time >= before, "time goes on");
        before = event.time;
        match event.data {
            EventData::PacketSent(packet) => {
                sent.push(packet.header.packet_number.unwrap());
                data += packet.raw.unwrap().payload_length.unwrap();
            }
            EventData::PacketReceived(packet) => {
                assert!(received.insert(packet.header.packet_number.unwrap()));
            }
            EventData::MetricsUpdated(metrics) => {
                cwnd = metrics.ex_data["cwnd_packets"].as_f64();
            }
            EventData::LossTimerUpdated(_) => {}
            other => panic!("{other:?}"),
        }
    }
    let counters = &stats.counters;
    assert_eq!(sent.len() as u64, counters.packets_sent, "each once");
    assert!(sent.is_sorted_by(|a, b| a < b), "numbers increase");
    assert_eq!(data, counters.bytes_sent);
    assert_eq!(received.len() as u64, counters.packets_received);
    let window = stats.congestion.window().unwrap();
    assert!((cwnd.unwrap() - window.cwnd).abs() < 1e-9);
}

#[tokio::test]
async fn the_log_of_a_transfer_has_every_packet_and_the_window() {
    const DATAGRAMS: usize = 500;
    let directory = Directory::new("transfer");
    let endpoints = [(); 2].map(|()| endpoint_with(logging(&directory)));
    let listener = endpoints[1].listen(PORT, quick()).unwrap();
    let (client, server) = soon(async {
        tokio::join!(
            endpoints[0].connect(peer(&endpoints[1]), quick()),
            listener.accept()
        )
    })
    .await;
    let (client, server) = (client.unwrap(), server.unwrap());
    soon(async {
        let send = async {
            for index in 0..DATAGRAMS {
                // Of different sizes, so that some leave together and some do not.
                let size = if index % 50 < 40 { 500 } else { index };
                client.send(vec![1; size]).await.unwrap();
            }
            client.close().await.unwrap();
        };
        let receive = async { while server.recv().await.unwrap().is_some() {} };
        tokio::join!(send, receive);
    })
    .await;
    let stats = [client.stats(), server.stats()];
    for endpoint in &endpoints {
        soon(endpoint.shutdown()).await;
        assert_eq!(endpoint.stats().qlog_dropped, 0);
    }
    let files = directory.files();
    let of = |role: &str| {
        let is_of = |file: &&PathBuf| file.to_str().unwrap().ends_with(role);
        let [file] = files.iter().filter(is_of).collect::<Vec<_>>()[..] else {
            panic!("{files:?}");
        };
        file
    };
    assert_eq!(files.len(), 2);
    assert_logged(of("-client.sqlog"), &stats[0]);
    assert_logged(of("-server.sqlog"), &stats[1]);
}

// Whoever forges addresses must not fill the directory.
#[tokio::test]
async fn a_flood_of_requests_creates_no_files() {
    let directory = Directory::new("flood");
    let server = endpoint_with(logging(&directory));
    let _listener = server.listen(PORT, quick()).unwrap();
    let stranger = Stranger::of(server.local_address());
    for count in 0..50 {
        stranger.request(count, count.into(), &[]);
    }
    soon(async {
        while server.stats().packets_received < 50 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(server.stats().connections > 10);
    server.abort();
    soon(server.shutdown()).await;
    assert_eq!(directory.files(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn an_attempt_that_fails_is_logged() {
    let directory = Directory::new("refused");
    let (client, server) = (endpoint_with(logging(&directory)), endpoint());
    let refused = soon(client.connect(peer(&server), quick())).await;
    assert!(
        matches!(refused, Err(ConnectError::Connection(_))),
        "{refused:?}"
    );
    soon(client.shutdown()).await;
    let [file] = &directory.files()[..] else {
        panic!("one file");
    };
    let types: Vec<_> = events(file)
        .iter()
        .filter_map(|event| Some(event.ex_data.get("skywave")?["type"].as_str()?.to_owned()))
        .collect();
    assert_eq!(types, ["DCCP-Request", "DCCP-Reset"]);
}

#[tokio::test]
async fn traffic_goes_on_when_nothing_can_be_written() {
    let directory = Directory::new("removed");
    let client = endpoint_with(logging(&directory));
    // No file can be created from now on.
    fs::remove_dir(&directory.0).unwrap();
    let server = endpoint();
    let listener = server.listen(PORT, quick()).unwrap();
    let (connection, accepted) =
        soon(async { tokio::join!(client.connect(peer(&server), quick()), listener.accept()) })
            .await;
    let (connection, accepted) = (connection.unwrap(), accepted.unwrap());
    connection.send("hello").await.unwrap();
    assert_eq!(soon(accepted.recv()).await.unwrap().unwrap().data, "hello");
    connection.close().await.unwrap();
    soon(client.shutdown()).await;
    assert!(client.stats().qlog_dropped > 0);
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_is_refused() {
    let config = EndpointConfig {
        qlog: Some("/dev/null/logs".into()),
        ..EndpointConfig::default()
    };
    let address = ([127, 0, 0, 1], 0).into();
    let refused = Endpoint::udp(address, config);
    assert!(
        matches!(refused, Err(OpenError::Qlog { .. })),
        "{refused:?}"
    );
}
