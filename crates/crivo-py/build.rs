//! Tells the linker on macOS that Python's symbols are resolved at load time. Does nothing
//! elsewhere.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
