//! 2026-07-28: every request by itself.
#![cfg(feature = "server")]

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{Answer, BOTH, JSON, Running, eventually, modern, start, until};
use mcp_http::server::Options;

fn code(answer: &Answer) -> i64 {
    answer.json()["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("{answer:?}"))
}

async fn with_headers(running: &Running, headers: &[(&str, &str)], body: &str) -> Answer {
    running.post(headers, body).await
}

#[tokio::test]
async fn an_answer_that_comes_first_is_a_json_body_and_no_session_is_opened() {
    let running = start(Options::default()).await;
    let answer = running
        .modern(
            "tools/call",
            Some("echo"),
            r#""name":"echo","arguments":{"text":"hi"},"#,
        )
        .await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("application/json"))
    );
    let result = &answer.json()["result"];
    assert_eq!(
        (&result["resultType"], &result["content"][0]["text"]),
        (&"complete".into(), &"hi".into())
    );
    assert_eq!(answer.header("mcp-session-id"), None);
    assert_eq!(running.endpoint.sessions(), 0);
    let discovered = running.modern("server/discover", None, "").await;
    assert_eq!(discovered.json()["result"]["supportedVersions"][0], "2026-07-28");
}

#[tokio::test]
async fn an_event_that_comes_first_opens_a_stream() {
    let running = start(Options::default()).await;
    let answer = running
        .modern("tools/call", Some("steps"), r#""name":"steps","#)
        .await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("text/event-stream"))
    );
    let events: Vec<&str> = answer
        .body
        .split("\n\n")
        .filter(|event| event.contains("data:"))
        .collect();
    assert_eq!(events.len(), 4, "{answer:?}");
    assert!(events[0].contains(r#""progress":1"#) && events[3].contains("done"));
    assert!(!answer.body.contains("id: "));
    assert_eq!(answer.header("cache-control"), Some("no-cache, no-transform"));
}

#[tokio::test]
async fn each_row_of_the_request_matrix() {
    let running = start(Options::default()).await;
    let (good, body) = modern(
        "tools/call",
        Some("echo"),
        r#""name":"echo","arguments":{"text":"x"},"#,
    );
    let good: Vec<(&str, &str)> = good.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(with_headers(&running, &good, &body).await.status, 200);
    let without = |name: &str| {
        good.iter()
            .filter(|(known, _)| *known != name)
            .copied()
            .collect::<Vec<_>>()
    };
    let changed = |name: &str, value: &'static str| {
        good.iter()
            .map(|(known, old)| (*known, if *known == name { value } else { *old }))
            .collect::<Vec<_>>()
    };
    for missing in ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"] {
        let answer = with_headers(&running, &without(missing), &body).await;
        assert_eq!((answer.status, code(&answer)), (400, -32020), "{missing}");
        assert_eq!(answer.json()["id"], 1, "the id is echoed");
    }
    for (name, value) in [
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Method", "Tools/Call"),
        ("Mcp-Name", "other"),
        ("Mcp-Name", "=?base64?ZWNobw?="),
    ] {
        let answer = with_headers(&running, &changed(name, value), &body).await;
        assert_eq!((answer.status, code(&answer)), (400, -32020), "{name}: {value}");
    }
    for (name, value) in [
        ("Mcp-Name", "=?base64?ZWNobw==?="),
        ("Mcp-Method", "  tools/call "),
    ] {
        assert_eq!(
            with_headers(&running, &changed(name, value), &body).await.status,
            200,
            "{name}: {value}"
        );
    }
    let lower: Vec<(String, &str)> = good
        .iter()
        .map(|(name, value)| (name.to_lowercase(), *value))
        .collect();
    let lower: Vec<(&str, &str)> = lower
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    assert_eq!(with_headers(&running, &lower, &body).await.status, 200);

    let unknown = body.replace("2026-07-28", "v999");
    let answer = with_headers(&running, &changed("MCP-Protocol-Version", "v999"), &unknown).await;
    assert_eq!((answer.status, code(&answer)), (400, -32022));
    assert_eq!(answer.json()["error"]["data"]["requested"], "v999");
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
    let answer = with_headers(&running, &changed("Mcp-Method", "tools/list"), bare).await;
    assert_eq!((answer.status, code(&answer)), (400, -32602));

    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "foo/bar",
    ] {
        let answer = running.modern(method, None, "").await;
        assert_eq!((answer.status, code(&answer)), (404, -32601), "{method}");
    }
    let answer = running
        .modern("tools/call", Some("nope"), r#""name":"nope","#)
        .await;
    assert_eq!((answer.status, code(&answer)), (200, -32602));
    let answer = running
        .modern("tools/call", Some("ask"), r#""name":"ask","#)
        .await;
    assert_eq!((answer.status, code(&answer)), (400, -32021));
    let batch = with_headers(&running, &good, &format!("[{body}]")).await;
    assert_eq!((batch.status, code(&batch)), (400, -32600));
    let response = with_headers(&running, &good, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert_eq!((response.status, code(&response)), (400, -32600));
    let unreadable = with_headers(&running, &good, "{not json").await;
    assert_eq!((unreadable.status, code(&unreadable)), (400, -32700));
    assert!(unreadable.json().get("id").is_none(), "no id in this era");
}

#[tokio::test]
async fn p077_a_client_that_goes_cancels_its_handler() {
    let running = start(Options::default()).await;
    let (headers, body) = modern("tools/call", Some("slow"), r#""name":"slow","#);
    let headers: Vec<(&str, &str)> = [BOTH, JSON]
        .into_iter()
        .chain(headers.iter().map(|(name, value)| (*name, value.as_str())))
        .collect();
    let mut stream = running.open("POST", &headers, &body).await;
    until(&mut stream, "progress").await;
    assert_eq!(running.state.cancelled.load(Ordering::SeqCst), 0);
    drop(stream);
    eventually("cancelled", || {
        running.state.cancelled.load(Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn a_subscription_acknowledges_tells_tagged_and_is_kept_alive() {
    let running = start(Options::default().keep_alive(Duration::from_millis(50))).await;
    let (headers, body) = modern(
        "subscriptions/listen",
        None,
        r#""notifications":{"toolsListChanged":true},"#,
    );
    let headers: Vec<(&str, &str)> = [BOTH, JSON]
        .into_iter()
        .chain(headers.iter().map(|(name, value)| (*name, value.as_str())))
        .collect();
    let mut stream = running.open("POST", &headers, &body).await;
    let head = until(&mut stream, "notifications/subscriptions/acknowledged").await;
    assert!(
        head.contains("200 OK") && head.contains("text/event-stream"),
        "{head}"
    );
    until(&mut stream, "\n:\n\n").await;
    assert!(running.server.remove_tool("steps").unwrap());
    let seen = until(&mut stream, "notifications/tools/list_changed").await;
    assert!(
        seen.contains(r#""io.modelcontextprotocol/subscriptionId":1"#),
        "{seen}"
    );
}

#[tokio::test]
async fn a_server_of_this_revision_alone_answers_posts_alone() {
    let server = mcp_server::Server::builder("s", "1")
        .revisions(mcp_types::Revisions::STATELESS)
        .build()
        .unwrap();
    let endpoint = mcp_http::server::Endpoint::new(server);
    let request = http::Request::get("http://localhost/mcp")
        .body(String::new())
        .unwrap();
    let response = tower_service::Service::call(&mut endpoint.clone(), request)
        .await
        .unwrap();
    assert_eq!(response.status(), 405);
    assert_eq!(response.headers()["allow"], "POST");
}
