//! The names of the headers, what a stateless request puts into them, and whether they say what its body says.

#[cfg(feature = "server")]
use std::borrow::Cow;

use http::HeaderName;
use mcp_jsonrpc::ParamKey;
#[cfg(feature = "server")]
use mcp_jsonrpc::{Call, ErrorObject, codes};
use mcp_types::method;

pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Which member of the parameters `Mcp-Name` repeats, for the methods that have the header.
pub(crate) fn name_key(method: &str) -> Option<ParamKey> {
    match method {
        method::TOOLS_CALL | method::PROMPTS_GET => Some(ParamKey::Name),
        method::RESOURCES_READ => Some(ParamKey::Uri),
        _ => None,
    }
}

/// Checks `Mcp-Method` and `Mcp-Name`, as they came, against the body (2026-07-28: basic/transports, "Standard
/// headers"). A proxy may have decided by them, so a difference is refused.
#[cfg(feature = "server")]
pub(crate) fn match_body(method: Option<&str>, name: Option<&str>, call: &Call) -> Result<(), ErrorObject> {
    let said = method.ok_or_else(|| mismatch("Mcp-Method is missing"))?;
    if said != call.method() {
        return Err(mismatch(format!(
            "Mcp-Method is {said:?}, the body's method is {:?}",
            call.method()
        )));
    }
    let Some(key) = name_key(call.method()) else {
        return Ok(());
    };
    let said = decode(name.ok_or_else(|| mismatch("Mcp-Name is missing"))?)?;
    match call.param_str(key) {
        Ok(Some(name)) if name == said => Ok(()),
        Ok(Some(name)) => Err(mismatch(format!("Mcp-Name is {said:?}, the body says {name:?}"))),
        // What the body lacks is for the handler to refuse.
        _ => Ok(()),
    }
}

/// What the headers of this name begin with.
pub(crate) const PARAM: &str = "mcp-param-";

/// The arguments that a request's headers repeat.
#[cfg(feature = "server")]
pub(crate) fn param_headers(headers: &http::HeaderMap) -> mcp_exchange::ParamHeaders {
    let mut found = mcp_exchange::ParamHeaders::new();
    for (name, value) in headers {
        let Some(name) = name.as_str().strip_prefix(PARAM) else {
            continue;
        };
        let text = value.to_str().ok().map(str::trim).map(decode);
        found.push(name, text.and_then(Result::ok).as_deref());
    }
    found
}

/// A text as a header value: itself where it is visible ASCII without white space around it, else `=?base64?...?=`.
#[cfg(feature = "client")]
pub(crate) fn encode(text: &str) -> String {
    let plain = text.bytes().all(|b| (0x20..0x7f).contains(&b) || b == b'\t') && text.trim() == text;
    if plain && !(text.starts_with("=?base64?") && text.ends_with("?=")) {
        return text.to_owned();
    }
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::from("=?base64?");
    for group in text.as_bytes().chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= group.len() { digit as char } else { '=' });
        }
    }
    out.push_str("?=");
    out
}

/// Writes the arguments that are repeated.
#[cfg(feature = "client")]
pub(crate) fn write_params(headers: &mut http::HeaderMap, params: &mcp_exchange::ParamHeaders) {
    for (name, value) in params.iter() {
        let name = HeaderName::from_bytes(format!("{PARAM}{name}").as_bytes());
        if let (Ok(name), Ok(value)) = (name, http::HeaderValue::from_str(&encode(value))) {
            headers.insert(name, value);
        }
    }
}

/// -32020.
#[cfg(feature = "server")]
pub(crate) fn mismatch(text: impl Into<Cow<'static, str>>) -> ErrorObject {
    let text: Cow<'static, str> = text.into();
    ErrorObject::new(codes::HEADER_MISMATCH, format!("Header mismatch: {text}"))
}

/// A header value as text: `=?base64?...?=` is decoded, anything else is itself.
#[cfg(feature = "server")]
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
#[cfg(feature = "server")]
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

#[cfg(all(test, feature = "server"))]
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

    #[cfg(feature = "client")]
    #[test]
    fn what_is_encoded_is_decoded_and_plain_text_stays() {
        for plain in ["echo", "a b", "x://a%20b?c=d", ""] {
            assert_eq!(encode(plain), plain);
        }
        for odd in [
            "\u{e9}",
            " a",
            "a ",
            "a\nb",
            "=?base64?x?=",
            "\u{1f642}\u{1f642}",
            "a\u{7f}",
        ] {
            let encoded = encode(odd);
            assert!(
                encoded.starts_with("=?base64?") && encoded.is_ascii(),
                "{encoded}"
            );
            assert_eq!(decode(&encoded).unwrap(), odd);
        }
        assert_eq!(encode("\u{e9}"), "=?base64?w6k=?=");
    }
}
