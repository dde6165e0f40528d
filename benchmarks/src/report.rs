//! Tables of figures with the ratio that matters, as Markdown.

use std::fmt::Write as _;
use std::process::Command;

/// Everything one group has to say.
pub struct Page {
    title: &'static str,
    introduction: &'static str,
    tables: Vec<Table>,
}

/// One job: who needs how much for it. Less is better.
pub struct Table {
    job: String,
    unit: &'static str,
    figures: Vec<(&'static str, f64)>,
}

impl Page {
    pub fn new(title: &'static str, introduction: &'static str) -> Self {
        Self { title, introduction, tables: Vec::new() }
    }

    pub fn add(&mut self, job: impl Into<String>, unit: &'static str, figures: Vec<(&'static str, f64)>) {
        self.tables.push(Table { job: job.into(), unit, figures });
    }

    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n\n{}\n", self.title, self.introduction, provenance());
        for table in &self.tables {
            let _ = write!(text, "\n{}", table.to_markdown());
        }
        text
    }
}

impl Table {
    /// The ratio is how many times better crivo's row is than the row's own figure: above 1 where
    /// crivo wins. Crivo's rows are compared with the best peer.
    fn to_markdown(&self) -> String {
        let is_crivo = |name: &str| name.starts_with("crivo");
        let best = |crivo: bool| {
            let figures = self.figures.iter().filter(|(name, _)| is_crivo(name) == crivo);
            figures.map(|(_, figure)| *figure).fold(f64::INFINITY, f64::min)
        };
        let best_peer = best(false);
        let mut text =
            format!("## {}\n\n| who | {} | best peer ÷ this |\n|---|---:|---:|\n", self.job, self.unit);
        for (name, figure) in &self.figures {
            let name = if is_crivo(name) { format!("**{name}**") } else { (*name).to_string() };
            let _ = writeln!(text, "| {name} | {} | {} |", significant(*figure), ratio(best_peer, *figure));
        }
        text
    }
}

/// How many times better than the peer; errors can be zero.
fn ratio(peer: f64, figure: f64) -> String {
    match peer / figure {
        _ if peer == figure => "1.00".to_string(),
        infinite if infinite.is_infinite() => "∞".to_string(),
        ratio => format!("{ratio:.2}"),
    }
}

/// Three significant digits.
fn significant(figure: f64) -> String {
    match figure.abs() {
        0.0 => "0".to_string(),
        x if x >= 100.0 => format!("{figure:.0}"),
        x if x >= 10.0 => format!("{figure:.1}"),
        x if x >= 1.0 => format!("{figure:.2}"),
        x if x >= 0.01 => format!("{figure:.3}"),
        _ => format!("{figure:.5}"),
    }
}

/// When and on what this was measured.
fn provenance() -> String {
    let output = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok();
        output.map_or_else(
            || "unknown".to_string(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_string(),
        )
    };
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor
        .lines()
        .find_map(|line| {
            line.strip_prefix("model name")?.split_once(": ").map(|(_, model)| model.to_string())
        })
        .unwrap_or_else(|| "unknown processor".to_string());
    format!(
        "Measured {} on one thread of {processor}, {}; best of 15 rounds, contenders taking turns. \
         Repeat with `cargo xtask bench`.",
        output("date", &["-u", "+%Y-%m-%d"]),
        output("rustc", &["--version"]),
    )
}
