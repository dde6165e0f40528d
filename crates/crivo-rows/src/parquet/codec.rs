//! Decompresses a page into exactly as many bytes as its header declares.
//!
//! The Parquet crate's own decoders write more than the declared size (gzip), or reserve it without
//! a check. Here an allocation may fail with an error, and a page with more or fewer bytes than it
//! declares is damaged.

use std::io::Read;

use flate2::bufread::MultiGzDecoder;
use parquet::basic::Compression;

use crate::error::{Error, ErrorKind, Result};
use crate::foreign;

/// Returns the most bytes that one compressed byte can expand to, by the format's definition. A
/// page that declares more is forged.
fn most_expansion(codec: Compression) -> u64 {
    match codec {
        Compression::UNCOMPRESSED => 1,
        // A copy of 64 bytes takes three bytes.
        Compression::SNAPPY => 22,
        Compression::LZ4 | Compression::LZ4_RAW => 255,
        // 258 bytes take two bits.
        Compression::GZIP(_) => 1032,
        // A block of 128 KiB of one byte takes four bytes.
        _ => 32 << 10,
    }
}

/// Returns true if a page of that many compressed bytes can have the declared size.
pub(super) fn is_possible(codec: Compression, compressed: usize, uncompressed: usize) -> bool {
    // The addition is for the overhead of small pages.
    uncompressed as u64 <= (compressed as u64 + 16) * most_expansion(codec)
}

/// Appends the decompressed page of `length` bytes to `out`.
pub(super) fn decompress(codec: Compression, page: &[u8], length: usize, out: &mut Vec<u8>) -> Result<()> {
    let wanted = out.len() + length;
    let start = out.len();
    foreign::reserve(out, length)?;
    let done = match codec {
        Compression::SNAPPY => {
            out.resize(wanted, 0);
            snap::raw::Decoder::new().decompress(page, &mut out[start..]).is_ok_and(|found| found == length)
        }
        Compression::ZSTD(_) => {
            out.resize(wanted, 0);
            zstd::bulk::decompress_to_buffer(page, &mut out[start..]).is_ok_and(|found| found == length)
        }
        Compression::GZIP(_) => {
            // One byte more than declared is enough to detect that the page is longer.
            let limit = length as u64 + 1;
            MultiGzDecoder::new(page).take(limit).read_to_end(out).is_ok_and(|found| found == length)
        }
        Compression::LZ4_RAW => {
            out.resize(wanted, 0);
            lz4_block(page, &mut out[start..])
        }
        Compression::LZ4 => {
            out.resize(wanted, 0);
            lz4_hadoop(page, &mut out[start..])
                || lz4_frame(page, &mut out[start..])
                || lz4_block(page, &mut out[start..])
        }
        _ => false,
    };
    if done {
        return Ok(());
    }
    let message = format!("a page does not decompress to the {length} bytes it declares");
    Err(Error::new(ErrorKind::Damaged, super::told(message)))
}

fn lz4_block(page: &[u8], out: &mut [u8]) -> bool {
    lz4_flex::block::decompress_into(page, out).is_ok_and(|found| found == out.len())
}

fn lz4_frame(page: &[u8], out: &mut [u8]) -> bool {
    let mut decoder = lz4_flex::frame::FrameDecoder::new(page);
    decoder.read_exact(out).is_ok() && decoder.read(&mut [0]).is_ok_and(|more| more == 0)
}

/// Decompresses Hadoop's framing. Each block follows its two sizes, of four bytes each in big
/// endian.
fn lz4_hadoop(mut page: &[u8], mut out: &mut [u8]) -> bool {
    while let Some((head, rest)) = page.split_first_chunk::<8>() {
        let [a, b, c, d, e, f, g, h] = *head;
        let (uncompressed, compressed) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        let Some((block, rest)) = rest.split_at_checked(compressed as usize) else { return false };
        let Some((place, left)) = std::mem::take(&mut out).split_at_mut_checked(uncompressed as usize) else {
            return false;
        };
        if !lz4_block(block, place) {
            return false;
        }
        (page, out) = (rest, left);
    }
    page.is_empty() && out.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(codec: Compression, page: &[u8], text: &[u8]) {
        let mut out = b"levels".to_vec();
        decompress(codec, page, text.len(), &mut out).unwrap();
        assert_eq!(&out[6..], text, "{codec}");
        for wrong in [text.len() - 1, text.len() + 1] {
            let error = decompress(codec, page, wrong, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Damaged, "{codec}");
        }
        assert!(is_possible(codec, page.len(), text.len()), "{codec}");
        assert!(decompress(codec, &page[..page.len() / 2], text.len(), &mut Vec::new()).is_err(), "{codec}");
    }

    #[test]
    fn every_codec_gives_the_declared_bytes_or_an_error() {
        let text = vec![b'x'; 100_000];
        check(Compression::SNAPPY, &snap::raw::Encoder::new().compress_vec(&text).unwrap(), &text);
        check(
            Compression::ZSTD(parquet::basic::ZstdLevel::default()),
            &zstd::bulk::compress(&text, 19).unwrap(),
            &text,
        );
        let mut gzip = flate2::bufread::GzEncoder::new(&text[..], flate2::Compression::best());
        let mut page = Vec::new();
        gzip.read_to_end(&mut page).unwrap();
        check(Compression::GZIP(parquet::basic::GzipLevel::default()), &page, &text);
        let block = lz4_flex::block::compress(&text);
        check(Compression::LZ4_RAW, &block, &text);
        check(Compression::LZ4, &block, &text);
        let mut hadoop = Vec::new();
        for half in [&text[..40_000], &text[40_000..]] {
            let block = lz4_flex::block::compress(half);
            hadoop.extend_from_slice(&(half.len() as u32).to_be_bytes());
            hadoop.extend_from_slice(&(block.len() as u32).to_be_bytes());
            hadoop.extend(block);
        }
        check(Compression::LZ4, &hadoop, &text);
    }

    #[test]
    fn sizes_beyond_what_a_codec_can_do_are_not_believed() {
        assert!(!is_possible(Compression::UNCOMPRESSED, 100, 1000));
        assert!(!is_possible(Compression::SNAPPY, 5000, 1 << 31));
        assert!(!is_possible(Compression::ZSTD(parquet::basic::ZstdLevel::default()), 5000, 1 << 31));
    }
}
