//! The end of a pass: the groups of all threads and runs are merged, answered and written to one
//! file.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use crivo::groups::{GroupSketch, Groups, GroupsHead};
use crivo::window::Pane;
use crivo_spill::{Extent, Spill};

use crate::answers::{AnswerSorter, Answers};
use crate::error::{Error, Result};
use crate::runs::{PARTS, PIECE, Run, merge_part, part_of};
use crate::worker::{GroupWorker, Grouping, write_run};

/// The bounds on the number of bytes read at once from one part of a run.
const LEAST_STEP: usize = 8 << 10;
const MOST_STEP: usize = 256 << 10;
/// The bounds on the bytes of answers that one part holds in memory.
const LEAST_ANSWERS: usize = 64 << 10;
const MOST_ANSWERS: usize = 16 << 20;

/// The result of a pass over rows with groups.
#[derive(Debug)]
#[non_exhaustive]
pub struct Grouped {
    /// The answers of all groups.
    pub answers: Answers,
    /// The bytes of one file with all groups, if the caller requested it.
    pub file: Option<GroupsFile>,
    /// The number of groups.
    pub groups: u64,
    /// The number of bytes written to the temporary file because they did not fit in memory.
    pub spilled: u64,
}

/// Takes an answer: first the bytes that answers are sorted by, then the answer itself.
pub type Emit<'a> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'a;

/// The bytes of one file with all groups, which are held in the temporary file until they are
/// written.
#[derive(Debug)]
pub struct GroupsFile {
    head: GroupsHead,
    spill: Arc<Spill>,
    pieces: Vec<Extent>,
}

impl GroupsFile {
    /// Writes the file.
    ///
    /// # Errors
    /// If the file cannot be written, or the temporary file cannot be read.
    pub fn write_to(&self, out: &mut (impl Write + ?Sized)) -> Result<()> {
        let mut head = self.head.clone();
        out.write_all(head.bytes()).map_err(Error::caller)?;
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            self.spill.read(*piece, &mut bytes)?;
            head.follow(&bytes);
            out.write_all(&bytes).map_err(Error::caller)?;
        }
        out.write_all(&head.checksum()).map_err(Error::caller)
    }
}

/// Where the groups are stored before they are merged.
enum GroupSource<'a, S: Pane> {
    /// In memory: the groups, and their numbers in the order in which groups are stored.
    Memory(&'a Groups<S>, &'a [u32]),
    Runs(&'a Spill, &'a [Run]),
}

/// The result of one part of the range of hashes.
struct MergedRange {
    answers: AnswerSorter,
    pieces: Vec<Extent>,
    bytes: u64,
    groups: u64,
}

