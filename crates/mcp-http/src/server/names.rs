//! The names of the headers, and whether those of a stateless request say what its body says.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};
use mcp_jsonrpc::{Call, ErrorObject, ParamKey, codes};
use mcp_types::method;

use super::guard;

pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Checks `Mcp-Method` and `Mcp-Name` against the body (2026-07-28: basic/transports, "Standard headers"). A proxy may
/// have decided by them, so a difference is refused.
pub(crate) fn match_body(headers: &HeaderMap, call: &Call) -> Result<(), ErrorObject> {
    let said = guard::text(headers, &METHOD).ok_or_else(|| mismatch("Mcp-Method is missing"))?;
    if said != call.method() {
        return Err(mismatch(format!(
            "Mcp-Method is {said:?}, the body's method is {:?}",
            call.method()
        )));
    }
    let key = match call.method() {
        method::TOOLS_CALL | method::PROMPTS_GET => ParamKey::Name,
        method::RESOURCES_READ => ParamKey::Uri,
        _ => return Ok(()),
    };
    let said = guard::text(headers, &NAME).ok_or_else(|| mismatch("Mcp-Name is missing"))?;
    let said = decode(said)?;
    match call.param_str(key) {
        Ok(Some(name)) if name == said => Ok(()),
        Ok(Some(name)) => Err(mismatch(format!("Mcp-Name is {said:?}, the body says {name:?}"))),
        // What the body lacks is for the handler to refuse.
        _ => Ok(()),
    }
}

/// -32020.
pub(crate) fn mismatch(text: impl Into<Cow<'static, str>>) -> ErrorObject {
    let text: Cow<'static, str> = text.into();
    ErrorObject::new(codes::HEADER_MISMATCH, format!("Header mismatch: {text}"))
}

/// A header value as text: `=?base64?...?=` is decoded, anything else is itself.
fn decode(value: &str) -> Result<Cow<'_, str>, ErrorObject> {
    let Some(inner) = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = base64(inner).ok_or_else(|| mismatch("a value is not valid Base64"))?;
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|_| mismatch("a Base64 value is not UTF-8"))
}

/// Standard Base64 with padding, strictly.
fn base64(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    let last = bytes.len() / 4;
    for (at, group) in bytes.chunks_exact(4).enumerate() {
        let padding = group.iter().rev().take_while(|&&b| b == b'=').count();
        if padding > 2 || padding > 0 && at + 1 != last {
            return None;
        }
        let mut bits = 0u32;
        for &byte in &group[..4 - padding] {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * padding;
        let [_, one, two, three] = bits.to_be_bytes();
        let whole = [one, two, three];
        // Bits behind the last byte must be zero, or one text would have two spellings.
        if whole[3 - padding..].iter().any(|&b| b != 0) {
            return None;
        }
        out.extend_from_slice(&whole[..3 - padding]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_strict() {
        assert_eq!(base64("SGVsbG8=").as_deref(), Some(&b"Hello"[..]));
        assert_eq!(base64("").as_deref(), Some(&b""[..]));
        assert_eq!(base64("+/8=").as_deref(), Some(&[0xfb, 0xff][..]));
        for bad in ["SGVsbG8", "SGVs=G8=", "SGVsbG9=", "SGV-bG8=", "====", "A==="] {
            assert_eq!(base64(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_sentinel_is_decoded_and_what_only_looks_like_one_is_itself() {
        assert_eq!(decode("=?base64?SGVsbG8=?=").unwrap(), "Hello");
        for literal in ["SGVsbG8=", "=?BASE64?SGVsbG8=?=", "=?base64?SGVsbG8="] {
            assert_eq!(decode(literal).unwrap(), literal);
        }
        assert_eq!(decode("=?base64?SGVsbG8?=").unwrap_err().code, -32020);
    }
}
