//! The card of one column, with pictures where they say more than numbers.

use crivo_page::{Axis, Bar, Bars, Plot, Series, Strip, number, text};
use maud::{Markup, html};

use super::super::report::{
    ColumnReport, DatesReport, GrowthPoint, HistogramReport, OutlierReport, Quantiles, Scalar, TypeChange,
};
use super::show;
use crate::output::Interval;

/// The most points of a curve that are drawn; more would look the same.
const POINTS: usize = 20;
/// The most values of the sample that are shown.
const SAMPLE: usize = 12;

/// Returns the card of a column.
pub(super) fn card(column: &ColumnReport, number: usize, id: &str, rows: u64) -> Markup {
    let heading = format!("{id}-name");
    html! {
        article.card.column id=(id) data-column=(number) aria-labelledby=(heading) tabindex="-1" {
            header {
                h3 id=(heading) { (show::heading(&column.name)) }
                span.type { (column.kind) }
                @if column.key { span.yes { (if column.is_certain_key() { "key" } else { "could be a key" }) } }
            }
            @for change in &column.changes { (changed(change)) }
            (facts(column, rows))
            div.pictures {
                (histogram(column))
                (frequent(column))
                (quantiles(column))
                // The growth of a column of categories is flat from its first rows on.
                @if !is_category(column) { (growth(column)) }
                (patterns(column))
                div.contents { (composition(column, rows)) (sample(column)) }
            }
        }
    }
}

/// The most different values of a column of categories.
const CATEGORIES: f64 = 64.0;

fn is_category(column: &ColumnReport) -> bool {
    column.distinct.upper <= CATEGORIES && !column.key
}

fn changed(change: &TypeChange) -> Markup {
    html! {
        p.notice {
            "Row " (number::whole(change.row)) " turned " (change.from) " into " (change.to) ": "
            code { (show::value(&change.value, 60)) }
        }
    }
}

/// Shows the numbers that need no picture.
fn facts(column: &ColumnReport, rows: u64) -> Markup {
    let length = &column.length;
    html! {
        dl.facts {
            (fact("distinct", &show::interval("distinct", &column.distinct)))
            (fact("empty", &html! {
                (show::count("empty", column.empty))
                @if column.empty > 0 { " " span.muted { (number::percent(show::share(column.empty, rows))) } }
            }))
            @if let Some(min) = &column.min { (fact("min", &show::scalar("min", min))) }
            @if let Some(max) = &column.max { (fact("max", &show::scalar("max", max))) }
            @if let Some(mean) = column.mean { (fact("mean", &show::number("mean", mean))) }
            @if let Some(deviation) = column.standard_deviation {
                (fact("standard deviation", &show::number("standard_deviation", deviation)))
            }
            @if let Some(skew) = column.skew { (fact("skew", &show::number("skew", skew))) }
            @if let Some(outliers) = &column.outliers { (outside(outliers)) }
            @if let Some(sum) = column.sum { (fact("sum", &show::number("sum", sum))) }
            @if let Some(dates) = &column.dates { (days(dates)) }
            @if let Some(majority) = &column.majority { (fact("majority", &show::value(majority, 32))) }
            @if column.values > 0 && column.sum.is_none() {
                (fact("length", &html! {
                    (show::count("length.min", length.min))
                    @if length.max > length.min {
                        " to " (show::count("length.max", length.max))
                        span.muted { ", mean " (show::number("length.mean", length.mean)) }
                    }
                }))
            }
            @if let Some(near) = &column.near_duplicates {
                (fact("near-duplicates", &show::share_interval("near_duplicates", near)))
            }
            @if column.not_finite > 0 {
                (fact("infinite, NaN or too large", &show::count("not_finite", column.not_finite)))
            }
            @if column.long > 0 { (fact("too long to count", &show::count("long", column.long))) }
        }
    }
}

/// Shows how many numbers are outside the fences, and the fences.
fn outside(outliers: &OutlierReport) -> Markup {
    let OutlierReport { lower_fence, upper_fence, below, above } = outliers;
    html! {
        (fact("outliers below", &html! {
            (show::interval("outliers.below", below))
            span.muted { " under " (show::number("outliers.lower_fence", *lower_fence)) }
        }))
        (fact("outliers above", &html! {
            (show::interval("outliers.above", above))
            span.muted { " over " (show::number("outliers.upper_fence", *upper_fence)) }
        }))
    }
}

