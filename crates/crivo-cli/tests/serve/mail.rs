//! Generated mail of two kinds, which differ like real ones in words, senders and links.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const SPAM_WORDS: &str = "winner prize claim lottery casino bonus jackpot free offer limited pills cheap \
    discount viagra replica watches millions transfer urgent beneficiary account verify click unsubscribe \
    guaranteed risk investment profit earn cash";
const HAM_WORDS: &str = "meeting agenda minutes budget review project deadline schedule lunch tomorrow report \
    attached draft comments please team contract customer invoice pipeline forecast gas trading desk legal \
    conference call notes weekend kids school";
const COMMON: &str = "the and to of you for in is this that with on we our your have will be it are";

/// A seeded source of words.
struct Words(Xoshiro256PlusPlus);

impl Words {
    fn one<'a>(&mut self, list: &'a str) -> &'a str {
        let words: Vec<&str> = list.split_whitespace().collect();
        words[(self.0.next_u64() % words.len() as u64) as usize]
    }

    fn text(&mut self, own: &str, words: usize) -> String {
        let mut text = String::new();
        for number in 0..words {
            text.push_str(if self.0.next_u64() % 5 < 2 { self.one(COMMON) } else { self.one(own) });
            text.push_str(if number % 12 == 11 { ".\n" } else { " " });
        }
        text
    }
}

/// Returns the spam with a number.
pub(crate) fn spam(number: u64) -> String {
    let mut words = Words(Xoshiro256PlusPlus::seed_from_u64(2 * number));
    let (subject, body) = (words.text(SPAM_WORDS, 5), words.text(SPAM_WORDS, 60));
    format!(
        "From: \"Big Prize\" <win{}@offers{}.example>\nTo: you@example.org\nSubject: {}\nMessage-ID: <s{number}@offers.example>\n\n\
         {body}\nhttp://claim{}.example/win\n",
        number % 7,
        number % 3,
        subject.trim(),
        number % 5
    )
}

/// Returns the wanted mail with a number.
pub(crate) fn ham(number: u64) -> String {
    let mut words = Words(Xoshiro256PlusPlus::seed_from_u64(2 * number + 1));
    let (subject, body) = (words.text(HAM_WORDS, 5), words.text(HAM_WORDS, 60));
    format!(
        "From: Colleague <colleague{}@work.example>\nTo: you@example.org\nSubject: Re: {}\nMessage-ID: <h{number}@work.example>\n\
         In-Reply-To: <h0@work.example>\n\n{body}\n-- \nA colleague\n",
        number % 9,
        subject.trim()
    )
}

/// Returns a message that is like neither kind.
pub(crate) fn odd(number: u64) -> String {
    format!(
        "From: someone{number}@elsewhere.example\nTo: you@example.org\nSubject: heron {number}\n\n\
         A heron stood by the river at dusk, number {number}, and nobody said anything about it.\n"
    )
}
