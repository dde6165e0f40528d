//! Answers of `crivo profile` beyond its sketches: spread, bars, outliers, days, patterns and
//! relations of columns. The library's tests compare each figure with an exact model. These tests
//! check that they arrive in JSON, on terminals and in saved files.

use serde_json::Value;

use crate::support::{Ran, Random, Scratch};

/// Orders with days in two formats, codes, and columns that depend on each other.
fn orders(rows: u64, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::from("code,day,american,price,total,country,currency,free\n");
    for row in 0..rows {
        let price = random.below(100_000) as f64 / 100.0 + if row % 500 == 7 { 50_000.0 } else { 0.0 };
        let total = price * (2 + random.below(2)) as f64;
        let (country, currency) =
            [("PT", "EUR"), ("ES", "EUR"), ("US", "USD"), ("BR", "BRL")][random.below(4) as usize];
        let (month, day) = (1 + random.below(3), 1 + random.below(28));
        let code =
            if row % 10 == 3 { format!("old {row}") } else { format!("A-{:06}", random.below(1_000_000)) };
        text += &format!(
            "{code},{day:02}.{month:02}.2024,{month}/{day}/2024,{price:.2},{total:.2},{country},{currency},{}\n",
            random.below(7)
        );
    }
    text
}

fn column<'a>(json: &'a Value, name: &str) -> &'a Value {
    json["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[track_caller]
fn covers(interval: &Value, truth: f64) {
    let (lower, upper) = (number(&interval["lower"]), number(&interval["upper"]));
    assert!(lower <= truth && truth <= upper, "{interval} and {truth}");
}

#[test]
fn json_has_the_figures_of_the_table() {
    let text = orders(900, 3);
    let scratch = Scratch::with([("orders.csv", &text)]);
    let json = scratch.run(&["profile", "orders.csv", "--json"]).json();
    let field = |at: usize| text.lines().skip(1).map(move |line| line.split(',').nth(at).unwrap());
    let prices: Vec<f64> = field(3).map(|price| price.parse().unwrap()).collect();
    let (n, price) = (prices.len() as f64, column(&json, "price"));
    let mean = prices.iter().sum::<f64>() / n;
    let moment = |power: i32| prices.iter().map(|price| (price - mean).powi(power)).sum::<f64>() / n;
    let deviation = (moment(2) * n / (n - 1.0)).sqrt();
    let skew = moment(3) / moment(2).powf(1.5) * (n * (n - 1.0)).sqrt() / (n - 2.0);
    assert!((number(&price["standard_deviation"]) / deviation - 1.0).abs() < 1e-12, "{price}");
    assert!((number(&price["skew"]) / skew - 1.0).abs() < 1e-10, "{price}");
    let outliers = &price["outliers"];
    let (low, high) = (number(&outliers["lower_fence"]), number(&outliers["upper_fence"]));
    covers(&outliers["below"], prices.iter().filter(|price| **price < low).count() as f64);
    covers(&outliers["above"], prices.iter().filter(|price| **price > high).count() as f64);
    let bars = price["histogram"]["bars"].as_array().unwrap();
    assert_eq!(bars.len(), 20);
    for bar in &bars[..19] {
        let (from, to) = (number(&bar["from"]), number(&bar["to"]));
        covers(&bar["count"], prices.iter().filter(|price| (from..to).contains(*price)).count() as f64);
    }

    let patterns = column(&json, "code")["patterns"].as_array().unwrap();
    assert_eq!((&patterns[0]["pattern"], &patterns[0]["share"]["value"]), (&"A-999999".into(), &0.9.into()));
    assert_eq!(column(&json, "price")["patterns"], serde_json::json!([]));

    for (name, format) in [("day", "DD.MM.YYYY"), ("american", "MM/DD/YYYY")] {
        let dates = &column(&json, name)["dates"];
        assert_eq!(dates["formats"], serde_json::json!([{"format": format, "count": 900}]), "{dates}");
        assert_eq!((&dates["from"], &dates["to"]), (&"2024-01-01".into(), &"2024-03-28".into()));
        // The 29th to 31st of January and the 29th of February.
        assert_eq!((&dates["missing_days"], &dates["longest_gap"]["days"]), (&4.into(), &3.into()));
    }
    let found = &json["dependencies"];
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!((&found[0]["from"], &found[0]["to"]), (&"country".into(), &"currency".into()));
    assert_eq!((&found[0]["share"]["value"], &found[0]["share"]["confidence"]), (&1.0.into(), &1.0.into()));
    let found = &json["correlations"][0];
    assert_eq!(
        (&found["left"], &found["right"], &found["rows"]),
        (&"price".into(), &"total".into(), &900.into())
    );
    assert!(number(&found["rank_correlation"]["value"]) > 0.9);
    let pearson = &found["pearson"];
    assert!(number(&pearson["value"]) > 0.9 && pearson["confidence"] == 1.0, "{pearson}");
    assert_eq!(json["not_compared"], serde_json::json!({"numbers": 0, "few_values": 0}));
}

#[test]
fn merged_profiles_have_the_figures_of_both_files() {
    let (one, two) = (orders(2_000, 1), orders(3_000, 2));
    let both = one.clone() + two.split_once('\n').unwrap().1;
    let scratch = Scratch::with([("1.csv", one), ("2.csv", two), ("both.csv", both)]);
    for day in ["1", "2"] {
        scratch.run(&["profile", &format!("{day}.csv"), "-o", &format!("{day}.crivo")]).ok();
    }
    scratch.run(&["merge", "1.crivo", "2.crivo", "-o", "both.crivo"]).ok();
    let merged = scratch.run(&["profile", "both.crivo", "--json"]).json();
    let whole = scratch.run(&["profile", "both.csv", "--json"]).json();
    for name in ["price", "total", "day", "american", "free"] {
        for field in ["standard_deviation", "skew", "dates"] {
            assert_eq!(column(&merged, name)[field], column(&whole, name)[field], "{field} of {name}");
        }
    }
    for json in [&merged, &whole] {
        let found = &json["dependencies"][0];
        assert_eq!((&found["from"], &found["exceptions"]), (&"country".into(), &0.into()), "{found}");
        covers(&column(json, "code")["patterns"][0]["share"], 0.9);
        assert!(number(&json["correlations"][0]["rank_correlation"]["lower"]) > 0.8);
    }
}

#[test]
fn what_has_no_room_in_80_columns_is_in_a_second_line() {
    let scratch = Scratch::with([("orders.csv", orders(3_000, 5))]);
    let shown = |columns: &str| {
        let mut command = scratch.command(&["profile", "orders.csv"]);
        Ran::from(command.env("COLUMNS", columns).output().unwrap()).ok().to_owned()
    };
    for columns in ["40", "80", "120", "200"] {
        let text = shown(columns);
        for told in [
            "mean",
            "sd",
            "median",
            "A-999999",
            "2024-01-01 … 2024-03-28",
            "MM/DD/YYYY",
            "country decides",
            "price and total go",
        ] {
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(told), "{told} at {columns}:\n{text}");
        }
        let price = text.lines().skip_while(|line| !line.starts_with("price")).take(9).collect::<String>();
        assert!(
            price.contains('…') && price.contains("outside of"),
            "range and outliers at {columns}:\n{text}"
        );
    }
}
