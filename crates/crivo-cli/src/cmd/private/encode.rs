//! `crivo private encode`: turns values into reports that do not reveal them.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, anyhow};
use crivo::frequency::private::{Budget, PrivateClient, Protocol};
use crivo_rows::{Counts, RowBatch};

use crate::args::{InputArgs, KeyArgs};
use crate::cmd::Outcome;
use crate::output::{self, Output};
use crate::pass::Pass;

/// The number of bytes of reports after which a thread writes them.
const HANDED_ON: usize = 1 << 20;
/// The number of random words that are read from the operating system at a time.
const WORDS: usize = 512;

/// Turn values into private reports, one a row
///
/// Every row is one person's report and spends --epsilon of their privacy: the smaller, the more
/// private and the more noise. The coins are the operating system's, so no two runs give the same
/// reports. Rows and width must be the same for all whose reports are added up.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo private encode -f emoji mine.csv --epsilon 4 --rows 64 --width 1024 -o mine.reports
  cut -f3 answers.tsv | crivo private encode --epsilon 2 --rows 256 --width 512 -o answers.reports")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    how: EncodeOptions,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Privacy")]
struct EncodeOptions {
    /// The privacy that a report spends: no value makes a report e^E times as likely as another
    #[arg(long, value_name = "E")]
    epsilon: f64,

    /// How many rows (hash functions) there are: more of them for fewer collisions
    #[arg(long, value_name = "K")]
    rows: u32,

    /// How many places a row has: the bits of a report
    #[arg(long, value_name = "M")]
    width: u32,

    /// Where to write the reports
    #[arg(short, value_name = "REPORTS")]
    output: PathBuf,
}

pub(super) fn run(args: &Args, out: &Output) -> Outcome {
    let pass = args.input.pass()?;
    let EncodeOptions { epsilon, rows, width, output } = &args.how;
    let scheme = args.keys.scheme()?;
    pass.require_keys(scheme)?;
    let protocol = Protocol::new(*epsilon, *rows, *width)
        .map_err(|error| anyhow!("--epsilon, --rows and --width: {error}"))?
        .with_scheme(scheme);
    let destination = args.input.output_beside(output)?;
    let mut made = (0, Counts::default());
    destination.write_with(|file| {
        file.write_all(&protocol.header())
            .with_context(|| format!("{}: was not written", destination.name()))?;
        made = encode(&pass, protocol, file, out)?;
        Ok(())
    })?;
    let (reports, counts) = made;
    let (number, name) = (output::count(reports), destination.name());
    out.remark(format_args!("{number} reports in {name}, each {epsilon}-private"))?;
    out.remark(format_args!(
        "{} rows, {} skipped; {} bytes a report",
        output::count(counts.rows),
        output::count(counts.skipped),
        protocol.record_len()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The client of one thread, and its reports.
struct EncodeWorker {
    client: PrivateClient,
    coins: SystemBits,
    records: Vec<u8>,
    reports: u64,
}

fn encode(
    pass: &Pass,
    protocol: Protocol,
    file: &mut (dyn Write + Send),
    out: &Output,
) -> Result<(u64, Counts)> {
    // Every row is another person, whose budget is spent on this one report.
    let budget = Budget::new(f64::MAX).map_err(|error| anyhow!("{error}"))?;
    let file = Mutex::new(file);
    let (mut part, counts) = pass.fold(
        protocol.scheme(),
        out,
        || EncodeWorker {
            client: PrivateClient::with_budget(protocol, budget),
            coins: SystemBits::default(),
            records: Vec::new(),
            reports: 0,
        },
        |part, batch| {
            part.step(batch)?;
            if part.records.len() < HANDED_ON { Ok(()) } else { part.hand_on(&file) }
        },
        |part, mut other| {
            other.hand_on(&file)?;
            part.reports += other.reports;
            Ok(())
        },
    )?;
    part.hand_on(&file)?;
    Ok((part.reports, counts))
}

impl EncodeWorker {
    fn step(&mut self, batch: &mut RowBatch<'_>) -> crivo_rows::Result<()> {
        let Self { client, coins, records, reports } = self;
        for &hash in batch.keys(0)?.hashes() {
            let report = client.encode_hash(hash, &mut || coins.next())?;
            if let Some(error) = coins.failed.take() {
                // A report without random bits is not private, so it is discarded.
                return Err(crivo_rows::Error::other(format!("no random bits: {error}")));
            }
            report.encode_to(records);
            *reports += 1;
        }
        Ok(())
    }

    /// Writes the records to the file. Their order depends on the threads, and carries no
    /// information.
    fn hand_on(&mut self, file: &Mutex<&mut (dyn Write + Send)>) -> crivo_rows::Result<()> {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&self.records).map_err(crivo_rows::Error::other)?;
        self.records.clear();
        Ok(())
    }
}

/// Random bits of the operating system.
#[derive(Default)]
struct SystemBits {
    words: Vec<u64>,
    failed: Option<getrandom::Error>,
}

impl SystemBits {
    fn next(&mut self) -> u64 {
        if self.words.is_empty() {
            let mut bytes = [0; WORDS * 8];
            self.failed = getrandom::fill(&mut bytes).err();
            let (words, _) = bytes.as_chunks::<8>();
            self.words.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        }
        self.words.pop().unwrap_or_default()
    }
}
