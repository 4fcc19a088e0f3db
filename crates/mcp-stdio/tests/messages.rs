//! JSON-RPC on the wire (pitfalls P027 to P049).

mod common;

use common::{Served, call, connect, serve, serve_with};
use mcp_exchange::Outgoing;
use mcp_stdio::Options;
use serde_json::{Value, json};

async fn stateful() -> Served {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    served
}

#[tokio::test(start_paused = true)]
async fn p027_a_slow_call_does_not_keep_a_ping_from_its_answer() {
    let mut served = stateful().await;
    served.wire.send(&call(1, "x/sleep", 10_000)).await;
    served.wire.lives().await;
    assert_eq!(served.wire.next().await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn p028_p031_ids_come_back_as_they_came() {
    let mut served = stateful().await;
    for id in [
        "1",
        "\"1\"",
        "1774232524389",
        "-5",
        "9223372036854775807",
        "\"\"",
        "\"é\\\"\\\\\"",
        "0",
    ] {
        for method in ["ping", "x/echo", "x/later", "x/unknown"] {
            served
                .wire
                .send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#))
                .await;
            let line = served.wire.line().await.unwrap();
            assert!(
                line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"#)),
                "{line}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn p029_p030_answers_find_their_calls() {
    let mut peer = connect().await;
    let open = async |link: &mcp_exchange::BoxLink| {
        link.open(link.next_id(), Outgoing::new("x", None)).await.unwrap()
    };
    let (zero, one, two) = (
        open(&peer.link).await,
        open(&peer.link).await,
        open(&peer.link).await,
    );
    // The text of a pending number; text that only looks like it; a stranger.
    peer.wire
        .send(r#"{"jsonrpc":"2.0","id":"00","result":"no"}"#)
        .await;
    peer.wire.send(r#"{"jsonrpc":"2.0","id":99,"result":"no"}"#).await;
    peer.wire
        .send(r#"{"jsonrpc":"2.0","id":"0","result":"zero"}"#)
        .await;
    peer.wire.send(r#"{"jsonrpc":"2.0","id":2,"result":"two"}"#).await;
    peer.wire.send(r#"{"jsonrpc":"2.0","id":1,"result":"one"}"#).await;
    assert_eq!(zero.answer().await.unwrap().unwrap().as_str(), "\"zero\"");
    assert_eq!(one.answer().await.unwrap().unwrap().as_str(), "\"one\"");
    assert_eq!(two.answer().await.unwrap().unwrap().as_str(), "\"two\"");
}

#[tokio::test(start_paused = true)]
async fn p030_one_and_its_text_are_two_requests_of_a_peer() {
    let mut served = stateful().await;
    served.wire.send(&call(1, "x/wait", 0)).await;
    served
        .wire
        .send(r#"{"jsonrpc":"2.0","id":"1","method":"x/later","params":{}}"#)
        .await;
    assert_eq!(served.wire.next().await["id"], "1");
    served.script.release.notify_one();
    assert_eq!(served.wire.next().await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn p032_numbers_pass_through_unchanged() {
    let mut served = stateful().await;
    let exact = r#"{"a":9007199254740993,"b":18446744073709551615,"c":1.0,"d":-0,"e":1e400}"#;
    served
        .wire
        .send(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x/echo","params":{exact}}}"#
        ))
        .await;
    assert!(served.wire.line().await.unwrap().contains(exact));
}

#[tokio::test(start_paused = true)]
async fn p033_absent_null_and_empty_params_reach_the_handler_alike() {
    let mut served = stateful().await;
    for params in ["", r#","params":null"#, r#","params":{}"#] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"{params}}}"#);
        assert_eq!(served.wire.ask(&line).await["result"], json!({}), "{params}");
    }
}

#[tokio::test(start_paused = true)]
async fn p036_a_report_without_an_id_leaves_calls_pending_and_the_session_alive() {
    let mut peer = connect().await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    for line in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":"late but right"}"#,
    ] {
        peer.wire.send(line).await;
    }
    assert!(call.answer().await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn p036_a_report_has_id_null_and_none_where_only_the_stateless_era_was_seen() {
    let mut served = serve();
    assert_eq!(served.wire.code("x").await.1, Value::Null);
    served.wire.ask(&common::modern(1, "x/echo", 0)).await;
    assert_eq!(served.wire.code("x").await.1, "absent");
    served.wire.initialize("2025-06-18").await;
    assert_eq!(served.wire.code("x").await.1, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn p037_odd_answers_succeed_or_fail_their_own_call_at_once() {
    let mut peer = connect().await;
    let mut calls = Vec::new();
    for _ in 0..5 {
        let call = peer
            .link
            .open(peer.link.next_id(), Outgoing::new("x", None))
            .await
            .unwrap();
        calls.push(call);
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":0,"result":{},"error":null}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":7,"data":[1]}}"#,
        r#"{"id":4,"result":{}}"#,
    ] {
        peer.wire.send(line).await;
    }
    let mut outcomes = Vec::new();
    for call in calls {
        outcomes.push(call.answer().await);
    }
    assert!(matches!(&outcomes[0], Ok(Ok(_))));
    assert!(matches!(&outcomes[1], Err(error) if error.is_peer()));
    assert!(matches!(&outcomes[2], Err(error) if error.is_peer()));
    assert!(matches!(&outcomes[3], Ok(Err(error)) if error.code == 7 && error.data.is_some()));
    assert!(matches!(&outcomes[4], Err(error) if error.is_peer()));
    for _ in 0..5 {
        peer.wire.next().await;
    }
    peer.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn p038_the_error_for_a_bad_line_borrows_no_id() {
    let mut served = serve();
    served
        .wire
        .send(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#)
        .await;
    served.wire.send(r#"{"id":5,"#).await;
    assert_eq!(served.wire.next().await["id"], 5);
    assert_eq!(served.wire.next().await["id"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn p040_a_request_whose_id_is_under_way_is_refused_and_the_first_goes_on() {
    let mut served = stateful().await;
    served.wire.send(&call(4, "x/wait", 1)).await;
    assert_eq!(served.wire.code(&call(4, "x/echo", 2)).await, (-32600, json!(4)));
    served.script.release.notify_one();
    assert_eq!(served.wire.next().await["result"]["arguments"], 1);
    // The id is free again as soon as its answer is there.
    assert_eq!(
        served.wire.ask(&call(4, "x/echo", 3)).await["result"]["arguments"],
        3
    );
    assert_eq!(
        served
            .script
            .log
            .all()
            .iter()
            .filter(|line| line.ends_with(" 4"))
            .count(),
        3,
        "two calls and the drop of the first"
    );
}

#[tokio::test(start_paused = true)]
async fn an_id_may_be_used_again_right_after_its_answer() {
    let mut served = stateful().await;
    for round in 0..200 {
        let answer = served.wire.ask(&call(1, "x/later", round)).await;
        assert_eq!(answer["result"]["arguments"], round);
    }
}

#[tokio::test(start_paused = true)]
async fn p041_a_request_without_an_id_is_not_run_and_a_notice_with_one_is_refused() {
    let mut served = stateful().await;
    served
        .wire
        .send(r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}"#)
        .await;
    served.wire.silence().await;
    assert_eq!(
        served
            .wire
            .code(r#"{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}"#)
            .await,
        (-32600, json!(1))
    );
    assert!(
        !served
            .script
            .log
            .all()
            .iter()
            .any(|line| line.contains("tools/call"))
    );
}

#[tokio::test(start_paused = true)]
async fn p043_member_names_match_exactly() {
    let mut served = serve();
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","ID":2}"#;
    assert_eq!(served.wire.ask(line).await["result"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn p044_half_a_surrogate_pair_does_not_lose_its_call() {
    let mut peer = connect().await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    peer.wire
        .send(r#"{"jsonrpc":"2.0","id":0,"result":{"text":"a\ud83d"}}"#)
        .await;
    let answer = call.answer().await.unwrap().unwrap();
    assert!(
        answer
            .parse::<std::collections::BTreeMap<String, String>>()
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn p045_depth_fails_one_message_under_its_id() {
    let mut served = stateful().await;
    for depth in [200, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":{depth},"method":"x/echo","params":{{"arguments":{deep}}}}}"#);
        assert_eq!(served.wire.code(&line).await, (-32600, json!(depth)));
    }
    served.wire.lives().await;
}

#[tokio::test(start_paused = true)]
async fn p048_unknown_notifications_are_dropped_quietly() {
    let mut served = serve();
    for method in ["window/logMessage", "notifications/unknown", "$/x"] {
        served
            .wire
            .send(&format!(
                r#"{{"jsonrpc":"2.0","method":"{method}","params":{{}}}}"#
            ))
            .await;
    }
    served.wire.silence().await;
    served.wire.lives().await;
}

#[tokio::test(start_paused = true)]
async fn p049_an_unknown_method_is_not_found_whatever_its_params() {
    let mut served = stateful().await;
    for params in [r#"{"a":[1]}"#, "[]", "[1]", "null", "{}"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"foo/bar","params":{params}}}"#);
        assert_eq!(served.wire.code(&line).await, (-32601, json!(1)), "{params}");
    }
    // So is a method that this revision has not.
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}"#;
    assert_eq!(served.wire.code(line).await, (-32601, json!(1)));
}

#[tokio::test(start_paused = true)]
async fn requests_over_the_limit_are_refused_and_pings_are_not() {
    let mut served = serve_with(Options::default().with_max_in_flight(3), 64 * 1024);
    served.wire.initialize("2025-11-25").await;
    for id in 0..3 {
        served.wire.send(&call(id, "x/wait", 0)).await;
    }
    assert_eq!(served.wire.code(&call(3, "x/echo", 0)).await, (-32603, json!(3)));
    served.wire.lives().await;
    served.script.release.notify_one();
    served.wire.next().await;
    assert_eq!(
        served.wire.ask(&call(3, "x/echo", 5)).await["result"]["arguments"],
        5
    );
}
