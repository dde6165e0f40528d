//! The panes of a sketch that tosses coins toss different ones: the merged counter is as precise as
//! a single one.

use crivo::counting::SampledCounter;
use crivo::window::Panes;

use super::support::generator;

const PANES: u32 = 16;
const EVENTS: u64 = 40;
const TRIALS: u32 = 240_000;
/// How far the measured variance may be from theory, as a share of it.
const MARGIN: f64 = 0.0145;

/// The variance of the value of a counter that is merged from panes, as a share of the binomial
/// `n·p·(1 − p)`. `same` is the mistake: panes that are plain copies of the empty counter.
fn measured(same: bool) -> f64 {
    let mut random = generator("panes");
    let probability = 0.25;
    let events = f64::from(PANES) * EVENTS as f64;
    let mean = events * probability;
    let mut squares = 0.0;
    for _ in 0..TRIALS {
        let empty = SampledCounter::new(probability, random.bits()).unwrap();
        let mut ring = Panes::new(empty.clone(), 10, PANES).unwrap();
        for time in 0..i64::from(PANES) {
            let pane = ring.pane_mut(10 * time, EVENTS).unwrap();
            if same {
                *pane = empty.clone();
            }
            pane.add(EVENTS);
        }
        let merged = ring.merged(10 * i64::from(PANES) - 1).unwrap();
        squares += (merged.value() as f64 - mean).powi(2);
    }
    let ratio = squares / f64::from(TRIALS) / (mean * (1.0 - probability));
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
    {
        println!("| {PANES} | {EVENTS} | {TRIALS} | {same} | {ratio:.4} |");
    }
    ratio
}

/// The relative variance of a measured variance is `(2 + κ)/trials`, and the excess kurtosis
/// `κ = (1 − 6p(1 − p))/(n·p(1 − p))` of this binomial is below 0.
#[test]
fn merged_panes_have_the_variance_of_one_counter() {
    let deviations = MARGIN / (2.0 / f64::from(TRIALS)).sqrt();
    assert!(deviations > 4.892, "a false alarm above 10⁻⁶: {deviations} deviations");
    let ratio = measured(false);
    assert!((ratio - 1.0).abs() <= MARGIN, "{ratio} of theory");
    assert!((1.03 * ratio - 1.0).abs() > MARGIN, "a variance wrong by 3 % would be caught");
    let ratio = measured(true);
    assert!(ratio > 10.0, "equal coins would be noticed: {ratio}");
}
