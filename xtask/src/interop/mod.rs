//! `cargo xtask interop`: other people's clients and servers against ours, over stdio.
//!
//! Without arguments it installs the pinned peers and runs every pair in every revision that both sides know, then
//! prints a table. `--peer NAME` and `--revision REV` pick cells; `--install` stops after installing; `--self-check`
//! runs the peers against each other, which proves the peers' programs rather than ours.

mod cell;
mod install;
mod peers;
mod table;
mod watch;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cell::{Cell, Check};
use install::Installed;
use peers::{CLIENTS, Client, CommandLine, Folder, SERVERS};

/// Cells that run at once; each is two processes that mostly wait for each other.
const AT_ONCE: usize = 2;

const USAGE: &str =
    "usage: cargo xtask interop [--peer NAME]... [--revision REV]... [--install | --self-check]";

#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    peers: Vec<String>,
    /// Dated ones, and `auto` for a client that is left to choose.
    revisions: Vec<String>,
    install_only: bool,
    self_check: bool,
}

impl Asked {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut asked = Self::default();
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let mut value = || {
                rest.next()
                    .cloned()
                    .ok_or_else(|| format!("{flag} wants a value"))
            };
            match flag.as_str() {
                "--peer" => {
                    let name = value()?;
                    let known = CLIENTS.iter().any(|one| one.name == name)
                        || SERVERS.iter().any(|one| one.name == name);
                    if !known {
                        return Err(format!("no peer is called {name}"));
                    }
                    asked.peers.push(name);
                }
                "--revision" => {
                    let revision = value()?;
                    if revision != "auto" && !peers::REVISIONS.contains(&revision.as_str()) {
                        return Err(format!("no peer knows {revision}"));
                    }
                    asked.revisions.push(revision);
                }
                "--install" => asked.install_only = true,
                "--self-check" => asked.self_check = true,
                other => return Err(format!("unknown: {other}")),
            }
        }
        Ok(asked)
    }

    fn peer(&self, name: &str) -> bool {
        self.peers.is_empty() || self.peers.iter().any(|one| one == name)
    }

    fn revision(&self, revision: &str) -> bool {
        self.revisions.is_empty() || self.revisions.iter().any(|one| one == revision)
    }

    fn folders(&self) -> Vec<Folder> {
        let wanted = |folder: &Folder| {
            CLIENTS
                .iter()
                .any(|one| one.folder == *folder && (self.self_check || self.peer(one.name)))
                || SERVERS
                    .iter()
                    .any(|one| one.folder == *folder && (self.self_check || self.peer(one.name)))
        };
        Folder::ALL.into_iter().filter(wanted).collect()
    }
}

