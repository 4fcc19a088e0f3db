//! Examples 5 and 6: a tiny server told lines, and a client of one.

use mcp_client::Client;
use mcp_server::{BuildError, Cx, Failure, Server, Tool};
use mcp_testkit::{ScriptedPeer, TestError};
use mcp_types::{ContentBlock, Revision};
use serde_json::json;

use super::wire::{Spoken, after, json_text};
use super::{Input, Lines};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    #[schemars(schema_with = "integer")]
    a: i32,
    #[schemars(schema_with = "integer")]
    b: i32,
}

/// Without the `format` that a Rust integer gets by itself.
fn integer(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer"})
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

async fn add(_: Cx, args: Add) -> Result<String, Failure> {
    let sum = args.a.checked_add(args.b);
    sum.map(|sum| sum.to_string())
        .ok_or_else(|| Failure::text("integer overflow"))
}

async fn word_count(_: Cx, args: Text) -> String {
    args.text.split_whitespace().count().to_string()
}

fn tiny() -> Result<Server, BuildError> {
    Server::builder("tiny", "1.0.0")
        .tool(Tool::new("add", add).description("Adds two integers."))
        .tool(Tool::new("word_count", word_count).description("Counts words in a text."))
        .build()
}

/// Example 5.
pub(super) async fn server(input: Input, _: Revision) -> Lines {
    let mut server = Spoken::to(tiny()?);
    let mut out = Vec::new();
    for line in input {
        let answer = server.say(line).await?;
        out.push(format!("-> {line}"));
        out.push(format!("<- {}", answer.as_deref().unwrap_or("(no answer)")));
    }
    server.end().await?;
    Ok(out)
}

/// The server of Example 6, whose words are not ours. Ends with its input.
async fn upper(mut peer: ScriptedPeer) -> Result<(), TestError> {
    while let Some(line) = peer.next_line().await? {
        let message: serde_json::Value = serde_json::from_str(&line).map_err(TestError::new)?;
        if message.get("id").is_none() {
            continue;
        }
        let text = || {
            message["params"]["arguments"]["text"]
                .as_str()
                .unwrap_or_default()
        };
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tiny", "version": "1.0.0"},
            }),
            "tools/list" => json!({"tools": [{
                "name": "upper",
                "description": "Upper-cases a text.",
                "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
            }]}),
            "tools/call" => json!({"content": [{"type": "text", "text": text().to_uppercase()}]}),
            _ => {
                peer.refuse(&message, -32601, "Method not found").await?;
                continue;
            }
        };
        peer.answer(&message, result).await?;
    }
    Ok(())
}

/// Example 6.
pub(super) async fn client(input: Input, _: Revision) -> Lines {
    let [call, request] = input[..] else {
        return Err("two lines are wanted".into());
    };
    let (peer, (reader, writer)) = mcp_testkit::pair();
    let server = tokio::spawn(upper(peer));
    let client = Client::builder("loop", "0.1.0")
        .connect(mcp_stdio::streams(reader, writer))
        .await?;
    let info = client.server_info();
    let mut out = vec![format!(
        "connected to {} {}, protocol {}",
        info.name,
        info.version,
        client.revision()
    )];
    for tool in client.list_tools().await? {
        let description = tool.description.unwrap_or_default();
        out.push(format!("tool: {} - {description}", tool.name));
    }
    let (tool, arguments) = after("tool", call)?.split_once(' ').ok_or("no arguments")?;
    let result = client.tool(tool).args_raw(&json_text(arguments)?).await?;
    let text = result.content.first().and_then(ContentBlock::as_text);
    out.push(format!("{tool} -> {}", text.unwrap_or_default()));
    let method = after("request", request)?;
    match client.request(method.to_owned(), None).await {
        Ok(result) => out.push(format!("{method} -> {result}")),
        Err(error) => out.push(format!("{method} -> {error}")),
    }
    client.close().await;
    server.await??;
    out.push("server thread finished: true".to_owned());
    Ok(out)
}
