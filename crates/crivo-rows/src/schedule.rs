//! Distributes chunks to threads, which start together, claim work in turn, and stop together.

use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, available_parallelism};

use crate::error::{Error, Result};
use crate::feed::{Chunk, Feed, Work};
use crate::foreign::require_memory;
use crate::ledger::{ChunkLines, Ledger};
use crate::scan::{Counts, Scan};
use crate::worker::{Step, Worker};

/// The memory that a thread needs to read, beside its state.
const THREAD_MEMORY: usize = 24 << 20;

/// The state that the workers of a pass share.
pub(crate) struct Shared<'a> {
    feed: Mutex<Feed<'a>>,
    turn: Condvar,
    ledger: Mutex<Ledger>,
    /// Whether chunks are dealt to the workers in turn. Otherwise the next free worker takes the
    /// next chunk.
    in_turn: bool,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic of a worker ends the whole pass, so data that it had locked is not used again.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Shared<'a> {
    pub(crate) fn new(scan: &'a Scan<'a>) -> Self {
        Self {
            feed: Mutex::new(Feed::new(scan.input, &scan.select, scan.progress, scan.chunk_size)),
            turn: Condvar::new(),
            ledger: Mutex::new(Ledger::new(scan.numbers_rows)),
            in_turn: scan.repeatable,
        }
    }

    /// Returns the next work for this worker, or `None` when the pass is over.
    pub(crate) fn claim(&self, worker: WorkerNumber, chunk: &mut Chunk) -> Option<Work> {
        let mut feed = lock(&self.feed);
        let in_turn = self.in_turn && worker.of > 1;
        while in_turn && !feed.ended && feed.sequence() % worker.of as u64 != worker.number as u64 {
            feed = self.turn.wait(feed).unwrap_or_else(PoisonError::into_inner);
        }
        let (sequence, begins_file) = (feed.sequence(), feed.begins_file());
        let work = feed.next(chunk);
        drop(feed);
        if in_turn {
            self.turn.notify_all();
        }
        work.unwrap_or_else(|error| {
            lock(&self.ledger).fail(sequence, begins_file, error);
            None
        })
    }

    pub(crate) fn finish(&self, work: &Work, lines: u64, rows: u64) {
        lock(&self.ledger).finish(work.sequence, ChunkLines { begins_file: work.begins_file, lines, rows });
    }

    /// Returns the rows before each chunk, if rows are numbered.
    pub(crate) fn take_rows_before(&self) -> Vec<u64> {
        lock(&self.ledger).take_rows_before()
    }

    /// Stops the pass with an error. No more work is handed out.
    pub(crate) fn fail(&self, work: &Work, error: Error) {
        lock(&self.ledger).fail(work.sequence, work.begins_file, error);
        self.stop();
    }

    /// Stops the pass. No more work is handed out.
    pub(crate) fn stop(&self) {
        lock(&self.feed).ended = true;
        self.turn.notify_all();
    }

    /// Reads with one worker until the pass is over. Returns the counts of what it has read.
    pub(crate) fn run_worker(&self, scan: &Scan<'_>, number: WorkerNumber, step: &mut Step<'_>) -> Counts {
        let _guard = OnPanic(|| self.stop());
        let mut worker = Worker::new(scan);
        while let Some(work) = self.claim(number, &mut worker.chunk) {
            let mut rows = 0;
            let ran = worker.run(&work, &mut |batch| {
                rows += batch.records as u64;
                // The filter may have left out all rows.
                if batch.rows() > 0 { step(batch) } else { Ok(()) }
            });
            match ran {
                Ok(lines) => self.finish(&work, lines, rows),
                Err(error) => self.fail(&work, error),
            }
        }
        worker.counts()
    }

    /// Ends the pass after every worker has stopped. Returns the first error, or the counts.
    pub(crate) fn conclude(self, parts: impl Iterator<Item = Counts>) -> Result<(Feed<'a>, Counts)> {
        if let Some(error) = self.ledger.into_inner().unwrap_or_else(PoisonError::into_inner).into_failure() {
            return Err(error);
        }
        let feed = self.feed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut counts =
            Counts { bytes: feed.bytes_read(), truncations: feed.truncations, ..Counts::default() };
        parts.for_each(|part| counts.add(part));
        if counts.rows > 0 && !feed.stopped {
            feed.seen.require_all()?;
        }
        Ok((feed, counts))
    }
}

/// Runs its closure if it is dropped while the thread panics, because other workers must not wait
/// forever for this worker's turn.
pub(crate) struct OnPanic<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0();
        }
    }
}

/// One of the workers of a pass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkerNumber {
    /// The worker's number, from 0.
    pub(crate) number: usize,
    /// The number of workers.
    pub(crate) of: usize,
}

/// Returns the number of threads to use; 0 wanted threads mean one for each processor.
pub fn thread_count(wanted: usize) -> usize {
    if wanted > 0 { wanted } else { processors() }
}

/// Returns how many threads the processors of this machine run at once.
pub(crate) fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Runs `work` on `wanted` threads. This thread is the first of them. Returns the results in the
/// order of the threads' numbers.
pub(crate) fn on_threads<T: Send>(wanted: usize, work: impl Fn(WorkerNumber) -> T + Sync) -> Vec<T> {
    let parts = Mutex::new(Vec::new());
    start_threads(wanted, &|worker| {
        let part = work(worker);
        lock(&parts).push((worker.number, part));
    });
    let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.sort_unstable_by_key(|(number, _)| *number);
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Runs `work` on `wanted` threads. If the system cannot start all of them, the started ones do the
/// work: `work` is called only when their number is known. The code to start threads is large, so
/// it is compiled once for all result types.
fn start_threads(wanted: usize, work: &(dyn Fn(WorkerNumber) + Sync)) {
    if wanted <= 1 {
        return work(WorkerNumber { number: 0, of: 1 });
    }
    let gate = Gate::default();
    let usual = processors();
    std::thread::scope(|scope| {
        let gate = &gate;
        let mut others = Vec::new();
        for number in 1..wanted {
            // More threads than processors are started only if there is memory for all of them. A
            // thread that runs out of memory later would end the process.
            if number >= usual && require_memory(THREAD_MEMORY.saturating_mul(number + 1)).is_err() {
                break;
            }
            let run = move || {
                let of = gate.wait();
                work(WorkerNumber { number, of });
            };
            match Builder::new().spawn_scoped(scope, run) {
                Ok(started) => others.push(started),
                Err(_) => break,
            }
        }
        let of = others.len() + 1;
        gate.open(of);
        work(WorkerNumber { number: 0, of });
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

/// Blocks threads until their number is known.
#[derive(Debug, Default)]
struct Gate {
    threads: Mutex<usize>,
    opened: Condvar,
}

impl Gate {
    fn open(&self, threads: usize) {
        *lock(&self.threads) = threads;
        self.opened.notify_all();
    }

    fn wait(&self) -> usize {
        let mut threads = lock(&self.threads);
        while *threads == 0 {
            threads = self.opened.wait(threads).unwrap_or_else(PoisonError::into_inner);
        }
        *threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_knows_how_many_there_are() {
        let parts = on_threads(4, |worker| (worker.number, worker.of));
        assert_eq!(parts, [(0, 4), (1, 4), (2, 4), (3, 4)]);
        assert_eq!(on_threads(1, |worker| worker.of), [1]);
    }
}
