//! Two filters at once: joining, subtracting, intersecting and comparing.

use super::CountingBloom;
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::{Confidence, Estimate};

impl CountingBloom {
    /// Merges `other` into this filter, which then is the filter of both streams, bit for bit.
    /// Counters are added, up to saturation.
    ///
    /// # Errors
    /// If sizes, capacity or scheme differ; the filter is unchanged then.
    ///
    /// ```
    /// use crivo::membership::{CounterBits, CountingBloom};
    /// let mut monday = CountingBloom::for_items(1000, 0.01, CounterBits::Four)?;
    /// let mut tuesday = monday.clone();
    /// monday.insert("ana")?;
    /// tuesday.add("ana", 2)?;
    /// tuesday.insert("rui")?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.count("ana")?.value(), 3.0);
    /// monday.subtract(&tuesday)?;
    /// assert!(monday.contains("ana")? && !monday.contains("rui")?);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.require_same(other)?;
        let largest = self.counter_bits().largest();
        self.counters.combine(&other.counters, |mine, theirs| (mine + theirs).min(largest));
        Ok(())
    }

    /// Removes the keys of the other filter. If all of them were in this filter, and no counter is
    /// saturated, the result is the filter of the remaining keys, bit for bit. Saturated counters
    /// do not change.
    ///
    /// # Errors
    /// If one of the other filter's counters is higher than this filter's ([`ErrorKind::Absent`]),
    /// because then the other filter certainly holds a key that this one does not hold as often.
    /// Also if sizes, capacity or scheme differ. The filter is unchanged then. As with
    /// [`remove`](Self::remove), not every wrong removal can be detected.
    pub fn subtract(&mut self, other: &Self) -> Result<()> {
        self.require_same(other)?;
        let largest = self.counter_bits().largest();
        let pairs = self.counters.values().zip(other.counters.values());
        let beyond = pairs.zip(0_u64..).find(|&((mine, theirs), _)| mine < theirs && mine < largest);
        if let Some(((mine, theirs), cell)) = beyond {
            return Err(Error::new(
                ErrorKind::Absent,
                "counters",
                format_args!("at most {mine} in cell {cell}"),
                theirs,
                "only a filter all of whose items are in this one can be subtracted",
            ));
        }
        self.counters.combine(&other.counters, |mine, theirs| {
            if mine == largest { mine } else { mine.saturating_sub(theirs) }
        });
        Ok(())
    }

    /// Returns the filter of the lower counter of each pair, for study.
    ///
    /// Every key that is in both filters is found in the result, with at least the lower of its two
    /// counts. More other keys are found than in a filter built from the shared keys: a cell that
    /// different keys use in the two filters stays in use. So the false-positive rate follows from
    /// the fill as usual, but [`items`](Self::items) counts those cells too.
    /// [`intersection`](Self::intersection) estimates the number of keys in both.
    ///
    /// # Errors
    /// If sizes, capacity or scheme differ.
    pub fn shared_cells(&self, other: &Self) -> Result<Self> {
        self.require_same(other)?;
        let mut shared = self.clone();
        shared.counters.combine(&other.counters, u64::min);
        Ok(shared)
    }

    /// Returns how many different items are in both filters, with bounds at 95 %.
    ///
    /// # Errors
    /// If sizes, capacity or scheme differ.
    pub fn shared_items(&self, other: &Self) -> Result<Estimate> {
        self.shared_items_at(other, Confidence::P95)
    }

    /// Returns how many different items are in both filters, with bounds at the given confidence.
    /// It is estimated from the cells that are empty in each filter, and in both.
    ///
    /// # Errors
    /// If sizes, capacity or scheme differ.
    pub fn shared_items_at(&self, other: &Self, confidence: Confidence) -> Result<Estimate> {
        self.require_same(other)?;
        let [mine, theirs] = [self, other].map(|filter| filter.cells() - filter.counters.tally().in_use);
        let union = self.counters.empty_in_both(&other.counters);
        Ok(self.occupancy().shared_items(mine, theirs, union, confidence))
    }

    fn require_same(&self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        let sizes = |filter: &Self| {
            [
                ("cells", filter.cells()),
                ("hashes", filter.hashes.into()),
                ("counter bits", filter.counter_bits().bits().into()),
                ("capacity", filter.capacity),
            ]
        };
        match sizes(self).into_iter().zip(sizes(other)).find(|(mine, theirs)| mine != theirs) {
            None => Ok(()),
            Some(((field, mine), (_, theirs))) => {
                Err(Error::incompatible(field, mine, theirs, "build both in the same way"))
            }
        }
    }
}
