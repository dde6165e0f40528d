//! The page of the passages with most bytes: how often and where each occurs, and the text around
//! it.

use std::collections::HashMap;

use anyhow::Result;
use crivo_near::{Documents, Passage, Passages};
use crivo_page::{Page, number, text};
use maud::{Markup, html};

use crate::corpus::{Corpus, explained};
use crate::output;

/// The number of passages that are shown.
const SHOWN: usize = 50;

/// The most first occurrences that are counted at once. Beyond that, those with the fewest bytes
/// are forgotten.
const COUNTED: usize = 200_000;

/// The bytes that are shown around a passage, and the most of the passage itself.
const AROUND: usize = 160;
const LONGEST: usize = 600;

/// A stretch of a document: its place, the first byte, and the end.
type Stretch = (u64, u32, u32);

/// The later occurrences of one stretch.
#[derive(Debug, Clone, Copy)]
struct Repeated {
    count: u64,
    bytes: u64,
    example: Passage,
}

/// The text of a stretch, and the text around it.
#[derive(Debug, Default, Clone)]
struct Excerpt {
    before: String,
    passage: String,
    after: String,
}

/// Returns the page.
pub(super) fn page(corpus: &Corpus<'_>, found: &Passages) -> Result<String> {
    let top = most_costly(found)?;
    let excerpts = excerpts(corpus, &top)?;
    let places: Vec<u64> =
        top.iter().flat_map(|(first, repeated)| [first.0, repeated.example.place]).collect();
    let mut names = corpus.names(&|place| places.contains(&place))?;
    let mut name = |place: u64| -> Result<String> {
        let mut bytes = Vec::new();
        names.put(place, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut cards = Vec::new();
    for (first, repeated) in &top {
        let later = (repeated.example.place, repeated.example.start, repeated.example.end);
        let sides = [("first", *first), ("again", later)]
            .map(|(role, stretch)| (role, stretch, excerpts.get(&stretch).cloned().unwrap_or_default()));
        let mut shown = Vec::new();
        for (role, stretch, excerpt) in sides {
            shown.push(side(role, &name(stretch.0)?, stretch, &excerpt));
        }
        cards.push(card(repeated, &shown));
    }
    let bytes = |bytes: u64| output::bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
    let lead = format!(
        "{} passages of at least {} words repeat {} of {}.",
        number::whole(found.passages()),
        found.guaranteed_words(),
        bytes(found.bytes_repeated()),
        bytes(found.bytes())
    );
    let html = Page::new("Passages that stand in two places")
        .lead(lead)
        .style(include_str!("passages.css"))
        .body(html! {
            @if cards.is_empty() { p.card { "No passage stands in two places." } }
            @for card in &cards { (card) }
        })
        .foot(html! { p { "Made by " code { "crivo passages" } ". Shown are those that cost most bytes." } });
    Ok(html.to_html())
}

/// Returns the first occurrences whose later occurrences have most bytes.
fn most_costly(found: &Passages) -> Result<Vec<(Stretch, Repeated)>> {
    let mut all: HashMap<Stretch, Repeated> = HashMap::new();
    let counted = found.for_each(|passage| {
        let bytes = u64::from(passage.end - passage.start);
        let first = (passage.first_place, passage.first_start, passage.first_end);
        let repeated = all.entry(first).or_insert(Repeated { count: 0, bytes: 0, example: passage });
        repeated.count += 1;
        repeated.bytes += bytes;
        if all.len() > COUNTED {
            let mut costs: Vec<u64> = all.values().map(|repeated| repeated.bytes).collect();
            let middle = costs.len() / 2;
            let (_, &mut median, _) = costs.select_nth_unstable(middle);
            all.retain(|_, repeated| repeated.bytes > median);
        }
        Ok(())
    });
    counted.map_err(explained)?;
    let mut top: Vec<_> = all.into_iter().collect();
    top.sort_unstable_by_key(|(first, repeated)| (std::cmp::Reverse(repeated.bytes), *first));
    top.truncate(SHOWN);
    Ok(top)
}

/// Reads the shown passages and the text around them.
fn excerpts(corpus: &Corpus<'_>, top: &[(Stretch, Repeated)]) -> Result<HashMap<Stretch, Excerpt>> {
    let mut wanted: Vec<Stretch> = top.iter().map(|(first, _)| *first).collect();
    wanted.extend(
        top.iter()
            .map(|(_, repeated)| (repeated.example.place, repeated.example.start, repeated.example.end)),
    );
    wanted.sort_unstable();
    wanted.dedup();
    if wanted.is_empty() {
        return Ok(HashMap::new());
    }
    let read = corpus.read(&Vec::new, &|found: &mut Vec<(Stretch, Excerpt)>, place, text| {
        let from = wanted.partition_point(|stretch| stretch.0 < place);
        for stretch in wanted[from..].iter().take_while(|stretch| stretch.0 == place) {
            found.push((*stretch, excerpt(text, stretch.1 as usize, stretch.2 as usize)));
        }
        Ok(())
    });
    Ok(read.map_err(explained)?.into_iter().flatten().collect())
}

fn excerpt(text: &[u8], start: usize, end: usize) -> Excerpt {
    let part = |from: usize, upto: usize| {
        let bytes = text.get(from..upto.min(text.len())).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    let mut passage = part(start, end.min(start + LONGEST));
    if end > start + LONGEST {
        passage.push('…');
    }
    Excerpt { before: part(start.saturating_sub(AROUND), start), passage, after: part(end, end + AROUND) }
}

fn card(repeated: &Repeated, sides: &[Markup]) -> Markup {
    let bytes = output::bytes(usize::try_from(repeated.bytes).unwrap_or(usize::MAX));
    html! {
        section.card {
            h2 {
                (bytes) ", " (number::whole(repeated.count)) " times again, "
                (number::whole(repeated.example.words)) " words"
            }
            div.sides { @for side in sides { (side) } }
        }
    }
}

/// Returns a text with its line ends, and with all other invisible characters made visible.
fn lines(excerpt: &str) -> String {
    excerpt.split('\n').map(text::visible).collect::<Vec<_>>().join("\n")
}

fn side(role: &str, name: &str, (_, start, end): Stretch, excerpt: &Excerpt) -> Markup {
    html! {
        div {
            h3 { (role) ": " bdi { (text::visible(name)) } ", bytes " (start) " to " (end) }
            p.excerpt {
                bdi { (lines(&excerpt.before)) mark { (lines(&excerpt.passage)) } (lines(&excerpt.after)) }
            }
        }
    }
}
