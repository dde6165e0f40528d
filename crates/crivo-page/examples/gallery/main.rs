//! Every kind of picture on one page: `cargo run -p crivo-page --example gallery [FILE]`.

mod page;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let file = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("gallery.html"), PathBuf::from);
    std::fs::write(file, page::gallery().to_html())
}
