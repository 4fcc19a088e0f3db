use mcp_jsonrpc::RawJson;
use mcp_types::CallToolResult;

use crate::args::Global;
use crate::arguments;
use crate::failure::Failure;
use crate::screen;
use crate::servers::{self, Servers};

/// Calls a tool and prints its result.
pub(crate) async fn run(
    global: &Global,
    name: &str,
    given: Option<&str>,
    only: Option<&str>,
    json: bool,
) -> Result<(), Failure> {
    // Nothing is started for arguments that are none.
    let arguments = arguments::read(given)?;
    let servers = servers::start(global, only).await?;
    let called = call(&servers, name, arguments).await;
    servers.close().await;
    print(&called?, json)
}

/// Calls a tool of the registry by its name for models.
pub(crate) async fn call(
    servers: &Servers,
    name: &str,
    arguments: RawJson,
) -> Result<CallToolResult, Failure> {
    let called = servers.host().registry().call(name, arguments).await;
    called.map_err(|error| match error.is_unknown_tool() {
        true => unknown(servers, name),
        false => {
            let server = error
                .as_source()
                .map(|(server, _)| format!("{server}: "))
                .unwrap_or_default();
            Failure::operation(format!("{server}{name}: {error}"))
        }
    })
}

/// A failed tool is a failed command, whose text is the result all the same.
pub(crate) fn print(result: &CallToolResult, json: bool) -> Result<(), Failure> {
    match json {
        true => screen::json(result)?,
        false => screen::result(&text_of(result))?,
    }
    match result.is_error {
        true => Err(Failure::silent()),
        false => Ok(()),
    }
}

/// The text for models, safe to show.
pub(crate) fn text_of(result: &CallToolResult) -> String {
    mcp_stdio::process::shown(&mcp_bridge::text::for_model(result)).into_owned()
}

fn unknown(servers: &Servers, name: &str) -> Failure {
    let mut text = format!("there is no tool {name:?}");
    let tools = servers.host().registry().snapshot();
    // What was typed may be the tool's own name.
    let meant = tools.iter().find(|tool| tool.definition().name == name);
    let similar = tools.iter().find(|tool| {
        let (one, other) = (tool.name().to_lowercase(), name.to_lowercase());
        one.ends_with(&other) || other.ends_with(&one)
    });
    if let Some(tool) = meant.or(similar) {
        text.push_str(&format!("; did you mean {}?", tool.name()));
    } else {
        text.push_str("; `mcp tools` lists what there is");
    }
    let failed = servers.failed();
    if !failed.is_empty() {
        text.push_str(&format!(
            "\n  Not started, so without tools: {}",
            failed.join(", ")
        ));
    }
    Failure::operation(text)
}
