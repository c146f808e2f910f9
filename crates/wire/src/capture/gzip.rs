//! Captures compressed with gzip (RFC 1952).

use std::io::{ErrorKind, Read as _};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;

use super::CaptureError;

/// The first bytes of a gzip file.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The most that is uncompressed into memory, in bytes. Gzip makes some files a thousand times
/// smaller.
pub(super) const MOST_BYTES: usize = 1 << 30;

/// Uncompresses a file, up to `most` bytes. If there is a fault, returns what precedes it.
pub(super) fn uncompress(file: &[u8], most: usize) -> (Bytes, Option<CaptureError>) {
    let mut bytes = Vec::new();
    let result = MultiGzDecoder::new(file)
        .take(most as u64 + 1)
        .read_to_end(&mut bytes);
    let reason = match result {
        Ok(_) if bytes.len() <= most => None,
        Ok(_) => Some(format!(
            "it has more than {most} B uncompressed, the most that is read: uncompress it and split it"
        )),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Some("the compressed file is truncated".to_owned())
        }
        Err(error) => Some(format!("the compressed file is corrupt: {error}")),
    };
    bytes.truncate(most);
    let offset = bytes.len();
    let fault = reason.map(|reason| CaptureError::Gzip { offset, reason });
    (bytes.into(), fault)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn no_more_than_the_limit_is_uncompressed() {
        let file = compressed(&[0; 1000]);
        assert!(file.len() < 100);
        assert_eq!(uncompress(&file, 1000), (vec![0; 1000].into(), None));
        let (bytes, fault) = uncompress(&file, 999);
        assert_eq!(bytes.len(), 999);
        let fault = fault.unwrap().to_string();
        assert!(fault.contains("more than 999 B uncompressed"), "{fault}");
    }

    #[test]
    fn files_one_after_the_other_are_one() {
        let file = [compressed(b"one "), compressed(b"two")].concat();
        assert_eq!(uncompress(&file, 100), (Bytes::from("one two"), None));
    }

    #[test]
    fn what_comes_before_a_fault_is_uncompressed() {
        let mut file = compressed(b"packets");
        for length in 1..file.len() {
            let (bytes, fault) = uncompress(&file[..length], 100);
            assert!(b"packets".starts_with(&bytes));
            assert!(fault.is_some(), "{length} B");
        }
        let checksum = file.len() - 8;
        file[checksum] ^= 1;
        let (bytes, fault) = uncompress(&file, 100);
        assert_eq!(bytes, b"packets".as_slice());
        let fault = fault.unwrap().to_string();
        assert!(fault.contains("corrupt"), "{fault}");
    }
}
