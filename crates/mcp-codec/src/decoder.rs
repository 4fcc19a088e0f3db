use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;

use crate::error::BufferExceeded;

const DEFAULT_MAX_BYTES: usize = 10 * 1024 * 1024;

/// What a fresh buffer holds. Messages are slices of it, so a kept small message keeps this much.
const BUFFER_BYTES: usize = 32 * 1024;

/// The least that a read should find free.
const SPARE_BYTES: usize = 8 * 1024;

/// A buffer that grew beyond this is replaced once what made it grow is gone. Below, a peer that keeps sending
/// messages of that size does not make us grow it anew for each.
const LARGE_BYTES: usize = 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What may be cut off a line: a byte order mark and a carriage return.
const TRIMMED_BYTES: usize = BYTE_ORDER_MARK.len() + 1;

/// A line that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line within the limit, without line end and byte order mark, and never blank. It is a slice of the buffer
    /// it was read into.
    Message(Bytes),
    /// A line over the limit, dropped as a whole. The next line is read as usual.
    Oversized {
        /// How many bytes it had, without its newline.
        bytes: u64,
        /// How many bytes a message may have.
        limit: usize,
    },
}

impl Line {
    /// The message.
    ///
    /// # Errors
    /// When the line was too long.
    pub fn into_message(self) -> Result<Bytes, BufferExceeded> {
        match self {
            Line::Message(message) => Ok(message),
            Line::Oversized { bytes, limit } => Err(BufferExceeded { limit, bytes }),
        }
    }
}

/// Cuts a stream of bytes into lines.
///
/// Append what was read to [`LineDecoder::buffer`], then take lines with [`LineDecoder::next_line`] until there is
/// none; at the end of input take the rest with [`LineDecoder::finish`]. How the bytes were cut when they came does
/// not matter. Each byte is searched once, and no line is copied.
#[derive(Debug)]
pub struct LineDecoder {
    buffer: BytesMut,
    cutter: Cutter,
    /// The buffer has outgrown [`LARGE_BYTES`].
    large: bool,
}

impl Default for LineDecoder {
    /// A decoder that takes messages of up to 10 MiB.
    fn default() -> Self {
        Self::new(DEFAULT_MAX_BYTES)
    }
}

impl LineDecoder {
    /// A decoder that takes messages of up to `max_bytes` bytes. Longer ones are dropped, so that a peer that
    /// never ends its line cannot fill the memory.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            cutter: Cutter::new(max_bytes),
            large: false,
        }
    }

    /// Where to append what was read. Has at least 8 KiB free, more while a long line is coming in.
    pub fn buffer(&mut self) -> &mut BytesMut {
        if self.large && self.buffer.len() <= SPARE_BYTES {
            let mut fresh = BytesMut::with_capacity(BUFFER_BYTES);
            fresh.extend_from_slice(&self.buffer);
            self.buffer = fresh;
            self.large = false;
        }
        let free = self.buffer.capacity() - self.buffer.len();
        if free < SPARE_BYTES {
            // Doubling keeps the copies of a long line linear in its length.
            let wanted = self.buffer.len().max(BUFFER_BYTES - SPARE_BYTES);
            self.buffer.reserve(wanted);
        }
        &mut self.buffer
    }

    /// Takes the next complete line. `None` when more bytes are needed.
    pub fn next_line(&mut self) -> Option<Line> {
        self.large |= self.buffer.len() > LARGE_BYTES;
        self.cutter.next_line(&mut self.buffer)
    }

    /// Takes what is left at the end of input: complete lines first, then what came after the last newline. `None`
    /// when nothing is left; call it until then.
    pub fn finish(&mut self) -> Option<Line> {
        self.cutter.finish(&mut self.buffer)
    }
}

/// The rules, over somebody's buffer.
#[derive(Debug, Clone)]
pub(crate) struct Cutter {
    max_bytes: usize,
    /// How much of the buffer is known to hold no newline.
    searched: usize,
    /// How much of the current line was dropped; none while it is kept.
    dropped: Option<u64>,
}

impl Cutter {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            searched: 0,
            dropped: None,
        }
    }

    pub(crate) fn next_line(&mut self, buffer: &mut BytesMut) -> Option<Line> {
        // Somebody may have taken bytes out of a foreign buffer.
        self.searched = self.searched.min(buffer.len());
        while let Some(found) = memchr(b'\n', &buffer[self.searched..]) {
            let length = self.searched + found;
            let line = self.line(buffer, length);
            buffer.advance(1);
            if line.is_some() {
                return line;
            }
        }
        self.searched = buffer.len();
        // Anything shorter might still fit once its ends are trimmed.
        if self.dropped.is_some() || buffer.len() > self.max_bytes.saturating_add(TRIMMED_BYTES) {
            *self.dropped.get_or_insert(0) += buffer.len() as u64;
            buffer.clear();
            self.searched = 0;
        }
        None
    }

    pub(crate) fn finish(&mut self, buffer: &mut BytesMut) -> Option<Line> {
        self.next_line(buffer).or_else(|| self.line(buffer, buffer.len()))
    }

    /// Takes `length` bytes as a line; none if there is nothing to tell.
    fn line(&mut self, buffer: &mut BytesMut, length: usize) -> Option<Line> {
        self.searched = 0;
        let oversized = |bytes| {
            Some(Line::Oversized {
                bytes,
                limit: self.max_bytes,
            })
        };
        if let Some(dropped) = self.dropped.take() {
            buffer.advance(length);
            return oversized(dropped + length as u64);
        }
        let line = &buffer[..length];
        let end = length - usize::from(line.ends_with(b"\r"));
        let start = if line[..end].starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        if end - start > self.max_bytes {
            buffer.advance(length);
            return oversized(length as u64);
        }
        if line[start..end].trim_ascii().is_empty() {
            buffer.advance(length);
            return None;
        }
        let line = buffer.split_to(length).freeze();
        Some(Line::Message(line.slice(start..end)))
    }
}
