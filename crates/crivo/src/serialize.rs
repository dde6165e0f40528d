//! Implements `Serialize` for answers, so that a program can print them or send them on.
//!
//! Sketches themselves are stored by [`Encode`](crate::codec::Encode), in a format with a checksum.
//! Answers can only be written. An [`Estimate`] that was read from elsewhere would promise bounds
//! that no sketch computed.

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use crate::codec::{Family, Parameter, Parameters, Summary};
use crate::distinct::k_min_values::Comparison;
use crate::estimate::{Confidence, Estimate};
use crate::frequency::Hitter;
use crate::keys::{HashFunction, KeyKind, KeyRef, KeyScheme, OwnedKey};
use crate::profile::drift::{Change, ChangeKind, ChangeValue, ColumnDrift, TableDrift};
use crate::profile::expectations::BrokenRule;
use crate::profile::join_search::{ColumnPlace, FoundJoins, FoundPair};
use crate::profile::{
    ColumnType, Correlation, DateFacts, DateFormat, DateGaps, Dependency, Histogram, JoinVerdict,
    Joinability, Lengths, Outliers, Relations, Spread, TextPattern, Value,
};
use crate::quantiles::{Bar, KeyQuantile};

/// Serializes types that are displayed as a name as that name.
macro_rules! serialize_as_name {
    ($($type:ty),*) => {
        $(impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        })*
    };
}
serialize_as_name!(Family, KeyKind, HashFunction, ColumnType);

/// Serializes types that have a function `name` as that name.
macro_rules! serialize_by_name {
    ($($type:ty),*) => {
        $(impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        })*
    };
}
serialize_by_name!(JoinVerdict, ChangeKind, DateFormat);

/// Serializes types as a struct of the given fields. A field followed by `()` is the answer of the
/// function of that name.
macro_rules! serialize_as_struct {
    ($($type:ident { $($field:ident $(($($call:tt)*))?),* })*) => {
        $(impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let count = [$(stringify!($field)),*].len();
                let mut fields = serializer.serialize_struct(stringify!($type), count)?;
                $(fields.serialize_field(stringify!($field), &self.$field $(($($call)*))?)?;)*
                fields.end()
            }
        })*
    };
}
serialize_as_struct! {
    Bar { from, to, count }
    BrokenRule { column, rule, row, found }
    Change { what, about, before, after, effect, p }
    ColumnDrift { name, changes }
    ColumnPlace { table, column }
    Comparison { union(), intersection(), difference(), jaccard() }
    Correlation { left, right, rank_correlation, pearson, rows }
    DateFacts { formats, dates, others, range, gaps }
    DateGaps { missing, longest }
    Dependency { from, to, share, rows, exceptions }
    Estimate { value(), lower(), upper(), confidence() }
    FoundJoins { joins, found, undecided, undecided_pairs }
    FoundPair { left, right }
    Histogram { bars, below, above }
    Hitter { key(), count(), lower(), upper() }
    Joinability { verdict, common, left_in_right, right_in_left }
    KeyQuantile { value, lower, upper, confidence }
    KeyScheme { kind(), function(), seed() }
    Lengths { min, mean, max }
    Outliers { lower_fence, upper_fence, below, above }
    Relations { correlations, compared_numbers, dependencies, compared_categories }
    Spread { standard_deviation, skew }
    TableDrift { columns, added, removed, checks }
}

/// Serializes the level as a number, which is 1 if the bounds are certain.
impl Serialize for Confidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.level())
    }
}

/// Serializes text as text, other bytes as an array of numbers, and integers and hashes as numbers.
/// Integers are signed, as their `Display` shows them.
impl Serialize for KeyRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            KeyRef::Bytes(bytes) => serialize_text(bytes, serializer),
            KeyRef::Integer(number) => serializer.serialize_i64(number.cast_signed()),
            KeyRef::Hash(hash) => serializer.serialize_u64(hash),
        }
    }
}

fn serialize_text<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match core::str::from_utf8(bytes) {
        Ok(text) => serializer.serialize_str(text),
        Err(_) => serializer.serialize_bytes(bytes),
    }
}

impl Serialize for OwnedKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().serialize(serializer)
    }
}

impl Serialize for Parameter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Count(count) => serializer.serialize_u64(count),
            Self::Ratio(number) | Self::Number(number) => serializer.serialize_f64(number),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

/// Serializes parameters as a map from their names.
struct ByName<'a>(&'a Parameters);

impl Serialize for ByName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, parameter) in self.0 {
            map.serialize_entry(name, parameter)?;
        }
        map.end()
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Summary", 7)?;
        fields.serialize_field("family", &self.family)?;
        fields.serialize_field("parameters", &ByName(&self.parameters))?;
        fields.serialize_field("scheme", &self.scheme)?;
        fields.serialize_field("items", &self.items)?;
        fields.serialize_field("fill", &self.fill)?;
        fields.serialize_field("false_positive_rate", &self.false_positive_rate)?;
        fields.serialize_field("memory", &self.memory)?;
        fields.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(integer) => serializer.serialize_i64(*integer),
            Self::Float(float) => serializer.serialize_f64(*float),
            Self::Text(text) => serialize_text(text, serializer),
        }
    }
}

impl Serialize for ChangeValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) | Self::Share(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl Serialize for TextPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("TextPattern", 3)?;
        fields.serialize_field("pattern", &self.pattern)?;
        fields.serialize_field("example", &KeyRef::Bytes(&self.example))?;
        fields.serialize_field("share", &self.share)?;
        fields.end()
    }
}
