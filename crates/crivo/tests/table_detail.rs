// This file is long because every figure has an exact model.

//! What a profile says beyond its sketches, against exact models on random tables: spread,
//! histogram, outliers, days, patterns, correlation and dependencies. Estimates are simulated, and
//! held to the confidence they state.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};

use crivo::Estimate;
use crivo::keys::calendar::{date_of, day_of};
use crivo::profile::{DateFormat, TableColumnSizes, TableProfile};

use support::tables::{small, table};
use support::{Random, generator};

type Rows = Vec<Option<String>>;

fn one_column(texts: &Rows) -> TableProfile {
    table(small(), 0, &[("x", texts)])
}

fn large() -> TableColumnSizes {
    TableColumnSizes::for_memory(1280 << 10)
}

/// Standard normal, by the sum of twelve.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

fn close(found: f64, expected: f64, error: f64) -> bool {
    (found - expected).abs() <= error * expected.abs()
}

/// Standard deviation and skew of whole numbers in 128 bits: no rounding before the end.
fn exact_spread(numbers: &[i128]) -> (f64, f64) {
    let n = numbers.len() as i128;
    let sum: i128 = numbers.iter().sum();
    // Deviations times n.
    let deviations: Vec<i128> = numbers.iter().map(|number| n * number - sum).collect();
    let (n, scale) = (n as f64, n as f64);
    let power = |exponent: u32| {
        deviations.iter().map(|d| d.pow(exponent)).sum::<i128>() as f64 / scale.powi(exponent as i32)
    };
    let (second, third) = (power(2), power(3));
    let skew = third / n / (second / n).powf(1.5) * (n * (n - 1.0)).sqrt() / (n - 2.0);
    ((second / (n - 1.0)).sqrt(), skew)
}

#[test]
fn spread_is_that_of_the_numbers_however_far_from_zero() {
    let mut random = generator("spread");
    for (offset, range, unit) in
        [(0, 1000, 1), (1_700_000_000, 100_000, 1), (1_i128 << 50, 64, 1), (-5, 40, 4), (12_345_678, 8, 8)]
    {
        let numbers: Vec<i128> =
            (0..300).map(|_| offset + random.below(range) as i128 * random.below(3) as i128).collect();
        // A unit of a quarter or an eighth makes fractions that floats hold exactly.
        let texts: Rows =
            numbers.iter().map(|number| Some((*number as f64 / f64::from(unit)).to_string())).collect();
        let (deviation, skew) = exact_spread(&numbers);
        let spread = one_column(&texts).columns()[0].spread();
        let found = spread.standard_deviation.unwrap() * f64::from(unit);
        assert!(close(found, deviation, 1e-13), "{offset}: {found} and {deviation}");
        assert!(close(spread.skew.unwrap(), skew, 1e-11), "{offset}: {:?} and {skew}", spread.skew);
    }
}

#[test]
fn spread_of_extreme_and_of_few_numbers() {
    let of = |texts: &[&str]| {
        let texts: Rows = texts.iter().map(|text| Some((*text).to_owned())).collect();
        let spread = one_column(&texts).columns()[0].spread();
        (spread.standard_deviation, spread.skew)
    };
    assert_eq!(of(&[]), (None, None));
    assert_eq!(of(&["7"]), (None, None));
    assert_eq!(of(&["0.1", "0.1", "0.1"]), (Some(0.0), None));
    assert_eq!(of(&["1", "2"]), (Some(0.5_f64.sqrt()), None));
    assert_eq!(of(&["-1e300", "0", "1e300"]), (Some(1e300), Some(0.0)));
    let (deviation, skew) = of(&["0", "0", "5e-324"]);
    assert!(deviation.is_some() && close(skew.unwrap(), 3_f64.sqrt(), 1e-12), "{deviation:?} {skew:?}");
    assert_eq!(
        of(&["inf", "nan", "1", "3", "x"]),
        (Some(2_f64.sqrt()), None),
        "what is not finite is left out"
    );
}

