use bytes::{Bytes, BytesMut};

/// An event that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Event {
    /// Its name; `message` where none was given.
    pub name: String,
    /// The last id that the stream gave, where this event gave one.
    pub id: Option<String>,
    /// The data lines, joined by line breaks. Empty for an event that only carries an id.
    pub data: Bytes,
    /// How long to wait before reconnecting, in milliseconds, where the stream said so.
    pub retry: Option<u64>,
}

/// An event larger than the decoder takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event exceeded {limit} bytes")]
pub struct DecodeError {
    /// The limit in bytes.
    pub limit: usize,
}

/// Reads events from bytes, however these were cut: LF, CR and CRLF in any mixture, a byte order mark at the start,
/// comments, several data lines (WHATWG HTML, "Server-sent events").
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// What came and is no whole line yet.
    rest: BytesMut,
    /// The last line ended with CR, so a LF that follows belongs to it.
    after_cr: bool,
    /// Nothing was read yet, so a byte order mark may come.
    fresh: bool,
    event: Event,
    data: BytesMut,
    has_data: bool,
    touched: bool,
}

impl Decoder {
    /// A decoder for events of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            rest: BytesMut::new(),
            after_cr: false,
            fresh: true,
            event: Event::default(),
            data: BytesMut::new(),
            has_data: false,
            touched: false,
        }
    }

    /// Takes bytes that came.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
    }

    /// The next event: one with data, or one that carries an id or a time to wait. None when more bytes are needed.
    ///
    /// # Errors
    /// When an event is larger than the limit. The stream cannot be read on then.
    pub fn next_event(&mut self) -> Result<Option<Event>, DecodeError> {
        loop {
            if self.fresh {
                const MARK: &[u8] = "\u{feff}".as_bytes();
                if self.rest.len() < MARK.len() && MARK.starts_with(&self.rest) {
                    return Ok(None);
                }
                if self.rest.starts_with(MARK) {
                    let _ = self.rest.split_to(MARK.len());
                }
                self.fresh = false;
            }
            if self.after_cr && !self.rest.is_empty() {
                if self.rest[0] == b'\n' {
                    let _ = self.rest.split_to(1);
                }
                self.after_cr = false;
            }
            let Some(end) = self.rest.iter().position(|&b| b == b'\n' || b == b'\r') else {
                return if self.rest.len() + self.data.len() > self.limit {
                    Err(DecodeError { limit: self.limit })
                } else {
                    Ok(None)
                };
            };
            let line = self.rest.split_to(end);
            self.after_cr = self.rest[0] == b'\r';
            let _ = self.rest.split_to(1);
            if line.is_empty() {
                if let Some(event) = self.finish() {
                    return Ok(Some(event));
                }
            } else {
                self.line(&line)?;
            }
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), DecodeError> {
        let (name, value) = match line.iter().position(|&b| b == b':') {
            Some(0) => return Ok(()),
            Some(at) => (
                &line[..at],
                line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..]),
            ),
            None => (line, &[][..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => {
                if self.data.len() + value.len() > self.limit {
                    return Err(DecodeError { limit: self.limit });
                }
                if self.has_data {
                    self.data.extend_from_slice(b"\n");
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.event.name = text(),
            b"id" if !value.contains(&0) => {
                self.event.id = Some(text());
                self.touched = true;
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.event.retry = text().parse().ok();
                self.touched = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> Option<Event> {
        let mut event = std::mem::take(&mut self.event);
        let some = self.has_data || self.touched;
        (self.has_data, self.touched) = (false, false);
        event.data = self.data.split().freeze();
        if event.name.is_empty() {
            event.name = "message".into();
        }
        some.then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut decoder = Decoder::new(1024);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.feed(piece);
            while let Some(event) = decoder.next_event().unwrap() {
                events.push(event);
            }
        }
        events
    }

    const STREAM: &[u8] =
        b"\xef\xbb\xbf: ka\n\nid: 5\ndata:\n\nevent: message\r\ndata: {\r\ndata: \"a\":\rdata: 1}\r\r\
        retry: 500\n\nevent: ping\ndata: x\n\nid: a\x00b\ndata: last\nunknown: 1\nretry: 5s\n\n";

    #[test]
    fn p092_to_p095_any_line_ends_and_any_cuts_give_the_same_events() {
        let whole = read(&[STREAM]);
        let data: Vec<&[u8]> = whole.iter().map(|event| &event.data[..]).collect();
        assert_eq!(data, [&b""[..], b"{\n\"a\":\n1}", b"", b"x", b"last"]);
        assert_eq!(whole[0].id.as_deref(), Some("5"));
        assert_eq!(
            (whole[2].retry, whole[4].retry, whole[4].id.as_deref()),
            (Some(500), None, None)
        );
        assert_eq!(
            (whole[1].name.as_str(), whole[3].name.as_str()),
            ("message", "ping")
        );
        for cut in 0..=STREAM.len() {
            let (head, tail) = STREAM.split_at(cut);
            assert_eq!(read(&[head, tail]), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = STREAM.chunks(1).collect();
        assert_eq!(read(&bytes), whole);
    }

    #[test]
    fn an_event_over_the_limit_is_an_error_with_or_without_line_ends() {
        let mut decoder = Decoder::new(8);
        decoder.feed(b"data: 123456789");
        assert_eq!(decoder.next_event(), Err(DecodeError { limit: 8 }));
        let mut decoder = Decoder::new(8);
        decoder.feed(b"data: 1234\ndata: 5678\ndata: 9\n");
        assert!(decoder.next_event().is_err());
    }
}
