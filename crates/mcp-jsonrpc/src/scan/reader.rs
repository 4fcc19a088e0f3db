//! The grammar of JSON (RFC 8259), over bytes that are already known to be UTF-8.

use super::text::plain_run;

/// The bytes are no JSON; [`Reader::wrong`] knows why. Empty, so that results stay in registers.
#[derive(Debug)]
pub(super) struct Stop;

/// Walks over bytes and checks them against the grammar. Never recurses, whatever the input's depth.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    /// What the reader stopped for, at `at`.
    pub(super) wrong: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            wrong: "",
        }
    }

    #[cold]
    fn stop<T>(&mut self, wrong: &'static str) -> Result<T, Stop> {
        self.wrong = wrong;
        Err(Stop)
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips white space and looks at what follows.
    #[inline]
    pub(super) fn next_token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Skips white space and takes `byte` if it is next.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.next_token() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Nothing but white space is left.
    pub(super) fn end(&mut self) -> Result<(), Stop> {
        match self.next_token() {
            None => Ok(()),
            Some(_) => self.stop("data after the end of the value"),
        }
    }

    /// After `{` or a comma: takes a member's name and the colon. Gives the name as written, without quotes.
    #[inline]
    pub(super) fn key(&mut self) -> Result<&'a [u8], Stop> {
        if self.next_token() != Some(b'"') {
            return self.stop("a member name was expected");
        }
        let start = self.at;
        self.string()?;
        let end = self.at;
        if !self.take(b':') {
            return self.stop("a colon was expected");
        }
        Ok(&self.bytes[start + 1..end - 1])
    }

    /// After a member or element: whether another follows. Takes the comma or the closing byte.
    #[inline]
    pub(super) fn more(&mut self, close: u8) -> Result<bool, Stop> {
        match self.next_token() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => self.stop("a comma or a closing bracket was expected"),
        }
    }

    /// Takes a string, at whose opening quote the reader stands.
    #[inline]
    fn string(&mut self) -> Result<(), Stop> {
        self.at += 1;
        loop {
            self.at += plain_run(&self.bytes[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.escape()?;
                    // Escapes like company: do not set up a search for the next one.
                    while self.peek() == Some(b'\\') {
                        self.escape()?;
                    }
                }
                Some(_) => return self.stop("a control character in a string"),
                None => return self.stop("a string without end"),
            }
        }
    }

    /// Whether a surrogate has its other half is left to whoever decodes the string, so that a lone one costs no
    /// more than the value it stands in.
    fn escape(&mut self) -> Result<(), Stop> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => match self.bytes.get(self.at + 2..self.at + 6) {
                Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => {
                    self.at += 6;
                    Ok(())
                }
                _ => self.stop("an escape without four hexadecimal digits"),
            },
            _ => self.stop("an unknown escape"),
        }
    }

    fn digits(&mut self) -> Result<(), Stop> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            return self.stop("a digit was expected");
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Stop> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn word(&mut self, word: &'static [u8]) -> Result<(), Stop> {
        if !self.bytes[self.at..].starts_with(word) {
            return self.stop("a value was expected");
        }
        self.at += word.len();
        Ok(())
    }

    /// Takes one value of any sort. Gives how deep it nests: 0 for a scalar, 1 for `{}`. Ask
    /// [`Reader::next_token`] first where its start matters.
    #[inline]
    pub(super) fn value(&mut self) -> Result<usize, Stop> {
        match self.next_token() {
            Some(b'{' | b'[') => self.container(),
            first => {
                self.scalar(first)?;
                Ok(0)
            }
        }
    }

    #[inline]
    fn scalar(&mut self, first: Option<u8>) -> Result<(), Stop> {
        match first {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => self.stop("a value was expected"),
        }
    }

    /// Takes an object or array, at whose opening bracket the reader stands. Gives its depth.
    fn container(&mut self) -> Result<usize, Stop> {
        let mut open = Open::default();
        let mut deepest = 0;
        'value: loop {
            match self.next_token() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    let object = bracket == b'{';
                    open.push(object);
                    deepest = deepest.max(open.depth);
                    if !self.take(if object { b'}' } else { b']' }) {
                        if object {
                            self.key()?;
                        }
                        continue 'value;
                    }
                    open.pop();
                }
                first => self.scalar(first)?,
            }
            while open.depth > 0 {
                let object = open.is_object();
                if self.more(if object { b'}' } else { b']' })? {
                    if object {
                        self.key()?;
                    }
                    continue 'value;
                }
                open.pop();
            }
            return Ok(deepest);
        }
    }
}

/// Which of the open brackets are braces, one bit for each. Allocates beyond 64 levels only, and then a 64th of
/// the input at most.
#[derive(Default)]
struct Open {
    depth: usize,
    /// The innermost levels; the last one is the lowest bit.
    word: u64,
    full: Vec<u64>,
}

impl Open {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.full.push(self.word);
        }
        self.word = self.word << 1 | u64::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.word = self.full.pop().unwrap_or_default();
        }
    }

    fn is_object(&self) -> bool {
        self.word & 1 == 1
    }
}
