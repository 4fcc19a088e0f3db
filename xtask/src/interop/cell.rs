//! One client, one server, one revision: a run and what it showed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use super::peers::CommandLine;
use super::plan::Plan;
use super::watch::{MARK, Watch};

/// After this the client is ended. Its steps have a limit of their own, of 15 seconds each.
const LIMIT: Duration = Duration::from_secs(120);

/// How long a process may take to go after its client went.
const LINGER: Duration = Duration::from_secs(5);

/// Lines of a client's stderr that are kept.
const STDERR_LINES: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    Failed(String),
    /// Not possible between these two, or not on this machine.
    Skipped(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) step: String,
    pub(crate) verdict: Verdict,
}

impl Check {
    pub(crate) fn new(step: impl Into<String>, outcome: Result<(), String>) -> Self {
        let verdict = outcome.map_or_else(Verdict::Failed, |()| Verdict::Passed);
        Self {
            step: step.into(),
            verdict,
        }
    }

    pub(crate) fn skipped(step: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            step: step.into(),
            verdict: Verdict::Skipped(why.into()),
        }
    }
}

/// What a run showed.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) client: String,
    pub(crate) server: String,
    /// The revision that was asked for, or `auto`.
    pub(crate) revision: String,
    pub(crate) checks: Vec<Check>,
    /// The end of the client's stderr.
    pub(crate) stderr: Vec<String>,
}

impl Cell {
    pub(crate) fn failed(&self) -> bool {
        self.checks
            .iter()
            .any(|check| matches!(check.verdict, Verdict::Failed(_)))
    }
}

/// A line of a contract client.
#[derive(Debug, Deserialize)]
struct Line {
    step: String,
    ok: bool,
    #[serde(default)]
    detail: Value,
    error: Option<String>,
}

/// Runs a cell: the client drives the server, and both have to end well.
pub(crate) fn drive(plan: &Plan) -> Cell {
    let watch = Watch::new(&plan.room, &plan.name());
    let mut arguments: Vec<OsString> = Vec::new();
    if let Some(revision) = plan.revision {
        arguments.extend(["--revision".into(), revision.into()]);
    }
    arguments.push("--".into());
    arguments.extend(watch.wrap(&plan.server_command).0);

    let mut checks = Vec::new();
    let mut stderr = Vec::new();
    let ran = fs::create_dir_all(&plan.room).and_then(|()| run(&plan.client_command, arguments, &watch));
    match ran {
        Ok(ended) => {
            checks = judge(plan.steps, &ended.stdout, plan.expected);
            checks.push(Check::new("exit", ended.status));
            stderr = ended.stderr;
        }
        Err(error) => checks.push(Check::new("start", Err(error.to_string()))),
    }
    checks.push(Check::new("server_exit", watch.exit_codes()));
    checks.push(match watch.nothing_left(LINGER) {
        Some(outcome) => Check::new("nothing_left", outcome),
        None => Check::skipped("nothing_left", "processes cannot be listed here"),
    });
    Cell {
        client: plan.client.into(),
        server: plan.server.into(),
        revision: plan.revision_name().into(),
        checks,
        stderr,
    }
}

struct Ended {
    stdout: Vec<String>,
    stderr: Vec<String>,
    status: Result<(), String>,
}

fn run(program: &CommandLine, arguments: Vec<OsString>, watch: &Watch) -> io::Result<Ended> {
    let mut parts = program.0.iter();
    let mut command = Command::new(parts.next().ok_or(io::ErrorKind::InvalidInput)?);
    command.args(parts).args(arguments).env(MARK, watch.mark());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().map(|stream| gather(stream, usize::MAX));
    let stderr = child.stderr.take().map(|stream| gather(stream, STDERR_LINES));
    let status = wait(&mut child)?;
    // A process left behind may hold the streams open, so it has to go before they are read to their end.
    if status.is_err() {
        let _ = watch.nothing_left(LINGER);
    }
    Ok(Ended {
        stdout: joined(stdout),
        stderr: joined(stderr),
        status,
    })
}

