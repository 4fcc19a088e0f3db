//! What a server says of itself, and what it refuses to know.

mod peer;

use mcp_server::{Cx, Prompt, Resource, Server, Tool};
use mcp_types::{Map, Revision, Revisions};
use peer::{ERAS, Peer};
use serde_json::{Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    #[schemars(schema_with = "integer")]
    a: i64,
    #[schemars(schema_with = "integer")]
    b: i64,
}

/// Without the `format` that schemars adds to it.
fn integer(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({"type": "integer"})
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[derive(Debug, thiserror::Error)]
#[error("integer overflow")]
struct Overflow;

async fn add(_cx: Cx, args: Add) -> Result<String, Overflow> {
    let sum = i32::try_from(args.a + args.b).map_err(|_| Overflow)?;
    Ok(sum.to_string())
}

async fn word_count(_cx: Cx, args: Text) -> String {
    args.text.split_whitespace().count().to_string()
}

fn tiny() -> Server {
    Server::builder("tiny", "1.0.0")
        .tool(Tool::new("add", add).description("Adds two integers."))
        .tool(Tool::new("word_count", word_count).description("Counts words in a text."))
        .build()
        .unwrap()
}

/// The conversation that the lesson prints, line by line (Example 5).
#[tokio::test(start_paused = true)]
async fn the_tiny_server_of_the_lesson_answers_to_the_byte() {
    let mut peer = Peer::fresh(tiny(), Revision::V2025_11_25, json!({}));
    let dialogue = [
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"loop","version":"0.1.0"}}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1.0.0"}}}"#,
        ),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, ""),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"add","description":"Adds two integers.","inputSchema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}},{"name":"word_count","description":"Counts words in a text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40}}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"42"}]}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"word_count","arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Missing argument: text"}],"isError":true}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"delete_all","arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"Unknown tool: delete_all"}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"prompts/list"}"#,
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found: prompts/list"}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"add","arguments":{"a":2147483647,"b":1}}}"#,
            r#"{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"integer overflow"}],"isError":true}}"#,
        ),
        (
            "{not json",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
        ),
    ];
    for (line, expected) in dialogue {
        peer.line(line).await;
        if !expected.is_empty() {
            let expected: Value = serde_json::from_str(expected).unwrap();
            assert_eq!(peer.next().await, expected, "{line}");
        }
    }
}

/// The lesson's Example 3: only the list of tools can change.
#[tokio::test(start_paused = true)]
async fn a_list_that_may_change_is_declared_alone() {
    let server = Server::builder("notes-server", "1.0.0")
        .instructions("Tools for reading the project's notes.")
        .dynamic_tools()
        .build()
        .unwrap();
    let peer = Peer::new(server, Revision::V2025_11_25).await;
    assert_eq!(
        peer.greeting,
        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "notes-server", "version": "1.0.0"},
            "instructions": "Tools for reading the project's notes."})
    );
}

