//! `xtask interop client --offer NAME [--revision REV] -- COMMAND ARGS...`: our client, started and read like the peers'.

use std::collections::VecDeque;
use std::future::Future;
use std::io::Write;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcp_client::Client;
use mcp_stdio::process::Command;
use mcp_types::{ElicitResult, Revision};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::client_steps::{self, Outcome};
use super::offer::Offer;

const USAGE: &str = "usage: xtask interop client --offer NAME [--revision REV] -- COMMAND ARGS...";

/// A step that takes longer has failed.
const STEP: Duration = Duration::from_secs(15);

struct Wanted {
    offer: Offer,
    revision: Option<Revision>,
    command: Command,
}

fn wanted(arguments: &[String]) -> Result<Wanted, String> {
    let (mut offer, mut revision) = (None, None);
    let mut rest = arguments.iter();
    loop {
        let flag = rest.next().ok_or("no command")?;
        let mut value = || rest.next().ok_or_else(|| format!("{flag} wants a value"));
        match flag.as_str() {
            "--offer" => {
                offer = Some(value().and_then(|name| Offer::named(name).ok_or("no such offer".into()))?)
            }
            "--revision" => {
                revision = Some(
                    value().and_then(|name| Revision::from_name(name).ok_or("no such revision".into()))?,
                );
            }
            "--" => break,
            other => return Err(format!("unknown: {other}")),
        }
    }
    let program = rest.next().ok_or("no command")?;
    Ok(Wanted {
        offer: offer.ok_or("no offer")?,
        revision,
        command: Command::new(program).args(rest),
    })
}

/// A connected client, and what its steps need beside it.
pub(crate) struct Session {
    pub(crate) client: Client,
    /// Lines of the server's stderr.
    stderr: watch::Receiver<Vec<String>>,
    answers: Answers,
}

/// What the server's questions are answered with, one after another, and what was asked.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<(VecDeque<ElicitResult>, Vec<String>)>>);

impl Session {
    /// Waits for a line of the server's stderr.
    pub(crate) async fn said(&self, line: &str) -> Result<(), String> {
        let mut stderr = self.stderr.clone();
        let seen = stderr.wait_for(|lines| lines.iter().any(|one| one == line)).await;
        seen.map(drop)
            .map_err(|_| format!("stderr ended without {line:?}"))
    }

    /// Answers the next question with this. A question beyond these is cancelled.
    pub(crate) fn will_answer(&self, answer: ElicitResult) {
        self.answers
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .push_back(answer);
    }

    /// The questions so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.answers
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .1
            .clone()
    }
}

async fn connect(revision: Option<Revision>, command: Command) -> Result<Session, String> {
    let (lines, stderr) = watch::channel(Vec::new());
    let command =
        command.on_stderr(move |line| lines.send_modify(|seen| seen.push(line.text().trim().to_owned())));
    let answers = Answers::default();
    let mut builder = Client::builder("contract-ours", env!("CARGO_PKG_VERSION"));
    if let Some(revision) = revision {
        builder = builder.revisions(revision);
    }
    // As the peers' clients do, it says so only where there is such a thing.
    if revision.is_none_or(|revision| revision >= Revision::V2025_06_18) {
        let answers = answers.clone();
        builder = builder.on_elicit(move |form| {
            let mut held = answers.0.lock().unwrap_or_else(PoisonError::into_inner);
            held.1.push(form.message);
            let answer = held.0.pop_front().unwrap_or_else(ElicitResult::cancel);
            async move { answer }
        });
    }
    let client = builder
        .connect(command)
        .await
        .map_err(|error| error.to_string())?;
    Ok(Session {
        client,
        stderr,
        answers,
    })
}

async fn report(step: &str, body: impl Future<Output = Outcome>) -> bool {
    let outcome = match tokio::time::timeout(STEP, body).await {
        Ok(outcome) => outcome,
        Err(_) => Err(format!("nothing after {STEP:?}")),
    };
    let mut line = json!({"step": step, "ok": outcome.is_ok()});
    match outcome {
        Ok(Value::Null) => {}
        Ok(detail) => line["detail"] = detail,
        Err(error) => line["error"] = error.into(),
    }
    // Nobody reads any more: the exit code still tells.
    let _ = writeln!(std::io::stdout(), "{line}");
    line["ok"] == true
}

async fn drive(wanted: Wanted) -> bool {
    let mut session = None;
    let handshake = async {
        let connected = connect(wanted.revision, wanted.command).await?;
        let detail = json!({
            "revision": connected.client.revision().name(),
            "server": connected.client.server_name(),
        });
        session = Some(connected);
        Ok(detail)
    };
    if !report("handshake", handshake).await {
        return false;
    }
    let Some(session) = session else { return false };
    let mut all = true;
    for step in wanted
        .offer
        .steps()
        .iter()
        .copied()
        .filter(|step| *step != "handshake")
    {
        all &= report(step, client_steps::take(&session, wanted.offer, step)).await;
    }
    all
}

/// Takes every step; 0 when each was right.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let wanted = match wanted(arguments) {
        Ok(wanted) => wanted,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => ExitCode::from(u8::from(!runtime.block_on(drive(wanted)))),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
