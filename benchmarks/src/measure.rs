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
