//! The whole search for near-duplicates, stage by stage.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crivo::similarity::Bands;

use crate::blocks::{BlockSize, Blocks};
use crate::budget::Budget;
use crate::candidates::{Candidates, PairKey, candidates, members_of, pair_partition};
use crate::containment::{self, Members, Probes};
use crate::contents::{Twins, first_with_content};
use crate::crowd::{self, Crowd};
use crate::error::{Error, Result};
use crate::gather::{Known, gather, gather_kept, gather_signatures};
use crate::kept_sets::KeptSets;
use crate::outcome::{FoundPair, Meeting, Outcome, OutcomeCounts, PairTally, largest_listed};
use crate::parallel::deal;
use crate::places::Places;
use crate::segments::Segments;
use crate::settings::{Measure, Settings};
use crate::sign::{Signed, SigningSpills, sign_all};
use crate::source::{Documents, Shingled, Source};
use crate::spill::{Order, PARTITIONS, Partitions, Spill, Writer};
use crate::stages::{Paired, load_sets, save_sets};
use crate::verify::{BlockTally, Compared, Comparison, Found};
use crate::work::{FoundLog, PAIRS_OF_A_FRAME, Work};

/// The stages of a search, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading and signing all members.
    Signing,
    /// Finding the members that share a band key.
    Pairing,
    /// Reading the candidates again and collecting their sets.
    Gathering,
    /// Comparing the candidates.
    Comparing,
}

/// Watches the progress of a search, and may stop it.
pub trait Watch: Sync {
    /// Called when a stage begins.
    fn begin(&self, stage: Stage);

    /// Called when `done` of `total` parts of a stage are done. Only stages that read no documents
    /// call it.
    fn advance(&self, stage: Stage, done: u64, total: u64) {
        let _ = (stage, done, total);
    }

    /// Returns true if the search should stop.
    fn stopped(&self) -> bool;
}

/// A watcher that does nothing.
impl Watch for () {
    fn begin(&self, _: Stage) {}

    fn stopped(&self) -> bool {
        false
    }
}

/// Finds the near-duplicates among texts.
///
/// # Errors
/// If settings are out of range, documents cannot be read or change between two readings, there are
/// more documents than the memory allows, or a temporary file cannot be written.
pub fn near_duplicates(
    documents: &impl Documents,
    settings: &Settings,
    watch: &dyn Watch,
) -> Result<Outcome> {
    let source = Shingled::new(documents, &settings.shingles, settings.seed, settings.nfc);
    similar_sets(&source, settings, watch)
}

/// Finds similar sets: users by their films, photographs by their features.
///
/// # Errors
/// The errors of [`near_duplicates`].
pub fn similar_sets(source: &impl Source, settings: &Settings, watch: &dyn Watch) -> Result<Outcome> {
    let search = Search {
        settings,
        bands: settings.bands()?,
        budget: Budget::new(settings.memory, settings.thread_count()),
        watch,
        work: match &settings.work {
            Some(folder) => Some(Work::open(folder, &settings.identity()?)?),
            None => None,
        },
    };
    search.run(source)
}

/// The data that all stages share.
struct Search<'a> {
    settings: &'a Settings,
    bands: Bands,
    budget: Budget,
    watch: &'a dyn Watch,
    work: Option<Work>,
}

