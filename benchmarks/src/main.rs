//! crivo beside its peers, on the same input in one process.
//!
//! `cargo xtask bench` runs every group and prints its tables; `cargo xtask bench distinct` one.
//! `--write DIR` also writes each group's page. Only the ratios mean something: absolute times
//! depend on the machine and on what else it does.

mod binary_fuse;
mod counting;
mod distinct;
mod frequency;
mod integer_keys;
mod k_min_values;
mod measure;
mod membership;
mod min_hash;
mod quantiles;
mod register_sketch;
mod report;
mod sampling;
mod ultraloglog;

use std::path::PathBuf;
use std::process::ExitCode;

use report::Page;

/// crivo asks for huge pages, and the allocator would later hand the same memory, still on huge
/// pages, to a peer that does not ask. A fixed threshold makes it return large blocks to the
/// system, so that everybody has what a program of its own would have.
fn give_everyone_fresh_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: an option of the allocator, set before any thread is started.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
    }
}

/// A group of jobs, and the page its tables go on.
type Group = (&'static str, fn() -> Page);

const GROUPS: &[Group] = &[
    ("binary_fuse", binary_fuse::run),
    ("count_min", frequency::count_min::run),
    ("counting", counting::run),
    ("distinct", distinct::run),
    ("heavy_hitters", frequency::heavy_hitters::run),
    ("integer_keys", integer_keys::run),
    ("k_min_values", k_min_values::run),
    ("membership", membership::run),
    ("min_hash", min_hash::run),
    ("quantiles", quantiles::run),
    ("ultraloglog", ultraloglog::run),
    ("sampling", sampling::run),
];

fn main() -> ExitCode {
    give_everyone_fresh_memory();
    let mut wanted = Vec::new();
    let mut folder = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => folder = arguments.next().map(PathBuf::from),
            name if GROUPS.iter().any(|(group, _)| *group == name) => wanted.push(argument),
            other => {
                let known: Vec<_> = GROUPS.iter().map(|(group, _)| *group).collect();
                eprintln!("unknown group {other:?}; there are: {}; and --write DIR", known.join(", "));
                return ExitCode::from(2);
            }
        }
    }
    for (name, run) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|group| group == name) {
            let text = run().to_markdown();
            println!("{text}");
            if let Some(folder) = &folder
                && let Err(error) = std::fs::write(folder.join(format!("{name}.md")), text)
            {
                eprintln!("{}: {error}", folder.display());
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
