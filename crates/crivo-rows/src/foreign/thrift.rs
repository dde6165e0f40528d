//! Reads Thrift's compact protocol, as far as Parquet's metadata needs it, without trusting any
//! length.
//!
//! The Parquet crate reserves memory for as many row groups as a footer declares. So this module
//! walks over a footer first: every list must have its elements, and every struct its end. Page
//! headers are read only by this module, not by the crate.

/// No Parquet file has deeper structures than this.
const DEEPEST: usize = 32;

/// No table has deeper columns than this.
const DEEPEST_SCHEMA: usize = 100;

/// Why bytes are not the expected structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end before the structure does, so more bytes may help.
    Short,
    /// The structure is wrong, whatever bytes follow.
    Wrong,
}

type Read<T> = Result<T, Fault>;

/// The kinds of values, by their numbers in the protocol.
mod kind {
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const MAP: u8 = 11;
    pub(super) const STRUCT: u8 = 12;
    pub(super) const UUID: u8 = 13;
}

/// A reader of encoded bytes, with its position.
#[derive(Debug)]
struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Compact<'_> {
    fn byte(&mut self) -> Read<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or(Fault::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn skip_bytes(&mut self, count: u64) -> Read<()> {
        if count > (self.bytes.len() - self.at) as u64 {
            return Err(Fault::Short);
        }
        self.at += count as usize;
        Ok(())
    }

    fn unsigned(&mut self) -> Read<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault::Wrong)
    }

    fn i32(&mut self) -> Read<i32> {
        let zigzag = self.unsigned()?;
        i32::try_from((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)).map_err(|_| Fault::Wrong)
    }

    /// Passes each field's number and kind to `each`, which reads the value and returns true, or
    /// returns false to skip it.
    fn fields(&mut self, depth: usize, each: &mut dyn FnMut(&mut Self, i64, u8) -> Read<bool>) -> Read<()> {
        let mut number = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            number = match head >> 4 {
                0 => {
                    let zigzag = self.unsigned()?;
                    (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64)
                }
                delta => number + i64::from(delta),
            };
            let kind = head & 0x0F;
            if !each(self, number, kind)? {
                self.skip(kind, false, depth)?;
            }
        }
    }

    /// Skips a value. A boolean is part of the head of a field, but takes a byte in a list.
    fn skip(&mut self, kind: u8, in_list: bool, depth: usize) -> Read<()> {
        let Some(depth) = depth.checked_sub(1) else { return Err(Fault::Wrong) };
        match kind {
            kind::TRUE | kind::FALSE if !in_list => Ok(()),
            kind::TRUE | kind::FALSE | kind::BYTE => self.skip_bytes(1),
            kind::I16 | kind::I32 | kind::I64 => self.unsigned().map(drop),
            kind::DOUBLE => self.skip_bytes(8),
            kind::UUID => self.skip_bytes(16),
            kind::BINARY => {
                let length = self.unsigned()?;
                self.skip_bytes(length)
            }
            kind::LIST | kind::SET => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
                let kind = head & 0x0F;
                self.elements(count, depth, kind, |from, depth| from.skip(kind, true, depth))
            }
            kind::MAP => {
                let count = self.unsigned()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                self.elements(count, depth, kinds >> 4, |from, depth| {
                    from.skip(kinds >> 4, true, depth)?;
                    from.skip(kinds & 0x0F, true, depth)
                })
            }
            kind::STRUCT => self.fields(depth, &mut |_, _, _| Ok(false)),
            _ => Err(Fault::Wrong),
        }
    }

    /// Checks a schema: groups and columns in the order of a tree, each with the number of its
    /// children. The crate reserves memory for that number, and recurses into the tree.
    fn schema(&mut self) -> Read<()> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
        if head & 0x0F != kind::STRUCT {
            return Err(Fault::Wrong);
        }
        // For each group on the path to the current element, the number of its remaining children.
        let mut open: Vec<u64> = vec![1];
        let mut left = count;
        self.elements(count, DEEPEST, kind::STRUCT, |from, depth| {
            let mut children = 0;
            from.fields(depth, &mut |from, number, kind| {
                if (number, kind) == (5, kind::I32) {
                    children = u64::try_from(from.i32()?).map_err(|_| Fault::Wrong)?;
                    return Ok(true);
                }
                Ok(false)
            })?;
            left -= 1;
            let Some(siblings) = open.last_mut().filter(|siblings| **siblings > 0) else {
                return Err(Fault::Wrong);
            };
            *siblings -= 1;
            if children > left || open.len() > DEEPEST_SCHEMA {
                return Err(Fault::Wrong);
            }
            open.push(children);
            while open.last() == Some(&0) {
                open.pop();
            }
            Ok(())
        })?;
        if open.is_empty() { Ok(()) } else { Err(Fault::Wrong) }
    }

    fn elements(
        &mut self,
        count: u64,
        depth: usize,
        kind: u8,
        mut each: impl FnMut(&mut Self, usize) -> Read<()>,
    ) -> Read<()> {
        // No struct in Parquet's lists is without fields, so each takes at least three bytes with
        // its end.
        let least = if kind == kind::STRUCT { 3 } else { 1 };
        if count > (self.bytes.len() - self.at) as u64 / least {
            return Err(Fault::Short);
        }
        (0..count).try_for_each(|_| each(self, depth))
    }
}

