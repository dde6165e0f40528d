//! Bands: which pairs of signatures are candidates?
//!
//! **Question.** Comparing every pair of a million signatures takes half a million million steps.
//! Which pairs are worth it?
//!
//! **Guarantee.** A signature's slots are cut into `b` bands of `r` rows. A pair meets, and is then
//! a candidate, if any band is equal in all its rows. Slots are equal with probability `J`, the
//! pair's similarity, so it meets with `P(J) = 1 − (1 − J^r)^b`: an S-curve, steepest near
//! `(1/b)^(1/r)`.
//!
//! **Idea.** Choose `b` and `r` so that the curve is high above the similarity that matters and low
//! below. Candidates are compared afterwards. So a false candidate costs only a comparison, while a
//! pair that never meets is lost. Therefore [`Bands::for_threshold`] requires at least 99 % *at*
//! the threshold, and then as few candidates as possible. (Tools that balance both sides find less
//! than half of the pairs there.)
//!
//! Pairs that were never candidates can still be estimated: each pair of similarity `J` that was
//! found represents `1/P(J)` pairs that exist. So [`Bands::expected_missed`] estimates how many the
//! bands missed, with bounds.
//!
//! **When not to use it.** For thresholds so low that the curve cannot reach them with the
//! available slots. They are refused with an error that names the lowest possible threshold.
//!
//! **Sources.** Indyk, Motwani: *Approximate nearest neighbors* (1998). Leskovec, Rajaraman,
//! Ullman: *Mining of massive datasets*, section 3.4. Horvitz, Thompson: *A generalization of
//! sampling without replacement from a finite universe* (1952).

mod choice;
mod missed;

use crate::error::{Error, Result};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::similarity::MinHash;

/// A way to cut signatures into bands; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::similarity::Bands;
///
/// let bands = Bands::for_threshold(0.8, 128)?;
/// assert_eq!((bands.bands(), bands.rows()), (16, 6));
/// assert!(bands.probability(0.8) > 0.99);        // what matters is found,
/// assert!(bands.probability(0.3) < 0.02);        // and little else is looked at
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bands {
    bands: u32,
    rows: u32,
}

// ---- construction ----

impl Bands {
    /// Creates `bands` bands of `rows` slots each.
    ///
    /// # Errors
    /// If either number is 0, or if together they need more slots than any signature has.
    pub fn new(bands: u32, rows: u32) -> Result<Self> {
        let most = *MinHash::SIZES.end();
        for (name, value) in [("bands", bands), ("rows", rows)] {
            if !(1..=most).contains(&value) {
                return Err(Error::parameter(name, format_args!("1 to {most}"), value));
            }
        }
        let slots = u64::from(bands) * u64::from(rows);
        if slots > u64::from(most) {
            let allowed = format_args!("at most {most} slots in all").to_string();
            return Err(Error::parameter("bands", allowed, format_args!("{bands} × {rows} = {slots}")));
        }
        Ok(Self { bands, rows })
    }
}

// ---- query ----

impl Bands {
    /// The number of bands, which is the number of chances a pair has to meet.
    pub fn bands(self) -> u32 {
        self.bands
    }

    /// The number of slots in a band, which all have to be equal for the band to be equal.
    pub fn rows(self) -> u32 {
        self.rows
    }

    /// The number of slots of a signature that are used: bands times rows.
    pub fn slots(self) -> u32 {
        self.bands * self.rows
    }

    /// Returns the probability that a pair of the given similarity meets: `1 − (1 − J^r)^b`.
    ///
    /// ```
    /// let bands = crivo::similarity::Bands::new(20, 5)?;
    /// assert!((bands.probability(0.8) - 0.9996).abs() < 1e-4);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn probability(self, similarity: f64) -> f64 {
        curve(similarity, self.bands.into(), self.rows.into())
    }

    /// Returns the similarity at which the curve is about steepest: `(1/b)^(1/r)`. Pairs of this
    /// similarity meet with probability `1 − (1 − 1/b)^b`, about 0.63.
    pub fn approximate_threshold(self) -> f64 {
        libm::pow(1.0 / f64::from(self.bands), 1.0 / f64::from(self.rows))
    }
}

/// Returns the probability to meet, also for numbers of bands that are not whole.
fn curve(similarity: f64, bands: f64, rows: f64) -> f64 {
    let band_equal = libm::pow(similarity.clamp(0.0, 1.0), rows);
    -libm::expm1(bands * libm::log1p(-band_equal))
}

// ---- keys ----

