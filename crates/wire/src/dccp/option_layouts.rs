//! Layouts of option data. Each layout decodes and encodes the fields of an option; [the
//! table](super::option_types) assigns a layout to each option.

use core::convert::Infallible;

use smallvec::{Array, SmallVec};

use super::error::bounded;
use super::{ElapsedTime, EmitError, FeatureNumber, LossInterval, OptionBytes};
use crate::quick_start::{QsNonce, RateField};

/// An output for encoded options.
pub(super) trait Sink {
    /// Why an option cannot be encoded.
    type Error;

    fn put(&mut self, bytes: &[u8]);

    /// Checks that an option can be encoded, if this output requires it.
    fn check(&self, has_bytes: impl FnOnce() -> Result<(), EmitError>) -> Result<(), Self::Error>;
}

impl Sink for Vec<u8> {
    type Error = EmitError;

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    #[inline]
    fn check(&self, has_bytes: impl FnOnce() -> Result<(), EmitError>) -> Result<(), EmitError> {
        has_bytes()
    }
}

/// Counts bytes.
pub(super) struct Length(pub(super) usize);

impl Sink for Length {
    type Error = Infallible;

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    #[inline]
    fn check(&self, _: impl FnOnce() -> Result<(), EmitError>) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Keeps the first `N` bytes, padded with zeros.
pub(super) struct First<const N: usize> {
    pub(super) bytes: [u8; N],
    kept: usize,
}

impl<const N: usize> First<N> {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; N],
            kept: 0,
        }
    }
}

impl<const N: usize> Sink for First<N> {
    type Error = Infallible;

    fn put(&mut self, bytes: &[u8]) {
        let room = &mut self.bytes[self.kept..];
        let fitting = bytes.len().min(room.len());
        room[..fitting].copy_from_slice(&bytes[..fitting]);
        self.kept += fitting;
    }

    fn check(&self, _: impl FnOnce() -> Result<(), EmitError>) -> Result<(), Infallible> {
        Ok(())
    }
}

/// No data: a single-byte option.
pub(super) mod nothing {
    use super::*;

    pub(crate) fn read(_: &[u8]) -> Option<()> {
        Some(())
    }

    pub(crate) fn write<S: Sink>(_: &mut S) -> Result<(), S::Error> {
        Ok(())
    }
}

/// Any bytes.
pub(super) mod bytes {
    use super::*;

    pub(crate) fn read(data: &[u8]) -> Option<(OptionBytes,)> {
        Some((SmallVec::from_slice(data),))
    }

    pub(crate) fn write<S: Sink>(bytes: &[u8], out: &mut S) -> Result<(), S::Error> {
        out.put(bytes);
        Ok(())
    }
}

/// A number of 32 bits.
pub(super) mod word {
    use super::*;

    pub(crate) fn read(data: &[u8]) -> Option<(u32,)> {
        let bytes = data.try_into().ok()?;
        Some((u32::from_be_bytes(bytes),))
    }

    pub(crate) fn write<S: Sink>(word: &u32, out: &mut S) -> Result<(), S::Error> {
        out.put(&word.to_be_bytes());
        Ok(())
    }
}

/// A feature number and its value (section 6.1).
pub(super) mod feature {
    use super::*;

    pub(crate) fn read(data: &[u8]) -> Option<(FeatureNumber, OptionBytes)> {
        let (&feature, value) = data.split_first()?;
        Some((FeatureNumber(feature), SmallVec::from_slice(value)))
    }

    pub(crate) fn write<S: Sink>(
        feature: &FeatureNumber,
        value: &[u8],
        out: &mut S,
    ) -> Result<(), S::Error> {
        out.put(&[feature.0]);
        out.put(value);
        Ok(())
    }
}

/// A number in one to six bytes (section 7.7).
pub(super) mod ndp_count {
    use super::*;

    const MOST: usize = 6;

    pub(crate) fn read(data: &[u8]) -> Option<(u64, u8)> {
        sized_number(data, MOST)
    }

    pub(crate) fn write<S: Sink>(count: &u64, width: &u8, out: &mut S) -> Result<(), S::Error> {
        put_number("NDP Count", *count, clamped(*width, MOST), out)
    }
}

/// A number in one to three bytes (RFC 6323 section 3.2.1).
pub(super) mod rtt_estimate {
    use super::*;

    const MOST: usize = 3;

    pub(crate) fn read(data: &[u8]) -> Option<(u32, u8)> {
        let (micros, width) = sized_number(data, MOST)?;
        Some((micros as u32, width))
    }

    pub(crate) fn write<S: Sink>(micros: &u32, width: &u8, out: &mut S) -> Result<(), S::Error> {
        let width = clamped(*width, MOST);
        put_number("RTT Estimate", u64::from(*micros), width, out)
    }
}

/// A time in two or four bytes (section 13.2).
pub(super) mod elapsed_time {
    use super::*;

    pub(crate) fn read(data: &[u8]) -> Option<(ElapsedTime,)> {
        let elapsed = match *data {
            [a, b] => ElapsedTime::Short(u16::from_be_bytes([a, b])),
            [a, b, c, d] => ElapsedTime::Long(u32::from_be_bytes([a, b, c, d])),
            _ => return None,
        };
        Some((elapsed,))
    }

    pub(crate) fn write<S: Sink>(elapsed: &ElapsedTime, out: &mut S) -> Result<(), S::Error> {
        match elapsed {
            ElapsedTime::Short(units) => out.put(&units.to_be_bytes()),
            ElapsedTime::Long(units) => out.put(&units.to_be_bytes()),
        }
        Ok(())
    }
}

