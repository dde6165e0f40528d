//! A scratch folder, the program in it, and tables in every format.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use tempfile::TempDir;

/// A new temporary folder, in which the program runs.
pub(crate) struct Scratch(TempDir);

/// The exit code and the output of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns a folder with the given files.
    pub(crate) fn with<B: AsRef<[u8]>>(files: impl IntoIterator<Item = (&'static str, B)>) -> Self {
        let scratch = Self::new();
        for (name, bytes) in files {
            scratch.write(name, bytes);
        }
        scratch
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Returns the names of all files, including hidden ones.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the program, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crivo"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        // The developer's settings of colours must not affect the test.
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).output().unwrap().into()
    }

    /// Runs with the given standard input.
    pub(crate) fn feed(&self, args: &[&str], input: impl AsRef<[u8]>) -> Ran {
        let mut command = self.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The program may stop reading at an error. The remaining input then cannot be written.
        let _ = child.stdin.take().unwrap().write_all(input.as_ref());
        child.wait_with_output().unwrap().into()
    }

    /// Runs and returns the answer with the high-water mark of the program's memory, in KiB.
    ///
    /// The mark is read whenever a part of the answer has arrived. A program whose output exceeds a
    /// pipe's buffer waits for this reader. So the peak is found on a busy machine too.
    #[cfg(target_os = "linux")]
    pub(crate) fn run_with_peak(&self, args: &[&str]) -> (String, u64) {
        let mut child = self.command(args).stdout(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        let (mut out, mut part, mut peak) = (Vec::new(), vec![0; 1 << 15], 0);
        loop {
            let read = pipe.read(&mut part).unwrap();
            if read == 0 {
                break;
            }
            out.extend_from_slice(&part[..read]);
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
            let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            peak = mark
                .and_then(|mark| mark.trim().trim_end_matches(" kB").parse().ok())
                .unwrap_or(peak)
                .max(peak);
        }
        assert!(child.wait().unwrap().success());
        assert!(out.len() > 1 << 17 && peak > 0, "{} bytes are too few to make the program wait", out.len());
        (String::from_utf8(out).unwrap(), peak)
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Returns the only JSON object on standard output of a run that succeeded without other
    /// output.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        assert_eq!(self.out.matches('\n').count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap()
    }

    /// Returns standard output of a run that succeeded.
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.out
    }

    /// Asserts that the run failed with this message, and gave no answer.
    #[track_caller]
    pub(crate) fn fails_with(&self, message: &str) {
        assert_eq!((self.code, self.out.as_str()), (Some(2), ""), "{self:?}");
        assert!(self.err.contains(message), "expected {message:?} in {:?}", self.err);
    }
}

/// Random numbers that are the same in every run.
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }
}

/// A column of values; empty ones are missing.
pub(crate) type Values = Vec<String>;

/// Returns values like those of real columns: repeated, missing, of every script, and with
/// characters that a format must quote. They have no line ends, which lines and TSV cannot
/// represent.
pub(crate) fn column(rows: usize, different: u64, seed: u64) -> Values {
    let mut random = Random::new(seed);
    (0..rows)
        .map(|_| {
            let number = random.below(different);
            match random.below(20) {
                0 => String::new(),
                1 => format!("São \"{number}\", ação"),
                2 => format!("文字 {number}"),
                3 => format!("a, b; {number}"),
                _ => format!("user{number}"),
            }
        })
        .collect()
}

/// Returns the values as a file of the format. Formats with columns have them as the second column,
/// `value`.
pub(crate) fn table(format: &str, values: &Values) -> Vec<u8> {
    let numbered = values.iter().enumerate();
    match format {
        "lines" => values.iter().fold(String::new(), |text, value| text + value + "\n").into(),
        "csv" => numbered
            .fold(String::from("id,value\n"), |text, (id, value)| {
                text + &format!("{id},\"{}\"\n", value.replace('"', "\"\""))
            })
            .into(),
        // A quote that is not the field's first byte is data, so nothing here needs quoting.
        "tsv" => numbered
            .fold(String::from("id\tvalue\n"), |text, (id, value)| text + &format!("{id}\t{value}\n"))
            .into(),
        "jsonl" => numbered
            .fold(String::new(), |text, (id, value)| {
                let value = if value.is_empty() { Value::Null } else { value.as_str().into() };
                text + &serde_json::json!({ "id": id, "value": value }).to_string() + "\n"
            })
            .into(),
        "parquet" => parquet(values),
        _ => panic!("no such format: {format}"),
    }
}

fn parquet(values: &Values) -> Vec<u8> {
    let ids: ArrayRef = Arc::new((0..values.len()).map(|id| Some(id.to_string())).collect::<StringArray>());
    let column: ArrayRef =
        Arc::new(values.iter().map(|value| Some(value).filter(|v| !v.is_empty())).collect::<StringArray>());
    let batch =
        RecordBatch::try_from_iter_with_nullable([("id", ids, true), ("value", column, true)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Compresses the bytes as `gz`, `zst` or `xz`, or not at all.
pub(crate) fn compress(kind: &str, bytes: &[u8]) -> Vec<u8> {
    match kind {
        "" => bytes.to_vec(),
        "gz" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "zst" => {
            // With a checksum, as the zstd program writes it. Without it, not all damage can be
            // detected.
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "xz" => {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        _ => panic!("no such compression: {kind}"),
    }
}
