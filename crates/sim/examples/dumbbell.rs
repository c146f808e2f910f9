//! The benchmark dumbbell without anything around it, for profilers:
//! `dumbbell FLOWS RATE BUFFER DURATION ACCESS [THREADS]`, for example
//! `dumbbell 200 45Mbps 800 120s 100Mbps`.

use std::error::Error;

use skywave_sim::Bench;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [flows, rate, buffer, duration, access, threads @ ..] = arguments.as_slice() else {
        return Err(
            "give FLOWS RATE BUFFER DURATION ACCESS, as in 200 45Mbps 800 120s 100Mbps".into(),
        );
    };
    let bench = Bench {
        flows: flows.parse()?,
        rate: rate.parse()?,
        buffer: buffer.parse()?,
        duration: duration.parse()?,
        access: access.parse()?,
        threads: threads.first().map_or(Ok(1), |threads| threads.parse())?,
    };
    println!("{:?}", bench.run(|_| true)?);
    Ok(())
}
