//! `cargo xtask stubs`: writes the documentation of the Python module into its stub.
//!
//! The texts are doc comments of `crates/crivo-py`. Editors read them from the stub, so both must
//! be the same; `python/tests/test_docs.py` compares them.

use anyhow::Result;

use crate::setup;
use crate::shell::root;

pub(crate) fn run() -> Result<()> {
    setup::python_with_crivo()?
        // The sources of the package, which are beside the script, have no native module.
        .isolated_script(&root().join("python/stub_documentation.py"))
        .args([root().join("python/crivo/_native.pyi")])
        .run()
}
