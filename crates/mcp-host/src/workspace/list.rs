use std::path::PathBuf;

use cap_std::fs::Dir;
use schemars::JsonSchema;
use serde::Deserialize;

use super::error::{Kind, WorkspaceError};
use super::glob::Glob;
use super::path::{Inside, is_unfit};
use super::root::Workspace;

/// Arguments of `list_files`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ListFiles {
    /// Folder to list, relative to the workspace. The whole workspace if left out.
    #[serde(default)]
    pub path: Option<String>,
    /// Only files that match, such as `*.rs` or `src/**/*.md`; `*` stays within a name, `**` spans folders.
    #[serde(default)]
    pub pattern: Option<String>,
}

impl Workspace {
    /// Lists regular files, one path per line, relative to the workspace, with `/`, in byte order. Links are neither
    /// followed nor listed. What a limit cut off is said in a last line in brackets.
    ///
    /// # Errors
    /// If the folder leaves the workspace or is not a folder.
    pub fn list_files(&self, args: &ListFiles) -> Result<String, WorkspaceError> {
        let start = self.start(args.path.as_deref())?;
        let mut walk = Walk::new(self, &start, args.pattern.as_deref())?;
        let mut out = String::new();
        let mut count = 0;
        while let Some(file) = walk.next_file() {
            let line = file.shown();
            if count == self.limits.listed || out.len() + line.len() >= self.limits.output_bytes {
                walk.note(format!("cut after {count} files; list a folder or use a pattern"));
                break;
            }
            if count > 0 {
                out.push('\n');
            }
            out.push_str(line);
            count += 1;
        }
        if count == 0 {
            out.push_str("[no files]");
        }
        for note in walk.into_notes() {
            out.push_str(&format!("\n[{note}]"));
        }
        Ok(out)
    }
}

/// Visits the regular files below a folder, in byte order of their paths, within the limits.
pub(super) struct Walk<'a> {
    workspace: &'a Workspace,
    glob: Option<Glob>,
    /// Open folders on the way down, each with the entries still to visit, last first.
    stack: Vec<Level>,
    visited: usize,
    unfit: usize,
    too_deep: usize,
    unreadable: usize,
    notes: Vec<String>,
}