/// A Timestamp's value and, optionally, the time since then (section 13.3).
pub(super) mod timestamp_echo {
    use super::*;

    pub(crate) fn read(data: &[u8]) -> Option<(u32, Option<ElapsedTime>)> {
        let (echo, elapsed) = data.split_first_chunk()?;
        let elapsed = match elapsed {
            [] => None,
            elapsed => {
                let (elapsed,) = elapsed_time::read(elapsed)?;
                Some(elapsed)
            }
        };
        Some((u32::from_be_bytes(*echo), elapsed))
    }

    pub(crate) fn write<S: Sink>(
        echo: &u32,
        elapsed: &Option<ElapsedTime>,
        out: &mut S,
    ) -> Result<(), S::Error> {
        out.put(&echo.to_be_bytes());
        match elapsed {
            None => Ok(()),
            Some(elapsed) => elapsed_time::write(elapsed, out),
        }
    }
}

/// Four reserved bits, Rate Request, TTL Diff, QS Nonce, two reserved bits (RFC 5634 section
/// 2.2.1).
pub(super) mod quick_start_response {
    use super::*;

    pub(crate) fn read(data: &[u8]) -> Option<(RateField, u8, QsNonce, u8)> {
        let (&[first, ttl_diff], nonce) = data.split_first_chunk()?;
        let nonce = u32::from_be_bytes(nonce.try_into().ok()?);
        let reserved = first >> 4 << 2 | nonce as u8 & 3;
        let rate = RateField::from_bits(first);
        Some((rate, ttl_diff, QsNonce::new(nonce >> 2), reserved))
    }

    pub(crate) fn write<S: Sink>(
        rate: &RateField,
        ttl_diff: &u8,
        nonce: &QsNonce,
        reserved: &u8,
        out: &mut S,
    ) -> Result<(), S::Error> {
        out.check(|| bounded("Reserved", u64::from(*reserved), 0x3f))?;
        out.put(&[reserved >> 2 << 4 | rate.bits(), *ttl_diff]);
        let nonce = nonce.get() << 2 | u32::from(reserved & 3);
        out.put(&nonce.to_be_bytes());
        Ok(())
    }
}

/// Skip Length, and one or more intervals of nine bytes each (RFC 4342 section 8.6).
pub(super) mod loss_intervals {
    use super::*;

    /// Loss Length shares its three bytes with the nonce.
    const NONCE: u32 = 1 << 23;

    pub(crate) fn read(data: &[u8]) -> Option<(u8, SmallVec<[LossInterval; 1]>)> {
        let (&skip_length, data) = data.split_first()?;
        Some((skip_length, list_of(interval, data)?))
    }

    fn interval(&[a, b, c, d, e, f, g, h, i]: &[u8; 9]) -> LossInterval {
        let loss = u24([d, e, f]);
        LossInterval {
            lossless_length: u24([a, b, c]),
            nonce: loss & NONCE != 0,
            loss_length: loss & !NONCE,
            data_length: u24([g, h, i]),
        }
    }

    pub(crate) fn write<S: Sink>(
        skip_length: &u8,
        intervals: &[LossInterval],
        out: &mut S,
    ) -> Result<(), S::Error> {
        out.put(&[*skip_length]);
        for interval in intervals {
            let LossInterval {
                lossless_length,
                nonce,
                loss_length,
                data_length,
            } = *interval;
            out.check(|| bounded("Loss Length", loss_length.into(), (NONCE - 1).into()))?;
            let loss = if nonce {
                NONCE | loss_length
            } else {
                loss_length
            };
            put_number("Lossless Length", lossless_length.into(), 3, out)?;
            put_number("Loss Length", loss.into(), 3, out)?;
            put_number("Data Length", data_length.into(), 3, out)?;
        }
        Ok(())
    }
}

/// One or more counts of three bytes each (RFC 5622 section 8.7).
pub(super) mod drop_counts {
    use super::*;

    pub(crate) fn read(data: &[u8]) -> Option<(SmallVec<[u32; 4]>,)> {
        Some((list_of(|&count| u24(count), data)?,))
    }

    pub(crate) fn write<S: Sink>(counts: &[u32], out: &mut S) -> Result<(), S::Error> {
        counts
            .iter()
            .try_for_each(|&count| put_number("Drop Count", count.into(), 3, out))
    }
}

/// Reads a big-endian number of at most eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, &byte| (number << 8) | u64::from(byte))
}

fn u24([a, b, c]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, a, b, c])
}

/// Reads the number that fills `data`, and its width of at most `most` bytes.
fn sized_number(data: &[u8], most: usize) -> Option<(u64, u8)> {
    let is_one = (1..=most).contains(&data.len());
    is_one.then(|| (number(data), data.len() as u8))
}

/// Clamps a width to the valid range.
fn clamped(width: u8, most: usize) -> usize {
    usize::from(width).clamp(1, most)
}

/// Reads one or more items of `N` bytes each that fill `data`.
fn list_of<const N: usize, A: Array>(
    item: impl Fn(&[u8; N]) -> A::Item,
    data: &[u8],
) -> Option<SmallVec<A>> {
    let (items, rest) = data.as_chunks();
    let fits = !items.is_empty() && rest.is_empty();
    fits.then(|| items.iter().map(item).collect())
}

/// Writes the low `width` bytes of `value`, which must fit.
fn put_number<S: Sink>(
    field: &'static str,
    value: u64,
    width: usize,
    out: &mut S,
) -> Result<(), S::Error> {
    let bytes = value.to_be_bytes();
    out.check(|| bounded(field, value, (1 << (8 * width)) - 1))?;
    out.put(&bytes[bytes.len() - width..]);
    Ok(())
}
