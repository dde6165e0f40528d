//! The ring as bytes: envelopes in an envelope.

use super::Panes;
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer, open};
use crate::error::{Error, Result};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::window::Pane;

impl<S: Pane> Panes<S> {
    /// Returns the ring as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the ring that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a ring of this kind of sketch: see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl<S: Pane> Encode for Panes<S> {
    const FAMILY: Family = Family::Panes;

    fn key_scheme(&self) -> KeyScheme {
        self.empty.scheme()
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.pane_width);
        writer.u32(self.capacity);
        writer.u64(self.late);
        writer.u8(u8::from(self.latest.is_some()));
        writer.u64(self.latest.unwrap_or(0) as u64);
        writer.bytes(&self.empty.to_bytes());
        writer.u32(self.used.len() as u32);
        for (number, sketch) in &self.used {
            writer.u64(*number as u64);
            writer.bytes(&sketch.to_bytes());
        }
    }
}

impl<S: Pane> Decode for Panes<S> {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let pane_width = reader.u64("pane width")?;
        let capacity = reader.u32("panes")?;
        let late = reader.u64("late")?;
        let started = reader.u8("started")?;
        let latest = reader.u64("latest pane")? as i64;
        let latest = match started {
            0 if latest == 0 && late == 0 => None,
            1 => Some(latest),
            _ => {
                return Err(Error::contents(
                    "started",
                    "0 with a latest pane and late items of 0, or 1",
                    started,
                ));
            }
        };
        let (kind, empty) = open_pane("empty sketch", reader)?;
        if kind.scheme != header.scheme {
            return Err(Error::contents(
                "empty sketch",
                format_args!("keys of {}", header.scheme),
                kind.scheme,
            ));
        }
        let empty = S::read(&kind, empty)?;
        let parameters = empty.parameters();
        let mut ring = Self::new(empty, pane_width, capacity)
            .map_err(|error| Error::contents(error.field(), error.expected(), error.found()))?;
        if latest.is_some_and(|latest| !(ring.number(i64::MIN)..=ring.number(i64::MAX)).contains(&latest)) {
            return Err(Error::contents(
                "latest pane",
                "the number of a pane whose times fit 64 bits",
                "another",
            ));
        }
        (ring.late, ring.latest) = (late, latest);

        let used = reader.u32("used panes")?;
        let most = if latest.is_some() { capacity } else { 0 };
        if used > most {
            return Err(Error::contents("used panes", format_args!("at most {most}"), used));
        }
        // Each pane takes a number and an envelope. Room is reserved only for as many panes as the
        // bytes can hold; a missing pane gives an error below.
        ring.used.reserve_exact((used as usize).min(reader.left() / 40));
        for _ in 0..used {
            let number = reader.u64("number of a pane")? as i64;
            ring.require_next(number)?;
            let (header, payload) = open_pane("pane", reader)?;
            let sketch = if header == kind { Some(S::read(&header, payload)?) } else { None };
            let Some(sketch) = sketch.filter(|sketch| sketch.parameters() == parameters) else {
                let expected =
                    format_args!("the kind and parameters of the empty {}", kind.family).to_string();
                return Err(Error::contents("pane", expected, format_args!("another {}", header.family)));
            };
            ring.used.push_back((number, sketch));
        }
        Ok(ring)
    }
}

/// Reads the envelope of a pane and returns its header and payload. A ring inside a ring is refused
/// before it is read, because such rings could nest without end.
fn open_pane<'a>(field: &'static str, reader: &mut Reader<'a>) -> Result<(Header, &'a [u8])> {
    let (header, payload) = open(reader.envelope(field)?)?;
    if let Some(expected) = header.family.expected_of_part() {
        return Err(Error::contents(field, expected, header.family));
    }
    Ok((header, payload))
}

impl<S: Pane> Panes<S> {
    /// Returns an error for a pane that is out of order, outside the window, or beyond the possible
    /// times.
    fn require_next(&self, number: i64) -> Result<()> {
        let last = self.latest.unwrap_or(i64::MIN);
        let first = self.first_of(last).max(self.number(i64::MIN));
        let in_order = self.used.back().is_none_or(|before| before.0 < number);
        if in_order && (first..=last).contains(&number) {
            return Ok(());
        }
        let expected = format_args!("{first} to {last}, in ascending order").to_string();
        Err(Error::contents("number of a pane", expected, number))
    }
}
