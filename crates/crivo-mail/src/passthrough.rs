//! The message with the verdict in its head.
//!
//! A line `X-Crivo: spam; score=0.9987` goes before all others, with the line ending that the message has. Lines of that name
//! that were there already are removed, whoever wrote them: a sender must not pass sentence on his own mail. Labels
//! that are probable follow as IMAP keywords, `X-Crivo-Keywords: $category-social`. Nothing else changes, byte for byte.

use std::fmt::Write;

use crate::judgement::Judgement;

/// The names of all headers that are added, and removed if they are there: those that begin so.
const OURS: &[u8] = b"x-crivo";

/// From which probability on a label is named.
const PROBABLE: f64 = 0.5;

/// The beginning of a message, as far as it is given, with the verdict. The head has to be in it as a whole for all forged
/// lines to be found.
///
/// ```
/// use crivo_mail::{Judgement, Thresholds, Verdict, passthrough};
///
/// let judgement = Judgement {
///     verdict: Verdict::Spam,
///     score: 0.99871,
///     thresholds: Thresholds { spam: 0.9, ham: 0.1 },
///     reasons: vec![],
///     labels: [("social".to_string(), 0.7)].into(),
/// };
/// let marked = passthrough(b"Subject: hi\r\nX-Crivo: ham\r\n\r\nX-Crivo: body\r\n", &judgement);
/// let expected = "X-Crivo: spam; score=0.9987\r\nX-Crivo-Keywords: $category-social\r\nSubject: hi\r\n\r\nX-Crivo: body\r\n";
/// assert_eq!(String::from_utf8_lossy(&marked), expected);
/// ```
pub fn passthrough(message: &[u8], judgement: &Judgement) -> Vec<u8> {
    let mut lines = message.split_inclusive(|&byte| byte == b'\n').peekable();
    let ending = match lines.peek() {
        Some(line) if line.ends_with(b"\r\n") => "\r\n",
        _ => "\n",
    };
    let mut marked = Vec::with_capacity(message.len() + 100);
    let is_envelope = |line: &&[u8]| line.starts_with(b"From ") || line.starts_with(b">From ");
    if let Some(envelope) = lines.next_if(is_envelope) {
        marked.extend_from_slice(envelope);
    }
    marked.extend_from_slice(header_lines(judgement, ending).as_bytes());
    // A message that begins with its body needs a line between.
    if lines.peek().is_some_and(|line| !is_header(line) && !is_blank(line)) {
        marked.extend_from_slice(ending.as_bytes());
    }
    let (mut in_head, mut is_ours) = (true, false);
    for line in lines {
        if in_head {
            let continues = matches!(line[0], b' ' | b'\t');
            in_head = continues && !is_blank(line) || is_header(line);
            if !continues {
                is_ours =
                    in_head && line.get(..OURS.len()).is_some_and(|name| name.eq_ignore_ascii_case(OURS));
            }
        }
        if !(in_head && is_ours) {
            marked.extend_from_slice(line);
        }
    }
    marked
}

/// The lines that are added, each with the given ending.
pub fn header_lines(judgement: &Judgement, ending: &str) -> String {
    let mut lines = format!("X-Crivo: {}; score={:.4}{ending}", judgement.verdict, judgement.score);
    let keywords: Vec<String> = judgement
        .labels
        .iter()
        .filter(|(_, probability)| **probability >= PROBABLE)
        .map(|(name, _)| format!("$category-{name}"))
        .collect();
    if !keywords.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(lines, "X-Crivo-Keywords: {}{ending}", keywords.join(" "));
    }
    lines
}

fn is_blank(line: &[u8]) -> bool {
    line == b"\n" || line == b"\r\n"
}

/// Whether a line is a header: a name and a colon.
fn is_header(line: &[u8]) -> bool {
    match line.iter().position(|&byte| byte == b':') {
        Some(colon) => colon > 0 && line[..colon].iter().all(u8::is_ascii_graphic),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::{Thresholds, Verdict};

    fn marked(message: &str) -> String {
        let thresholds = Thresholds { spam: 0.9, ham: 0.1 };
        let judgement =
            Judgement { verdict: Verdict::Ham, score: 0.0, thresholds, reasons: vec![], labels: [].into() };
        String::from_utf8(passthrough(message.as_bytes(), &judgement)).unwrap()
    }

    const LINE: &str = "X-Crivo: ham; score=0.0000\n";

    #[test]
    fn forged_lines_go_with_all_that_continues_them() {
        assert_eq!(
            marked(
                "A: b\nx-crivo: spam;\n score=1\n\tmore\nX-Crivo-Keywords: $category-x\nC: d\n e\n\nX-Crivo: in the body\n"
            ),
            format!("{LINE}A: b\nC: d\n e\n\nX-Crivo: in the body\n")
        );
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        assert_eq!(
            marked("From a@b Thu\nSubject: x\n\nbody"),
            format!("From a@b Thu\n{LINE}Subject: x\n\nbody")
        );
        assert_eq!(marked("\nbody"), format!("{LINE}\nbody"));
        assert_eq!(marked("no header\nat all\n"), format!("{LINE}\nno header\nat all\n"));
        assert_eq!(marked(""), LINE);
        assert_eq!(marked("Subject: only"), format!("{LINE}Subject: only"));
    }
}
