use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;

use super::cut::cut;
use super::error::{Kind, WorkspaceError};
use super::list::Walk;
use super::root::Workspace;

/// Arguments of `search_files`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SearchFiles {
    /// Text to find within a line.
    pub query: String,
    /// Read the query as a regular expression.
    #[serde(default)]
    pub regex: bool,
    /// Take capital and small letters as the same.
    #[serde(default)]
    pub ignore_case: bool,
    /// Folder to search, relative to the workspace. The whole workspace if left out.
    #[serde(default)]
    pub path: Option<String>,
    /// Only files that match, such as `*.rs`.
    #[serde(default)]
    pub pattern: Option<String>,
}

impl SearchFiles {
    /// Searches all text files for `query`, as plain text.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            ..Self::default()
        }
    }
}

/// Longest query, and longest piece of a matching line that is shown, in bytes.
const QUERY: usize = 1024;
const LINE: usize = 400;

impl Workspace {
    /// Finds lines in text files, given as `path:line: text` in the order of the listing. Binary and large files are
    /// passed over and counted; limits that were reached are said in last lines in brackets.
    ///
    /// # Errors
    /// For an empty or bad query, and for a folder that leaves the workspace or is none.
    pub fn search_files(&self, args: &SearchFiles) -> Result<String, WorkspaceError> {
        let finder = finder(args)?;
        let start = self.start(args.path.as_deref())?;
        let mut walk = Walk::new(self, &start, args.pattern.as_deref())?;
        let mut found = Found::default();
        let (mut skipped, mut budget) = (0_usize, self.limits.searched_bytes);
        while let Some(file) = walk.next_file() {
            let Ok(text) = self.text_of(&file) else {
                skipped += 1;
                continue;
            };
            let Some(rest) = budget.checked_sub(text.len() as u64) else {
                walk.note(format!("stopped after {} bytes", self.limits.searched_bytes));
                break;
            };
            budget = rest;
            if !self.search_text(&finder, file.shown(), &text, &mut found) {
                walk.note(format!("stopped after {} matches; narrow the query", found.count));
                break;
            }
        }
        if found.count == 0 {
            found.out.push_str("[no matches]");
        }
        if skipped > 0 {
            walk.note(format!(
                "{skipped} binary, large or unreadable files were not searched"
            ));
        }
        for note in walk.into_notes() {
            found.out.push_str(&format!("\n[{note}]"));
        }
        Ok(found.out)
    }

    /// False when a limit was reached.
    fn search_text(&self, finder: &Regex, path: &str, text: &str, found: &mut Found) -> bool {
        for (number, line) in text.lines().enumerate() {
            if !finder.is_match(line) {
                continue;
            }
            let part = cut(line, LINE);
            let mark = if part.len() < line.len() {
                " [line cut]"
            } else {
                ""
            };
            let entry = format!("{path}:{}: {part}{mark}", number + 1);
            if found.count == self.limits.matches || found.out.len() + entry.len() >= self.limits.output_bytes
            {
                return false;
            }
            if found.count > 0 {
                found.out.push('\n');
            }
            found.out.push_str(&entry);
            found.count += 1;
        }
        true
    }
}

#[derive(Default)]
struct Found {
    out: String,
    count: usize,
}

/// Plain text goes through the same engine, which needs time linear in the text whatever the expression.
fn finder(args: &SearchFiles) -> Result<Regex, WorkspaceError> {
    let refused = |text: String| WorkspaceError::from(Kind::Argument(text));
    if args.query.is_empty() {
        return Err(refused("the query is empty".to_owned()));
    }
    if args.query.len() > QUERY {
        return Err(refused(format!("the query is longer than {QUERY} bytes")));
    }
    let expression = if args.regex {
        args.query.clone()
    } else {
        regex::escape(&args.query)
    };
    RegexBuilder::new(&expression)
        .case_insensitive(args.ignore_case)
        .size_limit(1 << 20)
        .dfa_size_limit(1 << 20)
        .build()
        .map_err(|error| refused(format!("the regular expression cannot be used: {error}")))
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    fn search(workspace: &Workspace, change: impl FnOnce(&mut SearchFiles)) -> String {
        let mut args = SearchFiles::new("b.c");
        change(&mut args);
        workspace
            .search_files(&args)
            .unwrap_or_else(|error| format!("error: {error}"))
    }

    #[test]
    fn lines_are_found_as_text_or_as_expression() {
        let scratch = Scratch::new(&[
            ("x/one.txt", "a\nab.cd\nabxc\n"),
            ("two.md", "B.C\r\n"),
            ("bin", "b.c\0"),
        ]);
        let workspace = scratch.workspace();
        let skipped = "\n[1 binary, large or unreadable files were not searched]";
        assert_eq!(search(&workspace, |_| {}), format!("x/one.txt:2: ab.cd{skipped}"));
        assert_eq!(
            search(&workspace, |args| args.regex = true),
            format!("x/one.txt:2: ab.cd\nx/one.txt:3: abxc{skipped}")
        );
        assert_eq!(
            search(&workspace, |args| args.ignore_case = true),
            format!("two.md:1: B.C\nx/one.txt:2: ab.cd{skipped}")
        );
        assert_eq!(
            search(&workspace, |args| args.path = Some("x".into())),
            "x/one.txt:2: ab.cd"
        );
        assert_eq!(
            search(&workspace, |args| args.pattern = Some("*.md".into())),
            "[no matches]"
        );
        assert_eq!(
            search(&workspace, |args| args.path = Some("/etc".into())),
            "error: path escapes the workspace"
        );
        assert_eq!(
            search(&workspace, |args| args.query.clear()),
            "error: the query is empty"
        );
        let bad = search(&workspace, |args| (args.query, args.regex) = ("(".into(), true));
        assert!(
            bad.starts_with("error: the regular expression cannot be used"),
            "{bad}"
        );
        let huge = search(&workspace, |args| {
            (args.query, args.regex) = (r"(\w{100}){100}{100}".into(), true)
        });
        assert!(
            huge.starts_with("error: the regular expression cannot be used"),
            "{huge}"
        );
    }

    #[test]
    fn every_limit_is_said() {
        let scratch = Scratch::new(&[
            ("f", "b.c 1\nb.c 2\n"),
            ("long", &"é".repeat(300)),
            ("z", "nothing"),
        ]);
        assert_eq!(
            search(&scratch.with(|limits| limits.matches = 2), |_| {}),
            "f:1: b.c 1\nf:2: b.c 2"
        );
        assert_eq!(
            search(&scratch.with(|limits| limits.matches = 1), |_| {}),
            "f:1: b.c 1\n[stopped after 1 matches; narrow the query]"
        );
        let few = search(&scratch.with(|limits| limits.searched_bytes = 20), |_| {});
        assert_eq!(few, "f:1: b.c 1\nf:2: b.c 2\n[stopped after 20 bytes]");
        let small = search(&scratch.with(|limits| limits.file_bytes = 100), |_| {});
        assert!(
            small.ends_with("[1 binary, large or unreadable files were not searched]"),
            "{small}"
        );
        let long = search(&scratch.workspace(), |args| args.query = "é".into());
        assert_eq!(long, format!("long:1: {} [line cut]", "é".repeat(200)));
    }
}
