use mcp_bridge::Tools;
use mcp_types::ToolAnnotations;
use serde::Serialize;

use crate::args::Global;
use crate::failure::Failure;
use crate::screen;
use crate::servers::{self, ServerState, Servers};

/// Lists the tools of all servers, or of one.
pub(crate) async fn run(global: &Global, only: Option<&str>, json: bool) -> Result<(), Failure> {
    let servers = servers::start(global, only).await?;
    let shown = show(&servers, json);
    let verdict = servers.verdict();
    servers.close().await;
    shown.and(verdict)
}

fn show(servers: &Servers, json: bool) -> Result<(), Failure> {
    let tools = servers.host().registry().snapshot();
    for problem in tools.problems() {
        screen::note(&problem.to_string());
    }
    match json {
        true => screen::json(&document(servers, &tools)),
        false => screen::result(&listing(&tools)),
    }
}

/// Names, hints and whole descriptions: what a model reads, its user should be able to read, too.
pub(crate) fn listing(tools: &Tools) -> String {
    let mut out = String::new();
    for tool in tools.iter() {
        out.push_str(tool.name());
        out.push_str(&hints(tool.definition().annotations.as_ref()));
        out.push('\n');
        out.push_str(&screen::indented(tool.description(), 4));
    }
    out
}

/// What the server claims about a tool; only where it says something.
pub(crate) fn hints(annotations: Option<&ToolAnnotations>) -> String {
    let Some(annotations) = annotations else {
        return String::new();
    };
    let mut hints = Vec::new();
    if annotations.read_only_hint == Some(true) {
        hints.push("read-only");
    } else if annotations.destructive_hint == Some(true) {
        hints.push("destructive");
    }
    match hints.is_empty() {
        true => String::new(),
        false => format!("  ({}, says the server)", hints.join(", ")),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    tools: Vec<Tool<'a>>,
    servers: Vec<ServerState>,
    problems: Vec<Problem<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    server: &'a str,
    description: &'a str,
    definition: &'a mcp_types::Tool,
}

#[derive(Serialize)]
struct Problem<'a> {
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    message: &'a str,
}

fn document<'a>(servers: &Servers, tools: &'a Tools) -> Document<'a> {
    Document {
        tools: tools
            .iter()
            .map(|tool| Tool {
                name: tool.name(),
                server: tool.server(),
                description: tool.description(),
                definition: tool.definition(),
            })
            .collect(),
        servers: servers.states(),
        problems: tools
            .problems()
            .iter()
            .map(|problem| Problem {
                server: problem.server(),
                tool: problem.tool(),
                message: problem.text(),
            })
            .collect(),
    }
}
