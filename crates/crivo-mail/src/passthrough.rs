//! Writes the verdict into the head of a message.
//!
//! A line `X-Crivo: spam; score=0.9987` goes before all others, with the line ending of the
//! message. Lines of that name that were there already are removed, because a sender must not judge
//! its own mail. Probable labels follow as IMAP keywords, `X-Crivo-Keywords: $category-social`.
//! Nothing else changes, byte for byte.

use crate::judgement::Judgement;
use crate::marks::{self, Mark};

/// The lowest probability at which a label is named.
const PROBABLE: f64 = 0.5;

/// Returns a message with the verdict in its head. `message` may be only the beginning of a
/// message. But it must have the whole head, because forged lines are removed only from there.
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
    marks::mark(message, &verdict_marks(judgement), marks::OURS)
}

/// Returns the headers that are added.
pub(crate) fn verdict_marks(judgement: &Judgement) -> Vec<Mark<'static>> {
    let verdict = format!("{}; score={:.4}", judgement.verdict, judgement.score);
    let mut marks: Vec<Mark<'_>> = vec![("X-Crivo", verdict.into())];
    let keywords: Vec<String> = judgement
        .labels
        .iter()
        .filter(|(_, probability)| **probability >= PROBABLE)
        .map(|(name, _)| format!("$category-{name}"))
        .collect();
    if !keywords.is_empty() {
        marks.push(("X-Crivo-Keywords", keywords.join(" ").into()));
    }
    marks
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
