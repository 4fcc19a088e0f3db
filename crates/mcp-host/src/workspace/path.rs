//! From what a caller wrote to a path below the root.

use std::path::{Component, Path, PathBuf};

use super::error::{Kind, WorkspaceError};
use super::limits::Limits;

/// A path relative to the workspace, without `.` and `..`. Empty for the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inside {
    path: PathBuf,
    /// With `/`, for texts.
    shown: String,
}

impl Inside {
    /// Reads a caller's path: relative, or absolute below one of `roots` (the same folder in several spellings).
    ///
    /// `..` is settled on the text alone, as the first check. What links do with the rest is the business of the
    /// directory handle, which does not let them lead out.
    pub(super) fn parse(text: &str, roots: &[PathBuf], limits: &Limits) -> Result<Self, WorkspaceError> {
        if text.is_empty() {
            return Err(Kind::EmptyPath.into());
        }
        if text.len() > limits.path_bytes {
            return Err(Kind::LongPath {
                limit: limits.path_bytes,
            }
            .into());
        }
        if text.chars().any(is_unfit) {
            return Err(Kind::BadCharacter.into());
        }
        let given = Path::new(text);
        let relative = if given.is_absolute() {
            // Compared by components: "/srv/data-x" does not start with "/srv/data".
            roots
                .iter()
                .find_map(|root| given.strip_prefix(root).ok())
                .ok_or(Kind::Escape)?
        } else {
            given
        };
        let mut path = PathBuf::new();
        for component in relative.components() {
            match component {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                Component::ParentDir if path.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(Kind::Escape.into());
                }
            }
        }
        Ok(Self::from_relative(path))
    }

    fn from_relative(path: PathBuf) -> Self {
        let shown = path
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/");
        Self { path, shown }
    }

    /// For a path the directory handle itself has found.
    pub(super) fn found(path: PathBuf) -> Self {
        Self::from_relative(path)
    }

    /// The path for the directory handle, where the workspace itself is `.`.
    pub(super) fn as_path(&self) -> &Path {
        if self.is_root() {
            Path::new(".")
        } else {
            &self.path
        }
    }

    pub(super) fn is_root(&self) -> bool {
        self.path.as_os_str().is_empty()
    }

    pub(super) fn depth(&self) -> usize {
        self.path.components().count()
    }

    /// The path with `/`, or `.`.
    pub(super) fn shown(&self) -> &str {
        if self.is_root() { "." } else { &self.shown }
    }

    pub(super) fn parent_and_name(&self) -> Option<(&Path, &std::ffi::OsStr)> {
        let parent = self.path.parent()?;
        let parent = if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        };
        Some((parent, self.path.file_name()?))
    }
}

/// Characters no file name of a tool call may hold: they end lines, move the cursor, or hide.
pub(super) fn is_unfit(c: char) -> bool {
    match c {
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        let roots = [PathBuf::from("/srv/data")];
        Inside::parse(text, &roots, &Limits::default())
            .map(|inside| inside.shown().to_owned())
            .map_err(|error| error.to_string())
    }

    #[test]
    #[cfg(unix)]
    fn p192_paths_are_compared_by_components() {
        assert_eq!(parse("/srv/data/f").as_deref(), Ok("f"));
        assert_eq!(parse("/srv/data/a/../b").as_deref(), Ok("b"));
        assert_eq!(parse("/srv/data").as_deref(), Ok("."));
        assert_eq!(parse("a//./b/").as_deref(), Ok("a/b"));
        for escape in ["/srv/data-x/f", "/srv/data/../x", "..", "a/../../b", "/", "/srv"] {
            assert_eq!(
                parse(escape).unwrap_err(),
                "path escapes the workspace",
                "{escape}"
            );
        }
    }

    #[test]
    fn p197_names_with_hidden_characters_are_refused() {
        for bad in [
            "a\u{2028}b",
            "a\nb",
            "a\0b",
            "\u{202e}txt",
            "a\u{200b}",
            "a\u{9b}31m",
        ] {
            assert!(parse(bad).unwrap_err().contains("character"), "{bad:?}");
        }
        assert!(parse(&"x".repeat(4096)).is_ok() && parse(&"x".repeat(4097)).is_err());
        assert_eq!(parse("").unwrap_err(), "the path is empty");
        assert_eq!(parse("é/日本 x.txt").as_deref(), Ok("é/日本 x.txt"));
    }
}
