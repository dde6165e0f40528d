//! The state of the service in the text format of Prometheus.

use std::fmt::Write as _;
use std::time::UNIX_EPOCH;

use super::Service;

/// The quantiles of check times that are shown.
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

impl Service {
    /// Returns counts and times since the start in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        let journal = self.journal();
        let [spam, unsure, ham] = journal.verdicts;
        let mut text = String::new();
        head(&mut text, "crivo_mail_checks_total", "counter", "Messages judged, by verdict.");
        for (verdict, count) in [("spam", spam), ("unsure", unsure), ("ham", ham)] {
            let _ = writeln!(text, "crivo_mail_checks_total{{verdict=\"{verdict}\"}} {count}");
        }
        for (name, help, count) in [
            ("crivo_mail_lessons_total", "Messages learned or forgotten.", journal.lessons),
            ("crivo_mail_failures_total", "Checks and lessons that failed.", journal.failures),
        ] {
            head(&mut text, name, "counter", help);
            let _ = writeln!(text, "{name} {count}");
        }
        let name = "crivo_mail_check_seconds";
        head(&mut text, name, "summary", "Time that a check took, without waiting for its turn.");
        for share in QUANTILES {
            if let Some(seconds) = journal.seconds.quantile(share) {
                let _ = writeln!(text, "{name}{{quantile=\"{share}\"}} {}", seconds.value());
            }
        }
        let _ = writeln!(text, "{name}_sum {}", journal.seconds.sum().unwrap_or(0.0));
        let _ = writeln!(text, "{name}_count {}", journal.seconds.count());
        let since = journal.since.duration_since(UNIX_EPOCH).unwrap_or_default();
        drop(journal);
        head(&mut text, "process_start_time_seconds", "gauge", "When the service started, since 1970.");
        let _ = writeln!(text, "process_start_time_seconds {}", since.as_secs());
        if let Some(bytes) = resident_bytes() {
            head(&mut text, "process_resident_memory_bytes", "gauge", "Memory of the process.");
            let _ = writeln!(text, "process_resident_memory_bytes {bytes}");
        }
        text
    }

    /// Reads the shared store's state.
    ///
    /// # Errors
    /// If the store cannot be read. Mail then passes unjudged.
    pub fn check_health(&self) -> crate::Result<()> {
        self.shared.refresh()
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Returns the resident memory of the process, or `None` if the system has no `/proc/self/status`.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
