//! Runs work on several threads, and waits for all of them.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::Result;

/// Returns the number of threads to use: `wanted`, or the number of processors if it is 0.
pub fn thread_count(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    }
}

/// Distributes the task numbers below `tasks` over the threads. Returns the final state of each
/// thread, whose initial state is the result of `make`. After an error no further task is started.
///
/// # Errors
/// One of the errors of `step`.
pub fn deal<S: Send>(
    threads: usize,
    tasks: usize,
    make: impl Fn() -> S + Sync,
    step: impl Fn(&mut S, usize) -> Result<()> + Sync,
) -> Result<Vec<S>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        let mut state = make();
        while !failed.load(Ordering::Relaxed) {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                break;
            }
            if let Err(error) = step(&mut state, task) {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(state)
    };
    on_threads(threads.min(tasks), work).into_iter().collect()
}

/// The least memory that a thread needs: its stack and some state.
const THREAD_MEMORY: usize = 8 << 20;

/// Runs `work` on up to `wanted` threads, including the current one. Returns the result of each
/// thread, in no order.
pub(crate) fn on_threads<T: Send>(wanted: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    let parts = Mutex::new(Vec::new());
    start_threads(wanted, &|| {
        let part = work();
        parts.lock().unwrap_or_else(PoisonError::into_inner).push(part);
    });
    parts.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on up to `wanted` threads. If the system does not start all of them, the others do
/// the work. So `work` must take its tasks from a queue. This function is not generic, because
/// starting threads takes much code that is then compiled only once.
fn start_threads(wanted: usize, work: &(dyn Fn() + Sync)) {
    let usual = thread_count(0);
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        for number in 1..wanted {
            // More threads than processors are started only if there is memory for all of them. A
            // thread that runs out of memory would end the process.
            if number >= usual && Vec::<u8>::new().try_reserve_exact(THREAD_MEMORY * number).is_err() {
                break;
            }
            match std::thread::Builder::new().spawn_scoped(scope, work) {
                Ok(started) => others.push(started),
                Err(_) => break,
            }
        }
        work();
        for other in others {
            other.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once_whatever_the_number_of_threads() {
        for threads in [0, 1, 3, 200] {
            let done = deal(threads, 1000, Vec::new, |done: &mut Vec<usize>, task| {
                done.push(task);
                Ok(())
            });
            let mut done: Vec<usize> = done.unwrap().into_iter().flatten().collect();
            done.sort_unstable();
            assert_eq!(done, (0..1000).collect::<Vec<_>>());
        }
    }
}
