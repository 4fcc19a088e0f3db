//! Finds out how a server ended, and whether anything outlived its client, without the client's help.
//!
//! SDKs start servers in their own way: in a process group of their own, with a scrubbed environment, some twice
//! (to probe the era). So the server goes behind a shell that puts a mark into its environment and writes down its
//! exit code, and afterwards no process may bear that mark.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::peers::CommandLine;

/// The variable that marks a cell's processes.
pub(crate) const MARK: &str = "INTEROP_CELL";

/// A shell that was stopped from outside writes nothing.
const SHELL: &str = r#"file=$1; mark=$2; shift 2; INTEROP_CELL="$mark" "$@"; echo $? >>"$file""#;

/// One cell's marker and exit codes.
#[derive(Debug)]
pub(crate) struct Watch {
    mark: String,
    codes: PathBuf,
}

impl Watch {
    /// `room` is a folder for the exit codes; `name` is unique in this process.
    pub(crate) fn new(room: &Path, name: &str) -> Self {
        Self {
            mark: format!("{}-{name}", std::process::id()),
            codes: room.join(".exit-codes"),
        }
    }

    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// `server`, behind the shell.
    pub(crate) fn wrap(&self, server: &CommandLine) -> CommandLine {
        let shell = ["sh", "-c", SHELL, "sh"].map(OsString::from);
        let own = [self.codes.clone().into_os_string(), self.mark.clone().into()];
        CommandLine::new(shell.into_iter().chain(own).chain(server.0.iter().cloned()))
    }

    /// Right if at least one server ended by itself, and each that did with code 0.
    pub(crate) fn exit_codes(&self) -> Result<(), String> {
        let text = fs::read_to_string(&self.codes).unwrap_or_default();
        let codes: Vec<&str> = text.split_whitespace().collect();
        match codes.as_slice() {
            [] => Err("the server was stopped by force".into()),
            all if all.iter().all(|code| *code == "0") => Ok(()),
            all => Err(format!("the server's exit codes: {}", all.join(", "))),
        }
    }

    /// Waits this long for the last process with the mark to go; what is still there then is ended, and told. `None`
    /// where processes cannot be looked at.
    pub(crate) fn nothing_left(&self, patience: Duration) -> Option<Result<(), String>> {
        let deadline = Instant::now() + patience;
        loop {
            let left = marked(&format!("{MARK}={}", self.mark)).ok()?;
            if left.is_empty() {
                return Some(Ok(()));
            }
            if Instant::now() > deadline {
                let shown: Vec<String> = left.iter().map(|(pid, name)| format!("{name} ({pid})")).collect();
                for (pid, _) in left {
                    end(pid);
                }
                return Some(Err(format!("left running: {}", shown.join(", "))));
            }
            sleep(Duration::from_millis(20));
        }
    }
}

/// Processes with `entry` in their environment, by id and name. Linux only: elsewhere the folder is not there.
fn marked(entry: &str) -> io::Result<Vec<(u32, String)>> {
    let mut found = Vec::new();
    for process in fs::read_dir("/proc")? {
        let process = process?;
        let Some(pid) = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        // Gone since, somebody else's, or a zombie: none of them is ours to find.
        let Ok(environment) = fs::read(process.path().join("environ")) else {
            continue;
        };
        if environment
            .split(|byte| *byte == 0)
            .any(|one| one == entry.as_bytes())
        {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            found.push((pid, name.trim().to_owned()));
        }
    }
    Ok(found)
}

fn end(pid: u32) {
    // Gone since is fine.
    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    fn scratch(name: &str) -> io::Result<PathBuf> {
        let folder = std::env::temp_dir().join(format!("interop-watch-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn run(watch: &Watch, script: &str) -> io::Result<()> {
        let line = watch.wrap(&CommandLine::new(["sh", "-c", script]));
        let mut parts = line.0.iter();
        let program = parts.next().ok_or(io::ErrorKind::InvalidInput)?;
        Command::new(program).args(parts).status().map(drop)
    }

    #[test]
    fn an_exit_code_is_written_down() -> io::Result<()> {
        let folder = scratch("codes")?;
        let watch = Watch::new(&folder, "codes");
        assert_eq!(watch.exit_codes(), Err("the server was stopped by force".into()));
        run(&watch, "exit 0")?;
        assert_eq!(watch.exit_codes(), Ok(()));
        run(&watch, "exit 3")?;
        assert_eq!(watch.exit_codes(), Err("the server's exit codes: 0, 3".into()));
        assert_eq!(watch.nothing_left(LONG), Some(Ok(())));
        fs::remove_dir_all(folder)
    }

    #[test]
    fn a_process_that_stays_is_found_and_ended() -> io::Result<()> {
        let folder = scratch("left")?;
        let watch = Watch::new(&folder, "left");
        run(&watch, "sleep 600 </dev/null >/dev/null 2>&1 &")?;
        let left = watch.nothing_left(Duration::ZERO);
        assert!(
            matches!(&left, Some(Err(told)) if told.starts_with("left running: ")),
            "{left:?}"
        );
        assert_eq!(watch.nothing_left(LONG), Some(Ok(())));
        fs::remove_dir_all(folder)
    }
}
