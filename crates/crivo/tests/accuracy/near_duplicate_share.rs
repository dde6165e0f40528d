//! Do the intervals of the near-duplicate share hold the truth, whatever the texts have in common?

use crivo::Estimate;
use crivo::profile::NearDuplicateShare;

use super::support::{Random, generator};

const DOCUMENTS: usize = 2_000;

/// A language: words of its own, so that its runs are hashed as those of no other.
struct Language {
    words: Vec<String>,
    random: Random,
}

impl Language {
    fn new(words: usize, mut random: Random) -> Self {
        let mut word = || {
            let letters = 3 + random.below(7);
            (0..letters).map(|_| char::from(b'a' + random.below(26) as u8)).collect::<String>()
        };
        Self { words: (0..words).map(|_| word()).collect(), random }
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<&str> =
            (0..count).map(|_| &*self.words[self.random.below(self.words.len())]).collect();
        words.join(" ")
    }
}

fn share(texts: &[String], capacity: u64) -> Estimate {
    let mut parts = [0, 1].map(|_| NearDuplicateShare::new(capacity).unwrap());
    texts.iter().enumerate().for_each(|(at, text)| parts[at % 2].insert(text));
    let [mut whole, other] = parts;
    whole.merge(&other).unwrap();
    whole.share().unwrap()
}

/// Claims that the interval at 95 % misses the truth in at most 5 % of all columns like these: of
/// `DOCUMENTS` texts each, or twice as many in mailings.
///
/// Of 60 columns it may miss 15: a binomial variable with the chance 0.05 exceeds that with a
/// probability below 10⁻⁷. Also claims that the interval is narrow enough to be of use: its mean
/// width is below `widest`.
fn assert_covered(name: &str, widest: f64, column: impl Fn(&mut Language) -> (Vec<String>, f64)) {
    const TRIALS: u64 = 60;
    let (mut missed, mut width) = (0, 0.0);
    for trial in 0..TRIALS {
        let language = &mut Language::new(3_000, generator(&format!("{name} {trial}")));
        let (texts, truth) = column(language);
        let found = share(&texts, 512);
        missed += u64::from(!found.covers(truth));
        width += (found.upper() - found.lower()) / TRIALS as f64;
    }
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
    {
        println!("| {name} | {TRIALS} | {missed} | {width:.3} |");
    }
    assert!(missed <= 15, "{name}: {missed} of {TRIALS} intervals miss the truth");
    assert!(width <= widest, "{name}: intervals are {width} wide");
}

/// A letter that is mostly the same for all, written in the language's own words.
fn letters(language: &mut Language) -> impl FnMut(&mut Language) -> String + use<> {
    let form: Vec<String> = [2, 6, 5].iter().map(|&words| language.words(words)).collect();
    move |language| {
        let fill = [1, 4, 1].map(|words| language.words(words));
        form.iter().zip(&fill).flat_map(|(form, fill)| [&**form, " ", fill, " "]).collect()
    }
}

#[test]
fn letters_with_the_same_form_are_no_near_duplicates() {
    assert_covered("letters", 1.0, |language| {
        let mut letter = letters(language);
        ((0..DOCUMENTS).map(|_| letter(language)).collect(), 0.0)
    });
}

#[test]
fn near_duplicates_among_letters_are_covered() {
    assert_covered("letters with pairs", 0.95, |language| {
        let mut letter = letters(language);
        let once =
            (0..DOCUMENTS * 7 / 10).map(|_| letter(language) + &language.words(20)).collect::<Vec<_>>();
        let mut texts = once;
        for _ in 0..DOCUMENTS * 15 / 100 {
            let text = letter(language) + &language.words(20);
            texts.extend([text.clone() + " again", text]);
        }
        (texts, 0.3)
    });
}

#[test]
fn unrelated_texts_are_no_near_duplicates() {
    assert_covered("unrelated", 0.4, |language| ((0..DOCUMENTS).map(|_| language.words(30)).collect(), 0.0));
}

#[test]
fn clusters_of_all_sizes_are_covered() {
    for size in [2, 5, 20, 100, 500] {
        assert_covered(&format!("clusters of {size}"), 0.8, |language| {
            let mut texts: Vec<String> = (0..DOCUMENTS / 2).map(|_| language.words(25)).collect();
            for _ in 0..DOCUMENTS / 2 / size {
                let text = language.words(25);
                texts.extend((0..size).map(|_| format!("{text} {}", language.words(1))));
            }
            (texts, 0.5)
        });
    }
}

#[test]
fn a_mass_mailing_is_covered() {
    for copies in [true, false] {
        assert_covered(&format!("mailing of copies: {copies}"), 0.4, |language| {
            let mailing = language.words(30);
            let text = |at: usize| match (at % 4, copies) {
                (0, _) => language.words(30),
                (_, true) => mailing.clone(),
                (_, false) => format!("{mailing} {}", language.words(1)),
            };
            ((0..2 * DOCUMENTS).map(text).collect(), 0.75)
        });
    }
}

#[test]
fn few_documents_are_all_compared() {
    let language = &mut Language::new(3_000, generator("few documents"));
    let alike = language.words(40);
    let mut texts: Vec<String> = (0..4).map(|at| format!("{alike} {at}")).collect();
    texts.extend((4..400).map(|_| language.words(40)));
    let found = share(&texts, 512);
    assert_eq!((found.value(), found.lower(), found.upper()), (0.01, 0.01, 0.01));
    let none = share(&texts[4..], 512);
    assert!(none.value() == 0.0 && none.value().is_sign_positive() && none.lower().is_sign_positive());
}

#[test]
fn names_and_codes_are_no_documents() {
    let mut texts = NearDuplicateShare::new(64).unwrap();
    for short in ["Ana", "https://example.org/a/very/long/path/of/a/page", "2024-01-31T23:59:59.123456+01:00"]
    {
        texts.insert(short);
    }
    assert_eq!((texts.documents(), texts.share()), (0, None));
}
