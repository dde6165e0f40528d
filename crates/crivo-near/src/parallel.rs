//! Work on several threads, without leaving any behind.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::Result;

/// So many threads as are wanted; as many as there are processors for 0.
pub fn thread_count(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    }
}

/// Deals the numbers below `tasks` to the threads, each of which begins with a state of its own, and
/// brings back the states. After an error no further number is dealt.
///
/// # Errors
/// One of those of `step`.
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
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(tasks)).map(|_| scope.spawn(work)).collect();
        let mut states = vec![work()];
        for other in others {
            states.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        states.into_iter().collect()
    })
}
