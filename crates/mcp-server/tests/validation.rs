//! What a compiled validator checks: raw schemas, derived ones that say more than serde, structured results.
#![cfg(feature = "validate")]

mod peer;

use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use mcp_server::{Cx, Server, Tool, UnknownTool};
use mcp_types::CallToolResult;
use peer::{ERAS, Peer, text};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Range {
    #[schemars(range(min = 1, max = 3))]
    n: i64,
}

fn raw(text: &str) -> RawJson {
    RawJson::from_text(text).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_serde_does_not_check_is_validated_before_the_handler_runs() {
    for revision in ERAS {
        let server = Server::builder("s", "1")
            .tool(Tool::new("range", |_cx: Cx, args: Range| async move {
                args.n.to_string()
            }))
            .build()
            .unwrap();
        let mut peer = Peer::new(server, revision).await;
        assert_eq!(text(&peer.tool("range", json!({"n": 3})).await), "3");
        let result = peer.tool("range", json!({"n": 4})).await;
        assert_eq!(result["isError"], json!(true));
        assert!(text(&result).starts_with("Invalid argument n: "), "{result}");
    }
}

#[tokio::test(start_paused = true)]
async fn p125_p126_p127_structured_content_keeps_its_schema_unless_the_tool_failed() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}"#;
    let tool = |name: &str, result: fn() -> CallToolResult| {
        Tool::new(name, move |_cx: Cx| async move { result() }).output_schema(raw(schema))
    };
    for revision in ERAS {
        let server = Server::builder("s", "1")
            .tool(tool("good", || {
                CallToolResult::text("1").with_structured_content(raw(r#"{"n":1}"#))
            }))
            .tool(tool("none", || CallToolResult::text("1")))
            .tool(tool("wrong", || {
                CallToolResult::text("1").with_structured_content(raw(r#"{"n":"1"}"#))
            }))
            .tool(tool("failed", || {
                CallToolResult::error("no").with_structured_content(raw("[]"))
            }))
            .build()
            .unwrap();
        let mut peer = Peer::new(server, revision).await;
        assert_eq!(
            peer.tool("good", json!({})).await["structuredContent"],
            json!({"n": 1})
        );
        let (code, message) = peer.error("tools/call", json!({"name": "none"})).await;
        assert_eq!(
            (code, message.as_str()),
            (-32603, "tool none returned no structured content")
        );
        let (code, message) = peer.error("tools/call", json!({"name": "wrong"})).await;
        assert_eq!(code, -32603);
        assert!(
            message.starts_with("tool wrong returned structured content that breaks its schema"),
            "{message}"
        );
        assert_eq!(text(&peer.tool("failed", json!({})).await), "no");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agents_own_registry_is_served_as_it_is() {
    // The schema in an order and with members that no Rust type would give (P120, P130).
    let schema = r#"{"properties":{"z":{"type":"integer"},"a":{"type":"string","x-own":1}},"type":"object","required":["z"]}"#;
    let registry =
        ["read", "write"].map(|name| mcp_types::Tool::new(name, raw(schema)).with_description("Own"));
    let tools = registry.into_iter().map(|definition| {
        let name: Arc<str> = definition.name.as_str().into();
        Tool::from_definition(definition, move |_cx: Cx, arguments: RawJson| {
            let name = Arc::clone(&name);
            async move { format!("{name} {}", arguments.as_str()) }
        })
    });
    let server = Server::builder("agent", "1")
        .tools(tools)
        .policy(|name| name != "write")
        .unknown_tool(UnknownTool::Result)
        .build()
        .unwrap();
    for revision in ERAS {
        let mut peer = Peer::new(server.clone(), revision).await;
        let id = peer.request("tools/list", json!({})).await;
        let list = peer.answer(id).await["result"]["tools"].clone();
        assert_eq!(list.as_array().unwrap().len(), 1);
        assert_eq!(
            list[0]["inputSchema"],
            serde_json::from_str::<serde_json::Value>(schema).unwrap()
        );
        // Numbers arrive as they were written.
        let params = json!({"name": "read", "arguments": {"z": 9_007_199_254_740_993_u64}});
        assert_eq!(
            text(&peer.result("tools/call", params).await),
            r#"read {"z":9007199254740993}"#
        );
        assert_eq!(text(&peer.tool("read", json!({})).await), "Missing argument: z");
        // A withheld tool answers as an unknown one does.
        for name in ["write", "bash"] {
            let result = peer.tool(name, json!({"z": 1})).await;
            assert_eq!(text(&result), format!("Tool not available: {name}"));
            assert_eq!(result["isError"], json!(true));
        }
    }
}
