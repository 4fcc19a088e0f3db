//! Writing messages straight into a buffer, members in the order `jsonrpc`, `id`, then the rest.
//!
//! Payloads are appended as they are. A frame for a stream of lines must not hold raw line breaks: payloads that
//! came from elsewhere may (between tokens), and [`compact`] takes them out.

use bytes::{BufMut, BytesMut};

use crate::error::ErrorObject;
use crate::id::RequestId;
use crate::raw::RawJson;

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
    out.reserve(rest.len() + 2);
    out.put_u8(b'"');
    while let Some(at) = rest.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\') {
        out.put_slice(&rest[..at]);
        match rest[at] {
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
        rest = &rest[at + 1..];
    }
    out.put_slice(rest);
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

/// Appends a request.
pub fn request(out: &mut BytesMut, request_id: &RequestId, method: &str, params: Option<&[u8]>) {
    out.put_slice(br#"{"jsonrpc":"2.0","id":"#);
    id(out, request_id);
    out.put_slice(br#","method":"#);
    rest_of_call(out, method, params);
}

/// Appends a notification.
pub fn notification(out: &mut BytesMut, method: &str, params: Option<&[u8]>) {
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
    out.reserve(result.len() + 64);
    result_head(out, request_id);
    out.put_slice(result);
    result_tail(out);
}

/// Appends a response with an error.
pub fn error(out: &mut BytesMut, request_id: Result<&RequestId, NoId>, error: &ErrorObject) {
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
/// itself where there is nothing to strip.
pub fn compact(value: &RawJson) -> RawJson {
    let bytes = value.as_bytes();
    if !bytes.iter().any(|&b| b == b'\n' || b == b'\r') {
        return value.clone();
    }
    let mut out = BytesMut::with_capacity(bytes.len());
    let (mut in_string, mut escaped) = (false, false);
    for &b in bytes {
        if in_string {
            out.put_u8(b);
            match b {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
        } else if !matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            in_string = b == b'"';
            out.put_u8(b);
        }
    }
    RawJson::trusted(out.freeze())
}
