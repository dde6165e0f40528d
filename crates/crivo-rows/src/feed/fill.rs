//! Fills a worker's buffer with whole records of a text, which may grow or be replaced meanwhile.

use std::sync::Arc;
use std::time::Duration;

use super::cut::Cut;
use super::open::{Fate, Stream};
use super::{BYTE_ORDER_MARK, Chunk, Feed, Open, sniff};
use crate::error::{Place, Result};
use crate::foreign::{self, Limits};
use crate::layout::Layout;
use crate::progress::FollowEvent;

/// The pause before checking again whether a followed file has grown.
const FOLLOW_PAUSE: Duration = Duration::from_millis(100);
/// A buffer of this size or more grows by a quarter instead of doubling, and at most by the unread
/// bytes of the file.
const GIANT: usize = 64 << 20;
/// The least growth of a giant buffer, because a file may have grown since it was opened.
const LEAST_GROWTH: usize = 1 << 20;
/// No format is recognised from a first line that is longer than this.
const FIRST_LINE: usize = 64 << 10;

/// What a worker's buffer was filled with.
pub(super) enum Filled {
    /// Whole records.
    Records(Arc<Layout>),
    /// Nothing: the file has ended.
    End,
    /// The beginning of a Parquet file whose name did not tell its format.
    Parquet(Vec<u8>),
}

