//! Runs all experiments like `crivo lab all`, but without the command line:
//! `cargo run --release -p crivo-lab --example everything -- FOLDER [NAME…]`.

use std::path::PathBuf;

use crivo_lab::{Experiment, Outcome, Settings, Watch, experiments, find, page, run};

#[derive(Debug)]
struct Told;

impl Watch for Told {
    #[allow(clippy::print_stdout)] // that is what an example is for
    fn end(&self, outcome: &Outcome) {
        let name = outcome.experiment.name;
        match &outcome.report {
            Ok(report) => {
                let judgement = report.judge();
                let as_expected = if outcome.is_expected() { "" } else { " NOT AS EXPECTED" };
                println!(
                    "{name}: {}{as_expected}, {:.1} s: {}",
                    judgement.verdict,
                    outcome.seconds,
                    judgement.reason()
                );
            }
            Err(error) => println!("{name}: not done: {error}"),
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder")?);
    let names: Vec<String> = arguments.collect();
    let named: Vec<&'static Experiment> = names.iter().map(|name| find(name)).collect::<Result<_, _>>()?;
    let chosen = if named.is_empty() { experiments() } else { &named };
    let settings = Settings::default();
    let outcomes = run(chosen, &settings, &Told);
    std::fs::create_dir_all(&folder)?;
    for file in page::files(&outcomes, &settings) {
        std::fs::write(folder.join(&file.name), &file.text)?;
    }
    Ok(())
}
