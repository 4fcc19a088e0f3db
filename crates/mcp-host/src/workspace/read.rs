use schemars::JsonSchema;
use serde::Deserialize;

use super::cut::cut;
use super::error::{Kind, WorkspaceError};
use super::root::Workspace;

/// Arguments of `read_file`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReadFile {
    /// Path of the file, relative to the workspace.
    pub path: String,
    /// First line to return, counted from 1. The start of the file if left out.
    #[serde(default)]
    pub offset: Option<usize>,
    /// Number of lines to return. All if left out.
    #[serde(default)]
    pub limit: Option<usize>,
}

impl ReadFile {
    /// Reads the whole of `path`.
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            offset: None,
            limit: None,
        }
    }
}

impl Workspace {
    /// Reads a text file, or some of its lines. A whole file comes back exactly as it is; what was cut is said in a
    /// last line in brackets.
    ///
    /// # Errors
    /// For paths that leave the workspace, and for what is not a text file within the size limit.
    pub fn read_file(&self, args: &ReadFile) -> Result<String, WorkspaceError> {
        if args.offset == Some(0) {
            return Err(Kind::Argument("lines are counted from 1".to_owned()).into());
        }
        let inside = self.inside(&args.path)?;
        let text = self.text_of(&inside)?;
        let first = args.offset.unwrap_or(1);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        if first > 1 && first > lines.len() {
            let path = inside.shown().to_owned();
            return Err(Kind::NoSuchLine {
                path,
                lines: lines.len(),
                asked: first,
            }
            .into());
        }
        let asked = &lines[(first - 1).min(lines.len())..];
        let asked = &asked[..args.limit.unwrap_or(asked.len()).min(asked.len())];
        Ok(self.bounded(asked, first, lines.len()))
    }

    /// Joins whole lines up to the output limit. A single line above the limit is cut between two characters.
    fn bounded(&self, asked: &[&str], first: usize, total: usize) -> String {
        let limit = self.limits.output_bytes;
        let mut out = String::new();
        let mut count = 0;
        for line in asked {
            if out.len() + line.len() > limit {
                break;
            }
            out.push_str(line);
            count += 1;
        }
        if count == asked.len() {
            return out;
        }
        let note = if count == 0 {
            let line = asked[0];
            let part = cut(line, limit);
            out.push_str(part);
            format!(
                "line {first} is cut after {} of its {} bytes",
                part.len(),
                line.len()
            )
        } else {
            let last = first + count - 1;
            format!("cut after line {last} of {total}; go on with offset {}", last + 1)
        };
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&format!("[{note}]"));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    fn lines(offset: usize, limit: usize) -> ReadFile {
        ReadFile {
            path: "f".into(),
            offset: Some(offset),
            limit: Some(limit),
        }
    }

    #[test]
    fn a_file_comes_back_whole_or_by_lines() {
        let scratch = Scratch::new(&[("f", "one\r\ntwo\nthree")]);
        let workspace = scratch.workspace();
        assert_eq!(
            workspace.read_file(&ReadFile::new("f")).unwrap(),
            "one\r\ntwo\nthree"
        );
        assert_eq!(workspace.read_file(&lines(2, 1)).unwrap(), "two\n");
        assert_eq!(workspace.read_file(&lines(2, 9)).unwrap(), "two\nthree");
        assert_eq!(workspace.read_file(&lines(1, 0)).unwrap(), "");
        assert_eq!(
            workspace.read_file(&lines(4, 1)).unwrap_err().to_string(),
            "f: has 3 lines; there is no line 4"
        );
        assert!(workspace.read_file(&lines(0, 1)).is_err());
    }

    #[test]
    fn an_empty_file_is_empty_text() {
        let scratch = Scratch::new(&[("f", "")]);
        assert_eq!(scratch.workspace().read_file(&ReadFile::new("f")).unwrap(), "");
        assert_eq!(scratch.workspace().read_file(&lines(1, 5)).unwrap(), "");
    }

    #[test]
    fn p149_a_cut_is_said_and_lets_the_reader_go_on() {
        let scratch = Scratch::new(&[("f", "0123\n4567\n89\n"), ("long", "ab🙂cd")]);
        let at_limit = scratch.with(|limits| limits.output_bytes = 13);
        assert_eq!(
            at_limit.read_file(&ReadFile::new("f")).unwrap(),
            "0123\n4567\n89\n"
        );
        let below = scratch.with(|limits| limits.output_bytes = 12);
        assert_eq!(
            below.read_file(&ReadFile::new("f")).unwrap(),
            "0123\n4567\n[cut after line 2 of 3; go on with offset 3]"
        );
        assert_eq!(below.read_file(&lines(3, 1)).unwrap(), "89\n");
        let tiny = scratch.with(|limits| limits.output_bytes = 4);
        let text = tiny.read_file(&ReadFile::new("long")).unwrap();
        assert_eq!(text, "ab\n[line 1 is cut after 2 of its 8 bytes]");
    }

    #[test]
    fn binary_and_large_files_are_reported() {
        let scratch = Scratch::new(&[("f", "12345"), ("nul", "a\0b")]);
        std::fs::write(scratch.root().join("raw"), [0xff, 0xfe, b'x']).unwrap();
        let workspace = scratch.with(|limits| limits.file_bytes = 5);
        assert!(workspace.read_file(&ReadFile::new("f")).is_ok());
        for name in ["raw", "nul"] {
            let text = workspace.read_file(&ReadFile::new(name)).unwrap_err().to_string();
            assert_eq!(
                text,
                format!("{name}: binary file of 3 bytes; only text can be read")
            );
        }
        let error = scratch
            .with(|limits| limits.file_bytes = 4)
            .read_file(&ReadFile::new("f"))
            .unwrap_err();
        assert!(error.is_limit());
        assert_eq!(error.to_string(), "f: 5 bytes; the limit is 4");
        assert_eq!(
            workspace.read_file(&ReadFile::new(".")).unwrap_err().to_string(),
            ".: not a regular file"
        );
    }
}
