use mcp_types::{Revision, Revisions};
use serde_json::Value;

use crate::error::TestError;

/// A dialogue: what the client sends, and what the server must answer. The format is described in the crate's
/// documentation.
#[derive(Debug, Clone)]
pub struct Transcript {
    headers: Vec<(String, String)>,
    revisions: Revisions,
    pub(super) steps: Vec<Step>,
}

/// One line of a dialogue.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Its line in the file, from 1.
    pub(super) line: usize,
    pub(super) revisions: Revisions,
    pub(super) act: Act,
}

/// What a line says. Texts still hold `{revision}`.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Send(String),
    SendRaw(Vec<u8>),
    Expect { pattern: String, any_order: bool },
    Close,
}

impl Transcript {
    /// Reads a dialogue.
    ///
    /// # Errors
    /// The first line that means nothing, with its number.
    pub fn parse(text: &str) -> Result<Self, TestError> {
        let mut transcript = Self {
            headers: Vec::new(),
            revisions: Revisions::ALL,
            steps: Vec::new(),
        };
        for (at, line) in text.lines().enumerate() {
            let failed = |why: TestError| TestError::new(format!("line {}: {why}", at + 1));
            transcript.line(at + 1, line.trim()).map_err(failed)?;
        }
        if let Some(range) = transcript.header("Revisions") {
            transcript.revisions = parse_range(range)?;
        }
        if transcript.header("Title").is_none() {
            return Err(TestError::new("no `# Title:`"));
        }
        if !transcript
            .steps
            .iter()
            .any(|step| matches!(step.act, Act::Expect { .. }))
        {
            return Err(TestError::new("nothing is expected"));
        }
        Ok(transcript)
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), TestError> {
        if line.is_empty() || line.starts_with("//") {
            return Ok(());
        }
        if let Some(header) = line.strip_prefix('#') {
            let (key, value) = header
                .split_once(':')
                .ok_or_else(|| TestError::new("a header is `# Key: value`"))?;
            self.headers.push((key.trim().into(), value.trim().into()));
            return Ok(());
        }
        let (revisions, line) = match line.strip_prefix('@') {
            Some(ranged) => {
                let (range, rest) = ranged
                    .split_once(' ')
                    .ok_or_else(|| TestError::new("a range without a line"))?;
                (parse_range(range)?, rest.trim())
            }
            None => (Revisions::ALL, line),
        };
        let act = if let Some(raw) = line.strip_prefix(">>") {
            Act::SendRaw(unescape(raw.strip_prefix(' ').unwrap_or(raw))?)
        } else if let Some(message) = line.strip_prefix('>') {
            Act::Send(checked(message)?)
        } else if let Some(pattern) = line.strip_prefix("<*") {
            Act::Expect {
                pattern: checked(pattern)?,
                any_order: true,
            }
        } else if let Some(pattern) = line.strip_prefix('<') {
            Act::Expect {
                pattern: checked(pattern)?,
                any_order: false,
            }
        } else if line == "close" {
            Act::Close
        } else {
            return Err(TestError::new(format!("it means nothing: {line}")));
        };
        self.steps.push(Step {
            line: number,
            revisions,
            act,
        });
        Ok(())
    }

    /// What it shows.
    pub fn title(&self) -> &str {
        self.header("Title").unwrap_or_default()
    }

    /// The value of a header; the first where there are several.
    pub fn header(&self, key: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// All values of a header.
    pub fn headers<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.headers.iter().filter(move |(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// The revisions that it is for.
    pub fn revisions(&self) -> Revisions {
        self.revisions
    }
}

/// The text, if it is JSON once the revision is filled in.
fn checked(text: &str) -> Result<String, TestError> {
    let sample = text.replace("{revision}", Revision::LATEST.name());
    match serde_json::from_str::<Value>(&sample) {
        Ok(_) => Ok(text.trim().to_owned()),
        Err(error) => Err(TestError::new(format!("no JSON: {error}"))),
    }
}

fn parse_range(text: &str) -> Result<Revisions, TestError> {
    let named = |name: &str| {
        Revision::from_name(name).ok_or_else(|| TestError::new(format!("unknown revision {name:?}")))
    };
    let mut all = Revisions::NONE;
    for part in text.split(',').map(str::trim) {
        let set = match part {
            "all" => Revisions::ALL,
            "stateful" => Revisions::STATEFUL,
            "stateless" => Revisions::STATELESS,
            other => match other.split_once("..") {
                None => Revisions::only(named(other)?),
                Some(("", last)) => Revisions::between(Revision::V2024_10_07, named(last)?),
                Some((first, "")) => Revisions::since(named(first)?),
                Some((first, last)) => Revisions::between(named(first)?, named(last)?),
            },
        };
        all = all.or(set);
    }
    Ok(all)
}

fn unescape(text: &str) -> Result<Vec<u8>, TestError> {
    let mut out = Vec::with_capacity(text.len() + 1);
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match after {
            [b'n', ..] => out.push(b'\n'),
            [b'r', ..] => out.push(b'\r'),
            [b'\\', ..] => out.push(b'\\'),
            [b'"', ..] => out.extend_from_slice(br#"\""#),
            [b'x', high, low, ..] => {
                let digits = [*high, *low];
                let byte = std::str::from_utf8(&digits)
                    .ok()
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok());
                out.push(byte.ok_or_else(|| TestError::new("`\\x` needs two hex digits"))?);
                rest = &rest[2..];
            }
            [b'u', ..] => out.extend_from_slice(b"\\u"),
            // A backslash at the end keeps the newline away.
            [] => return Ok(out),
            _ => return Err(TestError::new("an unknown escape")),
        }
        rest = &rest[1..];
    }
    out.push(b'\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_ranges_and_lines() {
        let transcript = Transcript::parse(
            "# Title: a\n# Revisions: 2025-03-26..2025-11-25\n\n// remark\n> {\"id\":1}\n@stateless < {\"a\":\"{revision}\"}\nclose\n",
        )
        .unwrap();
        assert_eq!(transcript.title(), "a");
        assert_eq!(transcript.revisions().iter().count(), 3);
        assert_eq!(transcript.steps.len(), 3);
        assert_eq!(transcript.steps[1].revisions, Revisions::STATELESS);
        assert_eq!(transcript.steps[1].line, 6);
    }

    #[test]
    fn what_means_nothing_is_refused_with_its_line() {
        for (text, line) in [
            ("# Title: a\nhello", "line 2"),
            ("# Title: a\n> {", "line 2"),
            ("@2030-01-01 close", "line 1"),
            (">> \\q", "line 1"),
        ] {
            let error = Transcript::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(line), "{error}");
        }
        assert!(Transcript::parse("# Title: a").is_err());
        assert!(Transcript::parse("< {}").is_err());
    }

    #[test]
    fn escapes_make_any_byte_and_may_leave_the_newline_out() {
        assert_eq!(unescape("a\\xff\\r\\n\\\\").unwrap(), b"a\xff\r\n\\\n");
        assert_eq!(unescape("abc\\").unwrap(), b"abc");
        assert_eq!(unescape(r#""\ud83d\"""#).unwrap(), b"\"\\ud83d\\\"\"\n");
    }
}