impl Feed<'_> {
    /// Fills the buffer with whole records.
    pub(super) fn fill(&mut self, open: &mut Open, chunk: &mut Chunk) -> Result<Filled> {
        let mut length = open.carry.len();
        let size = self.chunk_size.max(length + self.chunk_size / 2);
        chunk.begin(size).map_err(|error| error.in_file(&open.stream.file))?;
        chunk.bytes[..length].copy_from_slice(&open.carry);
        open.carry.clear();
        open.cutter.restart();
        // The end of the empty lines before a file's first record.
        let mut blank = 0;
        loop {
            self.read_more(open, chunk, &mut length)?;
            if open.layout.is_none() {
                if open.is_untold && chunk.bytes[..length].starts_with(sniff::PARQUET) {
                    return Ok(Filled::Parquet(chunk.bytes[..length].to_vec()));
                }
                sniff::require_text(&chunk.bytes[..length], &open.stream.file)?;
                if !self.recognise(open, &chunk.bytes[..length]) {
                    self.make_room(open, chunk, length)?;
                    continue;
                }
            }
            let cut = cut(open, chunk, &mut length);
            let border = cut.border.filter(|&border| {
                let text = &chunk.bytes[blank.max(open.mark(&chunk.bytes[..length]))..border];
                let is_blank =
                    !open.ended && open.layout.is_none() && Layout::needs_more(self.input, open.format, text);
                if is_blank {
                    blank = border;
                }
                !is_blank
            });
            let Some(border) = border else {
                if open.ended {
                    if !self.reopen(open)? {
                        return Ok(Filled::End);
                    }
                    blank = 0;
                }
                self.make_room(open, chunk, length)?;
                continue;
            };
            open.carry.extend_from_slice(&chunk.bytes[border..length]);
            (chunk.start, chunk.end, chunk.has_quotes) = (0, border, cut.has_quotes);
            return match &open.layout {
                Some(layout) => Ok(Filled::Records(Arc::clone(layout))),
                None => self.begin_file(open, chunk).map(Filled::Records),
            };
        }
    }

    /// Makes the buffer larger if it is full, because a record is longer than the buffer.
    fn make_room(&self, open: &Open, chunk: &mut Chunk, length: usize) -> Result<()> {
        let Limits { record, .. } = self.input.limits;
        if length >= record.max(self.chunk_size) {
            let error = foreign::record_too_long(record);
            return Err(error.in_file(&open.stream.file).at(Place::LineOfChunk(1)));
        }
        if length < chunk.bytes.len() {
            return Ok(());
        }
        // Doubles a small buffer. A giant one grows by a quarter, because all of the buffer is in
        // memory.
        let more = if length < GIANT { length } else { length / 4 };
        let left =
            open.stream.growing.as_ref().map(|file| usize::try_from(file.left()).unwrap_or(usize::MAX));
        let more = left.map_or(more, |left| more.min(left.max(LEAST_GROWTH)));
        let larger = (length + more).min(record.saturating_add(self.chunk_size));
        chunk.grow(larger).map_err(|error| error.in_file(&open.stream.file))
    }

    /// Reads until the buffer is full or the source ends. If bytes may come slowly, returns as soon
    /// as there are some.
    fn read_more(&mut self, open: &mut Open, chunk: &mut Chunk, length: &mut usize) -> Result<()> {
        while !open.ended && *length < chunk.bytes.len() {
            let got = open.stream.read(&mut chunk.bytes[*length..])?;
            *length += got;
            if got == 0 {
                self.wait_or_end(open, length);
            }
            if open.stream.is_live || self.input.follow {
                break;
            }
        }
        Ok(())
    }

    /// Handles the end of a source: waits a little if the file is followed, or else marks it as
    /// ended.
    fn wait_or_end(&mut self, open: &mut Open, length: &mut usize) {
        open.ended = true;
        // A closed pipe has no further data.
        let Some(growing) = open.stream.growing.as_ref().filter(|_| self.input.follow && open.is_last) else {
            return;
        };
        let fate = growing.fate();
        if self.advance().is_break() {
            return;
        }
        open.fate = fate;
        match fate {
            Fate::Same => {
                open.ended = false;
                std::thread::sleep(FOLLOW_PAUSE);
            }
            // All of the old file was read, and its last line is complete.
            Fate::Replaced => {}
            Fate::Truncated => {
                // The beginning of a line without its end is not a record.
                *length = 0;
                open.cutter.restart();
                self.truncations += 1;
            }
        }
    }

    /// Continues with the file that now has the name of a followed one. Returns false if the
    /// followed file was neither truncated nor replaced.
    fn reopen(&mut self, open: &mut Open) -> Result<bool> {
        let fate = std::mem::replace(&mut open.fate, Fate::Same);
        if fate == Fate::Same {
            return Ok(false);
        }
        let file = &open.stream.file;
        let (event, what) = match fate {
            Fate::Truncated => {
                (FollowEvent::Truncated, "became shorter while it was followed: rows may have been missed")
            }
            _ => (
                FollowEvent::Replaced,
                "was replaced while it was followed: the new file is read from its beginning",
            ),
        };
        let message = format!("{file}: {what}");
        if !self.progress.is_some_and(|progress| progress.followed(event, &message)) {
            self.warnings.push(message);
        }
        open.stream = Stream::open(&open.source, &self.read)?;
        (open.ended, open.layout) = (false, None);
        open.cutter.restart();
        Ok(true)
    }

    /// Recognises the format from the first line, if neither the caller nor the name told it.
    /// Returns true when the format is settled.
    fn recognise(&mut self, open: &mut Open, bytes: &[u8]) -> bool {
        let is_mark = bytes.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(bytes);
        let text = sniff::without_empty_lines(&bytes[open.mark(bytes)..]);
        let has_line = bytes.len() > FIRST_LINE || memchr::memchr(b'\n', text).is_some();
        if !open.ended && (is_mark || open.is_untold && !has_line) {
            return false;
        }
        if std::mem::take(&mut open.is_untold)
            && self.input.delimiter.is_none()
            && self.input.header
            && let Some(format) = sniff::format_of(text, self.select)
        {
            open.format = format;
            open.cutter = self.cutter_of(format);
        }
        true
    }

    /// Finds the layout of a file from its first record.
    fn begin_file(&mut self, open: &mut Open, chunk: &mut Chunk) -> Result<Arc<Layout>> {
        let mark = open.mark(chunk.bytes());
        let text = &chunk.bytes[mark..chunk.end];
        let (layout, data) =
            Layout::of_text(self.input, open.format, self.select, &open.stream.file, text, &mut self.seen)?;
        chunk.start = mark + data;
        let layout = Arc::new(layout);
        self.note_header(&layout.chosen, layout.header.as_ref(), &layout.file);
        open.layout = Some(Arc::clone(&layout));
        Ok(layout)
    }
}

/// Finds where the last whole record ends. Adds a missing line end at the end of a file.
fn cut(open: &mut Open, chunk: &mut Chunk, length: &mut usize) -> Cut {
    chunk.newline_added = false;
    // A byte order mark would hide that a quote opens the first field.
    let mark = open.mark(&chunk.bytes[..*length]);
    let mut cut = open.cutter.cut(&chunk.bytes[mark..*length]);
    cut.border = cut.border.map(|border| border + mark);
    if !open.ended || *length == mark {
        return cut;
    }
    if chunk.bytes[*length - 1] != b'\n' {
        if *length == chunk.bytes.len() {
            chunk.bytes.push(0);
        }
        chunk.bytes[*length] = b'\n';
        *length += 1;
        chunk.newline_added = true;
    }
    Cut { border: Some(*length), ..cut }
}
