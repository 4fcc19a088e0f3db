use schemars::JsonSchema;
use serde::Deserialize;

use super::error::{Kind, WorkspaceError};
use super::root::Workspace;

/// Arguments of `edit_file`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EditFile {
    /// Path of the file, relative to the workspace.
    pub path: String,
    /// Text to replace. It must occur exactly once in the file.
    pub old: String,
    /// Text to put in its place.
    pub new: String,
}

impl EditFile {
    /// Replaces `old` by `new` in `path`.
    pub fn new(path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            old: old.into(),
            new: new.into(),
        }
    }
}

impl Workspace {
    /// Replaces one piece of text in a file.
    ///
    /// # Errors
    /// If the old text is empty or does not occur exactly once; otherwise as for reading and writing.
    pub fn edit_file(&self, args: &EditFile) -> Result<String, WorkspaceError> {
        if args.old.is_empty() {
            return Err(
                Kind::Argument("the old text is empty; use write_file for a new file".to_owned()).into(),
            );
        }
        let inside = self.inside(&args.path)?;
        let text = self.text_of(&inside)?;
        let path = || inside.shown().to_owned();
        let (Some(first), Some(last)) = (text.find(&args.old), text.rfind(&args.old)) else {
            return Err(Kind::NoMatch { path: path() }.into());
        };
        // Two places can overlap, as in "aaa"; the first and last place then differ although a plain count is one.
        if first != last {
            let count = text.matches(&args.old).count().max(2);
            return Err(Kind::ManyMatches { path: path(), count }.into());
        }
        let edited = [&text[..first], args.new.as_str(), &text[first + args.old.len()..]].concat();
        self.replace(&inside, &edited)?;
        let line = text[..first].matches('\n').count() + 1;
        Ok(format!("edited {} at line {line}", inside.shown()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn exactly_one_place_is_replaced() {
        let scratch = Scratch::new(&[("f", "a\nb\nccc\nb2\n")]);
        let workspace = scratch.workspace();
        let edit = |old: &str, new: &str| {
            workspace
                .edit_file(&EditFile::new("f", old, new))
                .map_err(|e| e.to_string())
        };
        assert_eq!(edit("a\nb\n", "é\n").as_deref(), Ok("edited f at line 1"));
        assert_eq!(edit("b2", "").as_deref(), Ok("edited f at line 3"));
        assert_eq!(scratch.read("f"), "é\nccc\n\n");
        assert_eq!(edit("zz", "y").unwrap_err(), "f: the old text does not occur");
        assert!(edit("c", "y").unwrap_err().contains("occurs 3 times"));
        assert!(edit("cc", "y").unwrap_err().contains("occurs 2 times"));
        assert!(edit("", "y").unwrap_err().contains("empty"));
        assert_eq!(scratch.read("f"), "é\nccc\n\n", "a refused edit changes nothing");
        let error = workspace.edit_file(&EditFile::new("../f", "a", "b")).unwrap_err();
        assert!(error.is_escape());
    }
}
