//! The file of a log, which exists once the connection deserves it.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::Progress;

use crate::sync::Ordering::Relaxed;

/// The maximum number of bytes kept in memory for a connection in its handshake.
const HANDSHAKE: usize = 65_536;

/// Keeps the written bytes in memory until the connection deserves a file.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) path: PathBuf,
    pub(super) progress: Arc<Progress>,
    pub(super) waiting: Vec<u8>,
    pub(super) file: Option<BufWriter<File>>,
}

impl Output {
    /// Returns the file; `None` if the connection deserves none yet.
    fn file(&mut self) -> io::Result<Option<&mut BufWriter<File>>> {
        if self.file.is_none() && self.progress.deserves_file.load(Relaxed) {
            let mut file = BufWriter::new(File::create_new(&self.path)?);
            file.write_all(&core::mem::take(&mut self.waiting))?;
            self.file = Some(file);
        }
        Ok(self.file.as_mut())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(file) = self.file()? {
            return file.write(bytes);
        }
        if self.waiting.len() + bytes.len() > HANDSHAKE {
            return Err(ErrorKind::QuotaExceeded.into());
        }
        self.waiting.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.map_or(Ok(()), Write::flush)
    }
}
