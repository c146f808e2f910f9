//! The same frames get the same codes.

use std::cell::RefCell;

use proptest::prelude::*;
use skywave_kernel_router::{Program, Sampler};
use skywave_mpcp::OrderParameter;
use skywave_units::{Duration, Instant};
use skywave_wire::Ecn;
use skywave_wire::ip::Forwarded;

use crate::frames::{ETHERNET, Spec, Transport, specs};
use crate::twin::Twin;
use crate::{RATE, config, program, runner};

/// Cases, each with frames for a few seconds.
const CASES: u32 = 60;

/// The loop around the program, on virtual time.
struct Kernel {
    program: Program,
    sampler: Sampler,
}

impl Kernel {
    fn pass(&mut self, now: Instant, frame: &[u8]) -> Vec<u8> {
        while self.sampler.next() <= now {
            let at = self.sampler.next();
            let bytes = self.program.counters().unwrap().bytes;
            let load = self.sampler.sample(at, bytes, 0);
            self.program.set_load(load).unwrap();
        }
        self.program.run(frame, 1).unwrap()
    }
}

/// Frames, each with the time since the one before it. How close they are, and so the load, changes
/// now and then.
fn sequence() -> impl Strategy<Value = Vec<(Duration, Spec)>> {
    let phase = (1..30_u64, proptest::collection::vec(specs(), 40..160));
    proptest::collection::vec(phase, 2..6).prop_map(|phases| {
        let mut numbers = [0_u64; 6];
        let mut sequence = vec![];
        for (tenths, frames) in phases {
            for mut spec in frames {
                // Most packets of a flow are in order, so that chains are complete.
                if spec.identification % 10 != 0 {
                    let number = &mut numbers[usize::from(spec.flow)];
                    spec = in_order(spec, *number);
                    *number += 1;
                }
                let gap = u64::from(spec.size) * 100 * tenths;
                sequence.push((Duration::from_nanos(gap), spec));
            }
        }
        sequence
    })
}

fn in_order(spec: Spec, number: u64) -> Spec {
    let is_first = number.is_multiple_of(2);
    Spec {
        seq: match spec.transport {
            Transport::Tcp if is_first => 2000,
            Transport::Tcp => 1000,
            _ => number,
        },
        ack: 1500,
        checksum_offset: (number % 3) as u8,
        identification: number as u16,
        ..spec
    }
}

fn ecn(frame: &[u8]) -> Ecn {
    let read = Forwarded::parse(&frame[ETHERNET..]);
    read.expect("the checksum of the header is right").ecn
}

fn check(chain: u8, order: OrderParameter) {
    let config = config(chain, order);
    if program(&config).is_none() {
        return;
    }
    let written = RefCell::new([0_u32; 4]);
    let mut cases = runner(CASES);
    let result = cases.run(&sequence(), |frames| {
        let program = program(&config).expect("it could be loaded before");
        let meter = config.load.meter().unwrap();
        let mut kernel = Kernel {
            program,
            sampler: Sampler::new(meter, RATE, 0),
        };
        let mut twin = Twin::new(&config);
        let mut now = Instant::ZERO;
        for (gap, spec) in frames {
            now += gap;
            let frame = spec.frame();
            let left = kernel.pass(now, &frame);
            let expected = twin.pass(now, &frame).expect("it can be read");
            prop_assert_eq!(ecn(&left), ecn(&expected), "{:?}", spec);
            prop_assert!(left == expected, "{:?}: other bytes have changed", spec);
            if ecn(&left) != spec.ecn {
                written.borrow_mut()[usize::from(ecn(&left).bits())] += 1;
            }
        }
        let counters = kernel.program.counters().unwrap();
        prop_assert_eq!(counters.unreadable, 0);
        Ok(())
    });
    result.unwrap();
    let written = written.borrow();
    assert!(written[2] > 0 && written[3] > 0, "{written:?}");
}

#[test]
fn vcp() {
    check(1, OrderParameter::TcpNumbers);
}

#[test]
fn dpcp() {
    check(2, OrderParameter::TcpNumbers);
}

#[test]
fn tpcp() {
    check(3, OrderParameter::TcpNumbers);
}

#[test]
fn chains_by_identification() {
    check(2, OrderParameter::IpIdentification);
    check(3, OrderParameter::IpIdentification);
}
