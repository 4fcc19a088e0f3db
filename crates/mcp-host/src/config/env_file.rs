//! Files of `NAME=value` lines.

use super::surroundings::Secret;

/// Reads the common core of such files: comments, `export`, values plain or in quotes. No references, no escapes but
/// `\n` and `\"` in double quotes. Lines that are none of this are passed over.
pub(super) fn parse(text: &str) -> Vec<(String, Secret)> {
    let mut all = Vec::new();
    for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let name = name.trim();
        if name.is_empty() || name.starts_with('#') || name.contains(char::is_whitespace) {
            continue;
        }
        all.push((name.to_owned(), Secret::new(value_of(value.trim()))));
    }
    all
}

fn value_of(value: &str) -> String {
    let quoted = |mark: char| {
        value
            .strip_prefix(mark)
            .and_then(|rest| rest.rsplit_once(mark))
            .map(|(inside, _)| inside)
    };
    if let Some(inside) = quoted('\'') {
        return inside.to_owned();
    }
    if let Some(inside) = quoted('"') {
        return inside.replace("\\n", "\n").replace("\\\"", "\"");
    }
    // A comment behind a plain value needs a space in front of it.
    value
        .split_once(" #")
        .map_or(value, |(value, _)| value.trim_end())
        .to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_common_spellings_are_read() {
        let text = "# c\nA=1\n export B = two words # not this\nC='x # y'\nD=\"a\\nb\"\nE=\nbroken line\nF=a=b#c\r\n";
        let got: Vec<_> = super::parse(text)
            .into_iter()
            .map(|(n, v)| (n, v.expose().to_owned()))
            .collect();
        let want = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "x # y"),
            ("D", "a\nb"),
            ("E", ""),
            ("F", "a=b#c"),
        ];
        assert_eq!(got, want.map(|(n, v)| (n.to_owned(), v.to_owned())));
    }
}
