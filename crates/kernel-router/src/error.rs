//! Reasons why there is no router in the kernel.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use aya::EbpfError;
use aya::programs::ProgramError;
use skywave_registry::ParameterError;

/// The reason why there is no router in the kernel, or no longer one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// A parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// There is no compiler for the program.
    #[error(
        "cannot run {command} to compile the program: {source}; install clang, libbpf-dev and linux-libc-dev, or give an object that was compiled elsewhere"
    )]
    NoClang {
        /// The command.
        command: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The compiler refuses the program, usually because headers are missing.
    #[error(
        "{command} cannot compile the program; are libbpf-dev and linux-libc-dev installed? It says: {message}"
    )]
    Compile {
        /// The command.
        command: String,
        /// What it says.
        message: String,
    },
    /// The compiled program cannot be read.
    #[error("cannot read the object {}: {source}", path.display())]
    Object {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The process lacks the privilege.
    #[error("cannot {what}: it takes CAP_BPF and CAP_NET_ADMIN; run it as root")]
    Privilege {
        /// What was to be done.
        what: &'static str,
    },
    /// The kernel does not support it.
    #[error(
        "cannot {what}: {source}; Linux 6.6 or newer is needed, with CONFIG_BPF_SYSCALL, CONFIG_NET_XGRESS and CONFIG_DEBUG_INFO_BTF"
    )]
    Kernel {
        /// What was to be done.
        what: &'static str,
        /// The kernel's answer.
        source: Box<dyn Error + Send + Sync>,
    },
    /// There is no such device.
    #[error(
        "there is no device {device} in this network namespace: `ip link` lists those there are"
    )]
    NoDevice {
        /// The name given.
        device: String,
    },
    /// The device's frames have an unknown form.
    #[error(
        "frames of the device {device} ({kind}) begin neither with an Ethernet header nor with an IP header"
    )]
    LinkType {
        /// The device.
        device: String,
        /// The type of the link.
        kind: String,
    },
    /// The device has no queue whose length could be read.
    #[error(
        "the device {device} has no queueing discipline: give it one with the rate of the link, as in `tc qdisc add dev {device} root tbf rate 4mbit burst 3000 limit 60000`"
    )]
    NoQueue {
        /// The device.
        device: String,
    },
    /// The system refuses something else.
    #[error("cannot {what}: {source}")]
    System {
        /// What was to be done.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl RouterError {
    pub(crate) fn system(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Privilege { what },
            _ => Self::System { what, source },
        }
    }

    pub(crate) fn kernel<E: Error + Send + Sync + 'static>(
        what: &'static str,
    ) -> impl Fn(E) -> Self {
        move |error| {
            if is_permission(&error) {
                Self::Privilege { what }
            } else {
                let source = Box::new(error);
                Self::Kernel { what, source }
            }
        }
    }
}

/// Returns whether an error, or one of its sources, is due to a missing privilege.
fn is_permission(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let system = error.downcast_ref::<io::Error>();
        if system.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
            return true;
        }
        next = error.source();
    }
    false
}

// What aya returns can be passed between threads.
const _: () = {
    const fn is_sent<E: Error + Send + Sync + 'static>() {}
    is_sent::<EbpfError>();
    is_sent::<ProgramError>();
};