/// Checks a footer, whose schema must be a tree. Ignores bytes after its structure.
pub(crate) fn check_footer(bytes: &[u8]) -> Read<()> {
    Compact { bytes, at: 0 }.fields(DEEPEST, &mut |from, number, kind| match (number, kind) {
        (2, kind::LIST) => from.schema().map(|()| true),
        _ => Ok(false),
    })
}

/// The header of a page, as far as it is needed to read the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PageHead {
    /// The length of the header itself.
    pub(crate) length: usize,
    pub(crate) kind: i32,
    pub(crate) uncompressed: i32,
    pub(crate) compressed: i32,
    pub(crate) values: i32,
    pub(crate) encoding: i32,
    /// For data pages of version 1: how the levels are encoded.
    pub(crate) definition_encoding: i32,
    pub(crate) repetition_encoding: i32,
    /// For data pages of version 2.
    pub(crate) version_2: Option<Version2>,
    /// Whether the header has the part for its kind.
    pub(crate) is_whole: bool,
}

/// The additional fields in the header of a data page of version 2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Version2 {
    pub(crate) nulls: i32,
    pub(crate) rows: i32,
    pub(crate) definition_bytes: i32,
    pub(crate) repetition_bytes: i32,
    pub(crate) is_compressed: bool,
}

impl PageHead {
    pub(crate) const DATA: i32 = 0;
    pub(crate) const INDEX: i32 = 1;
    pub(crate) const DICTIONARY: i32 = 2;
    pub(crate) const DATA_2: i32 = 3;

