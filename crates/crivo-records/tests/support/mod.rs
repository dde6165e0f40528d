//! A kind of file for tests.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crivo_records::{Format, Problem, Table, Wording};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notes {
    Text,
    #[allow(dead_code)] // a second table, which not every test uses
    Names,
}

impl Table for Notes {
    type Error = (PathBuf, Problem);

    const ALL: &'static [Self] = &[Self::Text, Self::Names];
    const FORMAT: Format = Format {
        file_name: "notes.sqlite",
        application: *b"test",
        version: 3,
        oldest: 3,
        page_size: 4096,
        private: true,
        patience: Duration::from_millis(20),
        words: Wording {
            name: "notebook",
            article: "a",
            program: "these tests",
            missing: "there is no notebook: buy one",
            repair: "write it again",
            done: "written",
        },
    };

    fn name(self) -> &'static str {
        match self {
            Self::Text => "texts",
            Self::Names => "names",
        }
    }

    fn seed(self, number: i64) -> u64 {
        (self as u64) << 32 | number as u64
    }

    fn error(file: &Path, problem: Problem) -> Self::Error {
        (file.to_path_buf(), problem)
    }
}
