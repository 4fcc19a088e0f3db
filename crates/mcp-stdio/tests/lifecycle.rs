//! The handshake, both eras on one pipe, and batches (pitfalls P042, P050 to P056; protocol versions by name).

mod common;

use common::{call, connect, initialize, modern, serve, serve_handler};
use mcp_exchange::{Exchange, Handler, Outgoing, Reply};
use mcp_stdio::Options;
use mcp_types::{Revision, Revisions};
use serde_json::{Value, json};

const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[tokio::test(start_paused = true)]
async fn p050_requests_are_served_once_initialize_was_answered() {
    let mut served = serve();
    served.wire.ask(&initialize("i", "2025-11-25")).await;
    let early = served
        .wire
        .ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        .await;
    assert!(early["result"].is_object());
    served.wire.send(READY).await;
    served.script.log.until("note notifications/initialized").await;
    assert!(served.script.log.has("attend 2025-11-25"));
    served.wire.send(READY).await;
    served.wire.lives().await;
    let log = served.script.log.all();
    assert_eq!(log.iter().filter(|line| line.starts_with("attend")).count(), 1);
    assert_eq!(
        log.iter().filter(|line| line.starts_with("note")).count(),
        1,
        "the second is dropped"
    );
}

#[tokio::test(start_paused = true)]
async fn p051_a_ping_may_be_the_very_first_message() {
    let mut served = serve();
    served.wire.lives().await;
    let answer = served.wire.initialize("2024-11-05").await;
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
}