/// The counts of bars and of outliers, by looking at every number.
#[test]
fn bars_and_outliers_hold_the_numbers_that_they_say() {
    let mut random = generator("bars");
    let (mut certain, mut probable, mut missed) = (0, 0, 0);
    for round in 0..60 {
        let rows = [40, 900, 30_000][round % 3];
        let number = |random: &mut Random| match round % 4 {
            0 => normal(random) * 10.0,
            1 => libm::exp(1.5 * normal(random)),
            2 => random.below(30) as f64,
            _ => 1e9 + random.unit() * if random.below(100) == 0 { 1e6 } else { 10.0 },
        };
        let numbers: Vec<f64> = (0..rows).map(|_| number(&mut random)).collect();
        let texts: Rows = numbers.iter().map(|number| Some(number.to_string())).collect();
        let table = one_column(&texts);
        let column = &table.columns()[0];
        let mut check = |estimate: Estimate, truth: usize, what: &str| {
            let covers = estimate.covers(truth as f64);
            if estimate.is_certain() {
                assert!(covers, "{what} of round {round}: {estimate:?} and {truth}");
                certain += 1;
            } else {
                probable += 1;
                missed += usize::from(!covers);
            }
        };
        let count = |is_in: &dyn Fn(f64) -> bool| numbers.iter().filter(|number| is_in(**number)).count();
        let histogram = column.histogram(20).unwrap();
        let last = histogram.bars.len() - 1;
        for (at, bar) in histogram.bars.iter().enumerate() {
            let truth =
                count(&|number| number >= bar.from && (number < bar.to || at == last && number == bar.to));
            check(bar.count, truth, "bar");
            assert!(at == 0 || bar.from == histogram.bars[at - 1].to, "bars have no gaps");
        }
        let (first, end) = (histogram.bars[0].from, histogram.bars[last].to);
        check(histogram.below, count(&|number| number < first), "below");
        check(histogram.above, count(&|number| number > end), "above");
        if rows == 40 || round % 4 == 2 {
            let bars: f64 = histogram.bars.iter().map(|bar| bar.count.value()).sum();
            let all = bars + histogram.below.value() + histogram.above.value();
            assert_eq!(all, rows as f64, "few or counted numbers are all in it, exactly");
        }
        if let Some(outliers) = column.outliers() {
            check(outliers.below, count(&|number| number < outliers.lower_fence), "outliers below");
            check(outliers.above, count(&|number| number > outliers.upper_fence), "outliers above");
            if rows == 40 {
                let mut sorted = numbers.clone();
                sorted.sort_by(f64::total_cmp);
                let (first, third) = (sorted[9], sorted[29]);
                let reach = 1.5 * (third - first);
                assert_eq!((outliers.lower_fence, outliers.upper_fence), (first - reach, third + reach));
            }
        }
    }
    // Of 95 % intervals more than 12 % miss with a probability below 10⁻⁶ if there are 300 that are
    // independent.
    assert!(
        certain > 300 && (missed as f64) < 0.12 * f64::from(probable) + 10.0,
        "{missed} of {probable} missed"
    );
}

