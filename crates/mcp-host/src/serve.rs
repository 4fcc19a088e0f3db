//! A host's own tools as a server.
//!
//! [`workspace_server`] is the server behind `mcp serve`: the file tools of [`workspace`](crate::workspace), filtered
//! by a policy. A host with tools of its own needs nothing from here: an [`mcp_server::Server`] takes any number of
//! definitions with an async function each, and a policy that withholds some.
//!
//! ```
//! use std::sync::Arc;
//!
//! use mcp_jsonrpc::RawJson;
//! use mcp_server::{BuildError, Cx, Failure, Server, Tool, UnknownTool};
//!
//! /// A tool as some agent has it.
//! struct AgentTool {
//!     name: &'static str,
//!     description: &'static str,
//!     schema: &'static str,
//!     run: fn(&str) -> Result<String, String>,
//! }
//!
//! /// The agent's registry as a server, for any transport.
//! fn server_of(tools: Vec<Arc<AgentTool>>) -> Result<Server, BuildError> {
//!     let mut server = Server::builder("agent", "0.1.0")
//!         // Neither listed nor callable, and answered exactly like a tool that does not exist.
//!         .policy(|name| name != "bash")
//!         .unknown_tool(UnknownTool::Result);
//!     for tool in tools {
//!         let schema = RawJson::from_text(tool.schema).unwrap_or_else(|_| RawJson::empty_object());
//!         let run = Arc::clone(&tool);
//!         let handler = move |_cx: Cx, arguments: RawJson| {
//!             let run = Arc::clone(&run);
//!             async move { (run.run)(arguments.as_str()).map_err(Failure::text) }
//!         };
//!         server = server.tool(Tool::raw(tool.name, schema, handler).description(tool.description));
//!     }
//!     server.build()
//! }
//!
//! let tools = vec![Arc::new(AgentTool {
//!     name: "today",
//!     description: "Tells the date.",
//!     schema: r#"{"type":"object"}"#,
//!     run: |_| Ok("2026-07-28".to_owned()),
//! })];
//! let server = server_of(tools)?;
//! // mcp_stdio::serve(server).await?;
//! # let _ = server;
//! # Ok::<(), BuildError>(())
//! ```

use std::path::Path;
use std::sync::Arc;

use mcp_server::{BuildError, Cx, Elicit, Elicited, Failure, Server, Tool, UnknownTool};
use mcp_stdio::process::shown;
use mcp_types::ElicitSchema;

use crate::workspace::{EditFile, Limits, Workspace, WorkspaceError, WriteFile};

/// Names of the tools that change files.
const WRITING: [&str; 2] = ["write_file", "edit_file"];

/// Longest piece of text of a caller that a question to the user shows, in characters.
const SHOWN: usize = 200;

/// What a workspace server may do.
#[derive(Default)]
pub struct WorkspaceOptions {
    allow_write: bool,
    limits: Limits,
    policy: Option<Policy>,
}

type Policy = Box<dyn Fn(&str) -> bool + Send + Sync>;

impl WorkspaceOptions {
    /// Reading only, with default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers `write_file` and `edit_file` too. Each write asks the host's user first, where the client can ask; where
    /// it cannot, this switch alone decides.
    #[must_use]
    pub fn allow_write(mut self, allow: bool) -> Self {
        self.allow_write = allow;
        self
    }

    /// Bounds of every tool.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Withholds the tools for which this says false, on top of what [`allow_write`](Self::allow_write) says.
    #[must_use]
    pub fn policy(mut self, allowed: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.policy = Some(Box::new(allowed));
        self
    }
}

