//! The layer `transcripts`: dialogues as data, over each transport, in each revision. Every message that our server
//! says in them is then checked against the published schema, as the layer `schema`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_stdio::process::{Command, ExitStatus};
use mcp_stdio::{Options, serve_on};
use mcp_testkit::{Play, Said, ScriptedPeer, Transcript, pair, play};
use mcp_types::Revision;
use mcp_types::method::Side;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Outcome;
use super::fixture::{self, Kind};
use crate::schema::SchemaSet;

/// Dialogues that are played at once.
const AT_ONCE: usize = 8;

/// A dialogue, and the server that it is for.
struct Script {
    name: String,
    transcript: Transcript,
    kind: Kind,
    /// Bytes that one message may have.
    limit: Option<usize>,
}

/// A dialogue that was played.
struct Played {
    script: Arc<Script>,
    revision: Revision,
    transport: &'static str,
    play: Play,
}

/// The folder of the dialogues.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/transcripts")
}

/// Plays all dialogues. What was said is checked against the schemas where those are there.
pub(super) fn run() -> Vec<Outcome> {
    let (scripts, mut outcomes) = load();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return vec![broken("runtime", error.to_string())],
    };
    let mut played = runtime.block_on(play_all(scripts));
    played.sort_by(|one, other| {
        let key = |played: &Played| (played.script.name.clone(), played.revision, played.transport);
        key(one).cmp(&key(other))
    });
    let schemas = SchemaSet::load(&SchemaSet::default_folder());
    for played in &played {
        outcomes.push(Outcome {
            layer: "transcripts",
            krate: "mcp-server",
            revision: played.revision.to_string(),
            transport: played.transport,
            name: format!(
                "{} ({}, {})",
                played.script.name, played.revision, played.transport
            ),
            failure: failure(played),
        });
        if let Some(schemas) = &schemas {
            outcomes.extend(
                played
                    .play
                    .said
                    .iter()
                    .filter_map(|said| check(schemas, played, said)),
            );
        }
    }
    outcomes
}

fn failure(played: &Played) -> Option<String> {
    let error = played.play.outcome.as_ref().err()?;
    let title = played.script.transcript.title();
    Some(format!("{title}\n{error}"))
}

/// One message of ours against the schema of its revision.
fn check(schemas: &SchemaSet, played: &Played, said: &Said) -> Option<Outcome> {
    // An error that answers nothing readable has a null id, which no schema allows.
    let unreadable = said.message.get("id").is_some_and(serde_json::Value::is_null);
    if said.from != Side::Server || unreadable {
        return None;
    }
    let verdict = schemas.check_message(said.revision, said.from, &said.message, said.answers.as_deref());
    Some(Outcome {
        layer: "schema",
        krate: "mcp-types",
        revision: said.revision.to_string(),
        transport: played.transport,
        name: format!(
            "{} ({}, {})",
            played.script.name, played.revision, played.transport
        ),
        failure: verdict.err(),
    })
}

/// All dialogues, and those that cannot be read.
fn load() -> (Vec<Script>, Vec<Outcome>) {
    let (mut scripts, mut outcomes) = (Vec::new(), Vec::new());
    let mut paths: Vec<PathBuf> = match fs::read_dir(folder()) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(error) => return (scripts, vec![broken("transcripts", error.to_string())]),
    };
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    paths.sort();
    for path in paths {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let read = fs::read_to_string(&path)
            .map_err(|error| error.to_string())
            .and_then(|text| Transcript::parse(&text).map_err(|error| error.to_string()))
            .and_then(|transcript| script(name.clone(), transcript));
        match read {
            Ok(script) => scripts.push(script),
            Err(error) => outcomes.push(broken(&name, error)),
        }
    }
    (scripts, outcomes)
}

fn script(name: String, transcript: Transcript) -> Result<Script, String> {
    let wanted = transcript.header("Server").unwrap_or("rich");
    let kind = Kind::named(wanted).ok_or_else(|| format!("no server {wanted:?}"))?;
    let limit = transcript.header("Limit").map(str::parse).transpose();
    let limit = limit.map_err(|error| format!("the header Limit: {error}"))?;
    if transcript.header("Proves").is_none() || transcript.header("Spec").is_none() {
        return Err("a transcript says what it proves, and where that is written".into());
    }
    Ok(Script {
        name,
        transcript,
        kind,
        limit,
    })
}

fn broken(name: &str, why: String) -> Outcome {
    Outcome {
        layer: "transcripts",
        krate: "mcp-server",
        revision: "-".into(),
        transport: "-",
        name: name.into(),
        failure: Some(why),
    }
}

async fn play_all(scripts: Vec<Script>) -> Vec<Played> {
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = JoinSet::new();
    for script in scripts {
        let script = Arc::new(script);
        for revision in script.transcript.revisions().iter() {
            for transport in ["memory", "stdio"] {
                let (script, permits) = (Arc::clone(&script), Arc::clone(&permits));
                tasks.spawn(async move {
                    let _permit = permits.acquire().await;
                    let play = match transport {
                        "memory" => in_memory(&script, revision).await,
                        _ => over_stdio(&script, revision).await,
                    };
                    Played {
                        script,
                        revision,
                        transport,
                        play,
                    }
                });
            }
        }
    }
    tasks.join_all().await
}

fn options(limit: Option<usize>) -> Options {
    let options = Options::default();
    match limit {
        Some(bytes) => {
            let limits = options.limits.clone().with_max_bytes(bytes);
            options.with_limits(limits)
        }
        None => options,
    }
}

async fn in_memory(script: &Script, revision: Revision) -> Play {
    let server = match fixture::server(script.kind) {
        Ok(server) => server,
        Err(error) => return Play::failed(error),
    };
    let (mut client, (reader, writer)) = pair();
    let serving = serve_on(reader, writer, server, options(script.limit));
    let (_, play) = tokio::join!(serving, play(&script.transcript, revision, &mut client));
    play
}

/// Talks to a process of this very program.
async fn over_stdio(script: &Script, revision: Revision) -> Play {
    let command = match std::env::current_exe() {
        Ok(program) => Command::new(program).args(["conformance", "serve", script.kind.name()]),
        Err(error) => return Play::failed(error),
    };
    let command = match script.limit {
        Some(limit) => command.arg(limit.to_string()),
        None => command,
    };
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Play::failed(error),
    };
    let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
        return Play::failed("the child has no pipes");
    };
    let mut peer = ScriptedPeer::new(stdout, stdin);
    let mut play = play(&script.transcript, revision, &mut peer).await;
    let report = child.close().await;
    if play.outcome.is_ok() && report.status() != ExitStatus::Code(0) {
        play.outcome = Err(mcp_testkit::TestError::new(format!(
            "the server's process: {report}"
        )));
    }
    play
}

/// Serves a fixture on this process's own stdin and stdout.
pub(super) fn serve(args: &[String]) -> Result<(), String> {
    // A fixture panics when it is told to; that must not look like a failure of the run.
    std::panic::set_hook(Box::new(|_| {}));
    let kind = args
        .first()
        .and_then(|name| Kind::named(name))
        .ok_or("no such server")?;
    let limit = args.get(1).map(|bytes| bytes.parse()).transpose();
    let limit = limit.map_err(|error| format!("the limit: {error}"))?;
    let server = fixture::server(kind).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime
        .block_on(mcp_stdio::serve_with(server, options(limit)))
        .map(drop)
        .map_err(|error| error.to_string())
}
