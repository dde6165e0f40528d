//! Reads recordings: for each exchange a title, and bytes in Python's notation.

/// One exchange.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    pub(crate) title: String,
    pub(crate) request: Vec<u8>,
    /// Whether the request is cut, as long ones of the second file are.
    pub(crate) cut: bool,
    pub(crate) reply: Option<Vec<u8>>,
}

pub(crate) fn read(file: &str) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for line in file.lines() {
        if let Some(title) = line.strip_prefix("--- ") {
            exchanges.push(Exchange { title: title.trim().into(), ..Exchange::default() });
        }
        let Some(exchange) = exchanges.last_mut() else { continue };
        let Some((side, bytes)) = line.split_once(": b") else { continue };
        if side.starts_with('C') {
            exchange.cut = bytes.ends_with("...");
            exchange.request = unescape(bytes.trim_end_matches("..."));
        } else if side.starts_with('S') {
            exchange.reply = Some(unescape(bytes));
        }
    }
    exchanges
}

/// Returns `'a\r\n'` or `"it's"` as bytes.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let inside = &text[1..text.len() - 1];
    let mut bytes = Vec::new();
    let mut characters = inside.chars();
    while let Some(c) = characters.next() {
        let escaped = if c == '\\' { characters.next() } else { None };
        bytes.push(match escaped {
            None => u8::try_from(c).unwrap(),
            Some('r') => b'\r',
            Some('n') => b'\n',
            Some('t') => b'\t',
            Some('x') => {
                let digits: String = characters.by_ref().take(2).collect();
                u8::from_str_radix(&digits, 16).unwrap()
            }
            Some(c) => u8::try_from(c).unwrap(),
        });
    }
    bytes
}