/// Runs the verb with the arguments after its name. 0 when every check passed, 1 when one failed, 2 for wrong usage.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let asked = match Asked::parse(arguments) {
        Ok(asked) => asked,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match carry_out(&asked) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn carry_out(asked: &Asked) -> Result<bool, Box<dyn Error>> {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = xtask.parent().ok_or("xtask has no parent folder")?;
    let installed = root.join(".peers");
    fs::create_dir_all(&installed)?;
    let mut out = std::io::stdout().lock();
    let folders = install::install(&xtask.join("peers"), &installed, &asked.folders(), &mut out)?;
    let mut cells: Vec<Cell> = folders
        .iter()
        .filter_map(|(folder, outcome)| not_there(*folder, outcome))
        .collect();
    if asked.install_only {
        return Ok(cells.iter().all(|cell| !cell.failed()));
    }
    let there: Vec<Folder> = folders
        .iter()
        .filter(|(_, outcome)| *outcome == Installed::Yes)
        .map(|(folder, _)| *folder)
        .collect();

    let scratch = installed.join(format!("run-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let plans = plan(asked, &there, &installed);
    cells.extend(run_all(&plans, &installed, &scratch));
    fs::remove_dir_all(&scratch)?;
    let count = table::print(&cells, &mut out)?;
    // A run in which nothing could be checked proves nothing.
    Ok(count.failed == 0 && count.passed > 0)
}

/// A row for a folder that is not installed, so that it is seen in the table and counted.
fn not_there(folder: Folder, outcome: &Installed) -> Option<Cell> {
    let check = match outcome {
        Installed::Yes => return None,
        Installed::Skipped(program) => Check::skipped("install", format!("no {program} here")),
        Installed::Failed(error) => Check::new("install", Err(error.clone())),
    };
    let dash = || "-".to_owned();
    Some(Cell {
        client: folder.name().into(),
        server: dash(),
        revision: dash(),
        checks: vec![check],
        stderr: Vec::new(),
    })
}

/// A cell to run.
struct Plan {
    client: &'static Client,
    server_name: String,
    server: CommandLine,
    /// `None` leaves the choice to the client.
    revision: Option<&'static str>,
    expected: &'static str,
}

/// Contract clients against contract servers, in each revision that both know.
fn plan(asked: &Asked, there: &[Folder], installed: &Path) -> Vec<Plan> {
    let mut plans = Vec::new();
    for client in CLIENTS.iter().filter(|client| there.contains(&client.folder)) {
        for (name, server, known) in servers(asked, there, installed) {
            if !(asked.peer(client.name) || asked.self_check && asked.peer(&name)) {
                continue;
            }
            let both = || {
                client
                    .revisions
                    .iter()
                    .copied()
                    .filter(|revision| known.contains(revision))
            };
            let forced = both().map(|revision| (Some(revision), revision));
            let unforced = both()
                .next_back()
                .filter(|_| client.chooses)
                .map(|newest| (None, newest));
            for (revision, expected) in forced.chain(unforced) {
                if asked.revision(revision.unwrap_or("auto")) {
                    plans.push(Plan {
                        client,
                        server_name: name.clone(),
                        server: server.clone(),
                        revision,
                        expected,
                    });
                }
            }
        }
    }
    plans
}

/// The contract servers to drive: the peers' own in a self-check.
fn servers(
    asked: &Asked,
    there: &[Folder],
    installed: &Path,
) -> Vec<(String, CommandLine, &'static [&'static str])> {
    if !asked.self_check {
        return Vec::new();
    }
    SERVERS
        .iter()
        .filter(|server| server.contract && there.contains(&server.folder))
        .map(|server| {
            (
                server.name.to_owned(),
                server.command(installed),
                server.revisions,
            )
        })
        .collect()
}

/// Runs the plans, a few at a time, and keeps their order.
fn run_all(plans: &[Plan], installed: &Path, scratch: &Path) -> Vec<Cell> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Cell)>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(plan) = plans.get(at) else { break };
                    let cell = cell::drive(
                        plan.client,
                        installed,
                        &plan.server_name,
                        &plan.server,
                        plan.revision,
                        plan.expected,
                        scratch,
                    );
                    if let Ok(mut done) = done.lock() {
                        done.push((at, cell));
                    }
                }
            });
        }
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, cell)| cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Result<Asked, String> {
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        Asked::parse(&arguments)
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert_eq!(asked(&["--peer"]), Err("--peer wants a value".into()));
        assert_eq!(
            asked(&["--peer", "nobody"]),
            Err("no peer is called nobody".into())
        );
        assert_eq!(
            asked(&["--revision", "1999-01-01"]),
            Err("no peer knows 1999-01-01".into())
        );
        assert_eq!(asked(&["tea"]), Err("unknown: tea".into()));
    }

    #[test]
    fn a_self_check_runs_each_pair_in_the_revisions_that_both_know() -> Result<(), String> {
        let asked = asked(&[
            "--self-check",
            "--peer",
            "py",
            "--revision",
            "2026-07-28",
            "--revision",
            "auto",
        ])?;
        let plans = plan(&asked, &[Folder::Ts1, Folder::Py], Path::new("peers"));
        let shown: Vec<_> = plans
            .iter()
            .map(|plan| {
                (
                    plan.client.name,
                    plan.server_name.as_str(),
                    plan.revision,
                    plan.expected,
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("ts1", "py", None, "2025-11-25"),
                ("py", "ts1", None, "2025-11-25"),
                ("py", "py", Some("2026-07-28"), "2026-07-28"),
                ("py", "py", None, "2026-07-28"),
            ]
        );
        Ok(())
    }
}
