//! The sketch as bytes.

use super::compaction::tails_capacity;
use super::error_profile::{ErrorProfile, read_u128, write_u128};
use super::item::RankItem;
use super::sampler::Sampler;
use super::{Accuracy, Level, Pending, RankSketch};
use crate::codec::{Decode, Encode, Family, Header, Reader, Sealed, Writer};
use crate::error::{Error, Result};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::random::Generator;

impl<T: RankItem> RankSketch<T> {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a sketch from bytes. It continues as the stored sketch would have.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of such a sketch; see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

/// Compares the encoded bytes, because the order of values within a level has no meaning.
impl<T: RankItem> PartialEq for RankSketch<T> {
    fn eq(&self, other: &Self) -> bool {
        self.encode() == other.encode()
    }
}

impl<T: RankItem> Sealed for RankSketch<T> {}

impl<T: RankItem> Encode for RankSketch<T> {
    const FAMILY: Family = T::FAMILY;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u32(self.size);
        writer.u8(match self.accuracy {
            Accuracy::Uniform => 0,
            Accuracy::Tails => 1,
        });
        writer.u8(self.sampler.level);
        writer.u8(self.levels.len() as u8);
        writer.u8(0);
        writer.u64(self.count);
        writer.u64(self.unordered);
        self.generator.encode(writer);
        [self.compacted, self.sampled, self.most_error].into_iter().for_each(|sum| write_u128(writer, sum));
        if let Some((least, greatest)) = &self.ends {
            least.write(writer);
            greatest.write(writer);
        }
        if self.sampler.level > 0 {
            writer.u64(self.sampler.seen);
            writer.u64(self.sampler.pick);
            if let Some(item) = self.sampler.held.as_ref().filter(|_| self.sampler.seen > 0) {
                item.write(writer);
            }
        }
        for level in &self.levels {
            level.encode(writer);
        }
        if self.accuracy == Accuracy::Tails {
            self.profile.encode(writer);
        }
    }
}

impl<T: RankItem> Level<T> {
    fn encode(&self, writer: &mut Writer) {
        writer.u64(self.compactions);
        writer.u8(self.pending.as_ref().map_or(0, |pending| 1 + u8::from(pending.coin)));
        if let Some(Pending { region: Some((low, high)), .. }) = &self.pending {
            low.write(writer);
            high.write(writer);
        }
        writer.u32(self.items.len() as u32);
        let mut sorted: Vec<&T> = self.items.iter().collect();
        sorted.sort_unstable();
        sorted.into_iter().for_each(|item| item.write(writer));
    }

    fn decode(reader: &mut Reader<'_>, accuracy: Accuracy, scheme: KeyScheme) -> Result<Self> {
        let compactions = reader.u64("compactions")?;
        let coin = reader.u8("coin")?;
        if coin > 2 {
            return Err(Error::contents("coin", "0 to 2", coin));
        }
        let pending = if coin == 0 {
            None
        } else {
            let region = match accuracy {
                Accuracy::Uniform => None,
                Accuracy::Tails => Some((T::read(reader, scheme)?, T::read(reader, scheme)?)),
            };
            if region.as_ref().is_some_and(|(low, high)| low > high) {
                return Err(Error::contents("region", "the lesser value first", "the greater"));
            }
            Some(Pending { coin: coin == 2, region })
        };
        if compactions > 0 && accuracy == Accuracy::Uniform {
            return Err(Error::contents("compactions", "0 but for tails", compactions));
        }
        let len = reader.u32("values")? as usize;
        // Each value takes at least four bytes. So no memory is allocated for values that the bytes
        // cannot contain; reading those fails below.
        let mut items: Vec<T> = Vec::with_capacity(len.min(reader.left() / 4));
        for _ in 0..len {
            let item = T::read(reader, scheme)?;
            if items.last().is_some_and(|last| *last > item) {
                return Err(Error::contents("values", "in order", "a lesser one after a greater"));
            }
            items.push(item);
        }
        Ok(Self { items, compactions, pending })
    }
}

