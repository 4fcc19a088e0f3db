//! The revisions with sessions, 2025-03-26 to 2025-11-25.
#![cfg(feature = "server")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::{BOTH, JSON, call, eventually, initialize, start, until};
use mcp_http::server::Options;

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn counted() -> Options {
    let next = AtomicUsize::new(1);
    Options::default().session_ids(move || format!("session-{}", next.fetch_add(1, Ordering::Relaxed)))
}

#[tokio::test]
async fn the_seven_exchanges_of_the_lesson() {
    let running = start(counted()).await;
    let hello = initialize("2025-11-25", "{}");
    let refused = running
        .send("POST", &[("Accept", "application/json"), JSON], &hello)
        .await;
    assert_eq!(
        (refused.status, refused.header("content-type")),
        (406, Some("application/json"))
    );
    assert_eq!(
        refused.json(),
        serde_json::json!({"jsonrpc":"2.0","error":{"code":-32000,"message":
            "Not Acceptable: Client must accept both application/json and text/event-stream"},"id":null})
    );

    let opened = running.post(&[], &hello).await;
    assert_eq!(
        (opened.status, opened.header("content-type")),
        (200, Some("text/event-stream"))
    );
    assert_eq!(opened.header("mcp-session-id"), Some("session-1"));
    assert!(
        opened.body.starts_with("event: message\ndata: {") && opened.body.ends_with("}\n\n"),
        "{opened:?}"
    );
    assert_eq!(opened.json()["result"]["protocolVersion"], "2025-11-25");

    let with = [
        ("Mcp-Session-Id", "session-1"),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let ready = running
        .post(&with, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    assert_eq!(
        (ready.status, ready.header("content-type"), ready.body.as_str()),
        (202, None, "")
    );

    let list = running.post(&with, LIST).await;
    assert_eq!(list.status, 200);
    assert!(list.json()["result"]["tools"].is_array());

    let without = running.post(&[], LIST).await;
    assert_eq!(without.status, 400);
    assert_eq!(
        without.json(),
        serde_json::json!({"jsonrpc":"2.0","error":{"code":-32000,"message":
            "Bad Request: Mcp-Session-Id header is required"},"id":null})
    );

    let deleted = running.send("DELETE", &with, "").await;
    assert_eq!(
        (
            deleted.status,
            deleted.header("content-type"),
            deleted.body.as_str()
        ),
        (200, None, "")
    );

    let gone = running.post(&with, LIST).await;
    assert_eq!(gone.status, 404);
    assert_eq!(
        gone.json(),
        serde_json::json!({"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null})
    );
    assert_eq!(running.endpoint.sessions(), 0);
}

#[tokio::test]
async fn each_revision_is_echoed_and_an_unknown_one_gets_the_newest_handshake() {
    let running = start(Options::default()).await;
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let answer = running.post(&[], &initialize(asked, "{}")).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], answered, "{asked}");
        let id = answer.header("mcp-session-id").unwrap();
        assert!(id.len() >= 32 && id.bytes().all(|b| b.is_ascii_graphic()), "{id}");
    }
}

#[tokio::test]
async fn p057_p058_the_version_header_is_checked_after_the_handshake() {
    let running = start(Options::default()).await;
    let contradicts = [("MCP-Protocol-Version", "2099-01-01")];
    assert_eq!(
        running
            .post(&contradicts, &initialize("2025-11-25", "{}"))
            .await
            .status,
        400
    );
    let id = running.session("2025-06-18", "{}").await;
    let answer = running
        .post(
            &[("Mcp-Session-Id", &id), ("MCP-Protocol-Version", "2099-01-01")],
            LIST,
        )
        .await;
    assert_eq!(answer.status, 400);
    let spaced = [
        ("Mcp-Session-Id", id.as_str()),
        ("MCP-Protocol-Version", "  2025-06-18 "),
    ];
    assert_eq!(running.post(&spaced, LIST).await.status, 200, "p082");
    assert_eq!(running.post(&[("Mcp-Session-Id", &id)], LIST).await.status, 200);
}

#[tokio::test]
async fn p087_p112_session_ids_are_looked_up_only_where_they_can_be_one() {
    let running = start(Options::default()).await;
    assert_eq!(
        running.post(&[("Mcp-Session-Id", "made-up")], LIST).await.status,
        404
    );
    let long = "x".repeat(10_000);
    assert_eq!(running.post(&[("Mcp-Session-Id", &long)], LIST).await.status, 400);
    assert_eq!(running.post(&[("Mcp-Session-Id", "a b")], LIST).await.status, 400);
    let fresh = running
        .post(&[("Mcp-Session-Id", "made-up")], &initialize("2025-11-25", "{}"))
        .await;
    assert_eq!(fresh.status, 200);
    assert_ne!(fresh.header("mcp-session-id"), Some("made-up"));
}

#[tokio::test]
async fn bodies_that_cannot_be_served() {
    let running = start(Options::default().max_body(1000)).await;
    let plain = running
        .send("POST", &[BOTH, ("Content-Type", "text/plain")], LIST)
        .await;
    assert_eq!(plain.status, 415);
    let unreadable = running.post(&[], "{not json").await;
    assert_eq!(
        (unreadable.status, unreadable.json()["error"]["code"].clone()),
        (400, (-32700).into())
    );
    let huge = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":"{}"}}}}"#,
        "x".repeat(1000)
    );
    let huge = running.post(&[], &huge).await;
    assert_eq!(huge.status, 413, "p111");
    assert!(huge.json()["error"]["message"].as_str().unwrap().contains("1000"));
    assert_eq!(running.send("PUT", &[], "").await.status, 405);
}