impl Bands {
    /// Replaces the contents of `keys` by one number for each band of a signature. The numbers are
    /// equal for signatures that are equal in all rows of the band, and otherwise equal only with
    /// probability 2^−64. The number of the band is mixed in, so that the keys of all bands can
    /// share a table. These values never change, so they may be stored.
    ///
    /// # Errors
    /// If there are fewer slots than the bands use, as in the sketch of an empty set. Then `keys`
    /// is unchanged.
    ///
    /// ```
    /// use crivo::similarity::{Bands, MinHash};
    ///
    /// let (bands, mut film, mut keys) = (Bands::new(16, 8)?, MinHash::new(128)?, Vec::new());
    /// assert!(bands.keys(film.slots(), &mut keys).is_err());      // nothing in it yet
    /// film.insert("comedy")?;
    /// bands.keys(film.slots(), &mut keys)?;
    /// assert_eq!(keys.len(), 16);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn keys(self, slots: &[u64], keys: &mut Vec<u64>) -> Result<()> {
        let Some(used) = slots.get(..self.slots() as usize) else {
            return Err(self.too_few(slots.len()));
        };
        keys.clear();
        keys.extend(
            used.chunks_exact(self.rows as usize).enumerate().map(|(band, rows)| band_key(band as u64, rows)),
        );
        Ok(())
    }

    #[cold]
    fn too_few(self, found: usize) -> Error {
        Error::incompatible(
            "slots",
            format_args!("at least {} ({} bands of {} rows)", self.slots(), self.bands, self.rows),
            found,
            "an empty set has no slots; otherwise use fewer bands or a larger k",
        )
    }
}

/// Two constants without structure of their own: digits of π, made odd.
const MULTIPLIERS: [u64; 2] = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7345];

/// Mixes a word: the XOR of both halves of a product. Each half depends on every bit of the word,
/// and together they lose almost no information.
#[inline(always)]
fn fold(word: u64, multiplier: u64) -> u64 {
    let product = u128::from(word) * u128::from(multiplier);
    (product >> 64) as u64 ^ product as u64
}

#[inline]
fn band_key(band: u64, rows: &[u64]) -> u64 {
    let start = MULTIPLIERS[1].wrapping_mul(band + 1);
    let all = rows.iter().fold(start, |mixed, &slot| fold(mixed ^ slot, MULTIPLIERS[0]).wrapping_add(slot));
    fold(all, MULTIPLIERS[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::min_hash::sign;

    #[test]
    fn zeros_and_too_many_slots_are_refused() {
        for (bands, rows, field) in
            [(0, 5, "bands"), (5, 0, "rows"), (40_000, 1, "bands"), (1, u32::MAX, "rows")]
        {
            assert_eq!(Bands::new(bands, rows).unwrap_err().field(), field);
        }
        let error = Bands::new(200, 200).unwrap_err();
        assert_eq!(error.to_string(), "bands: expected at most 32767 slots in all, found 200 × 200 = 40000");
        assert_eq!(Bands::new(32_767, 1).map(Bands::slots), Ok(32_767));
    }

    #[test]
    fn the_curve_is_its_formula() {
        for (b, r) in [(1, 1), (20, 5), (16, 8), (9, 13)] {
            let bands = Bands::new(b, r).unwrap();
            for percent in 0..=100 {
                let j = f64::from(percent) / 100.0;
                let expected = 1.0 - (1.0 - j.powi(r as i32)).powi(b as i32);
                assert!((bands.probability(j) - expected).abs() < 1e-12, "{b} × {r} at {j}");
            }
            assert_eq!((bands.probability(-1.0), bands.probability(2.0)), (0.0, 1.0));
        }
        // A case where computing 1 − (1 − x) would leave no digit.
        let tiny = Bands::new(10, 10).unwrap().probability(1e-3);
        assert!((tiny / 1e-29 - 1.0).abs() < 1e-9, "{tiny}");
    }

    #[test]
    fn keys_are_equal_exactly_where_bands_are() {
        let (mut first, mut second) = ([0; 400], [0; 400]);
        sign(&(0..500).collect::<Vec<_>>(), &mut first).unwrap();
        sign(&(30..530).collect::<Vec<_>>(), &mut second).unwrap();
        for (b, r) in [(400, 1), (133, 3), (50, 8), (1, 400)] {
            let bands = Bands::new(b, r).unwrap();
            let [mut keys, mut others] = [vec![7], vec![]];
            bands.keys(&first, &mut keys).unwrap();
            bands.keys(&second, &mut others).unwrap();
            assert_eq!(keys.len(), b as usize);
            for (band, (key, other)) in keys.iter().zip(&others).enumerate() {
                let rows = band * r as usize..(band + 1) * r as usize;
                assert_eq!(key == other, first[rows.clone()] == second[rows], "band {band} of {b}");
            }
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), b as usize, "bands of one signature have different keys");
        }
    }

    /// The keys keep their values, because they may be stored. Equal slots in different bands have
    /// different keys.
    #[test]
    fn keys_never_change() {
        let mut keys = Vec::new();
        Bands::new(3, 2).unwrap().keys(&[0, 0, 0, 0, 1, u64::MAX, 9], &mut keys).unwrap();
        assert_eq!(keys, [0x0D8A_0641_84F9_2C97, 0xF5A9_1BCE_62EF_88BF, 0x7CDC_31E2_4EE8_D74D]);
    }

    #[test]
    fn too_few_slots_are_refused() {
        let mut keys = vec![5];
        let error = Bands::new(16, 8).unwrap().keys(&[0; 127], &mut keys).unwrap_err();
        assert_eq!((error.field(), error.found()), ("slots", "127"));
        assert_eq!(keys, [5], "unchanged");
    }
}
