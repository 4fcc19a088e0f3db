//! Patterns for paths: `*` and `?` within a name, `**` for any number of folders.

/// A pattern. One without `/` is matched against file names alone, as people expect of `*.rs`.
#[derive(Debug, Clone)]
pub(super) struct Glob {
    parts: Vec<String>,
}

impl Glob {
    pub(super) fn new(pattern: &str) -> Self {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let mut parts: Vec<String> = pattern
            .split('/')
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect();
        if !pattern.contains('/') {
            parts.insert(0, "**".to_owned());
        }
        // Neighbours mean the same as one, and would only cost time.
        parts.dedup_by(|a, b| *a == "**" && *b == "**");
        Self { parts }
    }

    /// `path` is relative, with `/`.
    pub(super) fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        wild(
            &self.parts,
            &names,
            |part| part == "**",
            |part, name| {
                let (part, name): (Vec<char>, Vec<char>) = (part.chars().collect(), name.chars().collect());
                wild(&part, &name, |c| *c == '*', |c, d| *c == '?' || c == d)
            },
        )
    }
}

/// Matches with wildcards for "any number of items". Going back only ever to the last wildcard is enough, which bounds
/// the time by the product of the lengths.
fn wild<P, T>(
    pattern: &[P],
    items: &[T],
    is_star: impl Fn(&P) -> bool,
    same: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match pattern.get(p) {
            Some(part) if is_star(part) => {
                retry = Some((p, i));
                p += 1;
            }
            Some(part) if items.get(i).is_some_and(|item| same(part, item)) => {
                p += 1;
                i += 1;
            }
            None if i == items.len() => return true,
            _ => match retry {
                Some((star, from)) if from < items.len() => {
                    retry = Some((star, from + 1));
                    p = star + 1;
                    i = from + 1;
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn patterns_match_as_people_expect() {
        for (pattern, path, want) in [
            ("*.rs", "main.rs", true),
            ("*.rs", "src/deep/main.rs", true),
            ("src/*.rs", "src/main.rs", true),
            ("src/*.rs", "src/deep/main.rs", false),
            ("src/**/*.rs", "src/main.rs", true),
            ("src/**/*.rs", "src/a/b/main.rs", true),
            ("**", "a/b", true),
            ("**/b/**", "a/b/c", true),
            ("**/**/c", "a/b/c", true),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("é*", "élan", true),
            ("./src/*", "src/x", true),
            ("*", "", true),
            ("", "a", true),
            ("[a]", "a", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(path), want, "{pattern} {path}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let pattern = format!("{}b", "*a".repeat(200));
        assert!(!Glob::new(&pattern).matches(&"a".repeat(4000)));
        let pattern = format!("{}x", "**/a/".repeat(200));
        assert!(!Glob::new(&pattern).matches(&vec!["a"; 2000].join("/")));
    }
}
