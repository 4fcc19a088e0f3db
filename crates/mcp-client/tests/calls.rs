//! Calls and their answers.

mod peer;

use std::future::IntoFuture;

use mcp_types::Revision;
use peer::{builder, stateful, stateless};
use serde_json::json;

fn text(text: &str) -> serde_json::Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

#[tokio::test]
async fn a_tool_is_called_in_both_eras() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let (result, request) = tokio::join!(
        client.tool("add").args(&json!({"a": 1})).into_future(),
        peer.serve("tools/call", text("2"))
    );
    assert_eq!(result.unwrap().content[0].as_text(), Some("2"));
    assert_eq!(request["params"], json!({"name": "add", "arguments": {"a": 1}}));

    let (client, mut peer) = stateless(builder(), json!({"tools": {}})).await;
    assert_eq!(client.revision(), Revision::V2026_07_28);
    assert_eq!(client.server_name(), "scripted");
    let (result, request) = tokio::join!(
        client.tool("add").args(&json!({"a": 1})).into_future(),
        peer.serve("tools/call", text("2"))
    );
    assert_eq!(result.unwrap().content[0].as_text(), Some("2"));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0.1"},
    });
    assert_eq!(
        request["params"],
        json!({"name": "add", "arguments": {"a": 1}, "_meta": meta})
    );
}
