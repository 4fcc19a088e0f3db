//! Examples 10 and 14: servers' tools in one registry.

use mcp_bridge::Registry;
use mcp_bridge::text::for_model;
use mcp_jsonrpc::RawJson;
use mcp_server::{BuildError, Cx, Failure, Server, Tool};
use mcp_stdio::Options;
use mcp_types::Revision;

use super::wire::{after, join, json_text};
use super::{Input, Lines, Trouble};

const QUERY: &str = r#"{"type":"object","properties":{"q":{"type":"string"}}}"#;

/// A tool that says what it got.
fn telling(server: &'static str, name: &'static str, description: &str) -> Result<Tool, Trouble> {
    let tell = move |_: Cx, arguments: RawJson| async move {
        let arguments = arguments.as_str().replace('"', "'");
        format!("{server} ran {name} with {arguments}")
    };
    Ok(Tool::raw(name, json_text(QUERY)?, tell).description(description))
}

async fn fail(_: Cx, _: RawJson) -> Result<String, Failure> {
    Err(Failure::text("database is locked"))
}

fn notes() -> Result<Server, Trouble> {
    let server = Server::builder("notes", "1.0.0").tool(telling("notes", "search", "Search notes")?);
    Ok(server.build()?)
}

fn issue_tracker() -> Result<Server, Trouble> {
    let tool = |name, description| telling("issue-tracker", name, description);
    let server = Server::builder("issue-tracker", "1.0.0")
        .tool(tool("search", "Search issues")?)
        .tool(tool("issues.create", "Create an issue")?)
        .tool(tool("issues_create", "Create an issue (v2)")?)
        .tool(Tool::raw("fail", json_text(QUERY)?, fail).description("Always fails"));
    Ok(server.build()?)
}

/// Example 10.
pub(super) async fn names(input: Input, revision: Revision) -> Lines {
    let registry = Registry::new();
    for (name, server) in [("notes", notes()?), ("issue-tracker", issue_tracker()?)] {
        let (client, _) = join(server, revision, Options::default(), Options::default()).await?;
        registry.attach_client(name, &client).await?;
    }
    let tools = registry.snapshot();
    let listed = tools.iter();
    let mut out: Vec<String> = listed
        .map(|tool| format!("{:<36} {}", tool.name(), tool.description()))
        .collect();
    for line in input {
        if let Ok(name) = after("export", line) {
            let at = tools.iter().position(|tool| tool.name() == name);
            let tool = at.and_then(|at| tools.to_chat_tools().into_iter().nth(at));
            out.push(serde_json::to_string(&tool.ok_or("no such tool")?)?);
        } else {
            let (name, arguments) = after("call", line)?.split_once(' ').ok_or("no arguments")?;
            out.push(for_model(&registry.call(name, json_text(arguments)?).await?));
        }
    }
    Ok(out)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    item: String,
}

async fn add(_: Cx, args: Add) -> Result<String, Failure> {
    match args.item.trim().is_empty() {
        true => Err(Failure::text("item must not be empty")),
        false => Ok(format!("added: {}", args.item)),
    }
}

async fn count(_: Cx) -> &'static str {
    "3"
}

fn todo_server() -> Result<Server, BuildError> {
    Server::builder("todo-server", "0.1.0")
        .tool(Tool::new("todo.add", add).description("Add a todo item."))
        .tool(Tool::new("todo.count", count).description("Count todo items."))
        .build()
}

/// Example 14.
pub(super) async fn joined(input: Input, revision: Revision) -> Lines {
    let (client, server) = join(todo_server()?, revision, Options::default(), Options::default()).await?;
    let info = serde_json::to_string(client.server_info())?;
    let mut out = vec![format!("connected: {info}")];
    let registry = Registry::new();
    registry.attach_client("todo", &client).await?;
    for tool in registry.snapshot().iter() {
        out.push(format!("registered {}  {}", tool.name(), tool.description()));
    }
    for line in input {
        if let Ok(name) = after("direct", line) {
            match client.tool(name).await {
                Ok(result) => out.push(format!("direct call to {name} -> {}", for_model(&result))),
                Err(error) => out.push(format!("direct call to {name} -> {error}")),
            }
        } else {
            let call = after("call", line)?;
            let (name, arguments) = call.split_once(' ').ok_or("no arguments")?;
            let result = registry.call(name, json_text(arguments)?).await?;
            out.push(format!("{call} -> {}", for_model(&result)));
        }
    }
    client.close().await;
    server.await?;
    out.push("server finished: true".to_owned());
    Ok(out)
}