struct Level {
    dir: Dir,
    path: PathBuf,
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    /// The name, with `/` behind it for a folder: sorting by this puts whole paths in byte order.
    key: String,
    folder: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        start: &Inside,
        glob: Option<&str>,
    ) -> Result<Self, WorkspaceError> {
        let limit = workspace.limits.path_bytes;
        if glob.is_some_and(|pattern| pattern.len() > limit) {
            return Err(Kind::Argument(format!("the pattern is longer than {limit} bytes")).into());
        }
        let failed = |source| WorkspaceError::io(start.shown(), source);
        let dir = match workspace.dir.open_dir(start.as_path()) {
            Ok(dir) => dir,
            // The same error for a file as for nothing would be no help.
            Err(error) => {
                let file = workspace
                    .dir
                    .metadata(start.as_path())
                    .is_ok_and(|meta| !meta.is_dir());
                return Err(match file {
                    true => Kind::NotAFolder {
                        path: start.shown().to_owned(),
                    }
                    .into(),
                    false => failed(error),
                });
            }
        };
        let path = if start.is_root() {
            PathBuf::new()
        } else {
            start.as_path().to_owned()
        };
        let mut walk = Self {
            workspace,
            glob: glob.map(Glob::new),
            stack: Vec::new(),
            visited: 0,
            unfit: 0,
            too_deep: 0,
            unreadable: 0,
            notes: Vec::new(),
        };
        walk.enter(dir, path);
        Ok(walk)
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// What was left out, in words.
    pub(super) fn into_notes(mut self) -> Vec<String> {
        if self.visited >= self.workspace.limits.visited {
            self.notes
                .push(format!("stopped after {} directory entries", self.visited));
        }
        for (count, what) in [
            (self.too_deep, "folders are too deep and were left out"),
            (
                self.unfit,
                "names hold control or invisible characters and were left out",
            ),
            (self.unreadable, "folders could not be read"),
        ] {
            if count > 0 {
                self.notes.push(format!("{count} {what}"));
            }
        }
        self.notes
    }

    pub(super) fn next_file(&mut self) -> Option<Inside> {
        loop {
            let depth = self.stack.len();
            let level = self.stack.last_mut()?;
            let Some(entry) = level.entries.pop() else {
                self.stack.pop();
                continue;
            };
            let path = level.path.join(&entry.name);
            if entry.folder {
                if depth > self.workspace.limits.depth {
                    self.too_deep += 1;
                    continue;
                }
                // Opened below its parent's handle: a link that took the folder's place cannot lead out of the parent.
                match level.dir.open_dir(&entry.name) {
                    Ok(dir) => self.enter(dir, path),
                    Err(_) => self.unreadable += 1,
                }
                continue;
            }
            let file = Inside::found(path);
            if self.glob.as_ref().is_none_or(|glob| glob.matches(file.shown())) {
                return Some(file);
            }
        }
    }

    /// Reads one folder, as far as the limit on visited entries allows, and puts it on the stack.
    fn enter(&mut self, dir: Dir, path: PathBuf) {
        let Ok(found) = dir.entries() else {
            self.unreadable += 1;
            return;
        };
        let mut entries = Vec::new();
        for entry in found.flatten() {
            if self.visited >= self.workspace.limits.visited {
                break;
            }
            self.visited += 1;
            let Ok(kind) = entry.file_type() else { continue };
            if !kind.is_dir() && !kind.is_file() {
                continue;
            }
            let Some(name) = entry
                .file_name()
                .to_str()
                .filter(|name| !name.chars().any(is_unfit))
                .map(str::to_owned)
            else {
                self.unfit += 1;
                continue;
            };
            if kind.is_dir() && self.workspace.limits.skipped_folders.contains(&name) {
                continue;
            }
            let key = if kind.is_dir() {
                format!("{name}/")
            } else {
                name.clone()
            };
            entries.push(Entry {
                name,
                key,
                folder: kind.is_dir(),
            });
        }
        entries.sort_unstable_by(|a, b| b.key.cmp(&a.key));
        self.stack.push(Level { dir, path, entries });
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    fn list(workspace: &Workspace, path: Option<&str>, pattern: Option<&str>) -> String {
        let args = ListFiles {
            path: path.map(str::to_owned),
            pattern: pattern.map(str::to_owned),
        };
        workspace
            .list_files(&args)
            .unwrap_or_else(|error| format!("error: {error}"))
    }

    #[test]
    fn the_lesson_workspace_lists_as_printed() {
        let scratch = Scratch::new(&[
            ("Main.java", "class Main {}\n"),
            ("src/Util.java", "class Util {}\n"),
        ]);
        assert_eq!(list(&scratch.workspace(), None, None), "Main.java\nsrc/Util.java");
    }

    #[test]
    fn paths_come_in_byte_order_whatever_the_folders() {
        let names = [
            "a/x",
            "a-b",
            "a.c",
            "a/b/c",
            "a0",
            "é",
            "Z",
            ".hidden",
            ".git/config",
        ];
        let scratch = Scratch::new(&names.map(|name| (name, "")));
        let mut want: Vec<&str> = names
            .into_iter()
            .filter(|name| !name.starts_with(".git"))
            .collect();
        want.sort_unstable();
        assert_eq!(list(&scratch.workspace(), None, None), want.join("\n"));
        assert_eq!(list(&scratch.workspace(), Some("a"), None), "a/b/c\na/x");
        assert_eq!(list(&scratch.workspace(), Some("./a/../a/"), Some("a/*")), "a/x");
        assert_eq!(list(&scratch.workspace(), None, Some("c")), "a/b/c");
        assert_eq!(list(&scratch.workspace(), None, Some("nothing")), "[no files]");
        assert_eq!(
            list(&scratch.workspace(), Some("Z"), None),
            "error: Z: not a folder"
        );
        assert_eq!(
            list(&scratch.workspace(), Some("none"), None),
            "error: none: no such file or folder"
        );
        assert_eq!(
            list(&scratch.workspace(), Some(".."), None),
            "error: path escapes the workspace"
        );
    }

    #[test]
    fn every_limit_is_said() {
        let scratch = Scratch::new(&[("a", ""), ("b", ""), ("c/d/e", "")]);
        assert_eq!(
            list(&scratch.with(|limits| limits.listed = 3), None, None),
            "a\nb\nc/d/e"
        );
        let cut = list(&scratch.with(|limits| limits.listed = 2), None, None);
        assert_eq!(cut, "a\nb\n[cut after 2 files; list a folder or use a pattern]");
        assert_eq!(
            list(&scratch.with(|limits| limits.depth = 2), None, None),
            "a\nb\nc/d/e"
        );
        let deep = list(&scratch.with(|limits| limits.depth = 1), None, None);
        assert_eq!(deep, "a\nb\n[1 folders are too deep and were left out]");
        assert!(
            list(&scratch.with(|limits| limits.visited = 2), None, None)
                .contains("stopped after 2 directory entries")
        );
        assert!(list(&scratch.with(|limits| limits.output_bytes = 4), None, None).contains("cut after"));
    }

    #[test]
    #[cfg(unix)]
    fn p197_odd_names_and_links_are_not_listed() {
        let scratch = Scratch::new(&[("ok", "")]);
        std::fs::write(scratch.root().join("two\nlines"), "").unwrap();
        std::os::unix::fs::symlink("/etc", scratch.root().join("d")).unwrap();
        std::os::unix::fs::symlink("ok", scratch.root().join("l")).unwrap();
        assert_eq!(
            list(&scratch.workspace(), None, None),
            "ok\n[1 names hold control or invisible characters and were left out]"
        );
    }
}
