use skywave_congestion::{Ack, AnyControl, Control, Loss};
use skywave_transport::tcp::{Ports, SenderConfig};
use skywave_units::Duration;

use super::*;

/// Counts that all differ, and a state.
fn stats(unit: u64) -> EndStats {
    let mut stats = EndStats::default();
    stats.packets_sent = unit;
    stats.bytes_sent = 2 * unit;
    stats.retransmissions = 3 * unit;
    stats.timeouts = 4 * unit;
    stats.receive_window_limited = Duration::from_millis(5 * unit);
    stats.delivered_packets = 6 * unit;
    stats.delivered_bytes = 7 * unit;
    stats.is_idle = true;
    stats.cwnd = 8.0;
    stats.ssthresh = 9.0;
    stats.pipe = 10;
    stats.srtt = Some(Duration::from_millis(11));
    stats
}

fn counts(of: &EndStats) -> [u64; 7] {
    [
        of.packets_sent,
        of.bytes_sent,
        of.retransmissions,
        of.timeouts,
        of.receive_window_limited.as_nanos() / 1_000_000,
        of.delivered_packets,
        of.delivered_bytes,
    ]
}

fn kernel(stats: EndStats, is_closed: bool) -> Host {
    let supply = Supply {
        is_closed,
        ..Supply::default()
    };
    Host::Kernel(Box::new(KernelEnd { supply, stats }))
}

#[test]
fn a_connection_of_the_kernel_is_supplied_until_it_is_closed() {
    let mut end = KernelEnd::default();
    assert!(end.send(Payload::Synthetic(100)));
    assert!(end.write(Some(2000)));
    assert_eq!((end.supply.bytes, end.supply.is_endless), (2100, false));
    assert!(end.write(None));
    assert!(end.supply.is_endless);
    assert_eq!(end.waiting(), 0, "the kernel has all of it");
    end.close(Instant::ZERO);
    let closed = Supply {
        bytes: 2100,
        datagrams: vec![Payload::Synthetic(100)],
        is_endless: false,
        is_closed: true,
    };
    assert_eq!(end.supply(), closed);
    let closed = Supply {
        datagrams: Vec::new(),
        ..closed
    };
    assert_eq!(end.supply, closed, "a datagram is handed over once");
    assert!(end.send(Payload::Synthetic(100)) && end.write(Some(1)) && end.write(None));
    assert_eq!(end.supply, closed, "what is closed takes no more");
}

#[test]
fn a_connection_of_the_kernel_is_over_once_it_is_closed_and_idle() {
    let busy = EndStats::default();
    for (stats, is_closed, is_over) in [
        (busy, false, false),
        (busy, true, false),
        (stats(1), false, false),
        (stats(1), true, true),
    ] {
        assert_eq!(kernel(stats, is_closed).status().is_over(), is_over);
    }
}

#[test]
fn counts_of_successive_connections_add_up_and_the_state_is_the_current_ones() {
    let mut end = Successive::default();
    assert!(end.current().is_none() && !end.is_over());
    assert_eq!(end.delivered_bytes(), 0);
    end.open(kernel(stats(1), true), 1000);
    assert!(end.is_over());
    let mut busy = stats(10);
    busy.is_idle = false;
    // Opening the next one closes this one.
    end.open(kernel(busy, false), 1001);
    assert!(end.current().is_some() && !end.is_over());
    assert_eq!(end.delivered_bytes(), 70, "of the current one");
    let found = end.end_stats();
    assert_eq!(counts(&found), counts(&stats(11)));
    assert_eq!((found.is_idle, found.cwnd, found.pipe), (false, 8.0, 10));
    assert_eq!(found.srtt, busy.srtt);
    // Between connections there are only counts.
    end.close();
    end.close();
    assert!(end.current().is_none() && !end.is_over());
    let found = end.end_stats();
    assert_eq!(counts(&found), counts(&stats(11)));
    assert!(found.is_idle);
    assert_eq!((found.cwnd, found.pipe, found.srtt), (0.0, 0, None));
}

/// A control with an inner value that may have failed.
struct Broken {
    value: f64,
    failure: Option<MemberFailure>,
}

impl Control for Broken {
    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_loss(&mut self, _loss: &Loss) {}

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {}

    fn limit_cwnd(&mut self, _limit: f64) {}

    fn cwnd(&self) -> f64 {
        1.0
    }

    fn inner_values(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("value", self.value);
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.failure.clone()
    }
}

fn tcp(value: f64, failure: Option<&MemberFailure>) -> Host {
    let control = AnyControl::new(Broken {
        value,
        failure: failure.cloned(),
    });
    let ports = Ports {
        local: 1,
        remote: 2,
    };
    let sender = Sender::new(SenderConfig::default(), control, ports, 1);
    Host::TcpSender(Box::new(Driven::new(sender)))
}

#[test]
fn inner_values_of_successive_connections_are_the_current_ones() {
    let values = |end: &Successive| {
        let mut values = Vec::new();
        end.inner_values(&mut |name, value| values.push((name, value)));
        values
    };
    let mut end = Successive::default();
    assert_eq!(values(&end), []);
    for value in [3.0, 4.0] {
        end.open(tcp(value, None), 1);
        assert_eq!(values(&end), [("value", value)]);
    }
    end.close();
    assert_eq!(values(&end), []);
}

#[test]
fn the_first_failure_of_successive_connections_remains() {
    let failure = || MemberFailure::new(std::io::Error::other("broken"));
    let (first, second) = (failure(), failure());
    let mut end = Successive::default();
    assert_eq!(end.failure(), None);
    end.open(tcp(0.0, None), 1);
    assert_eq!(end.failure(), None);
    end.open(tcp(0.0, Some(&first)), 2);
    assert_eq!(end.failure(), Some(first.clone()), "of the current one");
    end.open(tcp(0.0, Some(&second)), 3);
    assert_eq!(end.failure(), Some(first.clone()));
    end.close();
    assert_eq!(end.failure(), Some(first));
}