/// Shows the formats of days, their range, and the missing days.
fn days(dates: &DatesReport) -> Markup {
    let formats: Vec<&str> = dates.formats.iter().map(|format| format.format).collect();
    html! {
        @if !formats.is_empty() {
            (fact("format", &html! { (formats.join(if dates.from.is_some() { ", " } else { " or " })) }))
        }
        @if let (Some(from), Some(to)) = (&dates.from, &dates.to) {
            (fact("days", &html! {
                span data-field="dates.from" { (from) } " to " span data-field="dates.to" { (to) }
            }))
        }
        @if let Some(missing) = dates.missing_days {
            (fact("days missing between", &html! {
                (show::count("dates.missing_days", missing))
                @if let Some(gap) = dates.longest_gap.as_ref().filter(|gap| gap.days > 1) {
                    span.muted { ", the longest gap " (gap.from) " to " (gap.to) }
                }
            }))
        }
        @if dates.others > 0 { (fact("no days", &show::count("dates.others", dates.others))) }
    }
}

fn fact(what: &str, value: &Markup) -> Markup {
    html! { div { dt { (what) } dd { (value) } } }
}

/// Shows the numbers in bars of equal width.
fn histogram(column: &ColumnReport) -> Markup {
    let Some(HistogramReport { bars, below, above }) = &column.histogram else { return html! {} };
    let (Some(first), Some(last)) = (bars.first(), bars.last()) else { return html! {} };
    if bars.len() < 2 {
        return html! {};
    }
    let tallest = bars.iter().max_by(|a, b| a.count.value.total_cmp(&b.count.value)).unwrap_or(first);
    let description = format!(
        "Most numbers lie from {} to {}: {} of them.",
        number::short(tallest.from),
        number::short(tallest.to),
        number::short(tallest.count.value)
    );
    let points = bars.iter().map(|bar| (f64::midpoint(bar.from, bar.to), bar.count.value));
    let bounds = bars.iter().map(|bar| (bar.count.lower, bar.count.upper));
    let plot = Plot::new("How numbers are distributed", description)
        .x(Axis::linear("value").range(first.from, last.to))
        .y(Axis::linear("rows").from_zero())
        .series(Series::columns("", first.to - first.from, points).whiskers(bounds));
    html! {
        div data-picture="histogram" {
            (plot.figure())
            @if below.upper > 0.0 || above.upper > 0.0 {
                p.muted.beside {
                    "Not shown: " (show::interval("histogram.below", below)) " below, "
                    (show::interval("histogram.above", above)) " above."
                }
            }
        }
    }
}

/// Shows the patterns of texts.
fn patterns(column: &ColumnReport) -> Markup {
    let Some(first) = column.patterns.first() else { return html! {} };
    let description =
        format!("{} of the texts look like {}.", number::percent(first.share.value), first.pattern);
    let bars = column.patterns.iter().fold(Bars::new("What texts look like", description), |bars, one| {
        let Interval { value, lower, upper, .. } = one.share;
        let label = if one.pattern.is_empty() { "(empty)" } else { &one.pattern };
        bars.bar(Bar::new(label, value).whisker(lower, upper))
    });
    html! { div data-picture="patterns" { (bars.percent().out_of(1.0).figure()) } }
}

/// Shows the most frequent values, unless no value is frequent.
fn frequent(column: &ColumnReport) -> Markup {
    let is_frequent = column.top.iter().any(|one| one.count.lower > 1.0);
    let Some(first) = column.top.first().filter(|_| is_frequent) else { return nothing_frequent(column) };
    let description = format!(
        "{} comes most often, {} times.",
        text::shorten(&first.key, 60),
        number::grouped(first.count.value.round())
    );
    let bars = column.top.iter().fold(Bars::new("Most frequent values", description), |bars, one| {
        let Interval { value, lower, upper, .. } = one.count;
        let label = if one.key.is_empty() { "(empty)" } else { &one.key };
        bars.bar(Bar::new(label, value).whisker(lower, upper))
    });
    html! { div data-picture="top" { (bars.figure()) } }
}

