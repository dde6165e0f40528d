//! Command lines that clap rejects: the exit code, mail that must not be lost, and commands that
//! are not in this build.

use std::ffi::OsStr;
use std::io::{self, Read};

use anyhow::anyhow;
use clap::CommandFactory;

use crate::cmd::Cli;
use crate::output::Output;

/// The exit code of any error of `crivo mail`.
pub(crate) const MAIL_FAILED: u8 = 3;

/// The features, and the commands of each.
const FEATURES: [(&str, &[&str]); 3] =
    [("lab", &["lab"]), ("mail", &["mail"]), ("near", &["dedup", "overlap", "passages", "similar"])];

/// Returns the exit code of an error from the words of the command line, because clap may have
/// rejected them.
///
/// The command is `crivo mail` if the first word that names a command is `mail`. So an option in
/// the wrong place and its value do not hide it. A misspelt command counts as `crivo mail` if an
/// option to pass mail through is given, because no other command has one.
pub(crate) fn exit_code_for(typed: &[impl AsRef<OsStr>]) -> Option<u8> {
    let cli = Cli::command();
    let is_verb = |word: &&OsStr| cli.find_subcommand(word).is_some() || feature_of(word).is_some();
    let verb = typed.iter().map(AsRef::as_ref).find(is_verb);
    (verb == Some(OsStr::new("mail")) || is_passed_through(typed)).then_some(MAIL_FAILED)
}

/// Returns the error for a command that is not in this build, if the first word is such a command.
pub(crate) fn left_out(typed: &[impl AsRef<OsStr>]) -> Option<anyhow::Error> {
    let verb = typed.iter().map(AsRef::as_ref).find(|word| !word.as_encoded_bytes().starts_with(b"-"))?;
    let feature = feature_of(verb).filter(|_| Cli::command().find_subcommand(verb).is_none())?;
    Some(anyhow!(
        "crivo {}: was left out of this build; to have it, build crivo-cli with --features {feature}",
        verb.display()
    ))
}

/// Returns the feature that a command belongs to.
fn feature_of(verb: &OsStr) -> Option<&'static str> {
    FEATURES.iter().find(|(_, verbs)| verbs.iter().any(|name| verb == *name)).map(|(feature, _)| *feature)
}

/// Returns true if an option to pass mail through was given, in any spelling.
fn is_passed_through(typed: &[impl AsRef<OsStr>]) -> bool {
    let options = typed.iter().map(|word| word.as_ref().as_encoded_bytes()).take_while(|word| *word != b"--");
    options.into_iter().any(|word| word.starts_with(b"--pass"))
}

/// Passes mail through if that was requested, because the command line was rejected.
pub(crate) fn rescue(typed: &[impl AsRef<OsStr>]) {
    if is_passed_through(typed) {
        let mut message = Vec::new();
        // Errors are ignored, because no process could read about them.
        let _ = io::stdin().lock().read_to_end(&mut message);
        let _ = Output::new(true).raw(&message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_there_or_its_feature_is_named() {
        let cli = Cli::command();
        for (feature, verbs) in FEATURES {
            for verb in verbs {
                let is_there = cli.find_subcommand(verb).is_some();
                let error = left_out(&["-q", verb]).map(|error| error.to_string());
                assert_eq!(error.is_none(), is_there, "{verb}");
                assert!(error.is_none_or(|text| text.contains(&format!("--features {feature}"))), "{verb}");
            }
        }
        assert!(left_out(&["distinct", "mail"]).is_none() && left_out(&["dist"]).is_none());
    }

    /// This also holds in a build without mail: recipes of a mail system may outlive a new build.
    #[test]
    fn errors_about_mail_have_its_exit_code() {
        assert_eq!(exit_code_for(&["mail", "check", "--storr"]), Some(MAIL_FAILED));
        assert_eq!(exit_code_for(&["mial", "check", "--passthrough"]), Some(MAIL_FAILED));
        assert_eq!(exit_code_for(&["distinct", "mail"]), None);
    }
}
