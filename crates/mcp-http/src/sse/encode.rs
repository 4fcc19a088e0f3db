use bytes::{BufMut, BytesMut};

/// Appends an event that carries a message: `event: message`, the id where there is one, and the data. Line breaks in
/// the data (a payload may have been pretty-printed by somebody) become further `data` lines.
pub fn event(out: &mut BytesMut, id: Option<&str>, data: &[u8]) {
    out.reserve(data.len() + 32);
    out.put_slice(b"event: message\n");
    if let Some(id) = id {
        field(out, b"id: ", id.as_bytes());
    }
    let mut rest = data;
    while let Some(end) = rest.iter().position(|&b| b == b'\n' || b == b'\r') {
        field(out, b"data: ", &rest[..end]);
        let width = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + width..];
    }
    field(out, b"data: ", rest);
    out.put_u8(b'\n');
}

/// Appends the event that opens a stream which can be resumed: an id and empty data (2025-11-25: basic/transports).
pub fn priming(out: &mut BytesMut, id: &str) {
    field(out, b"id: ", id.as_bytes());
    out.put_slice(b"data:\n\n");
}

/// Appends how long a client should wait before it comes back, in milliseconds.
pub fn retry(out: &mut BytesMut, milliseconds: u64) {
    field(out, b"retry: ", milliseconds.to_string().as_bytes());
    out.put_u8(b'\n');
}

/// Appends a comment, which clients ignore: it keeps a connection from looking dead.
pub fn comment(out: &mut BytesMut) {
    out.put_slice(b":\n\n");
}

fn field(out: &mut BytesMut, name: &[u8], value: &[u8]) {
    out.put_slice(name);
    out.put_slice(value);
    out.put_u8(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_event_and_line_breaks_in_it_become_lines() {
        let mut out = BytesMut::new();
        event(&mut out, None, b"{}");
        event(&mut out, Some("7-1"), b"{\n\"a\":1\r\n}");
        let text = "event: message\ndata: {}\n\nevent: message\nid: 7-1\ndata: {\ndata: \"a\":1\ndata: }\n\n";
        assert_eq!(out, text);
    }

    #[test]
    fn what_is_no_message() {
        let mut out = BytesMut::new();
        priming(&mut out, "1-0");
        retry(&mut out, 500);
        comment(&mut out);
        assert_eq!(out, "id: 1-0\ndata:\n\nretry: 500\n\n:\n\n");
    }
}
