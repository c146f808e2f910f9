//! The Data Checksum (RFC 4340 section 9.3).

use skywave_wire::Payload;

/// CRC-32c of application data.
pub(crate) fn data_checksum(payload: &Payload) -> u32 {
    match payload {
        Payload::Bytes(bytes) => crc32c::crc32c(bytes),
        Payload::Synthetic(length) => {
            const ZEROS: [u8; 1024] = [0; 1024];
            let mut crc = 0;
            let mut left = *length as usize;
            while left > 0 {
                let chunk = left.min(ZEROS.len());
                crc = crc32c::crc32c_append(crc, &ZEROS[..chunk]);
                left -= chunk;
            }
            crc
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 3720 appendix B.4; zero bytes give zero (RFC 4340 section 9.3).
    #[test]
    fn crc_32c() {
        assert_eq!(data_checksum(&Payload::EMPTY), 0);
        assert_eq!(data_checksum(&Payload::Synthetic(32)), 0x8a91_36aa);
        assert_eq!(data_checksum(&Payload::from(vec![0xff; 32])), 0x62a8_ab43);
    }

    #[test]
    fn synthetic_data_is_zeros() {
        let zeros = Payload::from(vec![0; 3000]);
        assert_eq!(
            data_checksum(&Payload::Synthetic(3000)),
            data_checksum(&zeros)
        );
    }
}