#[tokio::test(start_paused = true)]
async fn p059_the_same_is_declared_whatever_the_client_declares() {
    let full = || {
        Server::builder("full", "1")
            .dynamic()
            .subscriptions()
            .logging()
            .prompt(
                Prompt::new("p", |_cx: Cx, _args: Map<String>| async { "x".to_owned() })
                    .required("a")
                    .complete("a", |_cx: Cx, _what| async { Vec::new() }),
            )
            .build()
            .unwrap()
    };
    let expected = json!({"tools": {"listChanged": true}, "prompts": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true}, "completions": {}, "logging": {}});
    for revision in ERAS {
        for declared in [json!({}), json!({"sampling": {}, "elicitation": {}, "roots": {}})] {
            let peer = Peer::with(full(), revision, declared).await;
            assert_eq!(peer.greeting["capabilities"], expected, "{revision}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn discovery_names_all_versions_and_says_who_answers() {
    let served = Revisions::from_iter([Revision::V2025_06_18, Revision::V2026_07_28]);
    let server = Server::builder("s", "2")
        .title("S")
        .revisions(served)
        .build()
        .unwrap();
    let peer = Peer::new(server, Revision::V2026_07_28).await;
    assert_eq!(
        peer.greeting,
        json!({"resultType": "complete", "supportedVersions": ["2026-07-28", "2025-06-18"], "capabilities": {},
            "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "title": "S", "version": "2"}}})
    );
}

#[tokio::test(start_paused = true)]
async fn p049_what_was_not_declared_is_not_found_whatever_its_params() {
    let calls = [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": 7})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({})),
        ("prompts/list", json!({"cursor": 1})),
        ("prompts/get", json!({})),
        ("completion/complete", json!({})),
        ("foo/bar", json!({"a": [1]})),
    ];
    let stateful = [
        ("resources/subscribe", json!({"uri": "x:y"})),
        ("resources/unsubscribe", json!({})),
        ("logging/setLevel", json!({"level": "loud"})),
        ("tasks/list", json!({})),
    ];
    for revision in ERAS {
        let mut peer = Peer::new(Server::builder("none", "1").build().unwrap(), revision).await;
        // In the stateless era these do not exist at all.
        for (method, params) in calls.iter().chain(&stateful) {
            let expected = (-32601, format!("Method not found: {method}"));
            assert_eq!(peer.error(method, params.clone()).await, expected, "{revision}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn methods_of_the_stateful_era_are_not_found_in_the_stateless_one() {
    let server = Server::builder("s", "1")
        .subscriptions()
        .logging()
        .build()
        .unwrap();
    let mut peer = Peer::new(server, Revision::V2026_07_28).await;
    for method in ["ping", "logging/setLevel", "resources/subscribe", "initialize"] {
        assert_eq!(peer.error(method, json!({})).await.0, -32601, "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn p033_a_list_takes_absent_null_and_empty_params_alike() {
    let mut peer = Peer::new(tiny(), Revision::V2025_11_25).await;
    let list = peer.result("tools/list", json!({})).await;
    for params in [
        "",
        r#","params":null"#,
        r#","params":{"_meta":{"x":1}}"#,
        r#","params":{"cursor":null}"#,
    ] {
        peer.line(&format!(
            r#"{{"jsonrpc":"2.0","id":99,"method":"tools/list"{params}}}"#
        ))
        .await;
        assert_eq!(peer.answer(99).await["result"], list, "{params}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_result_of_the_stateless_era_says_what_it_is_and_who_made_it() {
    let server = Server::builder("s", "1")
        .tool(Tool::new("word_count", word_count))
        .resource(Resource::new("x:y", "y", |_cx: Cx| async { "text" }))
        .prompt(
            Prompt::new("p", |_cx: Cx, _args: Map<String>| async { "x".to_owned() })
                .required("a")
                .complete("a", |_cx: Cx, _what| async { Vec::new() }),
        )
        .build()
        .unwrap();
    let mut peer = Peer::new(server, Revision::V2026_07_28).await;
    let calls = [
        ("tools/list", json!({}), true),
        (
            "tools/call",
            json!({"name": "word_count", "arguments": {"text": "a b"}}),
            false,
        ),
        ("tools/call", json!({"name": "word_count"}), false),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("resources/read", json!({"uri": "x:y"}), true),
        ("prompts/list", json!({}), true),
        (
            "prompts/get",
            json!({"name": "p", "arguments": {"a": "1"}}),
            false,
        ),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}),
            false,
        ),
    ];
    for (method, params, cacheable) in calls {
        let result = peer.result(method, params).await;
        assert_eq!(result["resultType"], "complete", "{method}");
        let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(*info, json!({"name": "s", "version": "1"}), "{method}");
        assert_eq!(result.get("ttlMs").is_some(), cacheable, "{method}");
        assert_eq!(result.get("cacheScope").is_some(), cacheable, "{method}");
    }
}
