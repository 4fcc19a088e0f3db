//! Writing messages straight into a buffer, members in the order `jsonrpc`, `id`, then the rest.
//!
//! Payloads are appended as they are. A frame for a stream of lines must not hold raw line breaks: payloads that
//! came from elsewhere may (between tokens), and [`compact`] takes them out.

use bytes::{BufMut, BytesMut};
use memchr::memchr2;

use crate::error::ErrorObject;
use crate::id::RequestId;
use crate::raw::RawJson;
use crate::scan::plain_run;

/// How to say that an error answers no readable request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoId {
    /// `"id":null`, up to MCP 2025-11-25 and JSON-RPC 2.0 itself.
    Null,
    /// No `id` member, MCP 2026-07-28.
    Absent,
}

/// Appends a JSON string.
pub fn string(out: &mut BytesMut, text: &str) {
    let mut rest = text.as_bytes();
    // Room for the escapes of ordinary text, so that a long one is not moved when it turns out longer.
    out.reserve(rest.len() + rest.len() / 8 + 16);
    out.put_u8(b'"');
    loop {
        let (plain, special) = rest.split_at(plain_run(rest));
        out.put_slice(plain);
        let Some((&byte, after)) = special.split_first() else {
            break;
        };
        match byte {
            b'"' => out.put_slice(b"\\\""),
            b'\\' => out.put_slice(b"\\\\"),
            b'\n' => out.put_slice(b"\\n"),
            b'\r' => out.put_slice(b"\\r"),
            b'\t' => out.put_slice(b"\\t"),
            other => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.put_slice(b"\\u00");
                out.put_u8(HEX[usize::from(other >> 4)]);
                out.put_u8(HEX[usize::from(other & 15)]);
            }
        }
        rest = after;
    }
    out.put_u8(b'"');
}

/// Appends an id.
pub fn id(out: &mut BytesMut, id: &RequestId) {
    match id {
        RequestId::Number(n) => integer(out, *n),
        RequestId::String(s) => string(out, s),
    }
}

fn integer(out: &mut BytesMut, n: i64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = n.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if n < 0 {
        out.put_u8(b'-');
    }
    out.put_slice(&digits[at..]);
}

/// Makes room for a payload and the usual envelope around it, so that most messages are written at one go.
fn reserve(out: &mut BytesMut, payload: usize) {
    out.reserve(payload + 96);
}

/// Appends a request.
pub fn request(out: &mut BytesMut, request_id: &RequestId, method: &str, params: Option<&[u8]>) {
    reserve(out, method.len() + params.map_or(0, <[u8]>::len));
    out.put_slice(br#"{"jsonrpc":"2.0","id":"#);
    id(out, request_id);
    out.put_slice(br#","method":"#);
    rest_of_call(out, method, params);
}

/// Appends a notification.
pub fn notification(out: &mut BytesMut, method: &str, params: Option<&[u8]>) {
    reserve(out, method.len() + params.map_or(0, <[u8]>::len));
    out.put_slice(br#"{"jsonrpc":"2.0","method":"#);
    rest_of_call(out, method, params);
}

fn rest_of_call(out: &mut BytesMut, method: &str, params: Option<&[u8]>) {
    string(out, method);
    if let Some(params) = params {
        out.put_slice(br#","params":"#);
        out.put_slice(params);
    }
    out.put_u8(b'}');
}

/// Appends all of a response up to its result; [`result_tail`] ends it.
pub fn result_head(out: &mut BytesMut, request_id: &RequestId) {
    out.put_slice(br#"{"jsonrpc":"2.0","id":"#);
    id(out, request_id);
    out.put_slice(br#","result":"#);
}

/// Ends what [`result_head`] began.
pub fn result_tail(out: &mut BytesMut) {
    out.put_u8(b'}');
}

/// Appends a response with a result.
pub fn result(out: &mut BytesMut, request_id: &RequestId, result: &[u8]) {
    reserve(out, result.len());
    result_head(out, request_id);
    out.put_slice(result);
    result_tail(out);
}

/// Appends a response with an error.
pub fn error(out: &mut BytesMut, request_id: Result<&RequestId, NoId>, error: &ErrorObject) {
    let data = error.data.as_ref().map_or(0, |data| data.as_bytes().len());
    reserve(out, error.message.len() + data + 64);
    out.put_slice(br#"{"jsonrpc":"2.0","#);
    match request_id {
        Ok(request_id) => {
            out.put_slice(br#""id":"#);
            id(out, request_id);
            out.put_u8(b',');
        }
        Err(NoId::Null) => out.put_slice(br#""id":null,"#),
        Err(NoId::Absent) => {}
    }
    out.put_slice(br#""error":{"code":"#);
    integer(out, error.code);
    out.put_slice(br#","message":"#);
    string(out, &error.message);
    if let Some(data) = &error.data {
        out.put_slice(br#","data":"#);
        out.put_slice(data.as_bytes());
    }
    out.put_slice(b"}}");
}

/// The same value without the white space between its tokens, so without raw line breaks. Returns the value
/// itself where it has no line breaks.
pub fn compact(value: &RawJson) -> RawJson {
    let bytes = value.as_bytes();
    if memchr2(b'\n', b'\r', bytes).is_none() {
        return value.clone();
    }
    let mut out = BytesMut::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(&byte) = rest.first() {
        let token = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                rest = &rest[1..];
                continue;
            }
            b'"' => string_length(rest),
            _ => rest
                .iter()
                .position(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"'))
                .unwrap_or(rest.len()),
        };
        out.put_slice(&rest[..token]);
        rest = &rest[token..];
    }
    RawJson::trusted(out.freeze())
}

/// The length of the string that `bytes` begins with, its quotes included.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = memchr2(b'"', b'\\', &bytes[at..]) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        // What follows a backslash never ends the string.
        at = (at + 1).min(bytes.len());
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> BytesMut {
        let mut out = BytesMut::new();
        string(&mut out, text);
        out
    }

    #[test]
    fn strings_are_written_as_serde_json_writes_them_but_for_short_escapes() {
        for text in [
            "",
            "plain",
            "a\"b\\c",
            "\n\r\t",
            "é—🙂",
            &"long ".repeat(50),
            &format!("{}\n", "x".repeat(100)),
        ] {
            assert_eq!(written(text), serde_json::to_string(text).unwrap());
        }
        assert_eq!(written("\u{1}\u{8}\u{1f}"), r#""\u0001\u0008\u001f""#);
    }

    #[test]
    fn p013_a_text_with_line_breaks_makes_one_line() {
        assert!(!written("one\ntwo\r\nthree").contains(&b'\n'));
        let pretty = RawJson::from_text("{\n  \"a b\": [1,\r\n 2],\t\"c \\\\\": \"\\\" \"\n}").unwrap();
        assert_eq!(compact(&pretty).as_str(), r#"{"a b":[1,2],"c \\":"\" "}"#);
        let plain = RawJson::from_text("[1, 2]").unwrap();
        assert_eq!(compact(&plain), plain);
    }

    #[test]
    fn p031_integers_are_written_exactly() {
        for number in [0, 7, -5, 1_774_232_524_389, i64::MAX, i64::MIN] {
            let mut out = BytesMut::new();
            integer(&mut out, number);
            assert_eq!(out, number.to_string());
        }
    }
}