#[test]
fn days_have_their_formats_range_and_gaps() {
    let mut random = generator("days");
    for round in 0..200 {
        let first = random.below(20_000) as i64;
        let mut days: Vec<i64> = (0..=random.below(60)).map(|_| first + random.below(90) as i64).collect();
        let written = |day: i64, format: usize| {
            let (year, month, day) = date_of(day);
            match format {
                0 => format!("{year:04}-{month:02}-{day:02}"),
                1 => format!("{day:02}.{month:02}.{year:04} 10:00"),
                2 => format!("{month}/{day}/{year:04}"),
                3 => format!("{day:02}-{month:02}-{year:04}"),
                4 => format!("{year:04}{month:02}{day:02}"),
                _ => format!(
                    "{day} {} {year:04}",
                    [
                        "Jan", "February", "MAR", "apr", "May", "June", "Jul", "Aug", "Sep", "Oct", "Nov",
                        "Dec"
                    ][month as usize - 1]
                ),
            }
        };
        let format = round % 6;
        // The 25th has one reading only.
        days.push(day_of(date_of(first).0, 1, 25).unwrap().max(first) / 31 * 31);
        let (year, month, _) = date_of(days[0]);
        days.push(day_of(year, month, 25).unwrap());
        let mut texts: Rows = days.iter().map(|day| Some(written(*day, format))).collect();
        let others = if format != 4 && texts.len() > 40 { 2 } else { 0 };
        texts.extend(vec![Some("n/a".to_owned()); others]);
        texts.push(None);
        let facts = one_column(&texts).columns()[0].dates().unwrap();
        let expected = [
            DateFormat::YearMonthDayDashes,
            DateFormat::DayMonthYearDots,
            DateFormat::MonthDayYearSlashes,
            DateFormat::DayMonthYearDashes,
            DateFormat::Compact,
            DateFormat::DayNameYear,
        ][format];
        assert_eq!(facts.formats, [(expected, days.len() as u64)], "{texts:?}");
        assert_eq!((facts.dates, facts.others), (days.len() as u64, others as u64));
        let came: BTreeSet<i64> = days.iter().copied().collect();
        let (from, to) = (*came.first().unwrap(), *came.last().unwrap());
        assert_eq!(facts.range, Some((from as i32, to as i32)));
        let missing: Vec<i64> = (from..=to).filter(|day| !came.contains(day)).collect();
        let gaps = facts.gaps.unwrap();
        assert_eq!(gaps.missing, missing.len() as u64);
        let longest = missing.chunk_by(|a, b| a + 1 == *b).map(|gap| (gap.len(), -gap[0])).max();
        assert_eq!(gaps.longest.map(|(from, to)| ((to - from + 1) as usize, -i64::from(from))), longest);
    }
}

#[test]
fn days_with_two_readings_and_other_texts_are_told_as_such() {
    let dates = |texts: &[&str]| {
        let texts: Rows = texts.iter().map(|text| Some((*text).to_owned())).collect();
        one_column(&texts).columns()[0].dates()
    };
    let both = dates(&["03/04/2024", "05/06/2024"]).unwrap();
    assert_eq!((both.formats.len(), both.range, both.gaps), (2, None, None));
    let mixed = dates(&["31/12/2024", "12/31/2024"]).unwrap();
    let one_each = vec![(DateFormat::DayMonthYearSlashes, 1), (DateFormat::MonthDayYearSlashes, 1)];
    assert_eq!((mixed.formats, mixed.dates, mixed.range), (one_each, 2, None), "neither reading fits both");
    assert_eq!(dates(&["2024-01-01", "x", "y"]), None);
    assert_eq!(dates(&["20240101", "20240102", "7"]), None, "numbers");
    assert_eq!(dates(&[]), None);
    let far = dates(&["0001-01-01", "9999-12-31"]).unwrap();
    assert_eq!((far.range, far.gaps), (Some((-719_162, 2_932_896)), None));
}

/// Midranks, and the correlation of these, straight from the definition.
fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let rank = |of: &dyn Fn(&(f64, f64)) -> f64| -> Vec<f64> {
        pairs
            .iter()
            .map(|one| {
                let below = pairs.iter().filter(|other| of(other) < of(one)).count() as f64;
                let same = pairs.iter().filter(|other| of(other) == of(one)).count() as f64;
                below + f64::midpoint(same, 1.0)
            })
            .collect()
    };
    let (left, right) = (rank(&|pair| pair.0), rank(&|pair| pair.1));
    let mean = f64::midpoint(pairs.len() as f64, 1.0);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    product(&left, &right) / (product(&left, &left) * product(&right, &right)).sqrt()
}

