//! Encoding and decoding of a table's profile.

use super::{FirstOfKind, TableColumn, TableProfile};
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::error::{Error, Result};
use crate::keys::{KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::detail::ColumnDetail;
use crate::profile::{ColumnProfile, Kind, ProfiledColumn};

impl TableProfile {
    /// Returns the profile as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a profile from bytes.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of a `TableProfile`; see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for TableProfile {
    const FAMILY: Family = Family::TableProfile;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64s([self.rows, self.bytes, self.bad, self.left_out]);
        writer.u32(self.columns.len() as u32);
        self.columns.iter().for_each(|column| column.encode(writer));
    }
}

impl Decode for TableProfile {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        if header.scheme.kind() != KeyKind::Bytes {
            return Err(Error::contents("key kind", KeyKind::Bytes, header.scheme.kind()));
        }
        let (rows, bytes) = (reader.u64("rows")?, reader.u64("bytes read")?);
        let (bad, left_out) = (reader.u64("bad records")?, reader.u64("rows left out")?);
        let count = reader.u32("number of columns")?;
        if count as usize > Self::MOST_COLUMNS {
            let allowed = format!("at most {}", Self::MOST_COLUMNS);
            return Err(Error::contents("number of columns", allowed, count));
        }
        // Rows that were left out have numbers too.
        let last_row = rows.saturating_add(left_out);
        // A column takes more than 128 bytes. So no memory is allocated for columns that the bytes
        // cannot contain; reading those fails below.
        let mut columns = Vec::with_capacity((count as usize).min(reader.left() / 128));
        for _ in 0..count {
            let column = TableColumn::decode(header, last_row, reader)?;
            let found = column.data.profile.rows();
            if found != rows {
                return Err(Error::contents("rows of a column", rows, found));
            }
            columns.push(column);
        }
        Ok(Self { scheme: header.scheme, rows, bytes, bad, left_out, columns })
    }
}

impl TableColumn {
    fn encode(&self, writer: &mut Writer) {
        writer.key(KeyRef::Bytes(self.name.as_bytes()));
        for first in &self.firsts {
            writer.u8(u8::from(first.is_some()));
            if let Some(FirstOfKind { row, text }) = first {
                writer.u64(*row);
                writer.key(KeyRef::Bytes(text));
            }
        }
        let ProfiledColumn { profile, growth, near_duplicates } = &self.data;
        writer.envelope(profile);
        writer.envelope(growth);
        writer.envelope(&self.ranks);
        writer.u8(u8::from(near_duplicates.is_some()));
        if let Some(documents) = near_duplicates {
            writer.envelope(documents);
        }
        writer.u8(u8::from(self.detail.is_some()));
        self.detail.iter().for_each(|detail| detail.encode(writer));
    }

    fn decode(header: &Header, last_row: u64, reader: &mut Reader<'_>) -> Result<Self> {
        let scheme = header.scheme;
        let name = match reader.key("name of a column", KeyKind::Bytes)? {
            KeyRef::Bytes(name) => core::str::from_utf8(name),
            _ => Ok(""),
        };
        let name = name.map_err(|_| Error::contents("name of a column", "UTF-8", "other bytes"))?;
        let mut firsts = [const { None }; Kind::ALL.len()];
        for first in &mut firsts {
            *first = read_first(last_row, reader)?;
        }
        let profile: ColumnProfile = reader.sketch("profile", Some(scheme))?;
        let growth = reader.sketch("growth", Some(scheme))?;
        let ranks = reader.sketch("ranks", None)?;
        let near_duplicates = match reader.u8("near-duplicates")? {
            0 => None,
            1 => Some(reader.sketch("near-duplicates", Some(scheme))?),
            other => return Err(Error::contents("near-duplicates", "0 or 1", other)),
        };
        // Version 1 has no detail.
        let detail = match if header.version > 1 { reader.u8("detail")? } else { 0 } {
            0 => None,
            1 => Some(Box::new(ColumnDetail::decode(&profile, last_row, reader)?)),
            other => return Err(Error::contents("detail", "0 or 1", other)),
        };
        let column = Self {
            name: name.into(),
            data: ProfiledColumn { profile, growth, near_duplicates },
            ranks,
            firsts,
            detail,
        };
        column.require_parts_that_agree()?;
        Ok(column)
    }

    /// Refuses parts that cannot belong to the same column.
    fn require_parts_that_agree(&self) -> Result<()> {
        let (profile, ranks) = (&self.data.profile, &self.ranks);
        for (kind, first) in Kind::ALL.into_iter().zip(&self.firsts) {
            let has_some = profile.count_of(kind) > 0;
            if first.is_some() != has_some {
                let expected = if has_some { "one, because there are such values" } else { "none" };
                return Err(Error::contents("first of a kind", expected, "the contrary"));
            }
        }
        let numbers = profile.numbers();
        if (ranks.count(), ranks.min(), ranks.max()) != (numbers.count(), numbers.min(), numbers.max())
            || ranks.not_a_number() > 0
        {
            let expected =
                format!("{} numbers with the least and the greatest of the profile", numbers.count());
            return Err(Error::contents("ranks", expected, format_args!("{} others", ranks.count())));
        }
        if self.data.growth.is_empty() != (profile.values() == 0) {
            return Err(Error::contents("growth", "one of the values", "another"));
        }
        Ok(())
    }
}

fn read_first(last_row: u64, reader: &mut Reader<'_>) -> Result<Option<FirstOfKind>> {
    match reader.u8("first of a kind")? {
        0 => return Ok(None),
        1 => {}
        other => return Err(Error::contents("first of a kind", "0 or 1", other)),
    }
    let row = reader.u64("row of a first value")?;
    if !(1..=last_row).contains(&row) {
        return Err(Error::contents("row of a first value", format_args!("1 to {last_row}"), row));
    }
    match reader.key("first of a kind", KeyKind::Bytes)? {
        KeyRef::Bytes(text) if text.len() <= FirstOfKind::LONGEST => {
            Ok(Some(FirstOfKind { row, text: text.into() }))
        }
        other => {
            let allowed = format!("at most {} bytes", FirstOfKind::LONGEST);
            Err(Error::contents("first of a kind", allowed, other))
        }
    }
}
