//! The settings of an index, stored as text, one in each line, so that a person can read them.

use std::fmt::Write;
use std::path::Path;

use crivo::similarity::Bands;
use crivo::similarity::shingle::{Shingles, StopWords};

use super::error::{IndexProblem, damaged, trouble};
use crate::error::Result;
use crate::settings::Settings;

/// The layout of the tables and records. A change of either needs a new number. Format 1 is still
/// read.
const FORMAT: &str = "2";

/// Encodes settings as text.
pub(super) fn encode(settings: &Settings, bands: Bands) -> String {
    let mut lines = format!("format {FORMAT}\nthreshold {}\n", settings.threshold);
    // Writing to a string cannot fail.
    let _ = write!(lines, "shingles {}\nstop-words", settings.shingles);
    if let Shingles::StopWords(words) = &settings.shingles {
        words.iter().for_each(|word| {
            let _ = write!(lines, " {word}");
        });
    }
    let (seed, hashes) = (settings.seed, settings.hashes);
    let _ = write!(lines, "\nseed {seed}\nhashes {hashes}\nbands {}x{}\n", bands.bands(), bands.rows());
    // The line is written only if the setting is on, because older files do not have it.
    if settings.nfc {
        lines.push_str("nfc\n");
    }
    lines
}

/// Decodes settings from the stored text.
pub(super) fn decode(file: &Path, lines: &str) -> Result<Settings> {
    let value = |name: &str| {
        let line = lines.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::trim).ok_or_else(|| damaged(file, format_args!("its settings lack {name:?}")))
    };
    let unreadable = |name: &'static str| damaged(file, format_args!("its setting {name:?} cannot be read"));
    let format = value("format ")?;
    if !["1", FORMAT].contains(&format) {
        let what =
            format!("the index has format {format}, and this crivo reads 1 and {FORMAT}: use a later crivo");
        return Err(trouble(file, IndexProblem::Foreign(what)));
    }
    let bands = value("bands ")?.split_once('x').and_then(|(bands, rows)| {
        let (bands, rows) = (bands.parse().ok()?, rows.parse().ok()?);
        Bands::new(bands, rows).ok()
    });
    let shingles = match value("shingles ")? {
        "stopwords" => {
            let words = value("stop-words")?.split(' ');
            Shingles::StopWords(StopWords::new(words).map_err(|_| unreadable("stop-words"))?)
        }
        kind => kind.parse().map_err(|_| unreadable("shingles"))?,
    };
    let settings = Settings {
        threshold: value("threshold ")?.parse().map_err(|_| unreadable("threshold"))?,
        shingles,
        nfc: lines.lines().any(|line| line == "nfc"),
        seed: value("seed ")?.parse().map_err(|_| unreadable("seed"))?,
        hashes: value("hashes ")?.parse().map_err(|_| unreadable("hashes"))?,
        bands: Some(bands.ok_or_else(|| unreadable("bands"))?),
        ..Settings::default()
    };
    settings.bands()?;
    Ok(settings)
}

/// Checks that the settings of a caller agree with those of the index. The threshold may differ,
/// because every query has its own.
pub(super) fn agree(file: &Path, stored: &Settings, asked: &Settings) -> Result<()> {
    let shown = |bands: Bands| format!("{} × {}", bands.bands(), bands.rows());
    let fields = [
        ("shingles", shingles_shown(stored), shingles_shown(asked)),
        ("nfc", stored.nfc.to_string(), asked.nfc.to_string()),
        ("seed", stored.seed.to_string(), asked.seed.to_string()),
        ("hashes", stored.hashes.to_string(), asked.hashes.to_string()),
        ("bands", shown(stored.bands()?), shown(asked.bands()?)),
    ];
    for (field, stored, asked) in fields {
        if stored != asked {
            return Err(trouble(file, IndexProblem::Differs { field, stored, asked }));
        }
    }
    Ok(())
}

/// Returns the kind of shingles as text. A list of stop words is given in full, because two lists
/// may differ in a single word.
fn shingles_shown(settings: &Settings) -> String {
    match &settings.shingles {
        Shingles::StopWords(words) if *words != StopWords::english() => {
            format!("stopwords ({})", words.iter().collect::<Vec<_>>().join(" "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_back() {
        let file = Path::new("index.sqlite");
        for shingles in [
            Shingles::words(3).unwrap(),
            Shingles::characters(7).unwrap(),
            Shingles::english_stop_words(),
            Shingles::StopWords(StopWords::new(["de", "não"]).unwrap()),
        ] {
            let settings = Settings { shingles, seed: 7, threshold: 0.7, hashes: 200, ..Settings::default() };
            let lines = encode(&settings, settings.bands().unwrap());
            let back = decode(file, &lines).unwrap();
            agree(file, &back, &settings).unwrap();
            assert_eq!((&back.shingles, back.threshold), (&settings.shingles, 0.7));
        }
    }
}