#[tokio::test(start_paused = true)]
async fn p052_a_request_before_initialize_gets_an_error_and_the_handshake_can_follow() {
    let mut served = serve();
    let refused = served
        .wire
        .ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        .await;
    assert_eq!(refused["error"]["code"], -32600);
    let text = refused["error"]["message"].as_str().unwrap();
    assert!(
        text.contains("2026-07-28") && text.contains("2025-11-25"),
        "names the versions: {text}"
    );
    served.wire.send(READY).await;
    served
        .wire
        .send(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#)
        .await;
    served.wire.initialize("2025-11-25").await;
    served.wire.lives().await;
    assert_eq!(
        served.script.log.all(),
        [
            "call initialize \"init\"",
            "note notifications/initialized",
            "attend 2025-11-25"
        ],
        "notifications before the handshake are dropped"
    );
}

#[tokio::test(start_paused = true)]
async fn p055_a_second_initialize_is_refused_and_changes_nothing() {
    let mut served = serve();
    served.wire.initialize("2025-06-18").await;
    assert_eq!(
        served.wire.code(&initialize("again", "2025-11-25")).await,
        (-32600, json!("again"))
    );
    // The first revision still holds: no batches, and no method of a later one.
    assert_eq!(
        served
            .wire
            .code(r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list"}"#)
            .await
            .0,
        -32601
    );
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_the_handler_refuses_may_be_tried_again() {
    let mut served = serve();
    // Refused after a wait, in a task of its own.
    let refused = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","name":"x"}}"#;
    assert_eq!(served.wire.code(refused).await, (-32001, json!(1)));
    assert_eq!(
        served
            .wire
            .code(r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}"#)
            .await,
        (-32602, json!(2))
    );
    assert_eq!(served.wire.code(&call(3, "x/echo", 0)).await.0, -32600);
    assert_eq!(served.wire.code(refused).await.0, -32001);
    served.wire.initialize("2025-11-25").await;
    assert!(served.wire.ask(&call(4, "x/echo", 0)).await["result"].is_object());
}

#[tokio::test(start_paused = true)]
async fn p056_an_unknown_version_is_answered_with_the_newest_handshake() {
    for asked in ["2099-01-01", "2026-07-28", "v999", ""] {
        let mut served = serve();
        let answer = served.wire.initialize(asked).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{asked}");
    }
}

/// Serves some revisions only.
struct Only(Revisions);

impl Handler for Only {
    async fn call(&self, exchange: Exchange) -> Reply {
        let version = exchange.scope.revision().name();
        let text = format!("\"{version}\"");
        exchange
            .scope
            .complete_raw(&mcp_jsonrpc::RawJson::from_text(text).unwrap())
    }

    fn revisions(&self) -> Revisions {
        self.0
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_of_one_era_names_its_versions_to_the_other() {
    let (mut wire, _task) = serve_handler(Only(Revisions::STATELESS), Options::default(), 4096);
    let refused = wire.ask(&initialize("i", "2025-11-25")).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(
        refused["error"]["data"],
        json!({"supported": ["2026-07-28"], "requested": "2025-11-25"})
    );
    assert_eq!(wire.ask(&modern(1, "x", 0)).await["result"], "2026-07-28");

    let old = Revisions::only(Revision::V2025_06_18);
    let (mut wire, _task) = serve_handler(Only(old), Options::default(), 4096);
    let refused = wire.ask(&modern(1, "x", 0)).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["supported"], json!(["2025-06-18"]));
    assert_eq!(
        wire.ask(&initialize("i", "2025-11-25")).await["result"],
        "2025-06-18"
    );
}

#[tokio::test(start_paused = true)]
async fn both_eras_run_on_one_pipe_at_once() {
    let mut served = serve();
    assert!(served.wire.ask(&modern(1, "x/echo", 1)).await["result"].is_object());
    served.wire.initialize("2025-06-18").await;
    // One of each under way; each has its own progress token and answer.
    served.wire.send(&modern(2, "x/wait", 2)).await;
    served.wire.send(&call(3, "x/wait", 3)).await;
    let progress = served.wire.ask(&modern(4, "x/progress", 1)).await;
    assert_eq!(progress["params"]["progressToken"], "t4");
    served.wire.next().await;
    served.wire.next().await;
    let progress = served.wire.ask(&call(5, "x/progress", 1)).await;
    assert_eq!(progress["params"]["progressToken"], 5);
    served.wire.next().await;
    served.wire.next().await;
    // A cancellation finds its request whatever the era.
    served.wire.send(&common::cancel(2)).await;
    served.script.log.until("dropped 2").await;
    served.script.release.notify_one();
    assert_eq!(served.wire.next().await["id"], 3);
    // Methods are judged by the era of the request.
    let ping = modern(6, "ping", 0);
    assert_eq!(served.wire.code(&ping).await, (-32601, json!(6)));
    assert_eq!(served.wire.code(&modern(7, "initialize", 0)).await.0, -32601);
    served.wire.lives().await;
    // The stateless era has nobody to ask.
    assert_eq!(served.wire.code(&modern(8, "x/ask", 0)).await.0, -1);
}

#[tokio::test(start_paused = true)]
async fn a_stateless_request_must_say_all_that_is_required() {
    let mut served = serve();
    let with = |meta: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{{meta}}}}}}}"#)
    };
    const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"#;
    const CAPABILITIES: &str = r#""io.modelcontextprotocol/clientCapabilities":"#;
    for (meta, code) in [
        (format!(r#"{VERSION}"2026-07-28""#), -32602),
        (format!(r#"{VERSION}"2025-11-25",{CAPABILITIES}{{}}"#), -32022),
        (format!(r#"{VERSION}"v999",{CAPABILITIES}{{}}"#), -32022),
        (format!(r#"{VERSION}5,{CAPABILITIES}{{}}"#), -32602),
        (format!(r#"{VERSION}"2026-07-28",{CAPABILITIES}[]"#), -32602),
    ] {
        assert_eq!(served.wire.code(&with(&meta)).await, (code, json!(1)), "{meta}");
    }
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    assert_eq!(served.wire.code(discover).await.0, -32602);
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_to_the_client_and_its_answer_to_the_handler() {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    let question = served.wire.ask(&call(2, "x/ask", 0)).await;
    assert_eq!(question["method"], "roots/list");
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"roots":[]}}}}"#,
        question["id"]
    );
    assert_eq!(
        served.wire.ask(&answer).await,
        json!({"jsonrpc":"2.0","id":2,"result":{"roots":[]}})
    );
    // Progress of a question is for whoever asked, and not for the handler of notifications.
    served.wire.send(&call(3, "x/ask", 0)).await;
    let id = served.wire.next().await["id"].clone();
    served
        .wire
        .send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
        ))
        .await;
    served.wire.lives().await;
    assert!(!served.script.log.has("note notifications/progress"));
}

#[tokio::test(start_paused = true)]
async fn p042_outside_2025_03_26_a_batch_gets_one_error_and_none_of_it_runs() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"x/echo"}]"#;
    for version in [None, Some("2024-11-05"), Some("2025-06-18"), Some("2025-11-25")] {
        let mut served = serve();
        if let Some(version) = version {
            served.wire.initialize(version).await;
        }
        // Each time, as somebody waits each time.
        for _ in 0..2 {
            assert_eq!(
                served.wire.code(batch).await,
                (-32600, Value::Null),
                "{version:?}"
            );
        }
        served.wire.silence().await;
        assert!(!served.script.log.has("call x/echo 2"));
        served.wire.lives().await;
    }
}

