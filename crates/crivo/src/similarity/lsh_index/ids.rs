//! The numbers that the index gives to sets, and their ids.
//!
//! Sets are numbered in the order of insertion, so that a link takes four bytes whatever the ids
//! are.

use hashbrown::HashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::hash::TableSecret;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Up to this many removed sets the index is not cleaned up.
const FEW: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    /// The id of each number, or `None` for a removed set.
    ids: Vec<Option<u64>>,
    numbers: HashMap<u64, u32, TableSecret>,
}

impl Ids {
    /// Returns the number that the next set will have.
    ///
    /// # Errors
    /// If there is no memory for another set, or if all numbers are taken.
    pub(super) fn next_number(&mut self) -> Result<u32> {
        let room = self.ids.try_reserve(1).is_ok() && self.numbers.try_reserve(1).is_ok();
        // The two largest numbers stay unused: the link `u32::MAX` means that there is no older
        // set.
        match u32::try_from(self.ids.len()) {
            Ok(number) if room && number < u32::MAX - 1 => Ok(number),
            _ => Err(Error::new(
                ErrorKind::OutOfMemory,
                "memory",
                "room for one more set",
                "none",
                "split the sets over several indexes",
            )),
        }
    }

    /// Gives the next number to a set, or leaves that number unused if `id` is `None`.
    pub(super) fn push(&mut self, id: Option<u64>) {
        if let Some(id) = id {
            self.numbers.insert(id, self.ids.len() as u32);
        }
        self.ids.push(id);
    }

    pub(super) fn number_of(&self, id: u64) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// Returns the id of a number, or `None` if the set was removed.
    pub(super) fn id_of(&self, number: u32) -> Option<u64> {
        self.ids.get(number as usize).copied().flatten()
    }

    /// Removes a set. Returns true if it was there.
    pub(super) fn remove(&mut self, id: u64) -> bool {
        match self.numbers.remove(&id).and_then(|number| self.ids.get_mut(number as usize)) {
            Some(removed) => removed.take().is_some(),
            None => false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns true if more numbers are out of use than in use.
    pub(super) fn mostly_removed(&self) -> bool {
        self.ids.len() > 2 * self.numbers.len() + FEW
    }

    /// Returns the same sets numbered without gaps, and for each former number the new one.
    pub(super) fn compacted(&self) -> (Self, Vec<Option<u32>>) {
        let mut compacted = Self::default();
        let moves = self
            .ids
            .iter()
            .map(|&id| {
                id.map(|id| {
                    compacted.push(Some(id));
                    compacted.ids.len() as u32 - 1
                })
            })
            .collect();
        (compacted, moves)
    }

    pub(super) fn memory(&self) -> usize {
        // A standard hash map has one control byte for each place beside the entry.
        self.ids.capacity() * size_of::<Option<u64>>()
            + self.numbers.capacity() * 8 / 7 * (size_of::<(u64, u32)>() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order_of_arrival_and_close_up() {
        let mut ids = Ids::default();
        for id in [70, 10, 40, 20] {
            let number = ids.next_number().unwrap();
            ids.push(Some(id));
            assert_eq!((ids.number_of(id), ids.id_of(number)), (Some(number), Some(id)));
        }
        assert!(ids.remove(10) && !ids.remove(10) && !ids.remove(99));
        assert_eq!((ids.len(), ids.number_of(10), ids.id_of(1)), (3, None, None));
        ids.push(None);
        let (compacted, moves) = ids.compacted();
        assert_eq!(moves, [Some(0), None, Some(1), Some(2), None]);
        assert_eq!((compacted.number_of(40), compacted.id_of(2)), (Some(1), Some(20)));
    }

    #[test]
    fn numbers_that_are_mostly_unused_are_noticed() {
        let mut ids = Ids::default();
        (0..1_000).for_each(|id| ids.push(Some(id)));
        let removed = (0..1_000).take_while(|&id| ids.remove(id) && !ids.mostly_removed()).count();
        assert!((500..600).contains(&removed), "{removed}");
    }
}
