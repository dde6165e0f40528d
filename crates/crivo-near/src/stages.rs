//! The results of stages, and how they are stored in a work folder.

use std::sync::Arc;

use crate::blocks::Blocks;
use crate::candidates::PairKey;
use crate::contents::Twins;
use crate::crowd::Crowd;
use crate::error::Result;
use crate::kept_sets::KeptSets;
use crate::places::{PlaceRun, Places};
use crate::segments::Segments;
use crate::sign::Signed;
use crate::spill::{Extent, Partitions, Record, Spill};
use crate::work::{StageReader, StageWriter, Work};

/// The result of pairing.
pub(crate) struct Paired {
    pub(crate) places: Places,
    pub(crate) lengths: Vec<u32>,
    pub(crate) sizes: Vec<u32>,
    pub(crate) too_short: u64,
    pub(crate) twins: Twins,
    pub(crate) blocks: Blocks,
    /// The candidates, each once, partitioned by the block of their first member.
    pub(crate) pairs: Partitions<PairKey>,
    /// The pairs drawn from crowds, partitioned in the same way.
    pub(crate) samples: Partitions<PairKey>,
    pub(crate) crowds: Vec<Crowd>,
    pub(crate) signatures: Segments,
    /// The sets, if all of them fit in memory and this run has read them.
    pub(crate) kept: Option<KeptSets>,
    /// The number of bytes that stages up to this one have spilled.
    pub(crate) spilled: u64,
}

impl Signed {
    /// Saves the result of the first reading.
    pub(crate) fn save(&mut self, work: &Work) -> Result<()> {
        self.keys.persist()?;
        self.prints.persist()?;
        self.signatures.persist()?;
        work.save("signed", |to| {
            save_places(&self.places, to)?;
            to.numbers(&self.lengths)?;
            to.numbers(&self.sizes)?;
            to.number(self.too_short)?;
            to.extents(self.keys.spill().bytes(), self.keys.extents())?;
            to.extents(self.prints.spill().bytes(), self.prints.extents())?;
            to.extents(self.signatures.spill().bytes(), self.signatures.extents())
        })
    }

    /// Loads the first reading of an earlier run, if it was finished.
    pub(crate) fn load(work: &Work) -> Result<Option<Self>> {
        work.load("signed", |from| {
            let (places, lengths, sizes) = load_members(from)?;
            Ok(Self {
                places,
                lengths,
                sizes,
                too_short: from.number()?,
                keys: load_partitions(work, "keys.spill", from)?,
                prints: load_partitions(work, "prints.spill", from)?,
                signatures: load_segments(work, "signatures.spill", from)?,
                kept: None,
            })
        })
    }
}

impl Paired {
    /// Saves the candidates, and removes the files of the first reading, which are no longer
    /// needed.
    pub(crate) fn save(&mut self, work: &Work) -> Result<()> {
        self.pairs.persist()?;
        self.samples.persist()?;
        work.remove(&["found.log", "gathered"])?;
        work.save("paired", |to| {
            save_places(&self.places, to)?;
            to.numbers(&self.lengths)?;
            to.numbers(&self.sizes)?;
            to.number(self.too_short)?;
            to.numbers(self.twins.firsts())?;
            self.blocks.save(to)?;
            to.extents(self.pairs.spill().bytes(), self.pairs.extents())?;
            to.extents(self.samples.spill().bytes(), self.samples.extents())?;
            to.number(self.crowds.len() as u64)?;
            for crowd in &self.crowds {
                for number in [crowd.root.into(), crowd.members, crowd.chosen, crowd.drawn, crowd.alike] {
                    to.number(number)?;
                }
            }
            to.extents(self.signatures.spill().bytes(), self.signatures.extents())?;
            to.number(self.spilled)
        })?;
        work.remove(&["signed", "keys.spill", "prints.spill"])
    }

    /// Loads the candidates of an earlier run, if they were all found.
    pub(crate) fn load(work: &Work) -> Result<Option<Self>> {
        work.load("paired", |from| {
            let (places, lengths, sizes) = load_members(from)?;
            let (too_short, firsts) = (from.number()?, from.numbers()?);
            let members = places.len();
            if firsts.len() != members as usize || firsts.iter().any(|&first| first >= members) {
                return Err(from.damaged());
            }
            let (twins, blocks) = (Twins::new(firsts), Blocks::load(from, members)?);
            let pairs = load_partitions(work, "pairs.spill", from)?;
            let samples = load_partitions(work, "samples.spill", from)?;
            let crowds = from.list(40, |from| {
                let (root, size, chosen) = (from.number32()?, from.number()?, from.number()?);
                let (drawn, alike) = (from.number()?, from.number()?);
                if root >= members || size > u64::from(members) || chosen > size || alike > drawn {
                    return Err(from.damaged());
                }
                Ok(Crowd { root, members: size, chosen, drawn, alike })
            })?;
            let signatures = load_segments(work, "signatures.spill", from)?;
            let spilled = from.number()?;
            Ok(Self {
                places,
                lengths,
                sizes,
                too_short,
                twins,
                blocks,
                pairs,
                samples,
                crowds,
                signatures,
                kept: None,
                spilled,
            })
        })
    }
}

/// Saves the sets of the second reading.
pub(crate) fn save_sets(sets: &mut Segments, work: &Work) -> Result<()> {
    sets.persist()?;
    work.save("gathered", |to| to.extents(sets.spill().bytes(), sets.extents()))
}

/// Loads the sets of an earlier run, if they were all gathered.
pub(crate) fn load_sets(work: &Work) -> Result<Option<Segments>> {
    work.load("gathered", |from| load_segments(work, "sets.spill", from))
}

fn save_places(places: &Places, to: &mut StageWriter) -> Result<()> {
    to.number(places.runs().count() as u64)?;
    for run in places.runs() {
        to.number(run.place)?;
        to.number(run.members.into())?;
    }
    Ok(())
}

/// Loads the places of the members, their lengths and the sizes of their sets.
fn load_members(from: &mut StageReader) -> Result<(Places, Vec<u32>, Vec<u32>)> {
    let (places, lengths, sizes) = (load_places(from)?, from.numbers()?, from.numbers()?);
    let members = places.len() as usize;
    if lengths.len() == members && sizes.len() == members {
        Ok((places, lengths, sizes))
    } else {
        Err(from.damaged())
    }
}

fn load_places(from: &mut StageReader) -> Result<Places> {
    let runs = from.list(16, |from| Ok(PlaceRun { place: from.number()?, members: from.number32()? }))?;
    Places::new(runs.into_iter())
}

fn load_spill(work: &Work, name: &str, from: &mut StageReader) -> Result<(Arc<Spill>, Vec<Vec<Extent>>)> {
    let (end, extents) = from.extents()?;
    Ok((Arc::new(Spill::reopened(&work.path(name), end)?), extents))
}

pub(crate) fn load_partitions<R: Record>(
    work: &Work,
    name: &str,
    from: &mut StageReader,
) -> Result<Partitions<R>> {
    load_spill(work, name, from).map(|(spill, extents)| Partitions::reopened(spill, extents))
}

fn load_segments(work: &Work, name: &str, from: &mut StageReader) -> Result<Segments> {
    load_spill(work, name, from).map(|(spill, extents)| Segments::reopened(spill, extents))
}
