//! Finds saved profiles among the files, and opens them.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use crivo::profile::TableProfile;

use crate::{kinds, store};

/// A profile, and the files that it is of.
pub(super) type Named = (TableProfile, Vec<String>);

/// Separates saved profiles from files of data. A saved profile is recognised by its first bytes.
pub(super) fn split(files: &[PathBuf]) -> Result<(Vec<Named>, Vec<PathBuf>)> {
    let (mut saved, mut data) = (Vec::new(), Vec::new());
    for file in files {
        if is_sketch(file) {
            saved.push((open(file)?, vec![store::name_of(file)]));
        } else {
            data.push(file.clone());
        }
    }
    Ok((saved, data))
}

/// Opens a saved profile.
pub(in crate::cmd) fn open(path: &Path) -> Result<TableProfile> {
    let name = store::name_of(path);
    let sketch = store::read(path)?.sketch;
    let refusal =
        kinds::refusal(&sketch, &name, "and is no profile of a table: crivo profile FILE -o makes one");
    sketch.downcast().map_err(|_| refusal)
}

/// Returns true if a file begins like crivo's own. A file that cannot be read counts as data, whose
/// reader reports the error.
pub(in crate::cmd) fn is_sketch(path: &Path) -> bool {
    let mut magic = [0; 4];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok())
        && magic == *b"CRVO"
}
