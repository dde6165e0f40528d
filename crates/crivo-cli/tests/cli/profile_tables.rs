//! Random tables with columns of every type, and their contents as a model.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Returns a generator for the test called `name`. If `CRIVO_TEST_SEED` is set, every test draws
/// from another stream.
pub(crate) fn generator(name: &str) -> Random {
    let base = std::env::var("CRIVO_TEST_SEED").map_or(0, |seed| seed.parse().unwrap());
    let label = name.bytes().fold(0_u64, |label, byte| label.wrapping_mul(0x100_0000_01B3) ^ u64::from(byte));
    Random(Xoshiro256PlusPlus::seed_from_u64(base ^ label))
}

pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }
}

/// The kind of a column's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Boolean,
    Integer,
    Float,
    Date,
    Timestamp,
    Text,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::Text => "text",
        }
    }
}

/// Columns by name; an empty value is missing.
pub(crate) struct Table {
    pub(crate) columns: Vec<(&'static str, Kind, Vec<String>)>,
}

impl Table {
    /// Returns a table with columns of every type.
    pub(crate) fn random(rows: u64, random: &mut Random) -> Self {
        type Make = fn(u64, &mut Random) -> String;
        let columns: [(&'static str, Kind, Make); 13] = [
            ("key", Kind::Integer, |row, _| (row * 3).to_string()),
            ("code", Kind::Text, |row, _| format!("K{row:06}")),
            ("paid", Kind::Boolean, |_, random| (random.below(3) > 0).to_string()),
            ("small", Kind::Integer, |_, random| (random.below(9) as i64 - 4).to_string()),
            ("large", Kind::Integer, |_, random| ((random.bits() >> 14) as i64 - (1 << 49)).to_string()),
            ("price", Kind::Float, |_, random| format!("{}.{:02}", random.below(5_000), random.below(100))),
            ("signed", Kind::Float, |_, random| match random.below(3) {
                0 => (random.below(200) as i64 - 100).to_string(),
                _ => format!("-{}.5", random.below(50)),
            }),
            ("day", Kind::Date, |_, random| {
                format!("2024-{:02}-{:02}", 1 + random.below(12), 1 + random.below(28))
            }),
            ("moment", Kind::Timestamp, |_, random| match random.below(50) {
                0 => "2024-05-17".into(),
                _ => format!(
                    "2024-05-{:02} {:02}:{:02}:00",
                    1 + random.below(28),
                    random.below(24),
                    random.below(60)
                ),
            }),
            ("country", Kind::Text, |_, random| match random.below(10) {
                0..6 => "PT".into(),
                _ => ["BR", "Åland", "AO", "日本"][random.below(4) as usize].into(),
            }),
            ("many", Kind::Text, |_, random| format!("value {}", random.below(1 << 40))),
            ("skewed", Kind::Text, |_, random| {
                let most = 1 << random.below(14);
                format!("page {}", random.below(1 + most))
            }),
            ("mixed", Kind::Text, |_, random| match random.below(200) {
                0 => "n/a".into(),
                _ => random.below(1_000).to_string(),
            }),
        ];
        let columns = columns.map(|(name, kind, make)| {
            // Two columns are keys and have every value. The others miss some values.
            let gaps = if matches!(name, "key" | "code") { 0 } else { random.below(12) };
            let mut values: Vec<String> = (0..rows)
                .map(|row| if random.below(60) < gaps { String::new() } else { make(row, random) })
                .collect();
            if name == "mixed" {
                values[0] = "n/a".into();
            }
            (name, kind, values)
        });
        Self { columns: columns.into() }
    }
}

/// Returns the table as CSV; no value needs quotes.
pub(crate) fn csv(table: &Table) -> String {
    let mut text = table.columns.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..table.columns[0].2.len() {
        let fields: Vec<&str> = table.columns.iter().map(|(.., values)| values[row].as_str()).collect();
        text += &fields.join(",");
        text.push('\n');
    }
    text
}