impl Search<'_> {
    /// Runs the stages that no earlier run in the same work folder has finished.
    fn run(&self, source: &impl Source) -> Result<Outcome> {
        let work = self.work.as_ref();
        let mut paired = if let Some(paired) = work.map(Paired::load).transpose()?.flatten() {
            paired
        } else {
            let signed = match work.map(Signed::load).transpose()?.flatten() {
                Some(signed) => signed,
                None => self.sign(source)?,
            };
            self.pair(signed)?
        };
        let sets = match work.map(load_sets).transpose()?.flatten() {
            Some(sets) => sets,
            None => self.gather(source, &mut paired)?,
        };
        self.begin(Stage::Comparing)?;
        self.compare(paired, &sets)
    }

    /// Returns a new spill, which is in the work folder if there is one.
    fn spill(&self, name: &str) -> Arc<Spill> {
        self.work.as_ref().map_or_else(Arc::default, |work| work.spill(name))
    }

    fn begin(&self, stage: Stage) -> Result<()> {
        self.watch.begin(stage);
        self.check_stop()
    }

    fn check_stop(&self) -> Result<()> {
        if self.watch.stopped() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn threads(&self) -> usize {
        self.settings.thread_count()
    }

    /// Returns the number of bytes for buffers beside the members.
    fn room(&self, places: &Places) -> u64 {
        self.budget.room(places.len().into(), places.bytes())
    }

    fn sign(&self, source: &impl Source) -> Result<Signed> {
        self.begin(Stage::Signing)?;
        let spills = SigningSpills {
            keys: self.spill("keys.spill"),
            prints: self.spill("prints.spill"),
            signatures: self.spill("signatures.spill"),
        };
        let mut signed = sign_all(source, self.settings, self.bands, self.budget, &spills)?;
        self.work.as_ref().map_or(Ok(()), |work| signed.save(work))?;
        Ok(signed)
    }

    fn pair(&self, signed: Signed) -> Result<Paired> {
        self.begin(Stage::Pairing)?;
        let Signed { places, lengths, sizes, too_short, keys, prints, signatures, kept } = signed;
        let mut spilled = keys.spill().bytes() + prints.spill().bytes() + signatures.spill().bytes();
        let kept_bytes = kept.as_ref().map_or(0, KeptSets::bytes);
        let room = self.room(&places).saturating_sub(kept_bytes);
        let each = self.budget.each(room / 2);
        let twins = Twins::new(first_with_content(&prints, &places, self.threads(), each)?);
        drop(prints);
        let advance = |done| {
            self.watch.advance(Stage::Pairing, done, keys.count() as u64);
            self.check_stop()
        };
        let spill = Arc::default();
        let found = match self.settings.measure {
            Measure::Jaccard => {
                candidates(&keys, &places, &twins, self.settings, room / 2, &spill, &advance)?
            }
            Measure::Containment => {
                let members = Members { places: &places, twins: &twins, lengths: &lengths };
                containment::candidates(&keys, &members, self.settings, room / 2, &spill, &advance)?
            }
        };
        drop(keys);
        spilled += found.pairs.spill().bytes();
        let Candidates { pairs, roots, crowded } = found;
        let size = BlockSize {
            most: self.budget.each(room) / 6,
            wanted: if self.threads() > 1 { 8 * self.threads() as u64 } else { 1 },
        };
        let blocks = Blocks::pack(roots, &twins, &sizes, size);
        let (by_block, samples, crowds) = self.distribute(&pairs, &crowded, &blocks, &twins, room)?;
        spilled += by_block.spill().bytes();
        let mut paired = Paired {
            places,
            lengths,
            sizes,
            too_short,
            twins,
            blocks,
            pairs: by_block,
            samples,
            crowds,
            signatures,
            kept,
            spilled,
        };
        self.work.as_ref().map_or(Ok(()), |work| paired.save(work))?;
        Ok(paired)
    }

    /// Writes each candidate once to the partition of its block, and draws pairs from crowds.
    #[allow(clippy::type_complexity)] // three results, named where they are taken apart
    fn distribute(
        &self,
        pairs: &Partitions<PairKey>,
        crowded: &[u32],
        blocks: &Blocks,
        twins: &Twins,
        room: u64,
    ) -> Result<(Partitions<PairKey>, Partitions<PairKey>, Vec<Crowd>)> {
        let count = blocks.count();
        let block_of = |pair| blocks.of(members_of(pair).0).map(|block| block as usize);
        let spill = self.spill("pairs.spill");
        let each = self.budget.each(room / 8);
        let make = || (Writer::new(&spill, count, each, Order::Any), Vec::new());
        let writers = deal(self.threads(), pairs.count(), make, |(writer, buffer), partition| {
            let mut last = None;
            pairs.for_each_sorted(partition, each, buffer, |pair| {
                if last.replace(pair) != Some(pair)
                    && let Some(block) = block_of(pair)
                {
                    writer.push(block, pair)?;
                }
                Ok(())
            })
        })?;
        let writers = writers.into_iter().map(|(writer, _)| writer).collect();
        let mut samples = Writer::new(&self.spill("samples.spill"), count, room / 16, Order::Any);
        let crowds = crowd::draw(crowded, blocks, twins, |pair| match block_of(pair) {
            Some(block) => samples.push(block, pair),
            None => Ok(()),
        })?;
        Ok((Partitions::new(count, writers), Partitions::new(count, vec![samples]), crowds))
    }

    fn gather(&self, source: &impl Source, paired: &mut Paired) -> Result<Segments> {
        self.begin(Stage::Gathering)?;
        let kept = paired.kept.take();
        let Paired { places, twins, sizes, blocks, .. } = &*paired;
        let known = Known { places, twins, sizes, blocks };
        let each = self.budget.each(self.room(places) / 3);
        let spill = self.spill("sets.spill");
        let mut sets = if blocks.count() == 0 {
            Segments::new(0, Vec::new())
        } else if self.settings.fast {
            gather_signatures(&paired.signatures, &known, self.threads(), each, &spill)?
        } else if let Some(kept) = kept {
            gather_kept(kept, &known, self.threads())?
        } else {
            gather(source, &known, each, &spill)?
        };
        self.work.as_ref().map_or(Ok(()), |work| save_sets(&mut sets, work))?;
        Ok(sets)
    }

    fn compare(&self, mut paired: Paired, sets: &Segments) -> Result<Outcome> {
        let mut sizes = std::mem::take(&mut paired.sizes);
        if self.settings.measure == Measure::Jaccard {
            // The next steps need the memory, and only probes need the sizes.
            sizes = Vec::new();
        }
        let room = self.room(&paired.places);
        let comparison = Comparison {
            blocks: &paired.blocks,
            sets,
            pairs: &paired.pairs,
            samples: &paired.samples,
            crowds: &paired.crowds,
            threshold: self.settings.threshold,
            compared: match self.settings.measure {
                Measure::Containment => Compared::ShorterSet(&paired.lengths),
                Measure::Jaccard if self.settings.fast => Compared::Signatures(self.settings.hashes),
                Measure::Jaccard => Compared::Sets,
            },
        };
        let members = paired.places.len();
        let spill: Arc<Spill> = Arc::default();
        let each = self.budget.each(room / 8);
        let new_thread = || FindingThread {
            found: Writer::new(&spill, PARTITIONS, each, Order::Sorted),
            unlogged: Vec::new(),
            compared: 0,
            alike: vec![0; paired.crowds.len()],
            members,
        };
        let mut earlier = new_thread();
        let opened = self
            .work
            .as_ref()
            .map(|work| FoundLog::open(&work.path("found.log"), |pairs| earlier.take(pairs)));
        let (log, done) = opened.transpose()?.map_or((None, HashMap::new()), |(log, done)| (Some(log), done));
        done.values().try_for_each(|tally| earlier.count(tally))?;
        let count = paired.blocks.count();
        let compared = AtomicU64::new(done.len() as u64);
        let mut threads = deal(self.threads(), count, new_thread, |thread, block| {
            let block = block as u32;
            if done.contains_key(&block) {
                return Ok(());
            }
            self.check_stop()?;
            let tally = comparison.compare_block(block, |found| thread.find(found, block, log.as_ref()))?;
            thread.finish_block(block, &tally, log.as_ref())?;
            let compared = compared.fetch_add(1, Ordering::Relaxed) + 1;
            self.watch.advance(Stage::Comparing, compared, count as u64);
            Ok(())
        })?;
        threads.push(earlier);
        let mut crowds = std::mem::take(&mut paired.crowds);
        let (mut compared, mut writers) = (0_u64, Vec::new());
        for thread in threads {
            compared = sum_of_work(compared, thread.compared)?;
            for (crowd, &alike) in crowds.iter_mut().zip(&thread.alike) {
                crowd.alike = sum_of_work(crowd.alike, alike)?;
                if crowd.alike > crowd.drawn {
                    return Err(Error::Changed);
                }
            }
            writers.push(thread.found);
        }
        let found: Partitions<FoundPair> = Partitions::new(PARTITIONS, writers);
        let spilled = sum_of_work(paired.spilled, sets.spill().bytes() + found.spill().bytes())?;
        let largest_listed = largest_listed(self.settings.all_pairs);
        let tally = PairTally {
            twins: &paired.twins,
            roots: paired.blocks.roots(),
            crowds: &crowds,
            meeting: match self.settings.measure {
                Measure::Jaccard => Meeting::Bands(self.bands),
                Measure::Containment => Meeting::Probes {
                    probes: Probes::for_threshold(self.settings.threshold),
                    lengths: &paired.lengths,
                    sizes: &sizes,
                },
            },
            threshold: self.settings.threshold,
            largest_listed,
        };
        let (pairs, expected_missed, not_listed) = tally.count(&found, self.settings.memory / 8)?;
        Ok(Outcome {
            places: paired.places,
            lengths: paired.lengths,
            twins: paired.twins,
            found,
            memory: self.settings.memory,
            too_short: paired.too_short,
            bands: self.bands,
            measure: self.settings.measure,
            largest_listed,
            counts: OutcomeCounts { pairs, compared, spilled, expected_missed, not_listed },
        })
    }
}

