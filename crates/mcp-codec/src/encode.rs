use bytes::{BufMut, BytesMut};
use memchr::memchr2;

use crate::error::RawLineBreak;

/// Appends a message and a newline.
///
/// # Errors
/// When the message holds a raw `\n` or `\r`, which JSON allows between tokens only. Nothing is appended then.
pub fn encode_line(out: &mut BytesMut, message: &[u8]) -> Result<(), RawLineBreak> {
    if let Some(at) = memchr2(b'\n', b'\r', message) {
        return Err(RawLineBreak { at });
    }
    out.reserve(message.len() + 1);
    out.put_slice(message);
    out.put_u8(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::encode_line;
    use bytes::BytesMut;

    #[test]
    fn p013_a_message_is_one_line() {
        let mut out = BytesMut::new();
        encode_line(&mut out, br#"{"data":"one\ntwo"}"#).unwrap();
        encode_line(&mut out, b"{}").unwrap();
        assert_eq!(out, "{\"data\":\"one\\ntwo\"}\n{}\n");
    }

    #[test]
    fn p013_a_raw_line_break_is_refused_and_nothing_written() {
        let mut out = BytesMut::new();
        assert_eq!(encode_line(&mut out, b"{\n}").unwrap_err().at, 1);
        assert_eq!(encode_line(&mut out, b"{}\r").unwrap_err().at, 2);
        assert!(out.is_empty());
    }
}
