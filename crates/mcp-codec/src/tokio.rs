use std::io;

use bytes::{Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

use crate::decoder::{Cutter, Line};
use crate::encode::encode_line;

/// [`LineDecoder`](crate::LineDecoder) and [`encode_line`] for tokio-util's `Framed`, `FramedRead` and `FramedWrite`.
///
/// A line that is too long is an item, not an error: `Framed` ends after an error, and the line after it should be
/// read.
#[derive(Debug, Clone)]
pub struct LineCodec(Cutter);

impl LineCodec {
    /// Takes messages of up to `max_bytes` bytes, and drops longer ones. What is written has no limit.
    pub fn new(max_bytes: usize) -> Self {
        Self(Cutter::new(max_bytes))
    }
}

impl Decoder for LineCodec {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, io::Error> {
        Ok(self.0.next_line(buffer))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, io::Error> {
        Ok(self.0.finish(buffer))
    }
}

impl Encoder<Bytes> for LineCodec {
    type Error = io::Error;

    /// Fails as `InvalidInput` when the message holds a raw line break.
    fn encode(&mut self, message: Bytes, out: &mut BytesMut) -> Result<(), io::Error> {
        encode_line(out, &message).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_of_a_foreign_buffer() {
        let mut codec = LineCodec::new(8);
        let mut buffer = BytesMut::from("{}\r\n0123456789");
        let message = |text: &'static str| Some(Line::Message(text.into()));
        assert_eq!(codec.decode(&mut buffer).unwrap(), message("{}"));
        assert_eq!(codec.decode(&mut buffer).unwrap(), None);
        buffer.extend_from_slice(b"01234\n[]");
        let oversized = Line::Oversized { bytes: 15, limit: 8 };
        assert_eq!(codec.decode(&mut buffer).unwrap(), Some(oversized));
        assert_eq!(codec.decode(&mut buffer).unwrap(), None);
        assert_eq!(codec.decode_eof(&mut buffer).unwrap(), message("[]"));
        assert_eq!(codec.decode_eof(&mut buffer).unwrap(), None);
    }

    #[test]
    fn a_raw_line_break_is_invalid_input() {
        let mut out = BytesMut::new();
        let mut codec = LineCodec::new(8);
        codec.encode("{}".into(), &mut out).unwrap();
        let error = codec.encode("{\n}".into(), &mut out).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(out, "{}\n");
    }
}
