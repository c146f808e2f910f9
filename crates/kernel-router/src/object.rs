//! The compiled program.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::RouterError;

/// The program in C, as one file.
const SOURCE: &str = concat!(
    "#line 1 \"maps.h\"\n",
    include_str!("../bpf/maps.h"),
    "#line 1 \"packet.h\"\n",
    include_str!("../bpf/packet.h"),
    "#line 1 \"router.bpf.c\"\n",
    include_str!("../bpf/router.bpf.c"),
);

/// The environment variable that names the compiler.
const VARIABLE: &str = "SKYWAVE_CLANG";

/// The compiled BPF program, an ELF file for any machine of this byte order.
#[derive(Clone, Debug)]
pub struct Object(Vec<u8>);

impl Object {
    /// Compiles the program with clang, or with the command that the environment variable
    /// `SKYWAVE_CLANG` names.
    ///
    /// # Errors
    /// [`RouterError::NoClang`] and [`RouterError::Compile`].
    pub fn compile() -> Result<Self, RouterError> {
        let command = std::env::var(VARIABLE).unwrap_or_else(|_| "clang".to_owned());
        let failed = |source| RouterError::NoClang {
            command: command.clone(),
            source,
        };
        // Debian's headers for this machine, which clang searches only when it compiles for this
        // machine.
        let headers = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
        let mut clang = Command::new(&command)
            // With debugging information, which describes the maps.
            .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall"])
            .args([&headers, "-x", "c", "-c", "-", "-o", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        if let Some(mut input) = clang.stdin.take()
            && let Err(error) = input.write_all(SOURCE.as_bytes())
            // A compiler that ends early says why.
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            return Err(failed(error));
        }
        let output = clang.wait_with_output().map_err(failed)?;
        if output.status.success() {
            Ok(Self(output.stdout))
        } else {
            let message = String::from_utf8_lossy(&output.stderr);
            Err(RouterError::Compile {
                command,
                message: message.lines().next().unwrap_or_default().to_owned(),
            })
        }
    }

    /// Reads a program that was compiled before.
    ///
    /// # Errors
    /// [`RouterError::Object`].
    pub fn from_file(path: &Path) -> Result<Self, RouterError> {
        let read = std::fs::read(path);
        read.map(Self).map_err(|source| RouterError::Object {
            path: path.to_owned(),
            source,
        })
    }

    /// Returns the bytes of the ELF file.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
