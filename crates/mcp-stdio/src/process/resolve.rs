//! Finding a program before it is started, so that a missing one gives a useful error.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::error::{Kind, SpawnError};

/// What is searched when the child has no `PATH` at all.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Finds `program` for a child with this `PATH` and working directory.
///
/// A bare name is looked up in the absolute entries of `path`; empty and relative entries mean the current directory
/// to a shell and are skipped, because a project folder must not be able to put programs in the way. Anything with a
/// slash is a file, relative to `cwd` if there is one.
///
/// # Errors
/// [`SpawnError::is_not_found`] with the program and the searched `PATH`; [`SpawnError::is_not_executable`] if only a
/// file that may not be run was found.
pub fn resolve(program: &OsStr, path: Option<&OsStr>, cwd: Option<&Path>) -> Result<PathBuf, SpawnError> {
    if program.is_empty() {
        return Err(Kind::Empty.into());
    }
    if cfg!(windows) {
        return super::windows::resolve_here(program, path, cwd);
    }
    if program.as_encoded_bytes().contains(&b'/') {
        let file = match cwd {
            Some(cwd) => cwd.join(program),
            None => PathBuf::from(program),
        };
        // Absolute, because the child changes its directory before the program is looked up.
        let file = std::path::absolute(&file).unwrap_or(file);
        return match look(&file) {
            Found::Program => Ok(file),
            Found::Other => Err(Kind::NotExecutable { file }.into()),
            Found::Nothing => Err(Kind::NoSuchFile {
                program: file.to_string_lossy().into_owned(),
            }
            .into()),
        };
    }
    let path = path.unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut other = None;
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        let file = folder.join(program);
        match look(&file) {
            Found::Program => return Ok(file),
            Found::Other => other = other.or(Some(file)),
            Found::Nothing => {}
        }
    }
    Err(match other {
        Some(file) => Kind::NotExecutable { file },
        None => Kind::NotOnPath {
            program: program.to_string_lossy().into_owned(),
            path: path.to_string_lossy().into_owned(),
        },
    }
    .into())
}

enum Found {
    Program,
    Other,
    Nothing,
}

fn look(file: &Path) -> Found {
    match file.metadata() {
        Ok(meta) if meta.is_file() && may_run(&meta) => Found::Program,
        Ok(_) => Found::Other,
        Err(_) => Found::Nothing,
    }
}

#[cfg(unix)]
fn may_run(meta: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_: &std::fs::Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_found_on_the_given_path_only() {
        let found = resolve(OsStr::new("sh"), Some(OsStr::new("/nowhere:/bin")), None).unwrap();
        assert_eq!(found, Path::new("/bin/sh"));
        assert!(
            resolve(OsStr::new("sh"), None, None).is_ok(),
            "the default PATH has a shell"
        );
    }

    #[test]
    fn p181_the_error_names_the_command_and_the_path() {
        let error = resolve(
            OsStr::new("no-such-tool"),
            Some(OsStr::new("/opt/a:/opt/b")),
            None,
        )
        .unwrap_err();
        assert!(error.is_not_found());
        let text = error.to_string();
        assert!(
            text.contains("no-such-tool") && text.contains("/opt/a:/opt/b"),
            "{text}"
        );
        assert!(resolve(OsStr::new(""), None, None).unwrap_err().is_not_found());
    }

    #[test]
    fn the_current_directory_is_never_searched() {
        // `.` and the empty entry would both find a file of this name in the crate's folder.
        let error = resolve(OsStr::new("Cargo.toml"), Some(OsStr::new(".::src/..:")), None).unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }

    #[test]
    fn a_path_is_relative_to_the_working_directory() {
        let found = resolve(OsStr::new("./sh"), None, Some(Path::new("/bin"))).unwrap();
        assert!(found.is_absolute() && found.ends_with("sh"));
        assert!(
            resolve(OsStr::new("./none"), None, Some(Path::new("/bin")))
                .unwrap_err()
                .is_not_found()
        );
        assert!(
            resolve(OsStr::new("/etc/passwd"), None, None)
                .unwrap_err()
                .is_not_executable()
        );
        assert!(
            resolve(OsStr::new("passwd"), Some(OsStr::new("/etc")), None)
                .unwrap_err()
                .is_not_executable()
        );
    }
}