#[test]
fn correlation_of_drawn_rows_is_spearmans_of_the_rows_with_both() {
    let mut random = generator("spearman");
    let mut told = 0;
    for round in 0..50 {
        let rows = 12 + random.below(24);
        let pairs: Vec<(Option<f64>, Option<f64>)> = (0..rows)
            .map(|_| {
                let x = random.below(9) as f64;
                let y = (if round % 2 == 0 { x } else { -x } + random.below(6) as f64) / 4.0;
                (Some(x).filter(|_| random.below(6) > 0), Some(y).filter(|_| random.below(6) > 0))
            })
            .collect();
        let text = |number: Option<f64>| number.map(|number| number.to_string());
        let left: Rows = pairs.iter().map(|pair| text(pair.0)).collect();
        let right: Rows = pairs.iter().map(|pair| text(pair.1)).collect();
        let complete: Vec<(f64, f64)> = pairs.iter().filter_map(|pair| pair.0.zip(pair.1)).collect();
        let relations = table(small(), 0, &[("left", &left), ("right", &right)]).relations();
        let expected = spearman(&complete);
        match relations.correlations.as_slice() {
            [found] => {
                assert!(
                    (found.rank_correlation.value() - expected).abs() < 1e-12,
                    "{found:?} and {expected}"
                );
                assert!(found.rank_correlation.is_exact() && found.rows == complete.len());
                told += 1;
            }
            _ => assert!(expected.abs() < 0.1 || expected.is_nan() || complete.len() < 10, "{expected}"),
        }
    }
    assert!(told > 30);
}

/// Tables of 4,000 rows, a quarter of them drawn: intervals of 95 % must cover the correlation of
/// all rows. Of 240, 30 or more miss with a probability below 10⁻⁶ if each misses with 5 %; more
/// often than that would be a fault.
#[test]
fn correlations_cover_that_of_all_rows() {
    let mut random = generator("coverage of correlation");
    let mut missed = 0;
    let rounds = 240;
    for round in 0..rounds {
        let strength = [0.3, 0.6, 0.95][round % 3];
        let kind = round / 3 % 4;
        let pairs: Vec<(f64, f64)> = (0..4000)
            .map(|_| {
                let (a, b) = (normal(&mut random), normal(&mut random));
                let (x, y) = (a, strength * a + (1.0 - strength * strength).sqrt() * b);
                match kind {
                    0 => (x, y),
                    1 => (libm::exp(3.0 * x), -libm::exp(2.0 * y)),
                    2 => ((2.0 * x).round(), (3.0 * y).round()),
                    _ => (x, if random.below(50) == 0 { 1e12 * b } else { y }),
                }
            })
            .collect();
        let texts = |of: fn(&(f64, f64)) -> f64| -> Rows {
            pairs.iter().map(|pair| Some(of(pair).to_string())).collect()
        };
        let (left, right) = (texts(|pair| pair.0), texts(|pair| pair.1));
        let salted = table_salted(large(), round as u64, &[("left", &left), ("right", &right)]);
        let relations = salted.relations();
        let [found] = relations.correlations.as_slice() else { panic!("{relations:?}") };
        assert!(found.rows > 900 && !found.rank_correlation.is_certain());
        let truth = fast_spearman(&pairs);
        missed += usize::from(!found.rank_correlation.covers(truth));
        let width = found.rank_correlation.upper() - found.rank_correlation.lower();
        assert!(width < 0.2, "{found:?}");
    }
    assert!(missed < 30, "{missed} of {rounds} missed");
}

/// The same as [`spearman`] in less time.
fn fast_spearman(pairs: &[(f64, f64)]) -> f64 {
    let rank = |values: Vec<f64>| -> Vec<f64> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        let mut below = 0;
        for same in order.chunk_by(|&a, &b| values[a] == values[b]) {
            same.iter().for_each(|&at| ranks[at] = below as f64 + (same.len() as f64 - 1.0) / 2.0);
            below += same.len();
        }
        ranks
    };
    let (left, right) =
        (rank(pairs.iter().map(|pair| pair.0).collect()), rank(pairs.iter().map(|pair| pair.1).collect()));
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    product(&left, &right) / (product(&left, &left) * product(&right, &right)).sqrt()
}

