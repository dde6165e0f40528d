//! The stored form of a register sketch: precision, state, then one of three contents: hashes in
//! ascending order, registers, or coded registers. If there is a history, its count and its
//! variance stand before the registers.

use super::history::History;
use super::kind::{RegisterArray, RegisterKind};
use super::rates::Rate;
use super::{Contents, RegisterSketch, coded};
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::error::{Error, Result};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

const EXACT: u8 = 0;
const DENSE: u8 = 1;
const CODED: u8 = 2;
/// The bit that is set in the state of a sketch that keeps its history.
const WITH_HISTORY: u8 = 0x80;

/// The first version of the payload with coded registers.
const FIRST_CODED: u8 = 2;

impl<K: RegisterKind> RegisterSketch<K> {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a sketch of this kind: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl<K: RegisterKind> Encode for RegisterSketch<K> {
    const FAMILY: Family = K::FAMILY;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u8(self.precision);
        let mark = if self.keeps_history { WITH_HISTORY } else { 0 };
        let history = match &self.contents {
            Contents::Recorded(_, history) => Some(history.stored()),
            _ => None,
        };
        let write_state = |state: u8, writer: &mut Writer| {
            writer.u8(state | mark);
            if let Some((count, variance)) = history {
                writer.u64(count.to_bits());
                writer.u64(variance.to_bits());
            }
        };
        match &self.contents {
            Contents::Exact(table) => {
                write_state(EXACT, writer);
                writer.u32(table.len() as u32);
                writer.u64s(table.sorted());
            }
            Contents::Dense(registers) | Contents::Recorded(registers, _) => {
                if let Some(coded) = coded::encode::<K>(registers, self.precision) {
                    write_state(CODED, writer);
                    writer.u16(coded.rate.number());
                    writer.bytes(&coded.bytes);
                } else {
                    write_state(DENSE, writer);
                    writer.bytes(registers.values());
                }
            }
        }
    }
}

impl<K: RegisterKind> Decode for RegisterSketch<K> {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let precision = reader.u8("precision")?;
        let mut sketch = Self::with_scheme(precision, header.scheme)
            .map_err(|error| Error::contents("precision", error.expected(), precision))?;
        let state = reader.u8("state")?;
        sketch.keeps_history = header.version >= FIRST_CODED && state & WITH_HISTORY != 0;
        let state = if sketch.keeps_history { state ^ WITH_HISTORY } else { state };
        let stored = if sketch.keeps_history && state != EXACT {
            let [count, variance] =
                [reader.u64("count of the history")?, reader.u64("variance of the history")?];
            Some((f64::from_bits(count), f64::from_bits(variance)))
        } else {
            None
        };
        let registers = match state {
            EXACT => {
                let count = reader.u32("number of hashes")?;
                let most = Self::exact_up_to(precision);
                if count as usize > most {
                    return Err(Error::contents("number of hashes", format_args!("at most {most}"), count));
                }
                let hashes = reader.u64s("hashes", count.into())?;
                if !hashes.clone().is_sorted_by(|a, b| a < b) {
                    return Err(Error::contents("hashes", "strictly ascending order", "another order"));
                }
                hashes.for_each(|hash| sketch.insert_hash(hash));
                return Ok(sketch);
            }
            DENSE => {
                let values = reader.bytes("registers", 1 << precision)?;
                let registers = K::Registers::from_values(precision, values)
                    .filter(|registers| !registers.are_unused())
                    .ok_or_else(|| {
                        let accepted = K::Registers::accepted_values(precision);
                        Error::contents("registers", format_args!("{accepted}, not all 0"), "others")
                    })?;
                if header.version >= FIRST_CODED && coded::encode::<K>(&registers, precision).is_some() {
                    return Err(Error::contents(
                        "registers",
                        "registers that coding does not shorten",
                        "others",
                    ));
                }
                registers
            }
            CODED if header.version >= FIRST_CODED => {
                let number = reader.u16("rate")?;
                let highest = Rate::COUNT - 1;
                let rate = Rate::from_number(number)
                    .ok_or_else(|| Error::contents("rate", format_args!("at most {highest}"), number))?;
                let bytes = reader.bytes("registers", reader.left() as u64)?;
                coded::decode::<K>(rate, precision, bytes)
                    .ok_or_else(|| Error::contents("registers", "registers coded for that rate", "others"))?
            }
            other => {
                return Err(Error::contents(
                    "state",
                    "0 (exact), 1 (dense) or 2 (coded), with or without 128 (history)",
                    other,
                ));
            }
        };
        sketch.contents = match stored {
            None => Contents::Dense(registers),
            Some(stored) => {
                let least = Self::exact_up_to(precision) + 1;
                let history =
                    History::from_stored(stored, least, &registers, precision).ok_or_else(|| {
                        let expected = format_args!("a count of at least {least} and a variance");
                        Error::contents("history", expected, format_args!("{} and {}", stored.0, stored.1))
                    })?;
                Contents::Recorded(registers, history)
            }
        };
        Ok(sketch)
    }
}
