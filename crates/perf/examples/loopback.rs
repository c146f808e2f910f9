//! Compares DCCP over loopback with plain UDP and, with the feature `quinn`, quinn's datagrams, as
//! JSON: what `skywave perf loopback --json` prints, without the Python package.

use std::error::Error;

use skywave_perf::loopback::{Options, run};

fn main() -> Result<(), Box<dyn Error>> {
    let report = run(&Options::default(), |stage, done| {
        eprintln!("{:3.0} %  {stage}", 100.0 * done);
        true
    })?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
