/// The longest start of `text` that has at most `limit` bytes and ends between two characters.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A mark that joins the character before it stays with it.
    while end > 0 && text[end..].starts_with(['\u{200d}', '\u{fe0f}', '\u{fe0e}']) {
        end -= text[..end].chars().next_back().map_or(0, char::len_utf8);
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn p149_a_character_is_never_torn() {
        for limit in 0..=4 {
            assert_eq!(cut("🙂x", limit), if limit < 4 { "" } else { "🙂" });
        }
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
        assert_eq!(cut("a👨\u{200d}💻", 5), "a");
    }
}
