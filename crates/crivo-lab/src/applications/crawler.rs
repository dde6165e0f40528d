//! A crawler that remembers the pages it has read in a Bloom filter.
//!
//! Pages are identified by their content, because several addresses lead to the same page. A page
//! that was seen is never read again. A new page is a false positive with the filter's rate at that
//! moment, `(1 − (1 − 1/m)^(kn))^k` after `n` pages. Then neither this page is read, nor the pages
//! that only it leads to. `n` is the number of distinct pages met so far, not only of those that
//! were added. A false positive is not added, but all its bits are set already, so adding it would
//! change nothing.

use std::collections::VecDeque;

use crivo::keys::KeyScheme;
use crivo::membership::Bloom;
use libm::{exp, log1p, pow, sqrt};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "crawler",
    title: "A crawler with a Bloom filter",
    claim: "A crawler that keeps the contents of pages in a Bloom filter visits no page twice, and skips new ones wrongly \
            with the filter's false-positive rate at that moment.",
    sources: &[(Text::Chapter, "§5.6")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

const LINKS: usize = 10;

struct Crawl {
    visited: usize,
    twice: u64,
    met: u64,
    skipped: u64,
    /// The expected number of skips, which is the sum of the rates at each moment.
    expected: f64,
}

/// `factor` multiplies the rate of the theory.
fn measure(context: &Context<'_>, factor: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let pages = context.size(10_000, 60_000, 1_000_000);
    report.parameter("pages", pages);
    report.parameter("links_a_page", LINKS);
    let mut curve =
        Section::curve("New pages skipped wrongly", "rate the filter was made for", "share of new pages")
            .log_x()
            .log_y();
    let mut twice = Section::numbers("Pages visited twice");
    for (step, (rate, room)) in
        [(0.1, 1.0), (0.03, 1.0), (0.01, 1.0), (0.003, 1.0), (0.01, 0.5)].into_iter().enumerate()
    {
        context.advance(step, 5)?;
        let mut random = context.random(&format!("{rate} {room}"));
        let items = (pages as f64 * room) as u64;
        let filter = Bloom::for_items_with_scheme(items, rate, KeyScheme::bytes().with_seed(random.bits()))?;
        let crawl = crawl(filter, pages, &mut random)?;
        let share = Measure::Share {
            successes: crawl.skipped,
            trials: crawl.met,
            chance: factor * crawl.expected / crawl.met as f64,
            side: Side::Both,
        };
        if room < 1.0 {
            twice.named("skipped wrongly, filter made for half of the pages", share);
        } else {
            curve.at(rate, share);
        }
        twice.equal(format!("filter of {rate} for {items} pages"), crawl.twice as f64, 0.0);
        if rate == 0.01 && room == 1.0 {
            let lost = pages - crawl.visited;
            report.note(format!(
                "At 1 %, {} of {pages} pages were skipped wrongly, and {lost} never read: those and what only they lead to.",
                crawl.skipped
            ));
        }
    }
    report.add(curve);
    report.add(twice);
    report.add(overfull(context, pages, factor)?);
    Ok(report)
}

/// Uses filters that are far too small. They skip so often that a rate wrong by three percent is
/// detected. Chance decides about each page, and also about the filter's fill, which is the same
/// for all pages of a crawl.
fn overfull(context: &Context<'_>, pages: usize, factor: f64) -> Result<Section> {
    let crawls = context.size(4, 16, 4);
    let mut random = context.random("overfull");
    let (mut met, mut skipped, mut expected, mut of_fill) = (0, 0, 0.0, 0.0);
    for step in 0..crawls {
        context.advance(step, crawls)?;
        let scheme = KeyScheme::bytes().with_seed(random.bits());
        let filter = Bloom::for_items_with_scheme(pages as u64 / 2, 0.3, scheme)?;
        let (bits, hashes) = (filter.bits() as f64, f64::from(filter.hashes()));
        let crawl = crawl(filter, pages, &mut random)?;
        met += crawl.met;
        skipped += crawl.skipped;
        expected += crawl.expected;
        // The fill's deviation is at most √(f(1 − f)/m), and the rate's relative deviation is k
        // times the relative deviation of the fill. It is greatest if the fill is that of the mean
        // rate or above.
        let fill = pow(crawl.expected / crawl.met as f64, 1.0 / hashes);
        of_fill = hashes * sqrt((1.0 - fill) / fill / bits / crawls as f64);
    }
    let theory = factor * expected / met as f64;
    let of_pages = sqrt((1.0 - theory) / theory / met as f64);
    let mut part = Section::numbers("Filters made for half of the pages, at 0.3");
    part.named(
        format!("skipped wrongly, {crawls} crawls"),
        Measure::Normal {
            observed: skipped as f64 / met as f64,
            theory,
            deviation: theory * sqrt(of_pages * of_pages + of_fill * of_fill),
            trials: met,
            side: Side::Both,
        },
    );
    Ok(part)
}

/// Follows links from the first page. Addresses are numbers. Three of ten pages have a second
/// address.
fn crawl(mut filter: Bloom, pages: usize, random: &mut Random) -> Result<Crawl> {
    let addresses = pages + pages * 3 / 10;
    let content_at = |address: usize| if address < pages { address } else { (address - pages) * 10 / 3 };
    let links: Vec<u32> = (0..pages * LINKS).map(|_| random.below(addresses) as u32).collect();
    let (bits, hashes) = (filter.bits() as f64, f64::from(filter.hashes()));
    let mut known = vec![false; pages];
    let mut times = vec![0_u8; pages];
    let mut crawl = Crawl { visited: 0, twice: 0, met: 0, skipped: 0, expected: 0.0 };
    let mut queue = VecDeque::from([0_usize]);
    while let Some(address) = queue.pop_front() {
        let page = content_at(address);
        // The content at the address, not the address itself.
        let content = format!("<h1>Page {page}</h1> what page {page} says");
        let seen = filter.contains(content.as_str())?;
        if !std::mem::replace(&mut known[page], true) {
            crawl.expected += pow(1.0 - exp(hashes * crawl.met as f64 * log1p(-1.0 / bits)), hashes);
            crawl.met += 1;
            crawl.skipped += u64::from(seen);
        }
        if seen {
            continue;
        }
        filter.insert(content.as_str())?;
        crawl.visited += 1;
        times[page] += 1;
        crawl.twice += u64::from(times[page] == 2);
        queue.extend(links[page * LINKS..(page + 1) * LINKS].iter().map(|&link| link as usize));
    }
    Ok(crawl)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    /// It takes hundreds of thousands of wrong skips to detect this, and the smallest scale has
    /// fewer.
    #[test]
    fn a_rate_wrong_by_three_percent_is_refuted() {
        is_refuted_at_usual_scale("crawler", &[0.97, 1.03], measure);
    }
}