    /// Reads a header from the beginning of `bytes`.
    pub(crate) fn read(bytes: &[u8]) -> Read<Self> {
        let mut head =
            Self { kind: -1, uncompressed: -1, compressed: -1, values: -1, encoding: -1, ..Self::default() };
        let mut from = Compact { bytes, at: 0 };
        let mut parts = [false; 4];
        from.fields(DEEPEST, &mut |from, number, kind| {
            match (number, kind) {
                (1, kind::I32) => head.kind = from.i32()?,
                (2, kind::I32) => head.uncompressed = from.i32()?,
                (3, kind::I32) => head.compressed = from.i32()?,
                (5, kind::STRUCT) => {
                    parts[Self::DATA as usize] = true;
                    from.fields(DEEPEST, &mut |from, number, kind| {
                        match (number, kind) {
                            (1, kind::I32) => head.values = from.i32()?,
                            (2, kind::I32) => head.encoding = from.i32()?,
                            (3, kind::I32) => head.definition_encoding = from.i32()?,
                            (4, kind::I32) => head.repetition_encoding = from.i32()?,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                }
                (7, kind::STRUCT) => {
                    parts[Self::DICTIONARY as usize] = true;
                    from.fields(DEEPEST, &mut |from, number, kind| {
                        match (number, kind) {
                            (1, kind::I32) => head.values = from.i32()?,
                            (2, kind::I32) => head.encoding = from.i32()?,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                }
                (8, kind::STRUCT) => {
                    parts[Self::DATA_2 as usize] = true;
                    let mut second = Version2 { is_compressed: true, ..Version2::default() };
                    from.fields(DEEPEST, &mut |from, number, kind| {
                        match (number, kind) {
                            (1, kind::I32) => head.values = from.i32()?,
                            (2, kind::I32) => second.nulls = from.i32()?,
                            (3, kind::I32) => second.rows = from.i32()?,
                            (4, kind::I32) => head.encoding = from.i32()?,
                            (5, kind::I32) => second.definition_bytes = from.i32()?,
                            (6, kind::I32) => second.repetition_bytes = from.i32()?,
                            (7, kind::TRUE | kind::FALSE) => second.is_compressed = kind == kind::TRUE,
                            _ => return Ok(false),
                        }
                        Ok(true)
                    })?;
                    head.version_2 = Some(second);
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        head.is_whole = usize::try_from(head.kind).is_ok_and(|kind| parts.get(kind) == Some(&true));
        head.length = from.at;
        Ok(head)
    }
}

/// The header of a filter of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilterHead {
    /// The length of the header itself.
    pub(crate) length: usize,
    /// The number of bytes after the header.
    pub(crate) bytes: i32,
    /// The numbers of its algorithm, hash and compression in the format.
    pub(crate) kinds: [i64; 3],
}

impl FilterHead {
    /// Split blocks, XXH64, and no compression, which are the only ones defined.
    pub(crate) const KNOWN: [i64; 3] = [1; 3];

    /// Reads a header from the beginning of `bytes`.
    pub(crate) fn read(bytes: &[u8]) -> Read<Self> {
        let mut head = Self { length: 0, bytes: -1, kinds: [0; 3] };
        let mut from = Compact { bytes, at: 0 };
        from.fields(DEEPEST, &mut |from, number, kind| {
            match (number, kind) {
                (1, kind::I32) => head.bytes = from.i32()?,
                (2..=4, kind::STRUCT) => {
                    let slot = &mut head.kinds[number as usize - 2];
                    from.fields(DEEPEST, &mut |_, choice, _| {
                        *slot = choice;
                        Ok(false)
                    })?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        head.length = from.at;
        Ok(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_of_a_data_page_is_read() {
        // Type 0, sizes 100 and 50, then {values 7, encoding 0, levels RLE (3)}, then an unknown
        // binary field.
        let bytes = [
            0x15, 0, 0x15, 200, 1, 0x15, 100, 0x2C, 0x15, 14, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0x48, 2, 9, 9, 0,
            77,
        ];
        let head = PageHead::read(&bytes).unwrap();
        assert_eq!((head.kind, head.uncompressed, head.compressed, head.values), (0, 100, 50, 7));
        assert_eq!((head.encoding, head.definition_encoding, head.is_whole), (0, 3, true));
        assert_eq!(head.length, bytes.len() - 1);
        for end in 0..bytes.len() - 1 {
            assert_eq!(PageHead::read(&bytes[..end]), Err(Fault::Short), "{end}");
        }
    }

    #[test]
    fn head_of_a_filter_is_read() {
        // 64 bytes; then the three choices, each a struct with an empty struct as its first field.
        let bytes = [0x15, 128, 1, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0x1C, 0x1C, 0, 0, 0, 99];
        let head = FilterHead::read(&bytes).unwrap();
        assert_eq!((head.bytes, head.kinds, head.length), (64, FilterHead::KNOWN, bytes.len() - 1));
        for end in 0..bytes.len() - 1 {
            assert_eq!(FilterHead::read(&bytes[..end]), Err(Fault::Short), "{end}");
        }
        let mut other = bytes;
        other[8] = 0x2C;
        assert_eq!(FilterHead::read(&other).unwrap().kinds, [1, 2, 1]);
        assert_eq!(FilterHead::read(&[0x1C; 60]), Err(Fault::Wrong), "structs in structs");
    }

    #[test]
    fn schema_that_is_no_tree_is_refused() {
        // The number of children of each element, zigzag-encoded, as field 5 of its struct.
        // Elements without children have only field 4.
        let footer = |children: &[u8]| {
            let mut bytes = vec![0x29, 0xF0 | kind::STRUCT, children.len() as u8];
            for &count in children {
                bytes.extend(if count == 0 { vec![0x48, 0, 0] } else { vec![0x55, count * 2, 0] });
            }
            bytes.push(0);
            check_footer(&bytes)
        };
        assert_eq!(footer(&[2, 0, 0]), Ok(()));
        assert_eq!(footer(&[2, 2, 0, 0, 0]), Ok(()));
        assert_eq!(footer(&[3, 0, 0]), Err(Fault::Wrong), "more children than elements");
        assert_eq!(footer(&[1, 0, 0]), Err(Fault::Wrong), "an element without a parent");
        assert_eq!(footer(&[2, 1, 0]), Err(Fault::Wrong), "a child too few");
        assert_eq!(footer(&[1; 120]), Err(Fault::Wrong), "too deep");
        assert_eq!(footer(&[63, 0, 0]), Err(Fault::Wrong));
    }

    #[test]
    fn lists_longer_than_the_bytes_are_refused() {
        // Field 1 is a list of structs with 2^31 of them.
        assert_eq!(check_footer(&[0x19, 0xFC, 0x80, 0x80, 0x80, 0x80, 8, 0]), Err(Fault::Short));
        assert_eq!(check_footer(&[0x19, 0x2C, 0x15, 0, 0, 0x15, 0, 0, 0]), Ok(()));
        let deep = [0x1C; 100];
        assert_eq!(check_footer(&deep), Err(Fault::Wrong), "structs in structs");
        assert_eq!(check_footer(&[0x1F, 0]), Err(Fault::Wrong), "no such kind");
    }
}