impl std::fmt::Debug for WorkspaceOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkspaceOptions")
            .field("allow_write", &self.allow_write)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Why there is no workspace server.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ServeError(#[from] Kind);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("{0}")]
    Workspace(#[from] WorkspaceError),
    #[error("{0}")]
    Build(#[from] BuildError),
}

impl ServeError {
    /// Whether the folder cannot be used.
    pub fn is_workspace(&self) -> bool {
        matches!(self.0, Kind::Workspace(_))
    }
}

/// A server, named `workspace`, with file tools that stay inside the folder `root`: `list_files`, `read_file`,
/// `search_files`, and with [`WorkspaceOptions::allow_write`] `write_file` and `edit_file`.
///
/// What a policy withholds is neither listed nor callable; such a call, like one of a tool that does not exist, gets
/// `Tool not available: NAME` as a failed result, which the model can read.
///
/// # Errors
/// When the folder cannot be opened, or the system has no random numbers for the server's key.
pub fn workspace_server(
    root: impl AsRef<Path>,
    options: WorkspaceOptions,
) -> Result<Server<Arc<Workspace>>, ServeError> {
    let WorkspaceOptions {
        allow_write,
        limits,
        policy,
    } = options;
    let workspace = Workspace::open(root, limits).map_err(Kind::from)?;
    let server = Server::builder("workspace", env!("CARGO_PKG_VERSION"))
        .title("Workspace files")
        .instructions("File tools for one folder. Paths are relative to it and use /; nothing outside can be reached.")
        .unknown_tool(UnknownTool::Result)
        .policy(move |name| {
            (allow_write || !WRITING.contains(&name)) && policy.as_ref().is_none_or(|policy| policy(name))
        })
        .state(Arc::new(workspace))
        .tool(reading("list_files", Workspace::list_files).description(
            "Lists files in the workspace, one path per line, sorted. Optionally one folder, or a pattern such as *.rs.",
        ))
        .tool(reading("read_file", Workspace::read_file).description(
            "Reads a text file in the workspace, whole or some of its lines.",
        ))
        .tool(reading("search_files", Workspace::search_files).description(
            "Finds lines in the text files of the workspace; gives path, line number and line.",
        ))
        .tool(
            Tool::new("write_file", write_file)
                .description("Writes a file in the workspace: creates it, or replaces all of its content.")
                .destructive(true)
                .idempotent()
                .open_world(false),
        )
        .tool(
            Tool::new("edit_file", edit_file)
                .description("Replaces one piece of text, which must occur exactly once, in a file of the workspace.")
                .destructive(true)
                .open_world(false),
        )
        .build()
        .map_err(Kind::from)?;
    Ok(server)
}

type Files = Arc<Workspace>;

/// A tool that only looks.
fn reading<A>(name: &str, run: fn(&Workspace, &A) -> Result<String, WorkspaceError>) -> Tool<Files>
where
    A: serde::de::DeserializeOwned + schemars::JsonSchema + Send + 'static,
{
    let handler = move |cx: Cx<Files>, args: A| blocking(cx, move |workspace| run(workspace, &args));
    Tool::new(name, handler).read_only().open_world(false)
}

/// File access blocks, and a connection's own task must not.
async fn blocking(
    cx: Cx<Files>,
    work: impl FnOnce(&Workspace) -> Result<String, WorkspaceError> + Send + 'static,
) -> Result<String, Failure> {
    let workspace = Arc::clone(cx.state());
    Ok(tokio::task::spawn_blocking(move || work(&workspace)).await??)
}

async fn write_file(cx: Cx<Files>, args: WriteFile) -> Result<String, Failure> {
    let path = cx.state().check(&args.path)?;
    let question = format!("Write {} bytes to the file {path}?", args.content.len());
    approve(&cx, question).await?;
    blocking(cx, move |workspace| workspace.write_file(&args)).await
}

async fn edit_file(cx: Cx<Files>, args: EditFile) -> Result<String, Failure> {
    let path = cx.state().check(&args.path)?;
    let question = format!(
        "Change the file {path}: replace \"{}\" by \"{}\"?",
        excerpt(&args.old),
        excerpt(&args.new)
    );
    approve(&cx, question).await?;
    blocking(cx, move |workspace| workspace.edit_file(&args)).await
}

/// Asks the host's user, where the client said that it can; the text has nothing that could fool a screen.
async fn approve(cx: &Cx<Files>, question: String) -> Result<(), Failure> {
    let elicitation = cx.peer().capabilities.elicitation.as_ref();
    if !elicitation.is_some_and(|elicitation| elicitation.has_form()) {
        return Ok(());
    }
    match cx
        .ask("approve", Elicit::fields(question, ElicitSchema::default()))
        .await?
    {
        Elicited::Accept(_) => Ok(()),
        Elicited::Decline => Err(Failure::text("the user declined; nothing was changed")),
        Elicited::Cancel => Err(Failure::text("the user did not decide; nothing was changed")),
    }
}

fn excerpt(text: &str) -> String {
    let start: String = text.chars().take(SHOWN).collect();
    let more = if start.len() < text.len() { " ..." } else { "" };
    shown(&start).replace('\n', "\\n") + more
}
