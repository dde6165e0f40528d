//! Why an experiment, or the run of several, could not be done.

use std::fmt;

/// What went wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// There is no such experiment; perhaps one of these was meant.
    Unknown {
        /// What was asked for.
        name: String,
        /// The names most like it.
        nearest: Vec<&'static str>,
    },
    /// A file is not what it should be: its name, and what was found where.
    Input(String),
    /// A sketch refused its parameters, or keys of another kind.
    Sketch(crivo::Error),
    /// The search for similar sets failed.
    Near(crivo_near::Error),
    /// Mail was not read, or a filter of it failed.
    Mail(crivo_mail::Error),
    /// A table has too few observations for its test, or another mistake in an experiment.
    Experiment(String),
    /// The experiment panicked.
    Panicked(String),
    /// The watcher asked to stop.
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
