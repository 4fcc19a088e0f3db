use std::borrow::Cow;
use std::fmt::Write as _;

/// At most `max` characters of `text`, and how many there were if that is not all.
pub(crate) fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!(
            "{}... (cut, {} characters in all)",
            &text[..end],
            text.chars().count()
        ),
    }
}

/// One step of the way to a value.
pub(crate) enum Segment<'a> {
    Member(Cow<'a, str>),
    Index(usize),
}

/// `filter.tags[2]`: the way to a value, empty for the root.
pub(crate) fn locate<'a>(segments: impl Iterator<Item = Segment<'a>>) -> String {
    let mut path = String::new();
    for segment in segments {
        match segment {
            Segment::Member(name) => join(&mut path, &name),
            Segment::Index(index) => {
                // Writing to a string does not fail.
                let _ = write!(path, "[{index}]");
            }
        }
    }
    path
}

/// Adds a member to a path.
pub(crate) fn join(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P149
    #[test]
    fn text_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("a😀b", 2), "a😀... (cut, 3 characters in all)");
        assert_eq!(cut("a😀b", 3), "a😀b");
    }
}
