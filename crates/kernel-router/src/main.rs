//! `kernel-router`: a router of VCP or MPCP at a device, until Ctrl-C.

mod arguments;

use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{error, io};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::SignalFd;
use skywave_kernel_router::{KernelRouter, Object, Report};

use arguments::{Command, HELP, Router};

type Outcome<T> = Result<T, Box<dyn error::Error>>;

fn main() -> ExitCode {
    match Command::parse(std::env::args().skip(1)).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kernel-router: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Outcome<()> {
    match command {
        Command::Help => {
            println!("{HELP}");
            Ok(())
        }
        Command::Compile(path) => {
            let object = Object::compile()?;
            std::fs::write(&path, object.bytes())
                .map_err(|error| format!("cannot write {}: {error}", path.display()).into())
        }
        Command::Route(router) => route(&router),
    }
}

/// Runs the router until a signal ends it. The kernel detaches the program when the process ends, so
/// there is nothing to clean up.
fn route(arguments: &Router) -> Outcome<()> {
    let object = match &arguments.object {
        Some(path) => Object::from_file(path)?,
        None => Object::compile()?,
    };
    let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM]);
    signals.thread_block()?;
    let ended = SignalFd::new(&signals)?;
    let mut router = KernelRouter::attach(&object, &arguments.device, &arguments.config)?;
    println!(
        "{}: {} at {}, {}; Ctrl-C ends it",
        arguments.device,
        match arguments.config.load.chain {
            1 => "VCP".to_owned(),
            chain => format!("MPCP({chain})"),
        },
        router.report().queue,
        arguments.config.rate,
    );
    let mut reported = Instant::now();
    while !wait(&ended, router.time_to_update())? {
        router.update()?;
        if reported.elapsed() >= arguments.every {
            reported = Instant::now();
            print(router.report());
        }
    }
    router.update()?;
    print(router.report());
    Ok(())
}

/// Waits for this long, or for a signal. Returns whether there was a signal.
fn wait(signals: &SignalFd, time: Duration) -> io::Result<bool> {
    // poll counts milliseconds; the rest is slept.
    let whole = PollTimeout::try_from(time.as_millis()).unwrap_or(PollTimeout::MAX);
    let begun = Instant::now();
    let mut waiting = [PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
    if poll(&mut waiting, whole)? > 0 {
        return Ok(true);
    }
    std::thread::sleep(time.saturating_sub(begun.elapsed()));
    Ok(false)
}

fn print(report: &Report) {
    let counters = report.counters;
    println!(
        "load {:.3}, queue {} B, {} packets, {} with a code, {} raised, {} without a place, {} dropped",
        report.load,
        report.queued_bytes,
        counters.packets,
        counters.coded,
        counters.raised,
        counters.unreadable,
        report.drops,
    );
}
