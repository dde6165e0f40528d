//! `crivo completions`.

use crate::support::Scratch;

#[test]
fn every_shell_gets_a_script_that_knows_commands_and_options() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = scratch.run(&["completions", shell]);
        let words =
            "distinct merge skip-bad precision uniq intersect aggregate min-share lsh profile thousands";
        for word in words.split(' ') {
            assert!(run.ok().contains(word), "{shell}: {word}");
        }
    }
    scratch.run(&["completions", "cmd"]).fails_with("bash");
}
