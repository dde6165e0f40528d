//! The profile as bytes.

use super::facts::{Facts, Text};
use super::{ColumnProfile, Kind, ProfileConfig, Sketches};
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::error::{Error, Result};
use crate::keys::{KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl ColumnProfile {
    /// Returns the profile as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a profile from bytes.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of a `ColumnProfile`; see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for ColumnProfile {
    const FAMILY: Family = Family::ColumnProfile;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        let ProfileConfig { precision, counters, sample, accuracy, bins, longest } = self.config;
        writer.u8(precision);
        writer.u32(counters);
        writer.u32(sample);
        writer.u64(accuracy.to_bits());
        writer.u32(bins);
        writer.u32(longest);
        writer.u64(self.missing);
        self.facts.encode(writer);
        let Sketches { distinct, top, sample, numbers } = &*self.sketches;
        writer.envelope(distinct);
        writer.envelope(top);
        writer.envelope(sample);
        writer.envelope(numbers);
    }
}

impl Decode for ColumnProfile {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let config = ProfileConfig {
            precision: reader.u8("precision")?,
            counters: reader.u32("counters")?,
            sample: reader.u32("sample")?,
            accuracy: f64::from_bits(reader.u64("accuracy")?),
            bins: reader.u32("bins")?,
            longest: reader.u32("longest")?,
        };
        if header.scheme.kind() != KeyKind::Bytes {
            return Err(Error::contents("key kind", KeyKind::Bytes, header.scheme.kind()));
        }
        config.check().map_err(Error::into_contents)?;
        let missing = reader.u64("missing")?;
        let facts = Box::new(Facts::decode(config.longest as usize, reader)?);
        let sketches = Box::new(Sketches {
            distinct: reader.sketch("distinct values", Some(header.scheme))?,
            top: reader.sketch("most frequent values", Some(header.scheme))?,
            sample: reader.sketch("sample", Some(header.scheme))?,
            numbers: reader.sketch("numbers", Some(crate::counting::NO_KEYS))?,
        });
        let profile = Self { scheme: header.scheme, config, missing, facts, sketches };
        profile.require_parts_of_its_sizes()?;
        profile.require_parts_that_agree()?;
        Ok(profile)
    }
}

impl ColumnProfile {
    fn require_parts_of_its_sizes(&self) -> Result<()> {
        let Sketches { distinct, top, sample, numbers } = &*self.sketches;
        let config = ProfileConfig {
            precision: distinct.precision(),
            counters: top.capacity() as u32,
            sample: sample.capacity() as u32,
            accuracy: numbers.accuracy(),
            bins: numbers.max_bins(),
            longest: self.config.longest,
        };
        self.config.require_same(&config).map_err(Error::into_contents)
    }

    /// Refuses parts that cannot belong to the same column.
    fn require_parts_that_agree(&self) -> Result<()> {
        let Sketches { distinct, top, sample, numbers } = &*self.sketches;
        let facts = &*self.facts;
        let values = facts.values();
        let of_kind = |kind: Kind| facts.kinds[kind as usize];
        let expect = |field, expected: u64, found: u64| {
            if expected == found { Ok(()) } else { Err(Error::contents(field, expected, found)) }
        };
        expect("most frequent values", values, top.total().saturating_add(facts.long))?;
        expect("sample", values.min(i64::MAX as u64), sample.seen())?;
        let kept = self.config.longest as usize;
        let is_kept = |key: KeyRef<'_>| matches!(key, KeyRef::Bytes(text) if text.len() <= kept);
        if !sample.sample().all(is_kept) || top.longest_key() > kept {
            return Err(Error::contents("longest", "that of the kept values", self.config.longest));
        }
        let counted = numbers.count().saturating_add(numbers.not_finite());
        expect("numbers", of_kind(Kind::Integer).saturating_add(of_kind(Kind::Float)), counted)?;
        // There are at most as many different values as values, and at least one if there are
        // values.
        let least = distinct.estimate().lower().min(1.0);
        if distinct.is_empty() != (values == 0) || least > values as f64 {
            return Err(Error::contents(
                "distinct values",
                format_args!("some of {values}"),
                distinct.estimate(),
            ));
        }
        let are_numbers = |(least, greatest): (i64, i64)| {
            numbers.min().is_some_and(|min| min <= least as f64)
                && numbers.max().is_some_and(|max| max >= greatest as f64)
                && of_kind(Kind::Integer) > 0
        };
        if !facts.integers.is_none_or(are_numbers) || !facts.can_have_lost() {
            return Err(Error::contents("integers", "those among the numbers", "others"));
        }
        Ok(())
    }
}

impl Facts {
    fn encode(&self, writer: &mut Writer) {
        writer.u64s(self.kinds);
        if self.values() > 0 {
            writer.u64(self.long);
            writer.u64(self.shortest);
            writer.u64(self.longest);
            writer.u64(self.total_length);
            writer.key(KeyRef::Bytes(self.first.bytes()));
            writer.key(KeyRef::Bytes(self.last.bytes()));
        }
        writer.u8(u8::from(self.integers.is_some()));
        if let Some((least, greatest)) = self.integers {
            writer.u64(least as u64);
            writer.u64(greatest as u64);
            writer.bytes(&self.lost.to_le_bytes());
        }
    }

    fn decode(kept: usize, reader: &mut Reader<'_>) -> Result<Self> {
        let mut facts = Self::new();
        for (kind, read) in facts.kinds.iter_mut().zip(reader.u64s("kinds", Kind::ALL.len() as u64)?) {
            *kind = read;
        }
        if facts.values() > 0 {
            facts.long = reader.u64("long")?;
            facts.shortest = reader.u64("lengths")?;
            facts.longest = reader.u64("lengths")?;
            facts.total_length = reader.u64("lengths")?;
            facts.require_possible_lengths()?;
            let (first, last) = (read_text(kept, reader)?, read_text(kept, reader)?);
            let differ = first.bytes() != last.bytes();
            if first.bytes() > last.bytes() || facts.values() == 1 && differ {
                return Err(Error::contents("last text", "one that fits the first", "another"));
            }
            (facts.first, facts.last) = (first, last);
        }
        match reader.u8("integers")? {
            0 => {}
            1 => {
                let (least, greatest) = (reader.u64("integers")? as i64, reader.u64("integers")? as i64);
                if least > greatest {
                    return Err(Error::contents("integers", format_args!("at least {least}"), greatest));
                }
                facts.integers = Some((least, greatest));
                let (low, high) = (reader.u64("integers")?, reader.u64("integers")?);
                facts.lost = (u128::from(high) << 64 | u128::from(low)) as i128;
            }
            other => return Err(Error::contents("integers", "0 or 1", other)),
        }
        Ok(facts)
    }

    fn require_possible_lengths(&self) -> Result<()> {
        let values = u128::from(self.values());
        let total = u128::from(self.total_length);
        let most = (values * u128::from(self.longest)).min(u64::MAX.into());
        let least = (values * u128::from(self.shortest)).min(u64::MAX.into());
        if self.shortest <= self.longest && (least..=most).contains(&total) {
            return Ok(());
        }
        let expected = format_args!("{least} to {most}").to_string();
        Err(Error::contents("lengths", expected, total))
    }
}

fn read_text(kept: usize, reader: &mut Reader<'_>) -> Result<Text> {
    match reader.key("first and last text", KeyKind::Bytes)? {
        KeyRef::Bytes(text) if text.len() <= kept => Ok(Text::new(text)),
        other => Err(Error::contents("first and last text", format_args!("at most {kept} bytes"), other)),
    }
}
