//! Timing that is fair to everyone: contenders take turns, the best round of each counts.

use cpu_time::ThreadTime;

/// How often each contender runs. The least of many rounds is what the code can do; the mean
/// would measure whatever else the machine did.
const ROUNDS: usize = 15;

/// A contender's name and one round of its work.
pub type Contender<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// Nanoseconds of this thread's time for each operation, the best round of each contender.
pub fn nanoseconds_each(operations: usize, contenders: &mut [Contender<'_>]) -> Vec<(&'static str, f64)> {
    let mut best = vec![f64::INFINITY; contenders.len()];
    for _ in 0..ROUNDS {
        for ((_, work), best) in contenders.iter_mut().zip(&mut best) {
            let start = ThreadTime::now();
            work();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    contenders
        .iter()
        .zip(best)
        .map(|((name, _), seconds)| (*name, seconds * 1e9 / operations as f64))
        .collect()
}

/// A contender's name and one round of its work in several phases, whose seconds it returns.
pub type PhasedContender<'a, const PHASES: usize> = (&'static str, Box<dyn FnMut() -> [f64; PHASES] + 'a>);

/// Nanoseconds for each operation of each phase, the best round of each contender.
pub fn nanoseconds_of_phases<const PHASES: usize>(
    rounds: usize,
    operations: usize,
    contenders: &mut [PhasedContender<'_, PHASES>],
) -> [Vec<(&'static str, f64)>; PHASES] {
    let mut best = vec![[f64::INFINITY; PHASES]; contenders.len()];
    for _ in 0..rounds {
        for ((_, work), best) in contenders.iter_mut().zip(&mut best) {
            for (best, seconds) in best.iter_mut().zip(work()) {
                *best = best.min(seconds);
            }
        }
    }
    std::array::from_fn(|phase| {
        let names = contenders.iter().map(|(name, _)| *name);
        names.zip(&best).map(|(name, best)| (name, best[phase] * 1e9 / operations as f64)).collect()
    })
}

/// Seconds of this thread's time.
pub fn seconds(work: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    work();
    start.elapsed().as_secs_f64()
}