impl<T: RankItem> Decode for RankSketch<T> {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let scheme = T::scheme_of(header)?;
        let size = reader.u32("size")?;
        let accuracy = match reader.u8("accuracy")? {
            0 => Accuracy::Uniform,
            1 => Accuracy::Tails,
            other => return Err(Error::contents("accuracy", "0 or 1", other)),
        };
        let mut sketch = Self::empty(size, accuracy, scheme, 0)
            .map_err(|error| Error::contents(error.field(), error.expected(), error.found()))?;
        let lowest = reader.u8("lowest level")?;
        let levels = reader.u8("levels")?;
        reader.zero("reserved byte")?;
        let is_sampled = lowest > 0;
        if is_sampled && accuracy == Accuracy::Tails || lowest > 63 {
            return Err(Error::contents("lowest level", "0 to 63, and 0 for tails", lowest));
        }
        if levels == 0 || levels > 64 - lowest {
            return Err(Error::contents("levels", format_args!("1 to {}", 64 - lowest), levels));
        }
        sketch.count = reader.u64("count")?;
        sketch.unordered = reader.u64("not a number")?;
        sketch.generator = Generator::decode(reader)?;
        sketch.compacted = read_u128(reader, "compacted")?;
        sketch.sampled = read_u128(reader, "sampled")?;
        sketch.most_error = read_u128(reader, "most error")?;
        if sketch.count > 0 {
            let (least, greatest) = (T::read(reader, scheme)?, T::read(reader, scheme)?);
            if least > greatest {
                return Err(Error::contents("ends", "the least value first", "the greatest"));
            }
            sketch.ends = Some((least, greatest));
        }
        if is_sampled {
            sketch.sampler = Sampler::decode(lowest, reader, scheme)?;
        }
        sketch.levels =
            (0..levels).map(|_| Level::decode(reader, accuracy, scheme)).collect::<Result<_>>()?;
        if accuracy == Accuracy::Tails {
            sketch.profile = ErrorProfile::decode(reader, scheme)?;
        }
        sketch.retained = sketch.levels.iter().map(|level| level.items.len()).sum();
        sketch.set_capacity();
        sketch.require_consistent()?;
        Ok(sketch)
    }
}

impl<T: RankItem> Sampler<T> {
    fn decode(level: u8, reader: &mut Reader<'_>, scheme: KeyScheme) -> Result<Self> {
        let (seen, pick) = (reader.u64("sampled block")?, reader.u64("sampled block")?);
        let mut sampler = Self { level, seen, pick, held: None };
        if seen.max(pick) >= sampler.block() {
            let expected = format_args!("below {}", sampler.block()).to_string();
            return Err(Error::contents("sampled block", expected, seen.max(pick)));
        }
        if seen > 0 {
            sampler.held = Some(T::read(reader, scheme)?);
        }
        Ok(sampler)
    }
}

impl<T: RankItem> RankSketch<T> {
    /// Refuses a state that no sequence of values leads to.
    fn require_consistent(&self) -> Result<()> {
        let lowest = u32::from(self.sampler.level);
        let weights =
            self.levels.iter().enumerate().fold(u128::from(self.sampler.seen), |sum, (level, state)| {
                sum.saturating_add((state.items.len() as u128) << (level as u32 + lowest))
            });
        let expected = if self.is_saturated() { 0 } else { u128::from(self.count) };
        if weights != expected {
            return Err(Error::contents("values", format_args!("a weight of {expected} in all"), weights));
        }
        let is_room_left = match self.accuracy {
            Accuracy::Uniform => self.retained < self.capacity,
            Accuracy::Tails => self
                .levels
                .iter()
                .all(|level| level.items.len() < tails_capacity(self.size, level.compactions)),
        };
        if !is_room_left {
            return Err(Error::contents("values", "fewer than would be compacted", self.retained));
        }
        let has_errors = [self.compacted, self.sampled].iter().any(|&sum| sum > 0);
        let is_pending = self.levels.iter().any(|level| level.pending.is_some());
        if has_errors != (self.most_error > 0)
            || is_pending && self.compacted == 0
            || self.sampled > 0 && lowest == 0
        {
            return Err(Error::contents("most error", "above 0 if something was compacted", self.most_error));
        }
        if !self.profile.is_empty() && self.compacted == 0 {
            return Err(Error::contents("places of error", "none before a compaction", "some"));
        }
        let Some((least, greatest)) = &self.ends else { return Ok(()) };
        let items = self.levels.iter().flat_map(|level| &level.items).chain(&self.sampler.held);
        for item in items {
            if item < least || item > greatest {
                return Err(Error::contents("values", "none outside of the ends", format_args!("{item:?}")));
            }
        }
        Ok(())
    }
}
