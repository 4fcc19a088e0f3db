//! Runs of plain string text: everything up to a quote, a backslash or a control character.

const ONES: u64 = u64::from_le_bytes([0x01; 8]);
const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);
const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);
const SPACES: u64 = u64::from_le_bytes([b' '; 8]);

/// How many bytes are looked at eight by eight before going over to blocks. Most strings end within.
const SHORT: usize = 32;

/// Small enough for a quick check after a hit, large enough for the compiler to use vector registers.
const BLOCK: usize = 64;

/// Whether a byte cannot stand for itself in a JSON string.
fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The high bit of each special byte of a word. Borrows may set bits above the first true one, never below, so
/// only the lowest bit is to be trusted.
fn specials(word: u64) -> u64 {
    let quote = word ^ QUOTES;
    let backslash = word ^ BACKSLASHES;
    let quote = quote.wrapping_sub(ONES) & !quote;
    let backslash = backslash.wrapping_sub(ONES) & !backslash;
    let control = word.wrapping_sub(SPACES) & !word;
    (quote | backslash | control) & HIGHS
}

/// Has no early exit, so that it compiles to a few vector instructions.
fn block_has_special(block: &[u8; BLOCK]) -> bool {
    block
        .iter()
        .fold(0, |hit, &byte| hit | u8::from(is_special(byte)))
        != 0
}

/// The length of the run of plain text that `bytes` begins with.
#[inline]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = bytes[at..].first_chunk::<8>() {
        let hit = specials(u64::from_le_bytes(*word));
        if hit != 0 {
            return at + hit.trailing_zeros() as usize / 8;
        }
        at += 8;
        if at == SHORT {
            at += plain_blocks(&bytes[at..]);
        }
    }
    at + bytes[at..].iter().take_while(|&&byte| !is_special(byte)).count()
}

/// The bytes in leading blocks without a special byte.
#[inline(never)]
fn plain_blocks(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    blocks
        .iter()
        .take_while(|block| !block_has_special(block))
        .count()
        * BLOCK
}

#[cfg(test)]
mod tests {
    use super::plain_run;

    #[test]
    fn every_byte_at_every_place_is_judged_as_byte_by_byte() {
        for length in 0..=200 {
            let plain = vec![b'a'; length];
            assert_eq!(plain_run(&plain), length);
            for place in 0..length {
                let mut text = plain.clone();
                for byte in [
                    0, 1, 9, 10, 13, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f, 0x80, 0xa2, 0xdc,
                    0xff,
                ] {
                    text[place] = byte;
                    let expected = if super::is_special(byte) { place } else { length };
                    assert_eq!(
                        plain_run(&text),
                        expected,
                        "byte {byte:#x} at {place} of {length}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_first_of_two_special_bytes_is_found() {
        for first in 0..16 {
            for second in first..24 {
                let mut text = [b'#'; 24];
                text[second] = b'\\';
                text[first] = b'"';
                assert_eq!(plain_run(&text), first);
            }
        }
    }
}
