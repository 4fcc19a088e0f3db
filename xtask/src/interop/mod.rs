//! `cargo xtask interop`: other people's clients and servers against ours, over stdio.
//!
//! Without arguments it installs the pinned peers and runs every pair in every revision that both sides know, then
//! prints a table. `--peer NAME` and `--revision REV` pick cells; `--install` stops after installing; `--self-check`
//! runs the peers against each other. `serve` and `client` are our two sides, which it starts as programs.

mod cell;
mod client_steps;
mod contract_client;
mod contract_server;
mod install;
mod offer;
mod peers;
mod plan;
mod table;
mod watch;

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use cell::{Cell, Check};
use install::Installed;
use peers::{Folder, Places};
use plan::{Asked, Plan};

/// Cells that run at once; each is two processes that mostly wait for each other.
const AT_ONCE: usize = 2;

const USAGE: &str =
    "usage: cargo xtask interop [--peer NAME]... [--revision REV]... [--install | --self-check]";

/// Runs the verb with the arguments after its name. 0 when every check passed, 1 when one failed, 2 for wrong usage.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    match arguments
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    {
        Some(("serve", [])) => return contract_server::run(),
        Some(("client", rest)) => return contract_client::run(rest),
        _ => {}
    }
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
    let places = Places {
        installed: root.join(".peers"),
        own: std::env::current_exe()?,
    };
    fs::create_dir_all(&places.installed)?;
    let mut out = std::io::stdout().lock();
    let folders = install::install(
        &xtask.join("peers"),
        &places.installed,
        &asked.folders(),
        &mut out,
    )?;
    let mut cells: Vec<Cell> = folders
        .iter()
        .filter_map(|(folder, outcome)| absent(*folder, outcome))
        .collect();
    if asked.install_only {
        return Ok(cells.iter().all(|cell| !cell.failed()));
    }
    let there: Vec<Folder> = folders
        .iter()
        .filter(|(_, outcome)| *outcome == Installed::Yes)
        .map(|(folder, _)| *folder)
        .collect();

    let scratch = places.installed.join(format!("run-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    cells.extend(run_all(&plan::plan(asked, &there, &places, &scratch)));
    fs::remove_dir_all(&scratch)?;
    let count = table::print(&cells, &mut out)?;
    // A run in which nothing could be checked proves nothing.
    Ok(count.failed == 0 && count.passed > 0)
}

/// A row for a folder that is not installed, so that it is seen in the table and counted.
fn absent(folder: Folder, outcome: &Installed) -> Option<Cell> {
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

/// Runs the plans, a few at a time, and keeps their order.
fn run_all(plans: &[Plan]) -> Vec<Cell> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Cell)>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(plan) = plans.get(at) else { break };
                    let cell = cell::drive(plan);
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((at, cell));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, cell)| cell).collect()
}
