//! Which version of a text does a reader see?
//!
//! Mail often says the same twice, as plain text and as a page (`multipart/alternative`), and mail
//! programs show the page. So the plain version is no evidence: a spammer could write anything into
//! it. But that the two say different things is a fact about the message.

use std::collections::HashSet;

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

/// A plain version with fewer different words is too short to be compared.
const FEW_WORDS: usize = 10;

/// Returns the numbers of the parts that are plain versions of a page that is shown.
pub(super) fn unshown(message: &Message<'_>) -> HashSet<usize> {
    let mut unshown = HashSet::new();
    for part in &message.parts {
        let PartType::Multipart(versions) = &part.body else { continue };
        if !part.is_content_type("multipart", "alternative") {
            continue;
        }
        let (mut plain, mut has_page) = (Vec::new(), false);
        let mut inside: Vec<usize> = versions.iter().map(|id| *id as usize).collect();
        while let Some(id) = inside.pop() {
            let Some(part) = message.parts.get(id) else { continue };
            match &part.body {
                PartType::Multipart(parts) => inside.extend(parts.iter().map(|id| *id as usize)),
                PartType::Text(_) | PartType::Html(_) if is_attached(part) => {}
                PartType::Html(_) => has_page = true,
                PartType::Text(_) if part.is_content_type("text", "html") => has_page = true,
                PartType::Text(_) => plain.push(id),
                _ => {}
            }
        }
        if has_page {
            unshown.extend(plain);
        }
    }
    unshown
}

fn is_attached(part: &MessagePart<'_>) -> bool {
    part.content_disposition().is_some_and(mail_parser::ContentType::is_attachment)
}

/// Returns true if a plain version says something else than what is shown: if fewer than half of
/// its words are there.
pub(super) fn differ(plain: &str, shown: &str) -> bool {
    let plain: HashSet<String> = words(plain).collect();
    if plain.len() < FEW_WORDS {
        return false;
    }
    let shown: HashSet<String> = words(shown).collect();
    2 * plain.intersection(&shown).count() < plain.len()
}

/// Returns the words of three letters or more. URLs have no words.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split_whitespace()
        .filter(|word| !word.contains("://"))
        .flat_map(|word| word.split(|c: char| !c.is_alphabetic()))
        .filter(|word| word.chars().nth(2).is_some())
        .map(str::to_lowercase)
}
