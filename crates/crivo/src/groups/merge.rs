//! The merge of two containers.

use super::kind::{GroupKind, payload_of};
use super::{Content, Groups, add_hashes, begin, make_sketch};
use crate::error::Result;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::Merge;
use crate::window::Pane;

impl<S: Pane> Groups<S> {
    /// Merges `other` into this container, which then holds both streams. Groups with the same key
    /// are merged, and the other groups are copied.
    ///
    /// # Errors
    /// If the keys of groups have different numbers of fields, if the empty sketches do not merge, or
    /// if there would be 2^32 groups; the container is unchanged then. Also if the sketches of a
    /// group do not merge although empty ones do; some groups are merged then, and others are not.
    ///
    /// ```
    /// use crivo::{distinct::HyperLogLog, groups::Groups};
    /// let mut monday = Groups::new(HyperLogLog::new(12)?, 1)?;
    /// let mut tuesday = monday.clone();
    /// monday.insert(b"/", "ana")?;
    /// tuesday.insert(b"/", "rui")?;
    /// tuesday.insert(b"/help", "rui")?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.get(b"/").map(|sketch| sketch.estimate().value()), Some(2.0));
    /// assert_eq!(monday.len(), 2);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let kind = self.kind.merged(&other.kind)?;
        self.require_room(0, other.len())?;
        // Two sketches of different sizes may merge to the smaller size. Then all groups need that
        // size.
        if kind.empty() != self.kind.empty() {
            self.refit(kind)?;
        }
        let same_kind = self.kind.empty() == other.kind.empty();
        for (number, theirs) in other.table.entries.iter().enumerate() {
            let key = other.table.key(number);
            let Self { kind, table, blocks, sketch_bytes, .. } = self;
            let Some(mine) = table.find(theirs.hash, key) else {
                let value = match &theirs.value {
                    Content::Stored(payload) if same_kind => {
                        *sketch_bytes += payload.len();
                        Content::Stored(payload.clone())
                    }
                    _ => begin(kind, blocks, sketch_bytes),
                };
                let is_whole = matches!(value, Content::Stored(_));
                let added = table.add(theirs.hash, key, value);
                if !is_whole {
                    self.merge_content(added, other, number)?;
                }
                continue;
            };
            self.merge_content(mine, other, number)?;
        }
        Ok(())
    }

    /// Merges one group of another container into one group of this container.
    fn merge_content(&mut self, mine: u32, other: &Self, theirs: usize) -> Result<()> {
        let Self { kind, table, blocks, sketch_bytes, .. } = self;
        let value = &mut table.entries[mine as usize].value;
        let theirs = match &other.table.entries[theirs].value {
            Content::Few(few) => {
                return add_hashes(value, other.blocks.hashes(*few), kind, blocks, sketch_bytes);
            }
            Content::Sketch(_) | Content::Stored(_) => other.content(theirs).into_sketch(&other.kind),
        };
        let stays_stored = matches!(value, Content::Stored(_));
        let sketch = make_sketch(value, kind, blocks, sketch_bytes)?;
        let before = sketch.memory();
        Merge::merge(sketch, &theirs)?;
        let mut after = sketch.memory();
        if stays_stored {
            let payload: Box<[u8]> = payload_of(&sketch.to_bytes()).into();
            after = payload.len();
            *value = Content::Stored(payload);
        }
        *sketch_bytes = sketch_bytes.saturating_sub(before) + after;
        Ok(())
    }

    /// Gives the container another kind, and merges each sketch with that kind's empty sketch.
    fn refit(&mut self, kind: GroupKind<S>) -> Result<()> {
        for number in 0..self.len() as u32 {
            let value = self.table.entries.get(number as usize).map(|entry| &entry.value);
            if matches!(value, Some(Content::Sketch(_) | Content::Stored(_))) {
                self.update_at(number, |sketch| Merge::merge(sketch, kind.empty()))?;
            }
        }
        self.kind = kind;
        Ok(())
    }
}

impl<S: Pane> Merge for Groups<S> {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.kind.reseed(part);
    }
}
