//! Tests passages against brute force: every repeated window is in a passage, and each passage is a
//! maximal run, whatever the alphabet.

// What fails here should fail loudly.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use crivo_near::{Passage, PassageSettings, Passages, Texts, repeated_passages};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn below(&mut self, size: usize) -> usize {
        (self.0.next_u64() % size as u64) as usize
    }
}

/// Returns a text of `count` words, which differ in their number.
fn numbered_words(name: &str, count: usize) -> String {
    let words: Vec<String> = (0..count).map(|number| format!("{name}{number} ")).collect();
    words.concat()
}

/// Returns the words of a text and their bytes, by the rule of the documentation.
fn words_of(text: &str) -> Vec<(String, usize, usize)> {
    let has_no_blanks =
        |c: char| ('\u{3040}'..='\u{9FFF}').contains(&c) || ('\u{0E00}'..='\u{0E7F}').contains(&c);
    let (without, with) = text.chars().fold((0, 0), |(without, with), c| {
        if has_no_blanks(c) { (without + 1, with) } else { (without, with + usize::from(c.is_alphabetic())) }
    });
    let mut words: Vec<(String, usize, usize)> = Vec::new();
    let mut inside = false;
    for (at, c) in text.char_indices() {
        if !(c.is_alphanumeric() || c == '_') {
            inside = false;
            continue;
        }
        let lower: String = c.to_lowercase().collect();
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some(last) if inside && without <= with => {
                last.0.push_str(&lower);
                last.2 = end;
            }
            _ => words.push((lower, at, end)),
        }
        inside = true;
    }
    words
}

/// Finds passages by their definition: windows from left to right, and each that is not covered is
/// extended along its first occurrence.
fn by_brute_force(texts: &[String], least: usize, within: bool) -> (Vec<Passage>, BTreeSet<(usize, usize)>) {
    let documents: Vec<Vec<_>> = texts.iter().map(|text| words_of(text)).collect();
    let mut first: HashMap<Vec<&str>, (usize, usize)> = HashMap::new();
    let mut passages = Vec::new();
    let mut repeated = BTreeSet::new();
    for (number, words) in documents.iter().enumerate() {
        let mut covered = 0;
        for start in 0..(words.len() + 1).saturating_sub(least) {
            let window: Vec<&str> = words[start..start + least].iter().map(|word| word.0.as_str()).collect();
            let &mut (document, word) = first.entry(window).or_insert((number, start));
            if (document, word) == (number, start) || (document == number && !within) {
                continue;
            }
            repeated.extend((start..start + least).map(|word| (number, word)));
            if start + least <= covered {
                continue;
            }
            let others = &documents[document];
            let same = |a: usize, b: usize| words[a].0 == others[b].0;
            let mut behind = 0;
            while behind < start && behind < word && same(start - behind - 1, word - behind - 1) {
                behind += 1;
            }
            let mut ahead = least;
            while start + ahead < words.len()
                && word + ahead < others.len()
                && same(start + ahead, word + ahead)
            {
                ahead += 1;
            }
            covered = covered.max(start + ahead);
            passages.push(Passage {
                place: number as u64,
                start: words[start - behind].1 as u32,
                end: words[start + ahead - 1].2 as u32,
                first_place: document as u64,
                first_start: others[word - behind].1 as u32,
                first_end: others[word + ahead - 1].2 as u32,
                words: (behind + ahead) as u32,
            });
        }
    }
    passages.sort_by_key(|passage| (passage.place, passage.start));
    (passages, repeated)
}

fn found(texts: &[String], settings: &PassageSettings) -> (Vec<Passage>, Passages) {
    let outcome = repeated_passages(&Texts::new(texts, settings.threads.max(1)), settings, &()).unwrap();
    let mut passages = Vec::new();
    outcome
        .for_each(|passage| {
            passages.push(passage);
            Ok(())
        })
        .unwrap();
    (passages, outcome)
}

const ALPHABETS: [&[&str]; 6] = [
    &["river", "Stone", "snow", "tree", "cloud", "light", "road", "house", "bird", "wind", "a", "of"],
    &["ação", "Über", "naïve", "Ёлка", "ελπίδα", "Straße", "ﬁn", "çok", "şehir", "ıyi"],
    &["東", "京", "都", "港", "区", "海", "山", "川", "田", "中"],
    &["ก", "ข", "ค", "ง", "จ", "ฉ"],
    &["a", "b"],
    &["x"],
];

/// Returns documents made of a few passages, some with a changed word, with other words between.
fn texts(alphabet: &[&str], random: &mut Random) -> Vec<String> {
    let word = |random: &mut Random| alphabet[random.below(alphabet.len())];
    let passages: Vec<Vec<&str>> = (0..4)
        .map(|_| {
            let length = random.below(60);
            (0..length).map(|_| word(random)).collect()
        })
        .collect();
    let count = 1 + random.below(8);
    (0..count)
        .map(|_| {
            let mut words = Vec::new();
            for _ in 0..random.below(5) {
                let more = random.below(12);
                words.extend((0..more).map(|_| word(random)));
                let mut passage = passages[random.below(4)].clone();
                if !passage.is_empty() && random.below(3) == 0 {
                    let at = random.below(passage.len());
                    passage[at] = word(random);
                }
                let from = random.below(passage.len() / 2 + 1);
                words.extend_from_slice(&passage[from..]);
            }
            let mut text = String::new();
            for word in words {
                text.push_str(word);
                text.push_str([" ", ", ", ".\n", " — "][random.below(4)]);
            }
            text
        })
        .collect()
}

