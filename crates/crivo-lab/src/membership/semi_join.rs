//! The semi-join: rows that need not be sent.
//!
//! A log of many users is joined with a list of some of them. A filter of the list is sent to the
//! log's machine, and drops rows that cannot join before they are sent. No row that can join is
//! lost. Of the other rows, the share that is sent needlessly is the filter's rate.

use crivo::keys::KeyScheme;
use crivo::membership::Bloom;
use libm::sqrt;

use super::rate;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "semi-join",
    title: "The semi-join: rows and bytes that need not move",
    claim: "A Bloom filter of the wanted users, applied before the join, loses no row that joins and lets a share of \
            its false-positive rate of the others through, so that far less than a quarter of the log has to move.",
    sources: &[(Text::Slides, "“Пример из ML практики”")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.01),
};

/// `wanted_rate` replaces the filter's rate in the theory.
fn measure(context: &Context<'_>, wanted_rate: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let users = context.size(40_000_u64, 400_000, 4_000_000);
    let (rows, wanted) = (context.size(200_000, 2_000_000, 20_000_000), users / 50);
    report.parameter("rows", rows);
    report.parameter("users", users);
    report.parameter("wanted", wanted);
    let mut random = context.random("log");
    let scheme = KeyScheme::integers().with_seed(random.bits());
    let mut filter = Bloom::for_items_with_scheme(wanted, 0.01, scheme)?;
    // Which users are wanted is independent of their numbers of rows.
    for user in (0..users).step_by(50) {
        filter.insert(&user)?;
    }
    // The number of rows of each user: a few users have many.
    let zipf = Weighted::zipf(users as usize, 0.8);
    let mut rows_of = vec![0_u64; users as usize];
    for row in 0..rows {
        rows_of[zipf.draw(&mut random)] += 1;
        if row % 100_000 == 0 {
            context.advance(row as usize, rows as usize)?;
        }
    }
    let (mut joining, mut lost, mut in_vain, mut squares) = (0, 0, 0, 0.0);
    let (mut others, mut let_through, mut other_rows) = (0, 0, 0);
    for (user, &count) in (0_u64..).zip(&rows_of) {
        let passes = filter.contains(&user)?;
        if user % 50 == 0 {
            joining += count;
            lost += if passes { 0 } else { count };
        } else {
            others += 1;
            other_rows += count;
            squares += (count * count) as f64;
            let_through += u64::from(passes);
            in_vain += if passes { count } else { 0 };
        }
    }
    let mut part = Section::numbers("Rows that move");
    part.equal("rows that join and are dropped", lost as f64, 0.0);
    let given_fill = filter.false_positive_rate();
    part.named_share("other users let through, given the filter's fill", let_through, others, given_fill);
    // Chance decides about each user with all its rows, and about the fill of the only filter.
    let fill = libm::pow(wanted_rate, 1.0 / f64::from(filter.hashes()));
    let of_fill = f64::from(filter.hashes()) * sqrt((1.0 - fill) / fill / filter.bits() as f64);
    let of_users = (1.0 - wanted_rate) / wanted_rate * squares / (other_rows as f64 * other_rows as f64);
    part.named(
        "rows that move in vain, of those that do not join",
        Measure::Normal {
            observed: in_vain as f64 / other_rows as f64,
            theory: wanted_rate,
            deviation: wanted_rate * sqrt(of_users + of_fill * of_fill),
            trials: others,
            side: Side::Both,
        },
    );
    let moved = (joining + in_vain) as f64 / rows as f64;
    part.between("share of the log that moves", moved, 0.0, 0.25);
    let sent = filter.memory() as f64 / (rows as f64 * 100.0);
    part.between("the filter's bytes, as a share of a log of 100 bytes a row", sent, 0.0, 0.001);
    report.add(part);

    let mut part = Section::curve(
        "Rows that move in vain, by the filter's size",
        "bits a wanted user",
        "share of users let through",
    )
    .log_y();
    let filters = context.size(2, 20, 2);
    report.parameter("filters_a_size", filters);
    for bits in [2_u64, 4, 6, 8, 10, 14] {
        context.advance(bits as usize, 15)?;
        let hashes = libm::round(bits as f64 * libm::log(2.0)).max(1.0);
        let mut passed = 0;
        for _ in 0..filters {
            let scheme = KeyScheme::integers().with_seed(random.bits());
            let mut filter = Bloom::with_scheme(bits * wanted, hashes as u32, scheme)?;
            for user in (0..users).step_by(50) {
                filter.insert(&user)?;
            }
            for user in (0..users).filter(|user| user % 50 != 0) {
                passed += u64::from(filter.contains(&user)?);
            }
        }
        let asked = filters * others;
        let theory = rate((bits * wanted) as f64, hashes, wanted as f64) * wanted_rate / 0.01;
        // The deviation of the fills of the filters, and of the decision about each user.
        let fill = libm::pow(theory, 1.0 / hashes);
        let of_fill = hashes * sqrt((1.0 - fill) / fill / (filters * bits * wanted) as f64);
        part.at(
            bits as f64,
            Measure::Normal {
                observed: passed as f64 / asked as f64,
                theory,
                deviation: theory * sqrt((1.0 - theory) / theory / asked as f64 + of_fill * of_fill),
                trials: asked,
                side: Side::Both,
            },
        );
    }
    report.add(part);
    report.note(format!("{} of 100 rows move.", crate::report::short(100.0 * moved)));
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn a_rate_wrong_by_three_percent_is_refuted() {
        is_refuted_at_usual_scale("semi-join", &[0.0097, 0.0103], measure);
    }
}
