use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::Path;

use cap_std::fs::{Dir, OpenOptions, Permissions};
use schemars::JsonSchema;
use serde::Deserialize;

use super::error::{Kind, WorkspaceError};
use super::path::Inside;
use super::root::Workspace;

/// Arguments of `write_file`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WriteFile {
    /// Path of the file, relative to the workspace. Missing folders are made.
    pub path: String,
    /// The whole new content of the file.
    pub content: String,
}

impl WriteFile {
    /// Writes `content` to `path`.
    pub fn new(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            content: content.into(),
        }
    }
}

impl Workspace {
    /// Writes a file, new or whole. A reader sees either the old or the new content, never a part.
    ///
    /// # Errors
    /// For paths that leave the workspace, for what is there but no regular file, and above the size limit.
    pub fn write_file(&self, args: &WriteFile) -> Result<String, WorkspaceError> {
        let inside = self.inside(&args.path)?;
        let existed = self.replace(&inside, &args.content)?;
        let verb = if existed { "replaced" } else { "created" };
        Ok(format!(
            "{verb} {} ({} bytes)",
            inside.shown(),
            args.content.len()
        ))
    }

    /// Puts `content` in the place of a file, by a second file in the same folder and a rename. Says whether there was
    /// a file before.
    pub(super) fn replace(&self, inside: &Inside, content: &str) -> Result<bool, WorkspaceError> {
        let limit = self.limits.file_bytes;
        if content.len() as u64 > limit {
            let (path, size) = (inside.shown().to_owned(), content.len() as u64);
            return Err(Kind::TooLarge { path, size, limit }.into());
        }
        if inside.depth() > self.limits.depth + 1 {
            let text = format!("{}: deeper than {} folders", inside.shown(), self.limits.depth);
            return Err(Kind::Argument(text).into());
        }
        let failed = |source| WorkspaceError::io(inside.shown(), source);
        let target = self.target(inside)?;
        let not_a_file = || Kind::NotAFile {
            path: inside.shown().to_owned(),
        };
        let (parent, name) = target.parent_and_name().ok_or_else(not_a_file)?;
        let folder = self.folder(parent).map_err(failed)?;
        let before = match folder.symlink_metadata(name) {
            Ok(meta) if meta.is_file() => Some(meta.permissions()),
            Ok(_) => return Err(not_a_file().into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        let existed = before.is_some();
        write_and_rename(&folder, name, content, before).map_err(failed)?;
        Ok(existed)
    }

    /// Where a link inside the workspace leads, so that writing through it changes the file and keeps the link.
    fn target(&self, inside: &Inside) -> Result<Inside, WorkspaceError> {
        let link = self
            .dir
            .symlink_metadata(inside.as_path())
            .is_ok_and(|meta| meta.is_symlink());
        if !link {
            return Ok(inside.clone());
        }
        self.dir
            .canonicalize(inside.as_path())
            .map(Inside::found)
            .map_err(|source| WorkspaceError::io(inside.shown(), source))
    }

    /// Opens a folder, making it first where it is missing.
    fn folder(&self, path: &Path) -> io::Result<Dir> {
        match self.dir.open_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.dir.create_dir_all(path)?;
                self.dir.open_dir(path)
            }
            opened => opened,
        }
    }
}

fn write_and_rename(
    folder: &Dir,
    name: &OsStr,
    content: &str,
    before: Option<Permissions>,
) -> io::Result<()> {
    let (mut file, temporary) = loop {
        let temporary = temporary_name();
        match folder.open_with(&temporary, OpenOptions::new().write(true).create_new(true)) {
            Ok(file) => break (file, temporary),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    };
    let written = (|| {
        file.write_all(content.as_bytes())?;
        if let Some(permissions) = before {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        drop(file);
        folder.rename(&temporary, folder, name)
    })();
    if written.is_err() {
        // The first error is the one to report; a file left behind is the lesser evil.
        let _ = folder.remove_file(&temporary);
    }
    written
}

/// Not guessable, so that nobody can put something in its place first; `create_new` would refuse that anyway.
fn temporary_name() -> OsString {
    format!(".mcp-{:016x}.tmp", RandomState::new().build_hasher().finish()).into()
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn files_are_created_and_replaced_with_their_folders() {
        let scratch = Scratch::new(&[("f", "old")]);
        let workspace = scratch.workspace();
        assert_eq!(
            workspace.write_file(&WriteFile::new("a/b/é.txt", "new")).unwrap(),
            "created a/b/é.txt (3 bytes)"
        );
        assert_eq!(scratch.read("a/b/é.txt"), "new");
        assert_eq!(
            workspace.write_file(&WriteFile::new("f", "")).unwrap(),
            "replaced f (0 bytes)"
        );
        assert_eq!(scratch.read("f"), "");
        for (path, text) in [("a", "a: not a regular file"), (".", ".: not a regular file")] {
            assert_eq!(
                workspace
                    .write_file(&WriteFile::new(path, "x"))
                    .unwrap_err()
                    .to_string(),
                text
            );
        }
        assert!(workspace.write_file(&WriteFile::new("f/x", "x")).is_err());
        let names: Vec<_> = std::fs::read_dir(scratch.root())
            .unwrap()
            .flatten()
            .map(|e| e.file_name())
            .collect();
        assert!(
            names.iter().all(|name| !name.to_string_lossy().contains("tmp")),
            "{names:?}"
        );
    }

    #[test]
    fn the_size_limit_is_exact() {
        let scratch = Scratch::new(&[]);
        let workspace = scratch.with(|limits| limits.file_bytes = 4);
        assert!(workspace.write_file(&WriteFile::new("f", "1234")).is_ok());
        let error = workspace.write_file(&WriteFile::new("f", "12345")).unwrap_err();
        assert_eq!(error.to_string(), "f: 5 bytes; the limit is 4");
        assert_eq!(scratch.read("f"), "1234");
        let shallow = scratch.with(|limits| limits.depth = 1);
        assert!(shallow.write_file(&WriteFile::new("a/f", "")).is_ok());
        assert!(shallow.write_file(&WriteFile::new("a/b/f", "")).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_inside_and_the_mode_of_a_file_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let scratch = Scratch::new(&[("run.sh", "old")]);
        let script = scratch.root().join("run.sh");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
        symlink("run.sh", scratch.root().join("link")).unwrap();
        scratch
            .workspace()
            .write_file(&WriteFile::new("link", "new"))
            .unwrap();
        assert_eq!(scratch.read("run.sh"), "new");
        assert!(scratch.root().join("link").is_symlink());
        assert_eq!(
            std::fs::metadata(&script).unwrap().permissions().mode() & 0o777,
            0o750
        );
    }
}
