//! In which scripts is a message written?
//!
//! A reader of one language gets spam in another, and a reader of several has a script for each
//! kind of mail. So the scripts of a message are facts. Latin is not a fact, because nearly all
//! mail has some of it.

/// The number of letters that are read.
const LETTERS: usize = 4000;

/// The share of letters from which on a message is mostly in one script.
const MOST: f64 = 0.5;

/// The share of letters from which on a script counts. Fewer letters are a name or a symbol.
const SOME: f64 = 0.05;

/// Scripts, with the ranges of their usual letters.
const SCRIPTS: [(&str, &[(u32, u32)]); 12] = [
    ("Greek", &[(0x370, 0x3FF), (0x1F00, 0x1FFF)]),
    ("Cyrillic", &[(0x400, 0x52F)]),
    ("Armenian", &[(0x530, 0x58F)]),
    ("Hebrew", &[(0x590, 0x5FF)]),
    ("Arabic", &[(0x600, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)]),
    ("Devanagari", &[(0x900, 0x97F)]),
    ("other Indic", &[(0x980, 0xDFF)]),
    ("Thai", &[(0xE00, 0xE7F)]),
    ("Georgian", &[(0x10A0, 0x10FF)]),
    ("Hangul", &[(0x1100, 0x11FF), (0xAC00, 0xD7AF)]),
    ("kana", &[(0x3040, 0x30FF)]),
    ("Han", &[(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF)]),
];

/// Returns facts about the scripts of a text, or none if it is all Latin.
pub(super) fn facts(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return Vec::new();
    }
    let (mut counts, mut latin, mut letters) = ([0_usize; SCRIPTS.len()], 0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()).take(LETTERS) {
        letters += 1;
        let is_of = |(_, ranges): &(&str, &[(u32, u32)])| {
            ranges.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)))
        };
        match SCRIPTS.iter().position(is_of) {
            Some(script) => counts[script] += 1,
            None => latin += 1,
        }
    }
    let share = |count: usize| count as f64 / letters.max(1) as f64;
    let mut facts = Vec::new();
    for ((name, _), count) in SCRIPTS.iter().zip(counts) {
        if share(count) >= SOME {
            facts.push(format!("letters of {name}"));
        }
        if share(count) >= MOST {
            facts.push(format!("mostly letters of {name}"));
        }
    }
    if !facts.is_empty() && share(latin) >= SOME {
        facts.push("letters of Latin beside another script".into());
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::facts;

    #[test]
    fn scripts_are_facts_and_latin_is_none() {
        assert_eq!(facts("Olá São João, naïve café"), [""; 0]);
        assert_eq!(facts("plain text"), [""; 0]);
        assert_eq!(facts("добрый день"), ["letters of Cyrillic", "mostly letters of Cyrillic"]);
        assert_eq!(facts("会议在下午三点"), ["letters of Han", "mostly letters of Han"]);
        let mixed = facts("مرحبا بكم hello there everyone");
        assert_eq!(mixed, ["letters of Arabic", "letters of Latin beside another script"]);
    }

    #[test]
    fn a_symbol_is_no_script() {
        assert_eq!(facts(&format!("{} α", "a plain sentence about angles ".repeat(3))), [""; 0]);
    }
}
