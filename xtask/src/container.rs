//! `cargo xtask test --container`: the tests in Docker or podman, so that nothing is installed on
//! this machine.
//!
//! The sources are mounted read-only and copied into a volume. The volume keeps the build results
//! for the next run. The container is privileged, because the tests make a clean root in it to try
//! packages in.

use anyhow::{Context, Result};

use crate::shell::{Step, root};

const IMAGE: &str = "crivo-tests";

/// The programs that run containers, in the order in which they are tried.
const PROGRAMS: [&str; 2] = ["docker", "podman"];

/// Copies the sources without build results, and runs the tests with the options that were passed.
const SCRIPT: &str = "tar --directory /source --exclude=./target --exclude=./benchmarks/target --exclude=./fuzz/target \
                      --create . | tar --directory /crivo --extract && exec cargo xtask test \"$@\"";

pub(crate) fn test<'a>(options: impl Iterator<Item = &'a str>) -> Result<()> {
    let program = found(|program| Step::new(program, "info").output().is_some())?;
    Step::new(program, "build --tag")
        .args([IMAGE, "--file", "packaging/Containerfile", "packaging"])
        .or("the image is made from one of Docker Hub, and from Debian and crates.io: is there a network?")
        .run()?;
    run_arguments(program, &root().to_string_lossy(), options)
        .or(format!("to look around there: {program} run -it --rm --volume {IMAGE}:/crivo {IMAGE} bash"))
        .run()
}

/// Returns the first program that is installed and answers.
fn found(answers: impl Fn(&str) -> bool) -> Result<&'static str> {
    PROGRAMS.into_iter().find(|program| answers(program)).context(
        "neither Docker nor podman answers on this machine (tried: `docker info`, `podman info`)\n  \
         on Debian and Ubuntu: sudo apt install podman; a service that is stopped: sudo systemctl start docker\n  \
         without a container: cargo xtask test",
    )
}

fn run_arguments<'a>(program: &str, source: &str, options: impl Iterator<Item = &'a str>) -> Step {
    Step::new(program, "run --rm --privileged --volume")
        .args([format!("{source}:/source:ro"), "--volume".into(), format!("{IMAGE}:/crivo"), IMAGE.into()])
        .args(["sh", "-ec", SCRIPT, "sh"])
        .args(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_answers_is_taken() {
        assert_eq!(found(|_| true).unwrap(), "docker");
        assert_eq!(found(|program| program == "podman").unwrap(), "podman");
        let error = found(|_| false).unwrap_err().to_string();
        assert!(error.contains("sudo apt install podman") && error.contains("cargo xtask test"), "{error}");
    }

    /// Runs the script itself, with the container's folders replaced by folders of this machine.
    #[cfg(unix)]
    #[test]
    fn sources_are_copied_without_what_was_built_and_options_are_passed() {
        let folder = crate::shell::target().join("tmp/xtask-container");
        let _ = std::fs::remove_dir_all(&folder);
        for name in ["source/target", "source/src", "crivo", "bin"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
        for name in ["source/target/built", "source/src/lib.rs"] {
            std::fs::write(folder.join(name), "x").unwrap();
        }
        let path = folder.display();
        let script =
            SCRIPT.replace("/source", &format!("{path}/source")).replace("/crivo", &format!("{path}/crivo"));
        let script = script.replace("exec cargo", "echo cargo");
        let said =
            Step::new("sh", "-ec").args([&script, "sh", "--rust-only", "--no-spark"]).output().unwrap();
        assert_eq!(said, "cargo xtask test --rust-only --no-spark\n");
        assert!(folder.join("crivo/src/lib.rs").exists() && !folder.join("crivo/target").exists());
    }
}