#[tokio::test]
async fn p108_foreign_pages_are_refused_on_every_method_and_allowed_ones_get_cors() {
    let running = start(Options::default().allow_origin("https://app.example")).await;
    for verb in ["POST", "GET", "DELETE", "OPTIONS"] {
        let foreign = running
            .send(verb, &[BOTH, JSON, ("Origin", "https://evil.example")], "")
            .await;
        assert_eq!(foreign.status, 403, "{verb}");
        assert!(foreign.body.contains("allow_origin"), "{foreign:?}");
        let rebound = running
            .send(verb, &[BOTH, JSON, ("Host", "evil.example")], "")
            .await;
        assert_eq!(rebound.status, 403, "{verb}");
    }
    let asked = running
        .send("OPTIONS", &[("Origin", "https://app.example")], "")
        .await;
    assert_eq!(asked.status, 204);
    assert_eq!(
        asked.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    assert!(
        asked
            .header("access-control-allow-headers")
            .unwrap()
            .contains("Mcp-Session-Id")
    );
    let opened = running
        .post(
            &[("Origin", "https://app.example")],
            &initialize("2025-11-25", "{}"),
        )
        .await;
    assert_eq!(
        opened.header("access-control-expose-headers"),
        Some("Mcp-Session-Id")
    );
}

#[tokio::test]
async fn progress_comes_on_the_stream_of_its_call_before_the_answer() {
    let running = start(Options::default()).await;
    let id = running.session("2025-11-25", "{}").await;
    let body = call(5, "steps", r#","_meta":{"progressToken":7}"#);
    let answer = running.post(&[("Mcp-Session-Id", &id)], &body).await;
    let events: Vec<&str> = answer
        .body
        .split("\n\n")
        .filter(|event| event.contains("data:"))
        .collect();
    assert_eq!(events.len(), 4, "{answer:?}");
    for (at, event) in events[..3].iter().enumerate() {
        assert!(
            event.contains(&format!(r#""progressToken":7,"progress":{}"#, at + 1)),
            "{event}"
        );
    }
    assert!(events[3].contains(r#""id":5"#) && events[3].contains("done"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"), "p097");
    assert!(!answer.body.contains("id: "), "no ids without a store");
}

#[tokio::test]
async fn json_mode_answers_with_one_body_and_the_own_stream_gets_the_rest() {
    let running = start(Options::default().json(true)).await;
    let id = running.session("2025-11-25", "{}").await;
    let with = [("Mcp-Session-Id", id.as_str())];
    let mut own = running
        .open("GET", &[("Accept", "text/event-stream"), with[0]], "")
        .await;
    until(&mut own, ":\n\n").await;
    let answer = running
        .post(&with, &call(5, "steps", r#","_meta":{"progressToken":7}"#))
        .await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done");
    until(&mut own, r#""progress":3"#).await;
}

#[tokio::test]
async fn a_question_goes_out_on_the_stream_and_its_answer_comes_as_a_post() {
    let running = start(Options::default()).await;
    let id = running.session("2025-11-25", r#"{"elicitation":{}}"#).await;
    let with = [BOTH, JSON, ("Mcp-Session-Id", id.as_str())];
    let mut stream = running.open("POST", &with, &call(9, "ask", "")).await;
    let seen = until(&mut stream, "elicitation/create").await;
    assert!(seen.contains(r#""id":0"#), "{seen}");
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{}}}"#;
    assert_eq!(running.post(&with[2..], answer).await.status, 202);
    let seen = until(&mut stream, r#""id":9"#).await;
    assert!(seen.contains(r#""text":"true""#), "{seen}");
}

#[tokio::test]
async fn p077_a_closed_connection_cancels_nothing_but_a_notification_does() {
    let running = start(Options::default()).await;
    let id = running.session("2025-11-25", "{}").await;
    let with = [BOTH, JSON, ("Mcp-Session-Id", id.as_str())];
    let mut stream = running
        .open("POST", &with, &call(3, "slow", r#","_meta":{"progressToken":1}"#))
        .await;
    until(&mut stream, "progress").await;
    drop(stream);
    let echo = running
        .post(&with[2..], &call(4, "echo", r#","arguments":{"text":"x"}"#))
        .await;
    assert_eq!(echo.status, 200);
    assert_eq!(running.state.cancelled.load(Ordering::SeqCst), 0);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#;
    assert_eq!(running.post(&with[2..], cancel).await.status, 202);
    eventually("cancelled", || {
        running.state.cancelled.load(Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn a_switch_makes_a_closed_connection_cancel() {
    let running = start(Options::default().disconnect_cancels(true)).await;
    let id = running.session("2025-11-25", "{}").await;
    let with = [BOTH, JSON, ("Mcp-Session-Id", id.as_str())];
    let mut stream = running
        .open("POST", &with, &call(3, "slow", r#","_meta":{"progressToken":1}"#))
        .await;
    until(&mut stream, "progress").await;
    drop(stream);
    eventually("cancelled", || {
        running.state.cancelled.load(Ordering::SeqCst) == 1
    })
    .await;
}

#[tokio::test]
async fn the_own_stream_is_one_tells_of_changes_and_ends_with_its_session() {
    let running = start(Options::default()).await;
    let id = running.session("2025-11-25", "{}").await;
    let with = [("Accept", "text/event-stream"), ("Mcp-Session-Id", id.as_str())];
    assert_eq!(running.send("GET", &with[..1], "").await.status, 400);
    assert_eq!(
        running
            .send("GET", &[("Accept", "application/json"), with[1]], "")
            .await
            .status,
        406
    );
    let mut own = running.open("GET", &with, "").await;
    let head = until(&mut own, ":\n\n").await;
    assert!(head.contains("text/event-stream"), "{head}");
    assert_eq!(running.send("GET", &with, "").await.status, 409);
    assert!(running.server.remove_tool("steps").unwrap());
    until(&mut own, "notifications/tools/list_changed").await;
    assert_eq!(running.send("DELETE", &with[1..], "").await.status, 200);
    let mut rest = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut own, &mut rest)
        .await
        .unwrap();
}

#[tokio::test]
async fn batches_are_answered_in_2025_03_26_and_refused_elsewhere() {
    let running = start(Options::default()).await;
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},7,
        {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"steps"}}]"#;
    let old = running.session("2025-03-26", "{}").await;
    let answer = running.post(&[("Mcp-Session-Id", &old)], batch).await;
    assert_eq!(answer.status, 200);
    let answers = answer.json();
    assert_eq!(answers.as_array().unwrap().len(), 3, "{answers}");
    let quiet = r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#;
    assert_eq!(running.post(&[("Mcp-Session-Id", &old)], quiet).await.status, 202);
    let new = running.session("2025-06-18", "{}").await;
    let refused = running.post(&[("Mcp-Session-Id", &new)], batch).await;
    assert_eq!(
        (refused.status, refused.json()["error"]["code"].clone()),
        (400, (-32600).into())
    );
}

#[tokio::test]
async fn p105_a_panic_costs_one_call() {
    let running = start(Options::default()).await;
    let id = running.session("2025-11-25", "{}").await;
    let with = [("Mcp-Session-Id", id.as_str())];
    assert_eq!(
        running.post(&with, &call(1, "boom", "")).await.json()["error"]["code"],
        -32603
    );
    assert_eq!(running.post(&with, LIST).await.status, 200);
}

#[tokio::test]
async fn p113_equal_ids_of_two_sessions_never_mix() {
    let running = start(Options::default()).await;
    let (one, two) = (
        running.session("2025-11-25", "{}").await,
        running.session("2025-11-25", "{}").await,
    );
    for (id, text) in [(&one, "for one"), (&two, "for two")] {
        let body = call(1, "echo", &format!(r#","arguments":{{"text":"{text}"}}"#));
        let answer = running.post(&[("Mcp-Session-Id", id)], &body).await;
        assert_eq!(answer.json()["result"]["content"][0]["text"], text);
    }
}

#[tokio::test]
async fn p102_sessions_are_capped_and_end_when_idle() {
    let running = start(Options::default().sessions(50, Duration::from_millis(200))).await;
    for _ in 0..200 {
        assert_eq!(
            running.post(&[], &initialize("2025-11-25", "{}")).await.status,
            200
        );
        assert!(running.endpoint.sessions() <= 50);
    }
    eventually("no session is left", || running.endpoint.sessions() == 0).await;
}

#[tokio::test]
async fn p099_p100_a_cut_stream_is_resumed_at_any_byte_and_loses_or_doubles_nothing() {
    let running = start(Options::default().replay(64 * 1024, Duration::from_secs(60))).await;
    let id = running.session("2025-11-25", "{}").await;
    let with = [BOTH, JSON, ("Mcp-Session-Id", id.as_str())];
    let body = call(5, "steps", r#","_meta":{"progressToken":7}"#);
    let whole = running.send("POST", &with, &body).await.body;
    assert!(
        whole.starts_with("id: ") && whole.contains("-0\ndata:\n\n"),
        "a priming event: {whole}"
    );
    let messages = |text: &str| -> Vec<String> {
        let complete = text.rsplit_once("\n\n").map_or("", |(complete, _)| complete);
        let events = complete
            .split("\n\n")
            .filter(|event| event.contains("event: message"));
        events
            .map(|event| event.rsplit_once("data: ").unwrap().1.to_owned())
            .collect()
    };
    let last_id = |text: &str| -> Option<String> {
        let complete = text.rsplit_once("\n\n")?.0;
        let line = complete.lines().rev().find(|line| line.starts_with("id: "))?;
        Some(line.trim_start_matches("id: ").to_owned())
    };
    for cut in (0..=whole.len()).filter(|cut| whole.is_char_boundary(*cut)) {
        // The client saw this much of a fresh call's stream before its connection broke.
        let body = body.replace(r#""id":5"#, &format!(r#""id":{}"#, cut + 100));
        let full = running.send("POST", &with, &body).await.body;
        let seen = &full[..cut.min(full.len())];
        let Some(last) = last_id(seen) else { continue };
        let get = [
            ("Accept", "text/event-stream"),
            with[2],
            ("Last-Event-ID", last.as_str()),
        ];
        let rest = running.send("GET", &get, "").await.body;
        let mut got = messages(seen);
        got.extend(messages(&rest));
        assert_eq!(got, messages(&full), "cut at {cut} after {last}");
    }
    let unknown = [
        ("Accept", "text/event-stream"),
        with[2],
        ("Last-Event-ID", "999-1"),
    ];
    assert_eq!(running.send("GET", &unknown, "").await.status, 400);
}

#[tokio::test]
async fn p101_no_priming_event_before_the_revision_that_defines_it() {
    let running = start(Options::default().replay(1024, Duration::from_secs(60))).await;
    let id = running.session("2025-06-18", "{}").await;
    let answer = running
        .post(&[("Mcp-Session-Id", &id)], &call(1, "steps", ""))
        .await;
    assert!(answer.body.contains("event: message\nid: "), "{answer:?}");
    assert!(!answer.body.contains("data:\n"), "{answer:?}");
}

#[tokio::test]
async fn closing_lets_requests_finish_and_ends_the_sessions() {
    let running = start(Options::default()).await;
    let id = running.session("2025-11-25", "{}").await;
    let mut own = running
        .open(
            "GET",
            &[("Accept", "text/event-stream"), ("Mcp-Session-Id", &id)],
            "",
        )
        .await;
    until(&mut own, ":\n\n").await;
    let endpoint = running.endpoint.clone();
    running.listening.close().await;
    assert_eq!(endpoint.sessions(), 0);
}