#[test]
fn every_maximal_run_of_brute_force_is_found_and_no_other() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(1));
    let mut total = 0;
    for round in 0..1500 {
        let alphabet = ALPHABETS[round % ALPHABETS.len()];
        let texts = texts(alphabet, &mut random);
        let least = 8 + random.below(14);
        let within = random.below(2) == 0;
        let settings =
            PassageSettings { min_words: least, within, threads: 1 + round % 2, ..Default::default() };
        let (expected, repeated) = by_brute_force(&texts, least, within);
        let (passages, outcome) = found(&texts, &settings);
        assert_eq!(passages, expected, "round {round}, least {least}, within {within}: {texts:#?}");
        assert_eq!(outcome.guaranteed_words(), least);
        total += passages.len();
        // Every repeated word is in a passage, whichever passages were chosen.
        let mut covered = BTreeSet::new();
        for passage in &passages {
            let words = words_of(&texts[passage.place as usize]);
            let inside = |word: &&(usize, (String, usize, usize))| {
                word.1.1 >= passage.start as usize && word.1.2 <= passage.end as usize
            };
            let numbered: Vec<_> = words.into_iter().enumerate().collect();
            covered.extend(numbered.iter().filter(inside).map(|(word, _)| (passage.place as usize, *word)));
        }
        assert!(covered.is_superset(&repeated), "round {round}: a repeated word is in no passage");
    }
    assert!(total > 2000, "only {total} passages: the texts say little");
}

#[test]
fn a_word_repeated_a_million_times_is_one_passage_in_linear_time() {
    let times = [50_000, 400_000].map(|words| {
        let texts = ["again ".repeat(words)];
        let settings = PassageSettings { within: true, threads: 1, ..Default::default() };
        let start = Instant::now();
        let (passages, _) = found(&texts, &settings);
        assert_eq!(passages.len(), 1);
        let last = (words * 6 - 1) as u32;
        assert_eq!((passages[0].start, passages[0].end, passages[0].first_end), (6, last, last - 6));
        let (none, _) = found(&texts, &PassageSettings { within: false, ..settings });
        assert!(none.is_empty(), "one document has nothing in common with another");
        start.elapsed().as_secs_f64()
    });
    // With eight times the words, a quadratic engine would take 64 times as long.
    assert!(times[1] < 30.0 * times[0].max(0.02), "{times:?}");
}

#[test]
fn a_passage_in_every_document_costs_a_step_a_document() {
    let passage = numbered_words("word", 80);
    let times = [2_000, 16_000].map(|count| {
        let texts: Vec<String> =
            (0..count).map(|number| format!("own{number} {passage} end{number}")).collect();
        let settings = PassageSettings { threads: 1, ..Default::default() };
        let start = Instant::now();
        let (passages, outcome) = found(&texts, &settings);
        assert_eq!(passages.len(), count - 1);
        assert!(passages.iter().all(|found| found.first_place == 0 && found.words == 80));
        assert_eq!(outcome.documents_with_passages(), count as u64 - 1);
        start.elapsed().as_secs_f64()
    });
    assert!(times[1] < 30.0 * times[0].max(0.02), "{times:?}");
}

#[test]
fn windows_that_stand_too_rarely_are_left() {
    let [twice, often]: [String; 2] = ["two", "many"].map(|name| numbered_words(name, 30));
    let texts: Vec<String> = (0..4)
        .map(|number| format!("{often} own{number} {}", if number < 2 { &twice } else { "" }))
        .collect();
    for (min_count, expected) in [(2, 4), (3, 3), (4, 3), (5, 0)] {
        let settings = PassageSettings { min_words: 20, min_count, ..Default::default() };
        let (passages, _) = found(&texts, &settings);
        assert_eq!(passages.len(), expected, "at least {min_count} times");
    }
}

#[test]
fn a_run_does_not_go_on_in_the_next_document() {
    let words = numbered_words("word", 60);
    let (front, back) = words.split_at(words.find("word30").unwrap());
    let texts = [words.clone(), format!("own {front}"), format!("{back} end"), format!("x {words}")];
    let settings = PassageSettings { threads: 1, ..Default::default() };
    let (passages, _) = found(&texts, &settings);
    assert_eq!(passages.iter().map(|passage| (passage.place, passage.words)).collect::<Vec<_>>(), [(3, 60)]);
}

#[test]
fn any_bytes_are_a_text() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(9));
    let mut texts: Vec<Vec<u8>> =
        (0..30).map(|_| (0..random.below(3000)).map(|_| random.0.next_u64() as u8).collect()).collect();
    texts.push(texts[3].clone());
    let settings = PassageSettings { min_words: 8, threads: 2, ..Default::default() };
    let outcome = repeated_passages(&Texts::new(&texts, 2), &settings, &()).unwrap();
    let checked = outcome.for_each(|passage| {
        let one = &texts[passage.place as usize][passage.range()];
        let first = &texts[passage.first_place as usize][passage.first_range()];
        assert_eq!(passage.place == 30, one == first);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn settings_out_of_range_say_what_is_allowed() {
    for (settings, expected) in [
        (PassageSettings { min_words: 7, ..Default::default() }, "8 to 50000 words"),
        (PassageSettings { min_count: 1, ..Default::default() }, "at least 2"),
        (PassageSettings { memory: 1, ..Default::default() }, "at least 16 MiB"),
    ] {
        let error = repeated_passages(&Texts::new(&["a"], 1), &settings, &()).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
