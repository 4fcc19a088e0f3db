//! Puts the pinned peers into a git-ignored folder, from the lockfiles in `xtask/peers`.
//!
//! Sources are copied there, so that no package folder ever appears beside them. What is installed already, by
//! the same lockfile, is left as it is.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::peers::{Folder, rmcp_target};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Written last, with the lockfile's text: an install that broke off is done again.
const MARK: &str = ".installed";

/// What became of a folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Installed {
    Yes,
    /// The machine lacks the program that installs or runs it.
    Skipped(&'static str),
    Failed(String),
}

/// Installs `folders` from `sources` (`xtask/peers`) into `into`, one after another.
pub(crate) fn install(
    sources: &Path,
    into: &Path,
    folders: &[Folder],
    log: &mut dyn Write,
) -> io::Result<Vec<(Folder, Installed)>> {
    let mut all = Vec::new();
    for &folder in folders {
        let outcome = match missing(folder) {
            Some(program) => Installed::Skipped(program),
            None => match one(
                &sources.join(folder.name()),
                &sources.join("common"),
                into,
                folder,
            ) {
                Ok(()) => Installed::Yes,
                Err(error) => Installed::Failed(error.to_string()),
            },
        };
        match &outcome {
            Installed::Yes => {}
            Installed::Skipped(program) => writeln!(log, "skipped {}: no {program} here", folder.name())?,
            Installed::Failed(error) => writeln!(log, "{} did not install: {error}", folder.name())?,
        }
        all.push((folder, outcome));
    }
    Ok(all)
}

/// The first program that the folder needs and the machine lacks.
fn missing(folder: Folder) -> Option<&'static str> {
    let needed: &[&'static str] = match folder {
        Folder::Ts1 | Folder::Ts2 | Folder::Reference => &["node", "npm"],
        Folder::Py => &["python3"],
        Folder::Rmcp => &["cargo"],
    };
    needed.iter().copied().find(|program| {
        let mut probe = Command::new(program);
        probe
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        !probe.status().is_ok_and(|status| status.success())
    })
}

fn one(source: &Path, common: &Path, into: &Path, folder: Folder) -> Outcome<()> {
    let home = into.join(folder.name());
    fs::create_dir_all(&home)?;
    match folder {
        Folder::Ts1 | Folder::Ts2 | Folder::Reference => {
            copy(common, &home, &["mjs"])?;
            copy(source, &home, &["mjs"])?;
            once(&source.join("package-lock.json"), &home, || {
                copy(source, &home, &["json"])?;
                // No install script of any package runs.
                let mut npm = Command::new("npm");
                npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
                    .current_dir(&home);
                finish(npm)
            })
        }
        Folder::Py => {
            copy(source, &home, &["py", "txt"])?;
            once(&source.join("requirements.txt"), &home, || {
                let mut venv = Command::new("python3");
                venv.args(["-m", "venv", "--clear", ".venv"]).current_dir(&home);
                finish(venv)?;
                let mut pip = Command::new(home.join(".venv/bin/pip"));
                pip.args(["install", "--quiet", "--require-hashes", "-r", "requirements.txt"])
                    .current_dir(&home);
                finish(pip)
            })
        }
        Folder::Rmcp => {
            // Cargo knows by itself what is done. It gives way to whoever else builds on this machine.
            let mut cargo = if cfg!(unix) {
                Command::new("nice")
            } else {
                Command::new("cargo")
            };
            if cfg!(unix) {
                cargo.args(["-n", "10", "cargo"]);
            }
            cargo
                .args(["build", "--locked", "--manifest-path"])
                .arg(source.join("Cargo.toml"));
            cargo.env("CARGO_TARGET_DIR", rmcp_target(into));
            finish(cargo)
        }
    }
}

/// Runs `install` unless the mark says that it was run for the same lockfile.
fn once(lockfile: &Path, home: &Path, install: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    let lock = fs::read(lockfile)?;
    let mark = home.join(MARK);
    if fs::read(&mark).is_ok_and(|done| done == lock) {
        return Ok(());
    }
    if mark.exists() {
        fs::remove_file(&mark)?;
    }
    install()?;
    fs::write(mark, lock)?;
    Ok(())
}

/// Copies the files with one of `extensions`, not those in folders below.
fn copy(from: &Path, to: &Path, extensions: &[&str]) -> Outcome<()> {
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_file()
            && extension.is_some_and(|extension| extensions.contains(&extension))
            && let Some(name) = path.file_name()
        {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

fn finish(mut command: Command) -> Outcome<()> {
    let shown = format!("{command:?}");
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{shown}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut last: Vec<&str> = stderr.lines().rev().take(20).collect();
    last.reverse();
    Err(format!("{shown}: {}\n{}", output.status, last.join("\n")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_install_is_done_again_only_for_another_lockfile() -> Outcome<()> {
        let home = std::env::temp_dir().join(format!("interop-install-{}", std::process::id()));
        fs::create_dir_all(&home)?;
        let lockfile = home.join("lock");
        let mut runs = 0;
        for (text, broken) in [
            ("a", false),
            ("a", false),
            ("b", true),
            ("b", false),
            ("b", false),
        ] {
            fs::write(&lockfile, text)?;
            let outcome = once(&lockfile, &home, || {
                runs += 1;
                if broken { Err("broke off".into()) } else { Ok(()) }
            });
            assert_eq!(outcome.is_err(), broken);
        }
        fs::remove_dir_all(&home)?;
        assert_eq!(runs, 3);
        Ok(())
    }
}