fn wait(child: &mut Child) -> io::Result<Result<(), String>> {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() {
                Ok(())
            } else {
                Err(status.to_string())
            });
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Ok(Err(format!("still running after {LIMIT:?}")));
        }
        sleep(Duration::from_millis(10));
    }
}

/// The last `keep` lines of a stream.
fn gather(stream: impl Read + Send + 'static, keep: usize) -> JoinHandle<VecDeque<String>> {
    thread::spawn(move || {
        let mut lines = VecDeque::new();
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if lines.len() == keep {
                lines.pop_front();
            }
            lines.push_back(line);
        }
        lines
    })
}

fn joined(reader: Option<JoinHandle<VecDeque<String>>>) -> Vec<String> {
    reader
        .and_then(|reader| reader.join().ok())
        .unwrap_or_default()
        .into()
}

/// A check for each of `steps`, told by a client's lines, and one for each line that is none of them.
fn judge(steps: &[&str], stdout: &[String], expected: &str) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    for line in stdout {
        match serde_json::from_str::<Line>(line) {
            Ok(line)
                if steps.contains(&line.step.as_str()) && lines.iter().all(|one| one.step != line.step) =>
            {
                lines.push(line);
            }
            _ => checks.push(Check::new(
                "stdout",
                Err(format!("not a line of this client's: {line}")),
            )),
        }
    }
    for step in steps {
        let Some(line) = lines.iter().find(|line| line.step == *step) else {
            checks.push(Check::new(*step, Err("not reached".into())));
            continue;
        };
        checks.push(if !line.ok {
            Check::new(
                *step,
                Err(line.error.clone().unwrap_or_else(|| "no reason given".into())),
            )
        } else if let Some(why) = line.detail["skipped"].as_str() {
            Check::skipped(*step, why)
        } else if *step == "handshake" && line.detail["revision"] != expected {
            Check::new(
                *step,
                Err(format!(
                    "agreed on {}, not on {expected}",
                    line.detail["revision"]
                )),
            )
        } else {
            Check::new(*step, Ok(()))
        });
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(checks: &[Check]) -> Vec<(&str, &str)> {
        let told = |check: &Check| match &check.verdict {
            Verdict::Passed => "passed".to_owned(),
            Verdict::Failed(why) | Verdict::Skipped(why) => why.clone(),
        };
        checks
            .iter()
            .map(|check| (check.step.as_str(), &*told(check).leak()))
            .collect()
    }

    #[test]
    fn a_step_without_a_line_has_failed() {
        let stdout = [
            r#"{"step":"handshake","ok":true,"detail":{"revision":"2025-11-25"}}"#.to_owned(),
            r#"{"step":"echo","ok":false,"error":"no"}"#.to_owned(),
            r#"{"step":"ask","ok":true,"detail":{"skipped":"too old"}}"#.to_owned(),
            "noise".to_owned(),
        ];
        let checks = judge(&["handshake", "echo", "image", "ask"], &stdout, "2025-11-25");
        assert_eq!(
            told(&checks),
            [
                ("stdout", "not a line of this client's: noise"),
                ("handshake", "passed"),
                ("echo", "no"),
                ("image", "not reached"),
                ("ask", "too old"),
            ]
        );
    }

    #[test]
    fn a_handshake_on_another_revision_has_failed() {
        let stdout = [r#"{"step":"handshake","ok":true,"detail":{"revision":"2025-11-25"}}"#.to_owned()];
        let checks = judge(&["handshake"], &stdout, "2026-07-28");
        assert_eq!(
            told(&checks),
            [("handshake", "agreed on \"2025-11-25\", not on 2026-07-28")]
        );
    }

    #[test]
    fn a_step_told_twice_is_noise() {
        let line = r#"{"step":"echo","ok":true}"#.to_owned();
        let checks = judge(&["echo"], &[line.clone(), line], "");
        assert_eq!(checks.len(), 2);
        assert!(checks.iter().any(|check| check.step == "stdout"));
    }
}
