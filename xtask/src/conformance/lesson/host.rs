//! Examples 12 and 13: a host's own tools as a server, and the servers of a configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_host::config::{HostConfig, Surroundings};
use mcp_host::launch::{Launcher, State};
use mcp_host::workspace::{Limits, ListFiles, ReadFile, Workspace, WorkspaceError};
use mcp_server::{BuildError, Cx, Failure, Server, Tool, UnknownTool};
use mcp_types::Revision;

use super::wire::{Log, Spoken, json_text};
use super::{Input, Lines, Trouble};

/// A folder for one example, removed with its owner.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("mcp-lesson-{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }

    fn write(&self, name: &str, text: &str) -> std::io::Result<PathBuf> {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&self.0))?;
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct At {
    path: String,
}

type Files = Arc<Workspace>;

async fn read_file(cx: Cx<Files>, args: At) -> Result<String, Failure> {
    blocking(cx, move |files| files.read_file(&ReadFile::new(args.path))).await
}

async fn list_files(cx: Cx<Files>) -> Result<String, Failure> {
    blocking(cx, |files| files.list_files(&ListFiles::default())).await
}

async fn blocking(
    cx: Cx<Files>,
    work: impl FnOnce(&Workspace) -> Result<String, WorkspaceError> + Send + 'static,
) -> Result<String, Failure> {
    let files = Arc::clone(cx.state());
    Ok(tokio::task::spawn_blocking(move || work(&files)).await??)
}

async fn bash(_: Cx<Files>) -> &'static str {
    "not reached"
}

fn loop_server(folder: &Path) -> Result<Server<Files>, Trouble> {
    let workspace = Arc::new(Workspace::open(folder, Limits::default())?);
    let server: Result<Server<Files>, BuildError> = Server::builder("loop", "0.1.0")
        .policy(|name| name != "bash")
        .unknown_tool(UnknownTool::Result)
        .state(workspace)
        .tool(Tool::new("read_file", read_file).description("Read a file in the workspace."))
        .tool(Tool::new("list_files", list_files).description("List files in the workspace."))
        .tool(Tool::new("bash", bash).description("Run a shell command."))
        .build();
    Ok(server?)
}

/// Example 12.
pub(super) async fn own_tools(input: Input, _: Revision) -> Lines {
    let folder = Scratch::new()?;
    folder.write("Main.java", "class Main {}\n")?;
    folder.write("src/Util.java", "class Util {}\n")?;
    let mut server = Spoken::to(loop_server(&folder.0)?);
    let mut out = Vec::new();
    for line in input {
        out.push(server.say(line).await?.ok_or("no answer")?);
    }
    server.end().await?;
    Ok(out)
}

/// The program with the hidden verb: this one. A test of it has it beside.
fn program() -> std::io::Result<PathBuf> {
    let this = std::env::current_exe()?;
    Ok(match this.parent() {
        Some(folder) if folder.ends_with("deps") => {
            folder.with_file_name(format!("xtask{}", std::env::consts::EXE_SUFFIX))
        }
        _ => this,
    })
}

/// Example 13.
pub(super) async fn process(input: Input, revision: Revision) -> Lines {
    let program = program()?;
    let program = program.to_str().ok_or("the way to this program is no Unicode")?;
    let text = input
        .join("\n")
        .replace("\"PROGRAM\"", &serde_json::to_string(program)?);
    let folder = Scratch::new()?;
    let config = HostConfig::load(folder.write("mcp.json", &text)?)?;
    let around = Surroundings::new(&config.workspace);

    let said = Log::default();
    let watched = said.clone();
    let host = Launcher::new("loop", "0.1.0")
        .client(move |_, client| client.revisions(revision))
        .command(move |_, command| command.options(watched.watching()))
        .start(&config, &around)
        .await;
    let mut running = BTreeMap::new();
    for server in host.servers() {
        match server.state() {
            State::Running(_) => running.insert(server.name().to_owned(), true),
            State::Disabled => running.insert(server.name().to_owned(), false),
            State::Failed(why) => return Err(format!("{}: {why}", server.name()).into()),
        };
    }
    let arguments = json_text(r#"{"text":"hello from a child process"}"#)?;
    host.registry().call("mcp__echo__echo", arguments).await?;

    let mut out = Vec::new();
    for ending in host.close().await {
        let name = &ending.name;
        if !running.get(name).copied().unwrap_or_default() {
            out.push(format!("{name}: disabled, skipped"));
            continue;
        }
        let received = said.all();
        let received = received.iter().filter(|line| line.starts_with("<- "));
        out.extend(received.map(|line| format!("{name} {line}")));
        match ending.closed.and_then(|closed| closed.exit_code) {
            Some(code) => out.push(format!("{name}: exit code {code}")),
            None => out.push(format!("{name}: no exit code")),
        }
        out.extend(ending.stderr.iter().map(|line| format!("{name} stderr: {line}")));
    }
    Ok(out)
}