/// A table whose rows are drawn with a salt.
fn table_salted(sizes: TableColumnSizes, salt: u64, columns: &[support::tables::Texts<'_>]) -> TableProfile {
    support::tables::table_with(sizes, 0, salt, columns)
}

#[test]
fn dependencies_are_those_of_the_table() {
    let mut random = generator("dependencies");
    let countries = ["PT", "ES", "US", "BR", "JP", "FR"];
    let currency = |country: &str| match country {
        "PT" | "ES" | "FR" => "EUR",
        "US" => "USD",
        "BR" => "BRL",
        _ => "JPY",
    };
    let drawn: Vec<&str> = (0..4000).map(|_| countries[random.below(6)]).collect();
    let country: Rows = drawn.iter().map(|country| Some((*country).to_owned())).collect();
    let decided: Rows = drawn.iter().map(|country| Some(currency(country).to_owned())).collect();
    let free: Rows = (0..4000).map(|_| Some(random.below(5).to_string())).collect();
    let rare: Rows = (0..4000).map(|row| Some((row == 17).to_string())).collect();
    for (sizes, rows) in [(large(), 4000), (small(), 35), (large(), 500)] {
        let columns = [&country, &decided, &free, &rare].map(|texts| texts[..rows].to_vec());
        let names = ["country", "currency", "free", "rare"];
        let named: Vec<(&str, &[Option<String>])> =
            names.into_iter().zip(columns.iter().map(Vec::as_slice)).collect();
        let relations = table(sizes, 0, &named).relations();
        let [found] = relations.dependencies.as_slice() else { panic!("{rows}: {relations:?}") };
        assert_eq!((found.from, found.to, found.exceptions), (0, 1, 0));
        assert_eq!(found.share.is_exact(), rows < 4000, "{found:?}");
        assert!(found.share.value() == 1.0 && found.share.lower() > 0.99);
    }
}

/// One row in 30 has another currency: 200 tables, whose intervals of 95 % must cover the share of
/// all rows.
#[test]
fn dependencies_with_exceptions_cover_their_share() {
    let mut random = generator("exceptions");
    let mut missed = 0;
    let rounds = 200;
    for round in 0..rounds {
        let pairs: Vec<(usize, usize)> = (0..3000)
            .map(|_| {
                let group = random.below(12);
                (group, if random.below(30) == 0 { random.below(4) } else { group % 4 })
            })
            .collect();
        let text = |of: fn(&(usize, usize)) -> usize| -> Rows {
            pairs.iter().map(|pair| Some(of(pair).to_string())).collect()
        };
        let (groups, values) = (text(|pair| pair.0), text(|pair| pair.1));
        let table = table_salted(large(), round, &[("group", &groups), ("value", &values)]);
        let relations = table.relations();
        let Some(found) = relations.dependencies.iter().find(|found| found.from == 0) else {
            panic!("{relations:?}");
        };
        let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        pairs.iter().for_each(|pair| *counts.entry(*pair).or_default() += 1);
        let most =
            |group: usize| (0..4).filter_map(|value| counts.get(&(group, value))).max().copied().unwrap_or(0);
        let truth = (0..12).map(most).sum::<usize>() as f64 / 3000.0;
        missed += usize::from(!found.share.covers(truth));
    }
    // Of 200 at most 5 % each: 26 or more with a probability below 10⁻⁶.
    assert!(missed < 26, "{missed} of {rounds} missed");
}

#[test]
fn patterns_are_those_of_the_values() {
    let mut random = generator("patterns");
    let code = |random: &mut Random| match random.below(10) {
        0 => format!("{}", 10 + random.below(90)) + "-x",
        1..=3 => format!("{}-{}", ["A", "B"][random.below(2)], 1000 + random.below(9000)),
        _ => format!("{}-{}", ["C", "Q"][random.below(2)], 100_000 + random.below(900_000)),
    };
    let shape = |text: &str| {
        let class = |c: char| {
            if c.is_ascii_digit() {
                '9'
            } else if c.is_ascii_uppercase() {
                'A'
            } else if c.is_ascii_lowercase() {
                'a'
            } else {
                c
            }
        };
        text.chars().map(class).collect::<String>()
    };
    let mut missed = 0;
    for round in 0..40 {
        let rows = if round % 2 == 0 { 30 } else { 5000 };
        let texts: Vec<String> = (0..rows).map(|_| code(&mut random)).collect();
        let column: Rows = texts.iter().cloned().map(Some).collect();
        let table = table_salted(if rows == 30 { small() } else { large() }, round, &[("code", &column)]);
        let patterns = table.columns()[0].patterns(5);
        assert!(!patterns.is_empty());
        for pattern in &patterns {
            let truth =
                texts.iter().filter(|text| shape(text) == pattern.pattern).count() as f64 / f64::from(rows);
            assert_eq!(shape(std::str::from_utf8(&pattern.example).unwrap()), pattern.pattern);
            assert_eq!(pattern.share.is_exact(), rows == 30);
            missed += usize::from(!pattern.share.covers(truth));
        }
        assert!(patterns.windows(2).all(|pair| pair[0].share.value() >= pair[1].share.value()));
        assert!(rows == 30 || patterns[0].pattern == "A-999999");
    }
    // 20 tables with three patterns each: 16 or more of 60 miss with a probability below 10⁻⁶.
    assert!(missed < 16, "{missed} missed");
    let words: Rows = (0..30).map(|row| Some(format!("word {} y", "x".repeat(row)))).collect();
    assert_eq!(
        one_column(&words).columns()[0].patterns(1)[0].pattern,
        "a+ a+ a",
        "no two have the same letters"
    );
    let numbers: Rows = (0..30).map(|row| Some(row.to_string())).collect();
    assert_eq!(one_column(&numbers).columns()[0].patterns(5), []);
}

/// The rows of a table that is split and merged are drawn as those of the whole, if the salts
/// agree; with others they are as many, and each half has its share.
#[test]
fn rows_of_merged_tables_are_drawn_from_both() {
    let texts = |from: usize| -> Rows { (from..from + 5000).map(|row| Some(format!("row {row}"))).collect() };
    let (first, second) = (texts(0), texts(5000));
    let mut merged = table_salted(large(), 1, &[("a", &first), ("b", &first)]);
    merged.merge(&table_salted(large(), 2, &[("a", &second), ("b", &second)])).unwrap();
    let [a, b] = merged.columns() else { panic!("two columns") };
    let (rows, twins) = (a.drawn().unwrap().rows(), b.drawn().unwrap().rows());
    assert_eq!(rows, twins, "the same rows in both columns");
    assert_eq!(rows.len(), a.drawn().unwrap().k() as usize);
    for row in &rows {
        assert_eq!(&*row.text, format!("row {}", row.row - 1).as_bytes(), "numbered through");
    }
    // Binomial with 1,024 draws: a deviation of five times its 16 has a probability below 10⁻⁶.
    let of_first = rows.iter().filter(|row| row.row <= 5000).count() as f64;
    assert!((of_first - rows.len() as f64 / 2.0).abs() < 80.0, "{of_first}");
}

#[test]
fn memory_stays_within_the_sizes() {
    let mut random = generator("memory of detail");
    for sizes in [small(), TableColumnSizes::for_memory(200 << 10), large()] {
        let texts: Rows = (0..20_000)
            .map(|row| {
                Some(match row % 4 {
                    0 => format!("{:e}", f64::from_bits(random.bits() & !(1 << 62))),
                    1 => format!(
                        "{}-{:02}-{:02}",
                        1800 + random.below(400),
                        1 + random.below(12),
                        1 + random.below(28)
                    ),
                    2 => format!(
                        "{}/{}/{}",
                        1 + random.below(12),
                        1 + random.below(12),
                        1990 + random.below(30)
                    ),
                    _ => format!("{:0>200}", random.bits()),
                })
            })
            .collect();
        let table = table(sizes, 0, &[("x", &texts)]);
        assert!(
            table.memory() <= sizes.most_memory() + 1024,
            "{} of {}",
            table.memory(),
            sizes.most_memory()
        );
    }
}
