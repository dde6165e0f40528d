//! The contents of an index as plain arrays, to rebuild the index in another process.

use super::LshIndex;
use crate::error::{Error, Result};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::similarity::Bands;

/// The sets of an [`LshIndex`], in the order in which they were inserted.
///
/// This is not a file format: a later version may arrange the arrays differently.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LshContents {
    /// The id of each set.
    pub ids: Vec<u64>,
    /// The 16 bits that the index keeps of each slot, `k` of them for each set.
    pub signatures: Vec<u16>,
    /// The bucket of each set in each band: one number a band, set by set.
    pub buckets: Vec<u32>,
}

impl LshIndex {
    /// Returns the sets of the index as plain arrays.
    ///
    /// ```
    /// use crivo::similarity::{LshIndex, MinHash};
    ///
    /// let mut index = LshIndex::for_threshold(0.5, 128)?;
    /// let mut words = MinHash::new(128)?;
    /// words.insert("one")?;
    /// index.insert(7, &words)?;
    /// let again = LshIndex::from_contents(128, index.bands(), index.scheme(), &index.contents())?;
    /// assert_eq!(again.candidates_to(&words)?, [7]);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn contents(&self) -> LshContents {
        let (compacted, moves) = self.ids.compacted();
        let (k, bands) = (self.k as usize, self.buckets.len());
        let mut contents = LshContents {
            ids: (0..compacted.len() as u32).filter_map(|number| compacted.id_of(number)).collect(),
            signatures: Vec::with_capacity(compacted.len() * k),
            buckets: vec![0; compacted.len() * bands],
        };
        let moved = |number: u32| moves.get(number as usize).copied().flatten();
        for former in (0..moves.len() as u32).filter(|&former| moved(former).is_some()) {
            contents.signatures.extend_from_slice(self.store.signature(former));
        }
        for (band, buckets) in self.buckets.iter().enumerate() {
            for (key, newest) in buckets.iter() {
                for number in self.store.chain(Some(newest), band).filter_map(moved) {
                    contents.buckets[number as usize * bands + band] = key;
                }
            }
        }
        contents
    }

    /// Builds the index again from the arrays that [`contents`](Self::contents) returned. `k`, the
    /// bands and the scheme must be the same.
    ///
    /// # Errors
    /// If the lengths of the arrays do not fit each other or `k` and the bands, if an id occurs
    /// twice, or if there is no memory.
    pub fn from_contents(k: u32, bands: Bands, scheme: KeyScheme, contents: &LshContents) -> Result<Self> {
        let mut index = Self::with_scheme(k, bands, scheme)?;
        let sets = contents.ids.len();
        let (slots, cut) = (k as usize, bands.bands() as usize);
        let fits = contents.signatures.len() == sets.saturating_mul(slots)
            && contents.buckets.len() == sets.saturating_mul(cut);
        if !fits {
            let found = format!("{} and {}", contents.signatures.len(), contents.buckets.len());
            let expected = format!("{slots} slots and {cut} buckets for each of {sets} sets");
            return Err(Error::parameter("contents", expected, found));
        }
        let rows = contents.signatures.chunks(slots).zip(contents.buckets.chunks(cut));
        for (&id, (signature, buckets)) in contents.ids.iter().zip(rows) {
            if index.ids.number_of(id).is_some() {
                return Err(Error::parameter("id", "one that is not in the index", id));
            }
            let number = index.ids.next_number()?;
            index.store.reserve(number)?;
            index.store.signature_mut(number).copy_from_slice(signature);
            for (band, &key) in buckets.iter().enumerate() {
                let older = index.buckets[band].replace(key, number)?;
                index.store.set_older(number, band, older);
            }
            index.ids.push(Some(id));
        }
        Ok(index)
    }

    /// The largest number of sets in a bucket for which all pairs are listed. Of larger buckets
    /// only the pairs with the smallest id are listed.
    pub fn all_pairs_up_to(&self) -> usize {
        self.all_pairs_up_to
    }
}

#[cfg(test)]
mod tests {
    use super::super::short;
    use super::*;
    use crate::similarity::MinHash;

    fn set(first: u64) -> MinHash {
        let mut sketch = MinHash::with_scheme(64, KeyScheme::integers()).unwrap();
        (first..first + 40).for_each(|item| sketch.insert(&item).unwrap());
        sketch
    }

    #[test]
    fn an_index_comes_back_from_its_contents() {
        let bands = Bands::for_threshold(0.5, 64).unwrap();
        let mut index = LshIndex::with_scheme(64, bands, KeyScheme::integers()).unwrap();
        for id in 0..300 {
            index.insert(id * 3, &set(id * 7)).unwrap();
        }
        for id in (0..300).step_by(4) {
            assert!(index.remove(id * 3));
        }
        let contents = index.contents();
        assert_eq!((contents.ids.len(), contents.ids[0]), (225, 3));
        let again = LshIndex::from_contents(64, bands, KeyScheme::integers(), &contents).unwrap();
        assert_eq!(again.candidates(), index.candidates());
        assert_eq!(again.similars(0.4).unwrap(), index.similars(0.4).unwrap());
        assert_eq!(again.candidates_to(&set(21)).unwrap(), index.candidates_to(&set(21)).unwrap());
        assert_eq!(again.contents(), contents);
        let mut one_band = Vec::new();
        bands.keys(set(7).slots(), &mut one_band).unwrap();
        assert_eq!(contents.buckets[0], short(one_band[0]));
    }

    #[test]
    fn contents_that_do_not_fit_are_refused() {
        let bands = Bands::new(4, 2).unwrap();
        let build = |contents: &LshContents| LshIndex::from_contents(8, bands, KeyScheme::bytes(), contents);
        let whole = LshContents { ids: vec![1, 2], signatures: vec![0; 16], buckets: vec![0; 8] };
        assert_eq!(build(&whole).unwrap().len(), 2);
        for broken in [
            LshContents { ids: vec![1, 1], ..whole.clone() },
            LshContents { ids: vec![1, 2, 3], ..whole.clone() },
            LshContents { signatures: vec![0; 15], ..whole.clone() },
            LshContents { buckets: vec![0; 9], ..whole.clone() },
        ] {
            assert!(build(&broken).is_err(), "{broken:?}");
        }
    }
}
