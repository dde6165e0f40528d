//! Implements `Serialize` for answers, so that a program can print them or send them on.
//!
//! Sketches themselves are stored by [`Encode`](crate::codec::Encode), in a format with a checksum.
//! Answers can only be written. An [`Estimate`] that was read from elsewhere would promise bounds
//! that no sketch computed.

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use crate::codec::{Family, Parameter, Parameters, Summary};
use crate::estimate::{Confidence, Estimate};
use crate::frequency::Hitter;
use crate::keys::{HashFunction, KeyKind, KeyRef, KeyScheme, OwnedKey};
use crate::profile::{ColumnType, JoinVerdict, Joinability, Lengths, Value};

/// Serializes types that have a name as that name.
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

impl Serialize for JoinVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Serializes the level as a number, which is 1 if the bounds are certain.
impl Serialize for Confidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.level())
    }
}

impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Estimate", 4)?;
        fields.serialize_field("value", &self.value())?;
        fields.serialize_field("lower", &self.lower())?;
        fields.serialize_field("upper", &self.upper())?;
        fields.serialize_field("confidence", &self.confidence())?;
        fields.end()
    }
}

impl Serialize for KeyScheme {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("KeyScheme", 3)?;
        fields.serialize_field("kind", &self.kind())?;
        fields.serialize_field("function", &self.function())?;
        fields.serialize_field("seed", &self.seed())?;
        fields.end()
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
    match std::str::from_utf8(bytes) {
        Ok(text) => serializer.serialize_str(text),
        Err(_) => serializer.serialize_bytes(bytes),
    }
}

impl Serialize for OwnedKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().serialize(serializer)
    }
}

impl Serialize for Hitter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Hitter", 4)?;
        fields.serialize_field("key", &self.key())?;
        fields.serialize_field("count", &self.count())?;
        fields.serialize_field("lower", &self.lower())?;
        fields.serialize_field("upper", &self.upper())?;
        fields.end()
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

impl Serialize for Lengths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Lengths", 3)?;
        fields.serialize_field("min", &self.min)?;
        fields.serialize_field("mean", &self.mean)?;
        fields.serialize_field("max", &self.max)?;
        fields.end()
    }
}

impl Serialize for Joinability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Joinability", 4)?;
        fields.serialize_field("verdict", &self.verdict)?;
        fields.serialize_field("common", &self.common)?;
        fields.serialize_field("left_in_right", &self.left_in_right)?;
        fields.serialize_field("right_in_left", &self.right_in_left)?;
        fields.end()
    }
}