impl<S: Pane + Send + Sync> Grouping<S> {
    /// Merges the groups of all threads. `answer` gets the key and the content of a group and emits
    /// its answers. Each has the bytes that answers are sorted by (as a rule the key) and the
    /// answer itself. `stop` is called once in 256 groups of a part, and ends the work if it
    /// returns true.
    ///
    /// # Errors
    /// The errors of `answer`, a temporary file that cannot be used, sketches that do not merge,
    /// and [`Error::Stopped`].
    pub fn finish(
        &self,
        worker: GroupWorker<S>,
        with_file: bool,
        stop: &(dyn Fn() -> bool + Sync),
        answer: impl Fn(&[u8], &GroupSketch<S>, &mut Emit<'_>) -> Result<()> + Sync,
    ) -> Result<Grouped> {
        let GroupWorker { mut groups, mut runs, others, .. } = worker;
        let held = others.iter().map(Groups::memory).sum::<usize>() + groups.memory();
        if runs.is_empty() && (others.is_empty() || 2 * held <= self.memory) {
            others.iter().try_for_each(|other| groups.merge(other))?;
        } else {
            write_run(&mut groups, &self.spill, &mut runs)?;
            for mut other in others {
                write_run(&mut other, &self.spill, &mut runs)?;
            }
        }
        let spilled = self.spill.bytes();
        let order = groups.sorted();
        let source = if runs.is_empty() {
            GroupSource::Memory(&groups, &order)
        } else {
            GroupSource::Runs(&self.spill, &runs)
        };
        let parts = self.parts(&source, with_file, stop, &answer)?;
        let groups = parts.iter().map(|part| part.groups).sum();
        let bytes = parts.iter().map(|part| part.bytes).sum();
        let file = with_file.then(|| GroupsFile {
            head: GroupsHead::new(self.kind(), groups, bytes),
            spill: Arc::clone(&self.spill),
            pieces: parts.iter().flat_map(|part| part.pieces.iter().copied()).collect(),
        });
        let answers = Answers::new(Arc::clone(&self.spill), parts.into_iter().map(|part| part.answers));
        Ok(Grouped { answers, file, groups, spilled })
    }

    /// Merges all parts, on all threads.
    fn parts(
        &self,
        source: &GroupSource<'_, S>,
        with_file: bool,
        stop: &(dyn Fn() -> bool + Sync),
        answer: &(impl Fn(&[u8], &GroupSketch<S>, &mut Emit<'_>) -> Result<()> + Sync),
    ) -> Result<Vec<MergedRange>> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<Option<Result<MergedRange>>>> = Mutex::new((0..PARTS).map(|_| None).collect());
        let work = || {
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= PARTS {
                    break;
                }
                let finished = self.part(source, part, with_file, stop, answer);
                if finished.is_err() {
                    next.store(PARTS, Ordering::Relaxed);
                }
                done.lock().unwrap_or_else(PoisonError::into_inner)[part] = Some(finished);
            }
        };
        std::thread::scope(|scope| {
            // If the system does not start all threads, those that it started do the work.
            (1..self.threads).for_each(|_| _ = Builder::new().spawn_scoped(scope, work));
            work();
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut parts = Vec::with_capacity(PARTS);
        // After an error some parts were never begun, so the failed ones come first.
        let (failed, others): (Vec<_>, Vec<_>) =
            done.into_iter().flatten().partition(std::result::Result::is_err);
        for part in failed.into_iter().chain(others) {
            parts.push(part?);
        }
        Ok(parts)
    }

    fn part(
        &self,
        source: &GroupSource<'_, S>,
        part: usize,
        with_file: bool,
        stop: &(dyn Fn() -> bool + Sync),
        answer: &(impl Fn(&[u8], &GroupSketch<S>, &mut Emit<'_>) -> Result<()> + Sync),
    ) -> Result<MergedRange> {
        // The answers of a finished part stay in memory, so the limits of all parts add up.
        let limit = (self.memory / 4 / PARTS).clamp(LEAST_ANSWERS, MOST_ANSWERS);
        let mut made =
            MergedRange { answers: AnswerSorter::new(limit), pieces: Vec::new(), bytes: 0, groups: 0 };
        let mut records = Vec::new();
        let mut each = |key: &[u8], group: &GroupSketch<S>| {
            made.groups += 1;
            if made.groups.is_multiple_of(256) && stop() {
                return Err(Error::Stopped);
            }
            answer(key, group, &mut |place, text| made.answers.push(place, text, &self.spill))?;
            if with_file {
                GroupsHead::write_group(key, &group.payload(self.kind()), &mut records);
                if records.len() > PIECE {
                    made.pieces.push(self.spill.append(&records)?);
                    made.bytes += records.len() as u64;
                    records.clear();
                }
            }
            Ok(())
        };
        match source {
            GroupSource::Memory(groups, order) => {
                let part_at = |number: &u32| groups.hash_at(*number).map_or(PARTS, part_of);
                let start = order.partition_point(|number| part_at(number) < part);
                for number in order[start..].iter().take_while(|number| part_at(number) == part) {
                    if let Some((key, group)) = groups.group(*number) {
                        each(key, &group)?;
                    }
                }
            }
            GroupSource::Runs(spill, runs) => {
                let step = self.memory / 4 / self.threads / runs.len().max(1);
                let step = step.clamp(LEAST_STEP, MOST_STEP);
                merge_part(self.kind(), (spill, runs), part, step, each)?;
            }
        }
        made.answers.finish();
        if !records.is_empty() {
            made.pieces.push(self.spill.append(&records)?);
            made.bytes += records.len() as u64;
        }
        Ok(made)
    }
}
