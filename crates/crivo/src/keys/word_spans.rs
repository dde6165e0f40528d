//! The positions of the words of a text.

#[cfg(not(feature = "std"))]
use crate::prelude::*;
/// Replaces the content of `spans` by the start and the end of each [word](super::Words), in their
/// order. Positions are bytes of the given text, because its lower case can have more or fewer
/// bytes.
///
/// ```
/// let mut spans = Vec::new();
/// crivo::keys::word_spans("Só uma VEZ!".as_bytes(), &mut spans);
/// assert_eq!(spans, [(0, 3), (4, 7), (8, 11)]);
/// ```
pub fn word_spans(text: &[u8], spans: &mut Vec<(usize, usize)>) {
    spans.clear();
    let mut start = None;
    let mut at = 0;
    let mut close = |start: &mut Option<usize>, end: usize| {
        if let Some(start) = start.take() {
            spans.push((start, end));
        }
    };
    while let Some(&byte) = text.get(at) {
        if byte.is_ascii() {
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                start.get_or_insert(at);
            } else {
                close(&mut start, at);
            }
            at += 1;
            continue;
        }
        // Up to the next ASCII byte.
        let len = text[at..].iter().take_while(|byte| !byte.is_ascii()).count();
        for chunk in text[at..at + len].utf8_chunks() {
            for c in chunk.valid().chars() {
                // A character can become several in lower case, and not all of them belong to
                // words.
                for lower in c.to_lowercase() {
                    if lower.is_alphanumeric() {
                        start.get_or_insert(at);
                    } else {
                        close(&mut start, at + if c.is_alphanumeric() { c.len_utf8() } else { 0 });
                    }
                }
                at += c.len_utf8();
            }
            if !chunk.invalid().is_empty() {
                close(&mut start, at);
                at += chunk.invalid().len();
            }
        }
    }
    close(&mut start, text.len());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Words;
    use super::*;

    fn check(text: &[u8]) -> Result<(), TestCaseError> {
        let (mut words, mut spans) = (Words::default(), Vec::new());
        words.read(text);
        word_spans(text, &mut spans);
        prop_assert_eq!(spans.len(), words.len());
        let mut end = 0;
        for (&(start, stop), word) in spans.iter().zip(words.iter()) {
            prop_assert!(end <= start && start < stop && stop <= text.len());
            end = stop;
            let lower: String =
                String::from_utf8_lossy(&text[start..stop]).chars().flat_map(char::to_lowercase).collect();
            prop_assert!(lower.as_bytes().starts_with(word), "{:?} in {:?}", word, lower);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn text_of_any_script_has_a_span_for_each_word(text in "(\\PC|[a-zA-Z0-9_ ,İßﬁ]){0,200}") {
            check(text.as_bytes())?;
        }

        #[test]
        fn any_bytes_have_a_span_for_each_word(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            check(&text)?;
        }
    }

    #[test]
    fn every_character_is_spanned_as_words_cut_it() {
        for c in '\0'..=char::MAX {
            let text = format!("a{c}b");
            let (mut words, mut spans) = (Words::default(), Vec::new());
            words.read(text.as_bytes());
            word_spans(text.as_bytes(), &mut spans);
            assert_eq!(spans.len(), words.len(), "{c:?}");
        }
    }
}
