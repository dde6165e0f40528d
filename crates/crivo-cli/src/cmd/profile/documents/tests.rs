//! Columns whose near-duplicates are known, and how often the interval holds their share.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;

/// A generator for the test called `name`; with `CRIVO_TEST_SEED` set every test draws from another stream.
fn generator(name: &str) -> Xoshiro256PlusPlus {
    let base = std::env::var("CRIVO_TEST_SEED").map_or(0, |seed| seed.parse().unwrap());
    Xoshiro256PlusPlus::seed_from_u64(base ^ xxh3_64(name.as_bytes()))
}

/// A language: words of its own, so that its runs are hashed as those of no other.
struct Language {
    words: Vec<String>,
    random: Xoshiro256PlusPlus,
}

impl Language {
    fn new(words: usize, mut random: Xoshiro256PlusPlus) -> Self {
        let mut word = || {
            let letters = 3 + random.next_u64() % 7;
            (0..letters).map(|_| char::from(b'a' + (random.next_u64() % 26) as u8)).collect::<String>()
        };
        Self { words: (0..words).map(|_| word()).collect(), random }
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<&str> = (0..count)
            .map(|_| &*self.words[(self.random.next_u64() % self.words.len() as u64) as usize])
            .collect();
        words.join(" ")
    }
}

fn share(texts: &[String], capacity: usize) -> Estimate {
    let mut parts = [Documents::new(capacity), Documents::new(capacity)];
    texts.iter().enumerate().for_each(|(at, text)| parts[at % 2].insert(text.as_bytes()));
    let [mut whole, other] = parts;
    whole.merge(other);
    whole.near_duplicates().unwrap()
}

/// How often the interval misses the truth in that many columns, and the mean of its width and of the value.
fn misses(name: &str, trials: u64, column: impl Fn(&mut Language) -> (Vec<String>, f64)) -> (u64, f64, f64) {
    let mut random = generator(name);
    let (mut missed, mut width, mut value) = (0, 0.0, 0.0);
    for _ in 0..trials {
        let language = &mut Language::new(3_000, Xoshiro256PlusPlus::seed_from_u64(random.next_u64()));
        let (texts, truth) = column(language);
        let found = share(&texts, 512);
        missed += u64::from(!found.covers(truth));
        width += (found.upper() - found.lower()) / trials as f64;
        value += found.value() / trials as f64;
    }
    println!("{name}: {missed} of {trials} missed, width {width:.3}, value {value:.3}");
    (missed, width, value)
}

/// A letter that is mostly the same for all, written in the language's own words.
fn letters(language: &mut Language) -> impl FnMut(&mut Language) -> String + use<> {
    let form: Vec<String> = [2, 6, 5].iter().map(|&words| language.words(words)).collect();
    move |language| {
        let fill = [1, 4, 1].map(|words| language.words(words));
        (0..3).map(|at| format!("{} {} ", form[at], fill[at])).collect()
    }
}

#[test]
fn measure() {
    let n = std::env::var("N").map_or(3000, |n| n.parse().unwrap());
    let t = std::env::var("T").map_or(100, |n| n.parse().unwrap());
    misses("letters", t, |language| {
        let mut letter = letters(language);
        ((0..n).map(|_| letter(language)).collect(), 0.0)
    });
    misses("unrelated", t, |language| ((0..n).map(|_| language.words(30)).collect(), 0.0));
    misses("letters with pairs", t, |language| {
        let mut letter = letters(language);
        let mut texts = Vec::new();
        for at in 0..n * 85 / 100 {
            let text = letter(language) + &language.words(20);
            if at < n * 15 / 100 {
                texts.push(text.clone() + " again");
            }
            texts.push(text);
        }
        (texts, 0.3)
    });
    for size in [2, 5, 20, 100, 500] {
        misses(&format!("clusters of {size}"), t, |language| {
            let mut texts = Vec::new();
            let half = n / 2 / size * size;
            for _ in 0..half / size {
                let text = language.words(25);
                for _ in 0..size { texts.push(format!("{text} {}", language.words(1))); }
            }
            for _ in half..n { texts.push(language.words(25)); }
            let l = texts.len();
            (texts, half as f64 / l as f64)
        });
    }
    misses("one mailing", t, |language| {
        let mailing = language.words(30);
        ((0..n).map(|at| if at % 4 == 0 { language.words(30) } else { format!("{mailing} {}", language.words(1)) }).collect(), 0.75)
    });
    misses("one text", t, |language| {
        let mailing = language.words(30);
        ((0..n).map(|at| if at % 4 == 0 { language.words(30) } else { mailing.clone() }).collect(), 0.75)
    });
    misses("all twice with the same word", t, |language| {
        let word = language.words(2);
        let texts = (0..n / 2).flat_map(|_| { let t = language.words(18); [t.clone() + " " + &word, t] }).collect();
        (texts, 1.0)
    });
}