#[tokio::test(start_paused = true)]
async fn p042_in_2025_03_26_each_message_of_a_batch_is_judged_and_one_array_answers() {
    let mut served = serve();
    served.wire.initialize("2025-03-26").await;
    let batch = format!(
        r#"[{},{},{{"jsonrpc":"2.0","method":"notifications/x"}},{},7,{{"id":8,"method":"ping"}},{{"jsonrpc":"2.0","id":9,"result":{{}}}},{}]"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        call(2, "x/later", 2),
        call(3, "x/echo", 3),
        initialize("again", "2025-03-26"),
    );
    let answers = served.wire.ask(&batch).await;
    let answers = answers.as_array().unwrap();
    let find = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(find(json!(1))["result"], json!({}));
    assert_eq!(find(json!(2))["result"]["arguments"], 2);
    assert_eq!(find(json!(3))["result"]["arguments"], 3);
    assert_eq!(find(Value::Null)["error"]["code"], -32600);
    assert_eq!(find(json!(8))["error"]["code"], -32600);
    assert_eq!(find(json!("again"))["error"]["code"], -32600);
    assert_eq!(answers.len(), 6);
    assert!(served.script.log.has("note notifications/x"));
    served.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn batches_without_requests_get_no_answer_and_empty_ones_an_error() {
    let mut served = serve();
    served.wire.initialize("2025-03-26").await;
    for quiet in [
        r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#,
        r#"[{"jsonrpc":"2.0","id":5,"result":{}}]"#,
    ] {
        served.wire.send(quiet).await;
    }
    served.wire.silence().await;
    assert_eq!(served.wire.code("[]").await, (-32600, Value::Null));
    served.wire.lives().await;
    let long = format!(
        "[{}]",
        vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; 65].join(",")
    );
    assert_eq!(served.wire.code(&long).await, (-32600, Value::Null));
}

#[tokio::test(start_paused = true)]
async fn a_batch_answers_when_its_last_request_is_answered_or_cancelled() {
    let mut served = serve();
    served.wire.initialize("2025-03-26").await;
    served
        .wire
        .send(&format!("[{},{}]", call(1, "x/wait", 0), call(2, "x/echo", 0)))
        .await;
    served.wire.lives().await;
    served.wire.send(&common::cancel(1)).await;
    let answers = served.wire.next().await;
    assert_eq!(answers.as_array().unwrap().len(), 1);
    assert_eq!(answers[0]["id"], 2);
    // A batch of which everything is cancelled has nothing to say.
    served.wire.send(&format!("[{}]", call(3, "x/wait", 0))).await;
    served.wire.send(&common::cancel(3)).await;
    served.script.log.until("dropped 3").await;
    served.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_with_a_stateless_request_is_refused_as_a_whole() {
    let mut served = serve();
    served.wire.initialize("2025-03-26").await;
    let batch = format!("[{},{}]", call(1, "x/echo", 0), modern(2, "x/echo", 0));
    assert_eq!(served.wire.code(&batch).await, (-32600, Value::Null));
    assert!(!served.script.log.has("call x/echo 1"));
}

#[tokio::test(start_paused = true)]
async fn a_client_takes_answers_in_a_batch_in_2025_03_26() {
    let mut peer = connect().await;
    let one = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    let two = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    peer.wire.next().await;
    peer.wire.next().await;
    // Not before both sides settled on it.
    peer.wire
        .send(r#"[{"jsonrpc":"2.0","id":0,"result":"early"}]"#)
        .await;
    peer.wire.silence().await;
    peer.link.negotiated(Revision::V2025_03_26);
    peer.wire
        .send(r#"[{"jsonrpc":"2.0","id":1,"result":1},5,{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":0,"result":0}]"#)
        .await;
    assert_eq!(one.answer().await.unwrap().unwrap().as_str(), "0");
    assert_eq!(two.answer().await.unwrap().unwrap().as_str(), "1");
    assert_eq!(
        peer.wire.line().await.unwrap(),
        r#"[{"jsonrpc":"2.0","id":7,"result":{}}]"#
    );
}
