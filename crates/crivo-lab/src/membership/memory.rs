//! The memory that a filter saves: a million addresses of a kilobyte each, at one percent.
//!
//! Stored as text they take a gigabyte. The filter takes 9,592,955 bits, 1.2 megabytes. The
//! textbook's `m = −n ln p/(ln 2)²` gives 9,585,059, which is slightly too few: it assumes that `k`
//! is any number, but 6.64 functions are impossible, and with 7 the rate is above one percent.

use crivo::keys::KeyScheme;
use crivo::membership::Bloom;
use libm::log;

use super::{Probed, rate};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "bloom-memory",
    title: "Bloom filter: a gigabyte of addresses in 1.2 MB",
    claim: "For a million addresses of 1,024 bytes and a rate of 1 % a filter with k = 7 takes about 10^7 bits, 1.2 MB \
            instead of 1 GB.",
    sources: &[(Text::Slides, "“Оптимальные параметры” and “А профит вообще есть?”")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.01),
};

/// `wanted` is the rate in theory.
fn measure(context: &Context<'_>, wanted: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let items = 1_000_000_u64;
    let n = items as f64;
    let (bits, hashes) = Bloom::size_for(items, 0.01)?;
    let textbook = -n * log(wanted) / (log(2.0) * log(2.0));
    let mut part = Section::numbers("A million addresses at 1 %");
    part.equal("hash functions", hashes.into(), 7.0);
    part.equal("bits", bits as f64, 9_592_955.0);
    part.exact("bits of the textbook's formula", textbook, 9_585_059.0, 1.0);
    part.exact("rate with these bits and k = 7", rate(bits as f64, 7.0, n), wanted, 1e-5 * wanted);
    part.between(
        "rate with the textbook's bits and k = 7",
        rate(textbook, 7.0, n),
        wanted.next_up(),
        1.01 * wanted,
    );
    part.exact("megabytes of the filter", bits as f64 / 8e6, 1.2, 0.01);
    part.exact("gigabytes of the addresses", n * 1024.0 / 1e9, 1.0, 0.03);
    part.between("how many times smaller the filter is", n * 1024.0 * 8.0 / bits as f64, 800.0, 900.0);
    report.add(part);

    // The addresses themselves. They are as long as in the original only at its own scale.
    let (made, length) = context.size((100_000, 40), (items, 60), (items, 1024));
    report.parameter("addresses", made);
    report.parameter("bytes_an_address", length);
    let mut random = context.random("addresses");
    let mut filter = Bloom::for_items_with_scheme(made, 0.01, KeyScheme::bytes().with_seed(random.bits()))?;
    let mut address = String::from("https://example.org/");
    let mut missing = 0;
    for number in 0..made {
        address.truncate(20);
        address.push_str(&number.to_string());
        address.extend(std::iter::repeat_n('/', length - address.len()));
        filter.insert(address.as_str())?;
        missing += u64::from(!filter.contains(address.as_str())?);
        if number % 100_000 == 0 {
            context.advance(number as usize, made as usize)?;
        }
    }
    let mut probed = Probed::default();
    probed.ask(&filter, context.size(300_000, 3_000_000, 10_000_000), &mut random);
    let mut part = Section::numbers("The filter, filled with addresses");
    part.equal("addresses that are not found", missing as f64, 0.0);
    part.named("strangers found", probed.check_rate(wanted, 7.0));
    part.named("strangers found, given the fill", probed.check_given_fill());
    part.between("bytes of memory an address", filter.memory() as f64 / made as f64, 1.199, 1.21);
    report.add(part);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_rate_wrong_by_three_percent_is_refuted() {
        assert_eq!(verdict("bloom-memory", |context| measure(context, 0.0103)), Verdict::Refuted);
    }
}
