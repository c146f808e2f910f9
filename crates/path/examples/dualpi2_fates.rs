//! What DualPI2 does with a list of arrivals, for comparison with other implementations
//! (`validation/picoquic`).
//!
//! Reads lines `time_us,bytes,ecn` (0 Not-ECT, 1 ECT(1), 2 ECT(0)) after a header. Prints each packet's
//! fate, when its transmission ends, and how long it waited before it began.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, BufRead, Write};

use skywave_path::contract::Parcel;
use skywave_path::{DropReason, DualPi2, DualPi2Config, Keeps, Limit, Packet};
use skywave_units::{Duration, Instant, Rate};
use skywave_wire::Ecn;

const USAGE: &str =
    "usage: dualpi2_fates RATE_BPS BUFFER_US T_UPDATE_US ALPHA_HZ BETA_HZ <ARRIVALS";

/// What becomes of a packet.
#[derive(Clone, Copy, Debug)]
struct Fate {
    name: &'static str,
    departure: Instant,
    wait: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<f64> = (std::env::args().skip(1))
        .map(|number| number.parse())
        .collect::<Result<_, _>>()?;
    let [rate, buffer_us, t_update_us, alpha, beta] = numbers[..] else {
        return Err(USAGE.into());
    };
    let rate = Rate::from_bps(rate as u64);
    let config = DualPi2Config {
        t_update: Duration::from_micros(t_update_us as u64),
        alpha,
        beta,
        ..DualPi2Config::default()
    };
    let limit = rate.as_bps() as f64 * buffer_us / 8e6;
    let arrivals = read(&mut io::stdin().lock())?;
    let fates = run(
        &arrivals,
        rate,
        DualPi2::new(Limit::Bytes(limit as u64), config),
    );
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "time_us,bytes,ecn,class,fate,departure_us,wait_us")?;
    for ((time, packet), fate) in arrivals.iter().zip(fates) {
        let is_l4s = matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce);
        writeln!(
            out,
            "{},{},{},{},{},{},{}",
            time.as_nanos() / 1000,
            packet.size(),
            packet.ecn().bits(),
            if is_l4s { 'L' } else { 'C' },
            fate.name,
            fate.departure.as_nanos() / 1000,
            fate.wait.as_nanos() / 1000,
        )?;
    }
    Ok(())
}

fn read(lines: &mut impl BufRead) -> Result<Vec<(Instant, Parcel)>, Box<dyn Error>> {
    let mut arrivals = Vec::new();
    for line in lines.lines().skip(1) {
        let line = line?;
        let mut numbers = line.split(',').map(str::parse::<u32>);
        let mut next = || numbers.next().ok_or("a line has three numbers");
        let time = Instant::ZERO + Duration::from_micros(u64::from(next()??));
        let packet = Parcel::new(arrivals.len() as u32, next()??);
        let packet = packet.with_ecn(Ecn::from_bits(next()?? as u8));
        arrivals.push((time, packet));
    }
    Ok(arrivals)
}

fn run(arrivals: &[(Instant, Parcel)], rate: Rate, mut queue: DualPi2<Parcel>) -> Vec<Fate> {
    let unsent = Fate {
        name: "tail",
        departure: Instant::ZERO,
        wait: Duration::ZERO,
    };
    let mut fates = vec![unsent; arrivals.len()];
    let mut waiting: VecDeque<_> = arrivals.iter().copied().collect();
    let mut free = Instant::ZERO;
    let mut now = Instant::ZERO;
    loop {
        let arrival = waiting.front().map(|(time, _)| *time);
        let departure = (queue.packets() > 0).then(|| free.max(now));
        let Some(next) = [arrival, departure].into_iter().flatten().min() else {
            return fates;
        };
        now = next;
        if departure.is_none_or(|departure| departure > now)
            && let Some((_, packet)) = waiting.pop_front()
        {
            // A refused packet keeps its first fate.
            queue.enqueue(now, packet).ok();
        }
        while free <= now
            && let Some(packet) = queue.dequeue(now)
        {
            let (time, before) = arrivals[packet.id as usize];
            free = now + rate.transmission_time(packet.size().into());
            fates[packet.id as usize] = Fate {
                name: if packet.ecn() == before.ecn() {
                    "sent"
                } else {
                    "marked"
                },
                departure: free,
                wait: now - time,
            };
        }
        while let Some(dropped) = queue.dropped() {
            debug_assert_eq!(dropped.reason, DropReason::Early);
            fates[dropped.packet.id as usize].name = "dropped";
        }
    }
}
