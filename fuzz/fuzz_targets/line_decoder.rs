#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_codec::{Line, LineDecoder};

const MAX_BYTES: usize = 16;

// The input begins with up to four lengths, into which the rest is cut again and again.
fuzz_target!(|input: &[u8]| {
    let (cuts, text) = input.split_at(input.len().min(4));
    let whole = lines([text].into_iter());
    let mut rest = text;
    let mut cuts = cuts.iter().map(|&cut| usize::from(cut) + 1).cycle();
    let cut = lines(std::iter::from_fn(|| {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(cuts.next()?.min(rest.len()));
        rest = after;
        Some(piece)
    }));
    assert_eq!(whole, cut);
    for line in whole {
        match line {
            Line::Message(message) => {
                assert!(message.len() <= MAX_BYTES);
                assert!(!message.contains(&b'\n'));
                assert!(!message.trim_ascii().is_empty());
            }
            Line::Oversized { bytes, limit } => assert!(bytes > limit as u64),
        }
    }
});

fn lines<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Line> {
    let mut decoder = LineDecoder::new(MAX_BYTES);
    let mut lines = Vec::new();
    for piece in pieces {
        decoder.buffer().extend_from_slice(piece);
        lines.extend(std::iter::from_fn(|| decoder.next_line()));
    }
    lines.extend(std::iter::from_fn(|| decoder.finish()));
    lines
}
