//! Draining a child's standard error.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use super::shown::shown;

/// Longest piece handed to a line callback, in bytes.
const LINE: usize = 8 * 1024;

/// What a line callback looks like.
pub(super) type Sink = Box<dyn FnMut(StderrLine<'_>) + Send>;

/// One line of a child's standard error, or a piece of an over-long one.
///
/// `Display` gives it in a form that is safe to print ([`shown`]).
#[derive(Clone, Copy)]
pub struct StderrLine<'a> {
    bytes: &'a [u8],
    complete: bool,
}

impl<'a> StderrLine<'a> {
    /// The bytes as the child wrote them, without the line end.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The text, undecodable bytes replaced. May hold control characters: print it with `Display` instead.
    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes)
    }

    /// False if the line was longer than 8 KiB and goes on in the next piece.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

impl fmt::Display for StderrLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.text()))
    }
}

impl fmt::Debug for StderrLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StderrLine")
            .field("bytes", &self.bytes.len())
            .field("complete", &self.complete)
            .finish()
    }
}

/// The last bytes a child wrote, shared between the draining task and whoever asks.
#[derive(Clone)]
pub(super) struct Tail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    limit: usize,
}

impl Tail {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            bytes: Arc::default(),
            limit,
        }
    }

    fn push(&self, piece: &[u8]) {
        let piece = &piece[piece.len().saturating_sub(self.limit)..];
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let surplus = (bytes.len() + piece.len()).saturating_sub(self.limit);
        bytes.drain(..surplus);
        bytes.extend(piece);
    }

    /// The tail as text. It starts at a character, even where the limit fell inside one.
    pub(super) fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let full = bytes.len() == self.limit;
        let (a, b) = bytes.as_slices();
        let mut all = [a, b].concat();
        drop(bytes);
        if full {
            let partial = all
                .iter()
                .take(3)
                .take_while(|byte| (0x80..0xc0).contains(*byte))
                .count();
            all.drain(..partial);
        }
        String::from_utf8_lossy(&all).into_owned()
    }
}

/// Reads until the pipe ends, in bounded pieces, so neither a missing newline nor a flood can grow memory.
pub(super) async fn drain(mut pipe: impl AsyncRead + Unpin, tail: Tail, mut sink: Option<Sink>) {
    let mut buffer = vec![0; LINE];
    let mut lines = Lines::default();
    loop {
        match pipe.read(&mut buffer).await {
            // A failing pipe is as finished as a closed one; there is nobody to tell.
            Ok(0) | Err(_) => break,
            Ok(read) => {
                tail.push(&buffer[..read]);
                lines.feed(&buffer[..read], &mut sink);
            }
        }
    }
    lines.finish(&mut sink);
}

/// Cuts bytes into lines at `\n`, `\r\n` and a lone `\r` (progress bars), and over-long lines into pieces.
#[derive(Default)]
struct Lines {
    held: Vec<u8>,
    after_return: bool,
}

impl Lines {
    fn feed(&mut self, bytes: &[u8], sink: &mut Option<Sink>) {
        if sink.is_none() {
            return;
        }
        for &byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    deliver(sink, &self.held, true);
                    self.held.clear();
                }
                _ => {
                    self.after_return = false;
                    if self.held.len() == LINE {
                        let cut = character_start(&self.held);
                        deliver(sink, &self.held[..cut], false);
                        self.held.drain(..cut);
                    }
                    self.held.push(byte);
                }
            }
        }
    }

    fn finish(&mut self, sink: &mut Option<Sink>) {
        if !self.held.is_empty() {
            deliver(sink, &self.held, true);
        }
    }
}

/// Where to cut so that a character that has only begun at the end is not torn.
fn character_start(bytes: &[u8]) -> usize {
    let begun = bytes
        .iter()
        .rev()
        .take(4)
        .position(|byte| !(0x80..0xc0).contains(byte));
    match begun {
        Some(back) if bytes[bytes.len() - 1 - back] >= 0xc0 => bytes.len() - 1 - back,
        _ => bytes.len(),
    }
}

/// A callback that panics loses its place, but the pipe is still drained: a full pipe would stop the child.
fn deliver(sink: &mut Option<Sink>, bytes: &[u8], complete: bool) {
    if let Some(call) = sink
        && catch_unwind(AssertUnwindSafe(|| call(StderrLine { bytes, complete }))).is_err()
    {
        *sink = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(pieces: &[&[u8]]) -> Vec<(String, bool)> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let copy = seen.clone();
        let mut sink: Option<Sink> = Some(Box::new(move |line| {
            copy.lock()
                .unwrap()
                .push((line.text().into_owned(), line.is_complete()))
        }));
        let mut lines = Lines::default();
        for piece in pieces {
            lines.feed(piece, &mut sink);
        }
        lines.finish(&mut sink);
        let seen = seen.lock().unwrap();
        seen.clone()
    }

    #[test]
    fn every_line_end_is_known_however_the_bytes_are_cut() {
        let text = b"one\ntwo\r\n10%\r20%\r\n\nlast";
        let want: Vec<_> = ["one", "two", "10%", "20%", "", "last"]
            .map(|l| (l.to_owned(), true))
            .into();
        assert_eq!(lines_of(&[text]), want);
        let single: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines_of(&single), want);
    }

    #[test]
    fn a_line_without_end_comes_in_whole_characters() {
        let text = "é".repeat(LINE);
        let pieces = lines_of(&[b"x", text.as_bytes()]);
        assert!(pieces.len() > 2 && pieces.iter().all(|(piece, _)| piece.len() <= LINE));
        assert_eq!(
            pieces.iter().map(|(piece, _)| piece.as_str()).collect::<String>(),
            format!("x{text}")
        );
        assert_eq!(pieces.iter().filter(|(_, complete)| *complete).count(), 1);
    }

    #[test]
    fn undecodable_bytes_do_not_stop_the_cutting() {
        for byte in [0xbf, 0xff, 0xc3] {
            let total = Arc::new(Mutex::new(0));
            let copy = total.clone();
            let mut sink: Option<Sink> = Some(Box::new(move |line| {
                assert!(line.as_bytes().len() <= LINE);
                *copy.lock().unwrap() += line.as_bytes().len();
            }));
            let mut lines = Lines::default();
            lines.feed(&vec![byte; 3 * LINE], &mut sink);
            assert!(lines.held.len() <= LINE);
            lines.finish(&mut sink);
            assert_eq!(*total.lock().unwrap(), 3 * LINE, "nothing is lost");
        }
    }

    #[test]
    fn the_tail_is_bounded_and_starts_at_a_character() {
        let tail = Tail::new(5);
        tail.push("abéé".as_bytes());
        assert_eq!(tail.text(), "béé");
        tail.push(b"xy");
        assert_eq!(
            tail.text(),
            "éxy",
            "five bytes, the first of them the second half of a character"
        );
        tail.push(&[b'z'; 100]);
        assert_eq!(tail.text(), "zzzzz");
        Tail::new(0).push(b"nothing is kept");
    }

    #[test]
    fn a_panicking_callback_is_dropped() {
        let mut sink: Option<Sink> = Some(Box::new(|_| panic!("callback")));
        deliver(&mut sink, b"x", true);
        assert!(sink.is_none());
    }
}
