//! Progress and log messages of a call.

mod peer;

use mcp_server::{Cx, Server, Tool};
use mcp_types::{LoggingLevel, Revision};
use peer::{ERAS, Peer, text};
use serde_json::{Value, json};

async fn steps(cx: Cx) -> String {
    let mut sent = Vec::new();
    for (progress, total) in [(1.0, Some(4.0)), (1.0, Some(4.0)), (0.5, None), (2.5, None)] {
        sent.push(cx.progress(progress, total).await);
    }
    sent.push(cx.progress_text(4.0, Some(4.0), "rolled out").await);
    format!("{} {sent:?}", cx.wants_progress())
}

async fn talk(cx: Cx) -> String {
    let mut sent = Vec::new();
    for level in [
        LoggingLevel::Debug,
        LoggingLevel::Info,
        LoggingLevel::Warning,
        LoggingLevel::Error,
    ] {
        sent.push(cx.log(level, json!({"at": level.as_str()})).await);
    }
    format!("{sent:?}")
}

fn server(logging: bool) -> Server {
    let builder = Server::builder("s", "1")
        .tool(Tool::new("steps", steps))
        .tool(Tool::new("talk", talk));
    let builder = if logging { builder.logging() } else { builder };
    builder.build().unwrap()
}

fn levels(notices: &[Value]) -> Vec<&str> {
    notices
        .iter()
        .map(|notice| notice["params"]["level"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn p072_progress_grows_and_echoes_its_token_in_type() {
    for revision in ERAS {
        for token in [json!("a1"), json!(7)] {
            let mut peer = Peer::new(server(false), revision).await;
            peer.meta = json!({"progressToken": token});
            let result = peer.tool("steps", json!({})).await;
            assert_eq!(text(&result), "true [true, false, false, true, true]");
            let params: Vec<Value> = peer
                .notices
                .iter()
                .map(|notice| notice["params"].clone())
                .collect();
            assert_eq!(
                params,
                [
                    json!({"progressToken": token, "progress": 1, "total": 4}),
                    json!({"progressToken": token, "progress": 2.5}),
                    json!({"progressToken": token, "progress": 4, "total": 4, "message": "rolled out"})
                ]
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_gets_progress_who_did_not_ask_for_it() {
    for revision in ERAS {
        let mut peer = Peer::new(server(false), revision).await;
        assert_eq!(
            text(&peer.tool("steps", json!({})).await),
            "false [false, false, false, false, false]"
        );
        assert!(peer.notices.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_gets_logs_from_the_level_that_it_set() {
    let mut peer = Peer::new(server(true), Revision::V2025_11_25).await;
    for (level, expected) in [
        ("warning", vec!["warning", "error"]),
        ("debug", vec!["debug", "info", "warning", "error"]),
        ("emergency", vec![]),
    ] {
        assert_eq!(
            peer.result("logging/setLevel", json!({"level": level})).await,
            json!({})
        );
        peer.tool("talk", json!({})).await;
        assert_eq!(levels(&peer.notices), expected);
        peer.notices.clear();
    }
    assert_eq!(
        peer.error("logging/setLevel", json!({"level": "loud"})).await.0,
        -32602
    );
    // Another session has a level of its own.
    let mut other = Peer::new(server(true), Revision::V2025_11_25).await;
    other.tool("talk", json!({})).await;
    assert_eq!(levels(&other.notices), ["info", "warning", "error"]);
    assert_eq!(
        other.notices[0],
        json!({"jsonrpc": "2.0", "method": "notifications/message",
            "params": {"level": "info", "logger": "s", "data": {"at": "info"}}})
    );
}

#[tokio::test(start_paused = true)]
async fn a_stateless_request_gets_logs_only_where_it_names_a_level() {
    let mut peer = Peer::new(server(true), Revision::V2026_07_28).await;
    peer.tool("talk", json!({})).await;
    assert!(peer.notices.is_empty());
    peer.meta = json!({"io.modelcontextprotocol/logLevel": "warning"});
    peer.tool("talk", json!({})).await;
    assert_eq!(levels(&peer.notices), ["warning", "error"]);
    peer.meta = json!({"io.modelcontextprotocol/logLevel": "loud"});
    assert_eq!(peer.error("tools/call", json!({"name": "talk"})).await.0, -32602);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_did_not_declare_logging_sends_no_logs() {
    for revision in ERAS {
        let mut peer = Peer::new(server(false), revision).await;
        assert_eq!(peer.greeting["capabilities"].get("logging"), None);
        peer.meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
        assert_eq!(
            text(&peer.tool("talk", json!({})).await),
            "[false, false, false, false]"
        );
        assert!(peer.notices.is_empty());
    }
}
