//! How large is the error of a rank, depending on its place?
//!
//! A compaction changes ranks only between its least and its greatest value. With
//! [`Accuracy::Tails`](super::Accuracy) it leaves the ends unchanged, so that ranks near them have
//! small errors. To state these errors, the sketch remembers where its compactions began and ended.
//! It keeps two lists of places, each with the variance that is added beyond the place. The lists
//! are short. If one overflows, two places are joined towards the end of the values, which can only
//! raise the stated variance.

use super::item::RankItem;
use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The largest number of places on each side.
const MOST: usize = 64;

/// The variance of ranks by place, in units of half a squared rank.
#[derive(Debug, Clone)]
pub(super) struct ErrorProfile<T> {
    /// In ascending order. Each place adds its variance to the ranks of all values from it on.
    from_below: Vec<(T, u128)>,
    /// In descending order. Each place adds its variance to the ranks of all values up to it.
    from_above: Vec<(T, u128)>,
}

impl<T: RankItem> ErrorProfile<T> {
    pub(super) fn new() -> Self {
        Self { from_below: Vec::new(), from_above: Vec::new() }
    }

    /// Adds a compaction of values from `least` to `greatest`.
    pub(super) fn add(&mut self, least: T, greatest: T, variance: u128) {
        insert(&mut self.from_below, least, variance, |one, other| one < other);
        insert(&mut self.from_above, greatest, variance, |one, other| one > other);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (place, variance) in &other.from_below {
            insert(&mut self.from_below, place.clone(), *variance, |one, other| one < other);
        }
        for (place, variance) in &other.from_above {
            insert(&mut self.from_above, place.clone(), *variance, |one, other| one > other);
        }
    }

    /// Returns the variance of the rank of a value.
    pub(super) fn variance(&self, value: &T) -> u128 {
        let sum = |places: &[(T, u128)], reaches: &dyn Fn(&T) -> bool| {
            let reached = places.iter().take_while(|(place, _)| reaches(place));
            reached.fold(0_u128, |sum, (_, variance)| sum.saturating_add(*variance))
        };
        // Every compaction counts on both sides, so the smaller sum is an upper bound too.
        sum(&self.from_below, &|place| place <= value).min(sum(&self.from_above, &|place| place >= value))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.from_below.is_empty()
    }

    pub(super) fn memory(&self) -> usize {
        let places = self.from_below.iter().chain(&self.from_above);
        (self.from_below.capacity() + self.from_above.capacity()) * size_of::<(T, u128)>()
            + places.map(|(place, _)| place.heap()).sum::<usize>()
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        for places in [&self.from_below, &self.from_above] {
            writer.u8(places.len() as u8);
            for (place, variance) in places {
                place.write(writer);
                write_u128(writer, *variance);
            }
        }
    }

    pub(super) fn decode(reader: &mut Reader<'_>, scheme: KeyScheme) -> Result<Self> {
        let mut read_places = |is_ascending: bool| -> Result<Vec<(T, u128)>> {
            let count = reader.u8("places of error")?;
            if usize::from(count) > MOST {
                return Err(Error::contents("places of error", format_args!("at most {MOST}"), count));
            }
            let mut places: Vec<(T, u128)> = Vec::new();
            for _ in 0..count {
                let place = T::read(reader, scheme)?;
                let variance = read_u128(reader, "variance")?;
                let in_order = places
                    .last()
                    .is_none_or(|(last, _)| if is_ascending { *last < place } else { *last > place });
                if !in_order || variance == 0 {
                    return Err(Error::contents("places of error", "in order, with variances", count));
                }
                places.push((place, variance));
            }
            Ok(places)
        };
        let (from_below, from_above) = (read_places(true)?, read_places(false)?);
        if from_below.is_empty() != from_above.is_empty() {
            return Err(Error::contents("places of error", "some on both sides, or on none", "one side"));
        }
        Ok(Self { from_below, from_above })
    }
}

/// Adds a place in order. If there are too many, joins two neighbours at the point where this
/// raises the stated variance least.
fn insert<T: RankItem>(
    places: &mut Vec<(T, u128)>,
    place: T,
    variance: u128,
    is_before: impl Fn(&T, &T) -> bool,
) {
    let position = places.partition_point(|(other, _)| is_before(other, &place));
    match places.get_mut(position) {
        Some((other, sum)) if *other == place => *sum = sum.saturating_add(variance),
        _ => places.insert(position, (place, variance)),
    }
    if places.len() <= MOST {
        return;
    }
    let mut below = 0.0;
    let mut least = (f64::INFINITY, 1);
    for (position, pair) in places.windows(2).enumerate() {
        below += pair[0].1 as f64;
        let growth = pair[1].1 as f64 / below;
        if growth < least.0 {
            least = (growth, position + 1);
        }
    }
    let (_, variance) = places.remove(least.1);
    let joined = &mut places[least.1 - 1].1;
    *joined = joined.saturating_add(variance);
}

/// Writes sixteen bytes, little-endian.
pub(super) fn write_u128(writer: &mut Writer, value: u128) {
    writer.u64(value as u64);
    writer.u64((value >> 64) as u64);
}

/// Reads sixteen bytes, little-endian.
pub(super) fn read_u128(reader: &mut Reader<'_>, field: &'static str) -> Result<u128> {
    Ok(u128::from(reader.u64(field)?) | u128::from(reader.u64(field)?) << 64)
}
