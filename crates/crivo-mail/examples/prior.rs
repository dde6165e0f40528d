//! Measures the prior of the mail filter's calibration: how many log-odds a margin is worth after a
//! few messages.
//!
//! ```console
//! cargo run --release -p crivo-mail --example prior -- FOLDER...
//! ```
//!
//! A folder has mail in `spam` and `ham` below it, one message a file. Balanced draws of 40, 100
//! and 400 messages are learned from each, and the regression is fitted to up to 3,000 others.
//! Draws depend on the messages alone. The last line has the curve through all slopes, `a·n^-b` by
//! least squares of logarithms, and the mean of the intercepts as a share of the slope. Rounded,
//! these are `SLOPE` and `INTERCEPT` in `combine.rs`.

#![expect(clippy::print_stdout, reason = "the measured numbers are what it is run for")]

use std::path::{Path, PathBuf};

use crivo_mail::{Filter, Label, Mail, Message, Method, shipped_prior};

type Failure = Box<dyn std::error::Error>;

const SIZES: [usize; 3] = [40, 100, 400];
const DRAWS: usize = 3;
const ASKED: usize = 3000;

/// Reads the messages of a class, in an order that depends only on the messages.
fn read(folder: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    let mut found: Vec<(u64, Vec<u8>)> = Vec::new();
    for bytes in Mail::of(folder)? {
        let bytes = bytes?;
        found.push((Message::read(&bytes).fingerprint, bytes));
    }
    found.sort();
    found.dedup_by_key(|(fingerprint, _)| *fingerprint);
    Ok(found.into_iter().map(|(_, bytes)| bytes).collect())
}

fn main() -> Result<(), Failure> {
    let folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        return Err("usage: prior FOLDER... (with spam and ham below each)".into());
    }
    let (mut points, mut shares) = (Vec::new(), Vec::new());
    for folder in &folders {
        let (spam, ham) = (read(&folder.join("spam"))?, read(&folder.join("ham"))?);
        for (size, draw) in SIZES.iter().flat_map(|size| (0..DRAWS).map(move |draw| (*size, draw))) {
            let each = size / 2;
            let start = draw * each;
            if spam.len().min(ham.len()) < start + each + each {
                continue;
            }
            let taught = |class: &[Vec<u8>], label: Label| -> Vec<_> {
                class[start..start + each].iter().map(|bytes| Ok((bytes.clone(), label.clone()))).collect()
            };
            let lessons = taught(&spam, Label::Spam).into_iter().chain(taught(&ham, Label::Ham));
            let asked = |class: &[Vec<u8>], is_spam: bool| -> Vec<_> {
                let others = class[..start].iter().chain(&class[start + each..]).take(ASKED / 2);
                others.map(|bytes| Ok((bytes.clone(), is_spam))).collect()
            };
            let questions = asked(&spam, true).into_iter().chain(asked(&ham, false));
            let store = tempfile::tempdir()?;
            Filter::create(store.path(), Method::Default, |new| new.train(lessons))?;
            let found = Filter::open(store.path())?.calibrate(questions)?;
            println!(
                "{} messages={size} draw={draw} slope={:.2} intercept={:.2}",
                folder.display(),
                found.slope,
                found.intercept
            );
            points.push(((size as f64).ln(), found.slope.max(0.1).ln()));
            shares.push(found.intercept / found.slope.max(0.1));
        }
    }
    let mean = |numbers: &mut dyn Iterator<Item = f64>| numbers.sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(&mut points.iter().map(|p| p.0)), mean(&mut points.iter().map(|p| p.1)));
    let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let falls = -covariance / points.iter().map(|p| (p.0 - x) * (p.0 - x)).sum::<f64>();
    let share = mean(&mut shares.iter().copied());
    println!("slope={:.1}*n^-{falls:.2} intercept={share:.2}*slope", (y + falls * x).exp());
    for size in SIZES {
        let shipped = shipped_prior(size);
        println!("shipped messages={size} slope={:.2} intercept={:.2}", shipped.slope, shipped.intercept);
    }
    Ok(())
}
