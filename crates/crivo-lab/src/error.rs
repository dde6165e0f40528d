//! The errors of an experiment, or of a run of several.

use std::fmt;

/// Why an experiment could not be done.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no such experiment; perhaps one of these was meant.
    Unknown {
        /// The requested name.
        name: String,
        /// The most similar names.
        nearest: Vec<&'static str>,
    },
    /// A file is malformed: its name, what was found, and where.
    Input(String),
    /// A sketch refused its parameters, or keys of the wrong kind.
    Sketch(crivo::Error),
    /// The search for similar sets failed.
    Near(crivo_near::Error),
    /// Mail could not be read, or a filter of it failed.
    Mail(crivo_mail::Error),
    /// A table has too few observations for its test, or an experiment has another mistake.
    Experiment(String),
    /// The experiment panicked.
    Panicked(String),
    /// The watcher stopped the run.
    Stopped,
}

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest } => {
                write!(f, "{name}: no such experiment")?;
                if nearest.is_empty() {
                    f.write_str(";")?;
                } else {
                    write!(f, "; did you mean {}?", nearest.join(" or "))?;
                }
                f.write_str(" `crivo lab list` names them all")
            }
            Self::Input(message) | Self::Experiment(message) => f.write_str(message),
            Self::Sketch(error) => error.fmt(f),
            Self::Near(error) => error.fmt(f),
            Self::Mail(error) => error.fmt(f),
            Self::Panicked(message) => write!(f, "panicked: {message}"),
            Self::Stopped => f.write_str("stopped before it was done"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sketch(error) => Some(error),
            Self::Near(error) => Some(error),
            Self::Mail(error) => Some(error),
            _ => None,
        }
    }
}

impl From<crivo::Error> for Error {
    fn from(error: crivo::Error) -> Self {
        Self::Sketch(error)
    }
}

impl From<crivo_mail::Error> for Error {
    fn from(error: crivo_mail::Error) -> Self {
        Self::Mail(error)
    }
}

impl From<crivo_near::Error> for Error {
    fn from(error: crivo_near::Error) -> Self {
        Self::Near(error)
    }
}