/// Shows an upper bound on the count of the most frequent value, if no value stands out.
fn nothing_frequent(column: &ColumnReport) -> Markup {
    let listed = column.top.iter().map(|one| one.count.upper).fold(0.0, f64::max);
    let most = listed.max(column.others_at_most as f64);
    if column.values == column.long {
        return html! {};
    }
    html! {
        div.picture {
            p.caption { "Most frequent values" }
            p.muted {
                @if most <= 1.0 { "No value comes twice." }
                @else { "None stands out: no value comes more than " (number::grouped(most)) " times." }
            }
        }
    }
}

/// Shows the quantiles: for each share of the rows, the value below which it lies.
fn quantiles(column: &ColumnReport) -> Markup {
    let Some(Quantiles { p01, p25, p50, p75, p99 }) = &column.quantiles else { return html! {} };
    let inner = [(0.01, p01), (0.25, p25), (0.5, p50), (0.75, p75), (0.99, p99)];
    let mut points: Vec<(f64, f64)> = inner.iter().map(|(share, value)| (*share, value.value)).collect();
    let mut bounds: Vec<(f64, f64)> = inner.iter().map(|(_, value)| (value.lower, value.upper)).collect();
    let [min, max] = [&column.min, &column.max].map(|end| end.as_ref().and_then(Scalar::as_number));
    if let Some((min, max)) = min.zip(max) {
        points.insert(0, (0.0, min));
        points.push((1.0, max));
        bounds.insert(0, (min, min));
        bounds.push((max, max));
    }
    let (low, high) = (points[0].1, points[points.len() - 1].1);
    // Amounts of money or bytes often span a wide range. Most of a linear curve would lie on the
    // axis.
    let wide = low > 0.0 && high / low > 100.0;
    let description = format!(
        "Half of the numbers are at most {}; 98 % of them lie between {} and {}.",
        number::short(p50.value),
        number::short(p01.value),
        number::short(p99.value)
    );
    let plot = Plot::new("Numbers from least to greatest", description)
        .x(Axis::linear("share of rows").percent().range(0.0, 1.0))
        .y(if wide { Axis::log("value") } else { Axis::linear("value") })
        .series(Series::dots("", points).joined().whiskers(bounds));
    html! { div data-picture="quantiles" { (plot.figure()) } }
}

/// Shows how the number of different values grew with the rows.
fn growth(column: &ColumnReport) -> Markup {
    let all = &column.growth;
    if all.len() < 2 {
        return html! {};
    }
    // The last point is always drawn.
    let every = all.len().div_ceil(POINTS);
    let skipped = (all.len() - 1) % every;
    let points: Vec<&GrowthPoint> = all.iter().skip(skipped).step_by(every).collect();
    let curve = points.iter().map(|point| (point.rows as f64, point.distinct.value));
    let bounds = points.iter().map(|point| (point.distinct.lower, point.distinct.upper));
    let description = format!(
        "{} different values after {} rows.",
        number::short(column.distinct.value.round()),
        number::short(all[all.len() - 1].rows as f64)
    );
    let plot = Plot::new("Growth of distinct values", description)
        .x(Axis::linear("rows read").from_zero())
        .y(Axis::linear("different values").from_zero())
        .series(Series::line("", curve).shaded(bounds));
    html! { div data-picture="growth" { (plot.figure()) } }
}

/// Shows the shares of empty rows and of kinds of values.
fn composition(column: &ColumnReport, rows: u64) -> Markup {
    if rows == 0 {
        return html! {};
    }
    let percent = number::percent(show::share(column.empty, rows));
    let description = if column.empty == 0 {
        "No row is empty.".into()
    } else {
        format!("{percent} of the rows are empty.")
    };
    let strip = column
        .kinds
        .iter()
        .fold(Strip::new("What the rows hold", description), |strip, kind| {
            strip.part(kind.kind, kind.count as f64)
        })
        .missing("empty", column.empty as f64);
    html! { div data-picture="kinds" { (strip.figure()) } }
}

fn sample(column: &ColumnReport) -> Markup {
    if column.sample.is_empty() {
        return html! {};
    }
    html! {
        div.sample {
            p.caption { "Some values" }
            ul {
                @for one in column.sample.iter().take(SAMPLE) { li { (show::value(one, 48)) } }
            }
        }
    }
}
