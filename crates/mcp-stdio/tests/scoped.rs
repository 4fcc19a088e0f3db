//! Progress, events and cancellation of single requests (pitfalls P067 to P076).

mod common;

use common::{call, cancel, connect, initialize, modern, serve};
use mcp_exchange::{Event, Outgoing};
use mcp_types::Revision;
use serde_json::json;

fn note(token: &str, progress: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
    )
}

#[tokio::test(start_paused = true)]
async fn events_come_in_order_and_before_the_answer() {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    served.wire.send(&call(1, "x/progress", 100)).await;
    for step in 1..=100 {
        let event = served.wire.next().await;
        assert_eq!(event["params"]["progress"].as_f64(), Some(f64::from(step) / 2.0));
        assert_eq!(event["params"]["message"], "half");
    }
    assert_eq!(served.wire.next().await["method"], "notifications/x");
    assert_eq!(served.wire.next().await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn p072_tokens_come_back_as_they_came_and_progress_may_be_a_fraction() {
    let mut served = serve();
    served.wire.initialize("2024-11-05").await;
    let line = call(1, "x/progress", 1).replace(r#""progressToken":1"#, r#""progressToken":"a1""#);
    served.wire.send(&line).await;
    assert_eq!(
        served.wire.line().await.unwrap(),
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a1","progress":0.5}}"#,
        "and no message in this revision"
    );
    served.wire.next().await;
    served.wire.next().await;
    let line = call(2, "x/progress", 1).replace(r#","_meta":{"progressToken":2}"#, "");
    assert_eq!(
        served.wire.ask(&line).await["method"],
        "notifications/x",
        "no token, no progress"
    );
}

#[tokio::test(start_paused = true)]
async fn p073_a_server_sends_no_progress_after_its_answer() {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    assert!(served.wire.ask(&call(1, "x/late-progress", 0)).await["result"].is_object());
    served.script.log.until("late false").await;
    served.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn p067_p073_a_client_gives_progress_to_its_call_and_drops_that_of_strangers() {
    let mut peer = connect().await;
    let mut call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    for line in [
        note("99", "1"),
        note("\"0\"", "1"),
        note("null", "1"),
        note("0", "0.5"),
        note("0", "2"),
        r#"{"jsonrpc":"2.0","id":0,"result":{}}"#.to_owned(),
        note("0", "3"),
    ] {
        peer.wire.send(&line).await;
    }
    for expected in ["0.5", "2"] {
        let Event::Notice(notice) = call.next().await else {
            panic!("progress first");
        };
        assert!(
            notice
                .params()
                .unwrap()
                .as_str()
                .contains(&format!("\"progress\":{expected}}}"))
        );
    }
    assert!(matches!(call.next().await, Event::Done(Ok(_))));
    assert!(matches!(call.next().await, Event::Lost(_)));
    assert!(peer.script.log.all().is_empty(), "none of it is anybody else's");
}

#[tokio::test(start_paused = true)]
async fn p069_a_call_that_is_dropped_is_cancelled_on_the_wire() {
    let mut peer = connect().await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    peer.wire.next().await;
    drop(call);
    assert_eq!(
        peer.wire.line().await.unwrap(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}"#
    );
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    peer.wire.next().await;
    call.cancel("timed \"out\"");
    assert_eq!(
        peer.wire.next().await["params"],
        json!({"requestId": 1, "reason": "timed \"out\""})
    );
    // P071, P076: late answers are dropped, and the connection goes on.
    peer.wire.send(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    peer.wire.next().await;
    peer.wire.send(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).await;
    assert!(call.answer().await.unwrap().is_ok());
    peer.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn handshakes_and_probes_are_never_cancelled_nor_anything_in_2024_10_07() {
    let mut peer = connect().await;
    for method in ["initialize", "server/discover"] {
        drop(
            peer.link
                .open(peer.link.next_id(), Outgoing::new(method, None))
                .await
                .unwrap(),
        );
        peer.wire.next().await;
    }
    peer.link.negotiated(Revision::V2024_10_07);
    drop(
        peer.link
            .open(peer.link.next_id(), Outgoing::new("x", None))
            .await
            .unwrap(),
    );
    peer.wire.next().await;
    peer.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn p071_a_cancelled_request_is_stopped_and_gets_no_answer() {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    for line in [call(1, "x/wait", 0), modern(2, "x/wait", 0)] {
        served.wire.send(&line).await;
    }
    served.wire.send(&cancel(1)).await;
    served.wire.send(&cancel(2)).await;
    served.script.log.until("dropped 1").await;
    served.script.log.until("dropped 2").await;
    served.script.release.notify_waiters();
    served.wire.silence().await;
    // The id is free again.
    assert!(served.wire.ask(&call(1, "x/echo", 0)).await["result"].is_object());
}

#[tokio::test(start_paused = true)]
async fn p074_cancellations_that_match_nothing_are_ignored() {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    served.wire.ask(&call(1, "x/echo", 0)).await;
    served.wire.send(&call(2, "x/wait", 0)).await;
    for params in [
        r#"{"requestId":1}"#,
        r#"{"requestId":99}"#,
        r#"{"requestId":"2"}"#,
        r#"{"requestId":null}"#,
        r#"{"requestId":[2]}"#,
        "{}",
        "[2]",
    ] {
        served
            .wire
            .send(&format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#
            ))
            .await;
    }
    served
        .wire
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#)
        .await;
    served.wire.lives().await;
    served.script.release.notify_one();
    assert_eq!(served.wire.next().await["id"], 2, "still under way");
}

#[tokio::test(start_paused = true)]
async fn initialize_cannot_be_cancelled() {
    let mut served = serve();
    // It waits once before it is refused.
    let line = initialize("1", "2025-11-25").replace(r#""capabilities""#, r#""name":"x","capabilities""#);
    served
        .wire
        .bytes(
            format!(
                "{line}\n{}\n",
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}"#
            )
            .as_bytes(),
        )
        .await;
    assert_eq!(served.wire.next().await["error"]["code"], -32001);
}

#[tokio::test(start_paused = true)]
async fn p066_a_question_without_an_answer_holds_up_nothing_else() {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    served.wire.send(&call(1, "x/ask", 0)).await;
    let question = served.wire.next().await;
    assert_eq!(question["method"], "roots/list");
    assert!(served.wire.ask(&call(2, "x/echo", 0)).await["result"].is_object());
    // The caller gives up: so does the question.
    served.wire.send(&cancel(1)).await;
    let gone = served.wire.next().await;
    assert_eq!(gone["method"], "notifications/cancelled");
    assert_eq!(gone["params"]["requestId"], question["id"]);
    served.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn p054_a_client_answers_requests_while_its_own_calls_wait() {
    let mut peer = connect().await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("initialize", None))
        .await
        .unwrap();
    peer.wire.next().await;
    peer.wire
        .send(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#)
        .await;
    peer.wire.lives().await;
    peer.wire.send(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).await;
    assert!(call.answer().await.unwrap().is_ok());
    assert_eq!(peer.script.log.all(), ["note notifications/message"]);
}

#[tokio::test(start_paused = true)]
async fn a_client_serves_questions_and_stops_them_when_they_are_cancelled() {
    let mut peer = connect().await;
    peer.link.negotiated(Revision::V2025_11_25);
    assert_eq!(
        peer.wire
            .code(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
            .await,
        (-32601, json!(1)),
        "no server asks that"
    );
    peer.wire.send(&call(2, "x/wait", 0)).await;
    peer.wire.send(&cancel(2)).await;
    peer.script.log.until("dropped 2").await;
    peer.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn a_stateless_client_writes_no_response() {
    let mut peer = connect().await;
    peer.link.negotiated(Revision::V2026_07_28);
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"roots/list"}"#,
        r#"{"id":3,"method":"ping"}"#,
        "garbage",
        "[]",
    ] {
        peer.wire.send(line).await;
    }
    peer.wire.silence().await;
    // The end of a subscription is told to the handler.
    peer.wire.send(&cancel(0)).await;
    peer.script.log.until("note notifications/cancelled").await;
}