/// Returns the sum of two counts. They may come from a damaged work folder, so an overflow is an
/// error.
fn sum_of_work(one: u64, other: u64) -> Result<u64> {
    one.checked_add(other).ok_or(Error::Changed)
}

/// The pairs that one thread has found.
struct FindingThread {
    found: Writer<FoundPair>,
    /// The pairs of the current block that are not in the log yet.
    unlogged: Vec<FoundPair>,
    compared: u64,
    /// For each crowd, the number of drawn pairs that are near-duplicates.
    alike: Vec<u64>,
    members: u32,
}

impl FindingThread {
    /// Stores pairs. Returns an error if a member does not exist, because the work folder is
    /// damaged.
    fn take(&mut self, pairs: &[FoundPair]) -> Result<()> {
        pairs.iter().try_for_each(|&pair| {
            let (one, other) = members_of(pair.0);
            if one.max(other) >= self.members {
                return Err(Error::Changed);
            }
            self.found.push(pair_partition(pair.0, self.members), pair)
        })
    }

    fn count(&mut self, tally: &BlockTally) -> Result<()> {
        self.compared = sum_of_work(self.compared, tally.compared)?;
        for &(crowd, more) in &tally.alike {
            if let Some(alike) = self.alike.get_mut(crowd as usize) {
                *alike = sum_of_work(*alike, more)?;
            }
        }
        Ok(())
    }

    fn find(&mut self, found: Found, block: u32, log: Option<&FoundLog>) -> Result<()> {
        let pair = (found.pair, found.similarity.to_bits());
        if let Some(log) = log {
            self.unlogged.push(pair);
            if self.unlogged.len() >= PAIRS_OF_A_FRAME {
                log.append(block, &self.unlogged, None)?;
                self.unlogged.clear();
            }
        }
        self.take(&[pair])
    }

    fn finish_block(&mut self, block: u32, tally: &BlockTally, log: Option<&FoundLog>) -> Result<()> {
        self.count(tally)?;
        if let Some(log) = log {
            log.append(block, &self.unlogged, Some(tally))?;
            self.unlogged.clear();
        }
        Ok(())
    }
}
