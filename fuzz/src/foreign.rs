//! Files of other programs' formats, and changes to them.
//!
//! Random bytes hardly ever pass the first check of such a format. So the search begins with valid
//! files and learns which changes lead further.

use std::io::Write;
use std::sync::Once;

use arbitrary::Arbitrary;

/// A change of some bytes.
#[derive(Debug, Clone, Arbitrary)]
pub enum Change {
    /// Sets a byte; the place counts from the end, where footers are, if `from_end`.
    Set {
        /// The place of the byte.
        at: u16,
        /// Whether places count from the end.
        from_end: bool,
        /// The new byte.
        byte: u8,
    },
    /// Puts bytes in.
    Insert {
        /// Before which byte.
        at: u16,
        /// What is put in.
        bytes: Vec<u8>,
    },
    /// Takes some bytes out.
    Remove {
        /// The first of them.
        at: u16,
        /// How many.
        count: u8,
    },
    /// Ends the file.
    Truncate {
        /// How many bytes are left.
        len: u16,
    },
    /// Copies bytes from one place over those at another.
    Copy {
        /// Where they stand.
        from: u16,
        /// Where they go.
        to: u16,
        /// How many.
        count: u8,
    },
}

/// Makes the changes, in their order. A place beyond the end is taken for one inside.
pub fn apply(changes: &[Change], bytes: &mut Vec<u8>) {
    for change in changes {
        let within = |at: u16| if bytes.is_empty() { 0 } else { usize::from(at) % bytes.len() };
        match change {
            Change::Set { at, from_end, byte } => {
                let at = within(*at);
                let at = if *from_end { bytes.len().saturating_sub(1 + at) } else { at };
                if let Some(place) = bytes.get_mut(at) {
                    *place = *byte;
                }
            }
            Change::Insert { at, bytes: inserted } => {
                let at = within(*at);
                bytes.splice(at..at, inserted.iter().copied());
            }
            Change::Remove { at, count } => {
                let at = within(*at);
                let end = bytes.len().min(at + usize::from(*count));
                bytes.drain(at..end);
            }
            Change::Truncate { len } => bytes.truncate(usize::from(*len)),
            Change::Copy { from, to, count } => {
                let (from, to) = (within(*from), within(*to));
                let count = usize::from(*count).min(bytes.len() - from.max(to));
                bytes.copy_within(from..from + count, to);
            }
        }
    }
}

/// Lets panics unwind. libFuzzer ends the process at every panic, also at those of a foreign crate
/// that crivo catches and reports as an error. One that is not caught still ends the process.
pub fn allow_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(|_| ())));
}

/// Returns a text compressed in each of the formats that are recognised.
///
/// # Panics
/// If writing to memory fails.
pub fn compressed(text: &[u8]) -> Vec<Vec<u8>> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text).expect("memory");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip2.write_all(text).expect("memory");
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    xz.write_all(text).expect("memory");
    vec![
        gzip.finish().expect("memory"),
        bzip2.finish().expect("memory"),
        xz.finish().expect("memory"),
        zstd::bulk::compress(text, 1).expect("memory"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_made_in_their_order() {
        let mut bytes = b"abcdef".to_vec();
        let changes = [
            Change::Set { at: 0, from_end: true, byte: b'X' },
            Change::Insert { at: 1, bytes: b"--".to_vec() },
            Change::Remove { at: 0, count: 1 },
            Change::Copy { from: 2, to: 0, count: 2 },
            Change::Truncate { len: 5 },
        ];
        apply(&changes, &mut bytes);
        assert_eq!(bytes, b"bcbcd");
        bytes.clear();
        apply(&changes, &mut bytes);
        assert!(bytes.len() <= 5);
    }

    #[test]
    fn every_compressed_form_reads_back() {
        for file in compressed(b"a text") {
            let mut text = Vec::new();
            let mut stream = crivo_rows::decompressed(std::io::Cursor::new(file)).unwrap();
            std::io::Read::read_to_end(&mut stream, &mut text).unwrap();
            assert_eq!(text, b"a text");
        }
    }
}
