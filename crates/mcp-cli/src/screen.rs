//! What people and programs get to see. Text of servers and files is made safe to print here.

use std::borrow::Cow;
use std::io::Write;

use mcp_stdio::process::shown;
use serde::Serialize;

use crate::failure::Failure;

/// Results, to standard output, with a line end. A reader that is gone is no failure.
pub(crate) fn result(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let mut write = || {
        out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()
    };
    match write() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::operation(format!("cannot write the result: {error}")))
        }
        _ => Ok(()),
    }
}

/// One JSON document, to standard output. Control and hidden characters are written as escapes, so it is safe on a
/// terminal and still the same JSON.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<(), Failure> {
    let text = serde_json::to_string(value)
        .map_err(|error| Failure::operation(format!("the result cannot be written as JSON: {error}")))?;
    result(&escaped_json(&text))
}

/// A line for people, to standard error, after `mcp: `. Text of servers may be in it.
pub(crate) fn note(text: &str) {
    error_line(&format!("mcp: {}", shown(text)));
}

/// A line as it is, to standard error. It must be safe to show already.
pub(crate) fn error_line(line: &str) {
    // Nobody is left to be told where standard error is gone.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// One line: line breaks become spaces.
pub(crate) fn one_line(text: &str) -> String {
    shown(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every line moved in by `by` spaces.
pub(crate) fn indented(text: &str, by: usize) -> String {
    let pad = " ".repeat(by);
    let text = shown(text.trim_end());
    text.lines().map(|line| format!("{pad}{line}\n")).collect()
}

/// Outside of strings JSON has only plain characters, so whatever is hidden is in one and may be escaped.
fn escaped_json(text: &str) -> Cow<'_, str> {
    if matches!(shown(text), Cow::Borrowed(_)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let (mut utf8, mut utf16) = ([0; 4], [0; 2]);
    for c in text.chars() {
        match shown(c.encode_utf8(&mut utf8)) {
            Cow::Borrowed(_) => out.push(c),
            Cow::Owned(_) => {
                for unit in c.encode_utf16(&mut utf16) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p190_hidden_characters_are_escapes_in_json_and_mean_the_same() {
        let text = "a\u{1b}[2J\u{9b}31m\u{202e}\u{e0041}é\n";
        let json = serde_json::to_string(text).unwrap();
        let escaped = escaped_json(&json);
        assert_eq!(escaped, r#""a\u001b[2J\u009b31m\u202e\udb40\udc41é\n""#);
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }

    #[test]
    fn p190_text_of_servers_cannot_act_on_a_terminal() {
        assert_eq!(one_line("a\nb\u{1b}]8;;x\u{7}"), "a b⟦U+001B⟧]8;;x⟦U+0007⟧");
        assert_eq!(indented("a\n\u{9b}b\n", 2), "  a\n  ⟦U+009B⟧b\n");
    }
}
