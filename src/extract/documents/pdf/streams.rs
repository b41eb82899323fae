//! The data of a PDF's streams, unpacked, limited to what fits a reader's memory.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;
use hayro_syntax::Filter;
use hayro_syntax::object::Stream;

/// Unpacked, of one stream.
pub(super) const MOST: usize = 128 << 20;
/// `MOST` as a file size.
const MOST_BYTES: u64 = MOST as u64;

/// Why a stream gives no data.
pub(super) enum Failure {
    Broken,
    TooLarge,
}

pub(super) fn unpacked<'a>(stream: &Stream<'a>) -> Option<Cow<'a, [u8]>> {
    data(stream).ok()
}

pub(super) fn data<'a>(stream: &Stream<'a>) -> Result<Cow<'a, [u8]>, Failure> {
    if !fits(stream) {
        return Err(Failure::TooLarge);
    }
    stream.decoded_data().map_err(|_| Failure::Broken)
}

/// How many bytes one byte can become at most.
fn growth(filter: Filter) -> u64 {
    match filter {
        Filter::FlateDecode => 1032,
        Filter::LzwDecode => 2731,
        Filter::RunLengthDecode => 64,
        _ => 1,
    }
}

/// Whether the unpacked data is small enough: by the most that its filters could make of it, and where that is too
/// much, by what deflate really makes of it. Nested compression is assumed to be a decompression bomb.
fn fits(stream: &Stream<'_>) -> bool {
    let filters = stream.filters();
    let packed = stream.raw_data();
    let worst = filters.iter().fold(packed.len() as u64, |size, filter| size.saturating_mul(growth(*filter)));
    if worst <= MOST_BYTES {
        return true;
    }
    match filters.iter().filter(|filter| growth(**filter) > 1).count() {
        0 => packed.len() as u64 <= MOST_BYTES,
        1 if filters.first() == Some(&Filter::FlateDecode) => {
            let read = std::io::copy(&mut ZlibDecoder::new(&*packed).take(MOST_BYTES + 1), &mut std::io::sink());
            read.map_or(true, |size| size <= MOST_BYTES)
        }
        1 => true,
        _ => false,
    }
}
