//! Forges a signature made with DJB31MA.
//!
//! For any text, another readable text with the same 32-bit value is found at once. The hash of a
//! text continues the hash of its prefix, so first and second halves of sentences can be matched
//! from both ends. Trying texts one by one would take four thousand million.

use crivo::hash::{djb31ma, forge, forge_after};
use crivo::keys::KeyScheme;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "forgery",
    title: "Forging DJB31MA",
    claim: "For every text and seed there is another readable text with the same 32-bit DJB31MA value, and it is found in \
            far fewer steps than the 2^32 that trying takes.",
    sources: &[(Text::Summary, "§3.2")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 2.0),
};

/// `base` replaces 2 in the `2^b` texts that trying takes.
fn measure(context: &Context<'_>, base: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let texts = context.size(3, 12, 100);
    report.parameter("texts", texts);
    let mut random = context.random("texts");
    let (mut same, mut readable, mut other, mut caught) = (0, 0, 0, 0);
    let mut shown = String::new();
    for number in 0..texts {
        context.advance(number, texts)?;
        let text = match number {
            0 => "Rui owes Ana ten euros.".into(),
            _ => format!("{} {}", random.text(20), random.text(30)),
        };
        let seed = random.bits() as u32;
        let beginning = if number % 2 == 0 { "" } else { "Rui owes Ana ten thousand euros." };
        let forged = context.timed(format!("forging text {number}"), || {
            if beginning.is_empty() {
                forge(&text, seed, random.bits())
            } else {
                forge_after(beginning, &text, seed, random.bits())
            }
        });
        let Some(forged) = forged else { continue };
        same += u64::from(djb31ma(forged.as_bytes(), seed) == djb31ma(text.as_bytes(), seed));
        other += u64::from(forged != text);
        readable += u64::from(
            forged.starts_with(beginning)
                && forged.ends_with('.')
                && forged.chars().all(|c| c.is_ascii_alphabetic() || " ,.'".contains(c)),
        );
        let scheme = KeyScheme::bytes().with_seed(seed.into());
        caught += u64::from(scheme.hash(forged.as_str())? != scheme.hash(text.as_str())?);
        if number == 0 {
            shown = format!("“{forged}” has under seed {seed} the value of “{text}”.");
        }
    }
    let mut part = Section::numbers("Forged texts");
    let all = texts as f64;
    part.equal("with the value of the original", same as f64, all);
    part.equal("that are another text", other as f64, all);
    part.equal("of letters and a full stop", readable as f64, all);
    part.equal("that XXH3 with 64 bits tells apart", caught as f64, all);
    report.add(part);
    report.note(shown);
    report.add(trying(context, base));
    Ok(report)
}

/// Measures the cost of trying, with fewer bits. The number of texts until one has the wanted last
/// `b` bits is geometric, with mean `2^b`.
fn trying(context: &Context<'_>, base: f64) -> Section {
    let mut part = Section::curve("Random texts tried until the last bits agree", "bits", "texts").log_y();
    let mut random = context.random("trying");
    let trials = context.size(1_500, 4_000, 20_000);
    for bits in [4_u32, 6, 8, 10] {
        let mean = libm::pow(base, f64::from(bits));
        let mut sample = Sample::about(mean);
        for _ in 0..trials {
            let wanted = random.bits() as u32;
            let mut tried = 1_u32;
            while (djb31ma(&random.bits().to_le_bytes(), 0) ^ wanted) << (32 - bits) != 0 {
                tried += 1;
            }
            sample.add(f64::from(tried));
        }
        part.at(f64::from(bits), sample.check_mean(mean * (mean - 1.0)));
    }
    part.show("2^b", (4..=10).map(|bits| (f64::from(bits), f64::from(1_u32 << bits))));
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_base_wrong_by_three_percent_is_refuted() {
        for wrong in [1.94, 2.06] {
            assert_eq!(verdict("forgery", |context| measure(context, wrong)), Verdict::Refuted);
        }
    }
}
