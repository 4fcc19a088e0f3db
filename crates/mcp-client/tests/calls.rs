//! Calls and their answers.

mod peer;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_client::ClientError;
use mcp_jsonrpc::RawJson;
use mcp_types::{CompleteParams, CompletionArgument, LoggingLevel, PromptReference, Revision};
use peer::{builder, stateful, stateless};
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);

fn text(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

fn raw(text: &str) -> RawJson {
    RawJson::from_text(text).unwrap()
}

fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0.1"},
    })
}

#[tokio::test]
async fn a_tool_is_called_in_both_eras() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let call = client.tool("add").args(&json!({"a": 1})).into_future();
    let (result, request) = tokio::join!(call, peer.serve("tools/call", text("2")));
    assert_eq!(result.unwrap().content[0].as_text(), Some("2"));
    assert_eq!(request["params"], json!({"name": "add", "arguments": {"a": 1}}));

    let (client, mut peer) = stateless(builder(), json!({"tools": {}})).await;
    assert_eq!(client.revision(), Revision::V2026_07_28);
    let call = client.tool("add").args(&json!({"a": 1})).into_future();
    let (result, request) = tokio::join!(call, peer.serve("tools/call", text("2")));
    assert_eq!(result.unwrap().content[0].as_text(), Some("2"));
    assert_eq!(
        request["params"],
        json!({"name": "add", "arguments": {"a": 1}, "_meta": modern_meta()})
    );
}

#[tokio::test]
async fn p032_arguments_go_out_byte_for_byte_on_one_line() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let args = raw("{\n \"n\": 18446744073709551615,\n \"f\": 1.50 }");
    let call = client
        .tool("add")
        .args(&json!({"old": 1}))
        .args_raw(&args)
        .into_future();
    let asked = async {
        let line = peer.next_line().await.unwrap();
        let request: Value = serde_json::from_str(&line).unwrap();
        let id = &request["id"];
        // The result has numbers of its own.
        peer.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"structuredContent":{{"n":9007199254740993}}}}}}"#
        ))
        .await;
        line
    };
    let (result, line) = tokio::join!(call, asked);
    let sent = r#""params":{"name":"add","arguments":{"n":18446744073709551615,"f":1.50}}}"#;
    assert!(line.ends_with(sent), "{line}");
    let result = result.unwrap();
    assert_eq!(
        result.structured_content.unwrap().as_str(),
        r#"{"n":9007199254740993}"#
    );
    // P129.
    assert_eq!(result.content, []);
}

#[tokio::test]
async fn p144_no_arguments_are_an_empty_object_and_other_values_are_refused() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    for call in [
        client.tool("now"),
        client.tool("now").args(&()),
        client.tool("now").args(&None::<u8>),
    ] {
        let (result, request) = tokio::join!(call.into_future(), peer.serve("tools/call", text("")));
        result.unwrap();
        assert_eq!(request["params"], json!({"name": "now", "arguments": {}}));
    }
    for bad in [
        client.tool("now").args("x"),
        client.tool("now").args(&[1]),
        client.tool("now").args_raw(&raw("7")),
    ] {
        assert!(bad.await.unwrap_err().is_usage());
    }
}

#[tokio::test]
async fn an_error_of_the_server_prints_as_such_and_the_session_goes_on() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let script = async {
        let request = peer.expect("resources/list").await;
        assert_eq!(request.get("params"), None);
        peer.refuse(&request, -32601, "Method not found").await;
        peer.serve("ping", json!({})).await;
    };
    let asking = async {
        // A typed list is not even asked for; the raw request is sent as it is.
        assert_eq!(client.list_resources().await.unwrap(), []);
        let error = client.request("resources/list", None).await.unwrap_err();
        assert_eq!(error.to_string(), "MCP error -32601: Method not found");
        assert!(error.is_peer_error() && !error.is_closed());
        client.ping().await.unwrap();
    };
    tokio::join!(asking, script);
}

#[tokio::test]
async fn p046_a_raw_result_is_handed_out_as_it_came() {
    let (client, mut peer) = stateless(builder(), json!({})).await;
    let asking = client
        .request(
            "custom/thing",
            Some(raw(r#"{"a":1,"_meta":{"traceparent":"00-1"}}"#)),
        )
        .into_future();
    let script = peer.serve("custom/thing", json!({"foo": 1, "resultType": "x/own"}));
    let (result, request) = tokio::join!(asking, script);
    assert_eq!(result.unwrap().as_str(), r#"{"foo":1,"resultType":"x/own"}"#);
    let mut meta = modern_meta();
    meta["traceparent"] = json!("00-1");
    assert_eq!(request["params"], json!({"a": 1, "_meta": meta}));
    assert!(
        client
            .request("x", Some(raw("[1]")))
            .await
            .unwrap_err()
            .is_usage()
    );
}

#[tokio::test]
async fn an_empty_object_is_sent_where_one_is_given() {
    let (client, mut peer) = stateful(builder(), json!({})).await;
    let asking = client.request("custom/thing", Some(raw("{ }"))).into_future();
    let (_, request) = tokio::join!(asking, peer.serve("custom/thing", json!({})));
    assert_eq!(request["params"], json!({}));
}

#[tokio::test]
async fn p029_p030_answers_find_their_calls_in_any_order() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let script = async {
        let one = peer.expect("tools/call").await;
        let two = peer.expect("tools/call").await;
        // P039: nobody waits for this one.
        peer.send(json!({"jsonrpc": "2.0", "id": 9999, "result": {}}))
            .await;
        // P036: a report that belongs to no call.
        peer.send(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "x"}}))
            .await;
        peer.answer(&two, text("second")).await;
        let id = one["id"].to_string();
        peer.send(json!({"jsonrpc": "2.0", "id": id, "result": text("first")}))
            .await;
    };
    let (one, two, ()) = tokio::join!(
        client.tool("a").into_future(),
        client.tool("b").into_future(),
        script
    );
    assert_eq!(one.unwrap().content[0].as_text(), Some("first"));
    assert_eq!(two.unwrap().content[0].as_text(), Some("second"));
}

#[tokio::test]
async fn p037_p044_an_answer_that_cannot_be_read_fails_its_call_alone() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let script = async {
        for bad in [
            r#""result":{},"error":{"code":1,"message":"x"}"#,
            r#""result":{"content":[{"type":"text","text":"a\ud83d"}]}"#,
            r#""result":{"content":7}"#,
        ] {
            let id = peer.expect("tools/call").await["id"].clone();
            peer.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},{bad}}}"#))
                .await;
        }
        peer.serve("tools/call", text("fine")).await;
    };
    let asking = async {
        for _ in 0..3 {
            let error = client.tool("a").await.unwrap_err();
            assert!(error.is_protocol(), "{error}");
        }
        assert_eq!(client.tool("a").await.unwrap().content[0].as_text(), Some("fine"));
    };
    tokio::join!(asking, script);
}

#[tokio::test(start_paused = true)]
async fn p069_p070_p076_a_timeout_cancels_its_call_once_and_nothing_else() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let script = async {
        let call = peer.expect("tools/call").await;
        let cancelled = peer.expect("notifications/cancelled").await;
        assert_eq!(
            cancelled["params"],
            json!({"requestId": call["id"], "reason": "Request timed out"})
        );
        // P071: late, and dropped.
        peer.answer(&call, text("late")).await;
        let fast = peer.serve("tools/call", text("fast")).await;
        assert_eq!(fast["params"]["name"], "fast");
    };
    let asking = async {
        let error = client.tool("slow").timeout(SECOND).await.unwrap_err();
        assert!(error.is_timeout() && error.error_object().is_none());
        assert_eq!(error.to_string(), "tools/call: no answer within 1s");
        assert_eq!(
            client.tool("fast").await.unwrap().content[0].as_text(),
            Some("fast")
        );
    };
    tokio::join!(asking, script);
}

#[tokio::test(start_paused = true)]
async fn the_default_timeout_is_a_minute_and_can_be_lifted() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let started = tokio::time::Instant::now();
    assert!(client.tool("slow").await.unwrap_err().is_timeout());
    assert_eq!(started.elapsed(), Duration::from_secs(60));
    peer.expect("tools/call").await;
    peer.expect("notifications/cancelled").await;
    let script = async {
        let call = peer.expect("tools/call").await;
        tokio::time::sleep(Duration::from_secs(86_400)).await;
        peer.answer(&call, text("done")).await;
    };
    let (result, ()) = tokio::join!(client.tool("slow").no_timeout().into_future(), script);
    result.unwrap();
}

#[tokio::test]
async fn p069_dropping_a_call_cancels_it() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let call = tokio::spawn(client.tool("slow").into_future());
    let request = peer.expect("tools/call").await;
    call.abort();
    let cancelled = peer.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"], json!({"requestId": request["id"]}));
}

#[tokio::test(start_paused = true)]
async fn p067_progress_re_arms_the_deadline_without_a_callback() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let script = async {
        let call = peer.expect("tools/call").await;
        let token = call["params"]["_meta"]["progressToken"].clone();
        assert_eq!(token, call["id"]);
        for step in 1..=6 {
            tokio::time::sleep(SECOND / 2).await;
            let params = json!({"progressToken": token, "progress": step});
            peer.notify("notifications/progress", params).await;
        }
        peer.answer(&call, text("done")).await;
    };
    let call = client
        .tool("slow")
        .timeout(SECOND)
        .reset_on_progress(true)
        .into_future();
    let (result, ()) = tokio::join!(call, script);
    result.unwrap();
}

#[tokio::test(start_paused = true)]
async fn p068_endless_progress_ends_at_the_maximum() {
    let (client, mut peer) = stateful(builder().max_timeout(3 * SECOND), json!({"tools": {}})).await;
    let started = tokio::time::Instant::now();
    let script = async {
        let call = peer.expect("tools/call").await;
        for step in 1.. {
            tokio::time::sleep(SECOND / 4).await;
            let params = json!({"progressToken": call["id"], "progress": step});
            peer.notify("notifications/progress", params).await;
        }
    };
    let call = client
        .tool("slow")
        .timeout(SECOND)
        .on_progress(|_| {})
        .into_future();
    let error = tokio::select! {
        result = call => result.unwrap_err(),
        () = script => unreachable!("it never ends"),
    };
    assert!(error.is_timeout());
    assert_eq!(started.elapsed(), 3 * SECOND);
}

#[tokio::test]
async fn p072_p073_progress_reaches_its_call_only() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hear = Arc::clone(&heard);
    let call = client
        .tool("slow")
        .meta("progressToken", raw("\"mine\""))
        .meta("example.com/x", raw("1"))
        .on_progress(move |progress| {
            hear.lock()
                .unwrap()
                .push((progress.progress.as_f64(), progress.total.is_some()))
        })
        .into_future();
    let script = async {
        let request = peer.expect("tools/call").await;
        let token = request["id"].clone();
        assert_eq!(
            request["params"]["_meta"],
            json!({"example.com/x": 1, "progressToken": token})
        );
        peer.notify(
            "notifications/progress",
            json!({"progressToken": "a1", "progress": 7}),
        )
        .await;
        peer.notify(
            "notifications/progress",
            json!({"progressToken": token, "progress": 0.5}),
        )
        .await;
        peer.notify(
            "notifications/progress",
            json!({"progressToken": token, "progress": "odd"}),
        )
        .await;
        peer.notify(
            "notifications/progress",
            json!({"progressToken": token, "progress": 2, "total": 2}),
        )
        .await;
        peer.answer(&request, text("")).await;
        peer.notify(
            "notifications/progress",
            json!({"progressToken": token, "progress": 3}),
        )
        .await;
    };
    let (result, ()) = tokio::join!(call, script);
    result.unwrap();
    assert_eq!(*heard.lock().unwrap(), [(0.5, false), (2.0, true)]);
}

#[tokio::test]
async fn a_call_without_progress_asks_for_none() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let call = client.tool("a").reset_on_progress(false).into_future();
    let (_, request) = tokio::join!(call, peer.serve("tools/call", text("")));
    assert_eq!(request["params"].get("_meta"), None);
}

#[tokio::test]
async fn a_lost_connection_fails_the_calls_and_is_told() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let script = async {
        peer.expect("tools/call").await;
        peer.hang_up().await;
    };
    let (result, ()) = tokio::join!(client.tool("a").into_future(), script);
    assert!(result.unwrap_err().is_closed());
    client.closed().await;
    assert!(client.tool("a").await.unwrap_err().is_closed());
}

#[tokio::test]
async fn structured_results_are_read_and_failures_are_errors() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Sum {
        sum: u64,
    }
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let call = async |peer: &mut peer::Peer, result: Value| -> Result<Sum, ClientError> {
        let (result, _) = tokio::join!(client.tool("add").structured(), peer.serve("tools/call", result));
        result
    };
    let fine = call(&mut peer, json!({"content": [], "structuredContent": {"sum": 3}})).await;
    assert_eq!(fine.unwrap(), Sum { sum: 3 });
    let mut failed = text("no such number");
    failed["isError"] = json!(true);
    let error = call(&mut peer, failed).await.unwrap_err();
    assert!(error.is_tool_failure());
    assert_eq!(error.to_string(), "no such number");
    assert!(call(&mut peer, text("3")).await.unwrap_err().is_protocol());
    assert!(
        call(&mut peer, json!({"structuredContent": {"sum": "3"}}))
            .await
            .unwrap_err()
            .is_protocol()
    );
}

#[tokio::test]
async fn the_other_calls_have_the_shapes_of_the_schema() {
    let all = json!({"tools": {}, "prompts": {}, "resources": {}, "completions": {}, "logging": {}});
    let (client, mut peer) = stateful(builder(), all.clone()).await;
    let (read, request) = tokio::join!(
        client.read_resource("x://HOST").into_future(),
        peer.serve(
            "resources/read",
            json!({"contents": [{"uri": "x://HOST", "text": "a"}]})
        )
    );
    // P156.
    assert_eq!(request["params"], json!({"uri": "x://HOST"}));
    assert_eq!(read.unwrap().contents[0].text.as_deref(), Some("a"));

    let (prompt, request) = tokio::join!(
        client
            .prompt("greet")
            .args([("name", "Ada"), ("tone", "kind")])
            .into_future(),
        peer.serve("prompts/get", json!({"messages": []}))
    );
    assert_eq!(
        request["params"],
        json!({"name": "greet", "arguments": {"name": "Ada", "tone": "kind"}})
    );
    assert_eq!(prompt.unwrap().messages, []);

    let params = CompleteParams::new(
        PromptReference::new("greet"),
        CompletionArgument::new("name", "A"),
    );
    let (complete, request) = tokio::join!(
        client.complete(&params).into_future(),
        peer.serve("completion/complete", json!({"completion": {"values": ["Ada"]}}))
    );
    assert_eq!(
        request["params"],
        json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": "A"}})
    );
    assert_eq!(complete.unwrap().completion.values, ["Ada"]);

    let (set, request) = tokio::join!(
        client.set_log_level(LoggingLevel::Warning),
        peer.serve("logging/setLevel", json!({}))
    );
    set.unwrap();
    assert_eq!(request["params"], json!({"level": "warning"}));

    let (client, mut peer) = stateless(builder(), all).await;
    assert!(client.ping().await.unwrap_err().is_unsupported());
    assert!(client.subscribe("x:y").await.unwrap_err().is_unsupported());
    client.set_log_level(LoggingLevel::Debug).await.unwrap();
    let result = json!({"resultType": "complete", "contents": []});
    let (_, request) = tokio::join!(
        client.read_resource("x:y").into_future(),
        peer.serve("resources/read", result)
    );
    assert_eq!(
        request["params"]["_meta"]["io.modelcontextprotocol/logLevel"],
        "debug"
    );
}

#[tokio::test]
async fn log_messages_and_unknown_notices_are_heard_in_order() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (log, notice) = (Arc::clone(&heard), Arc::clone(&heard));
    let listening = builder()
        .on_log(move |message| log.lock().unwrap().push(format!("log {}", message.data)))
        .on_notice(move |call| notice.lock().unwrap().push(call.method().to_owned()));
    let (client, mut peer) = stateful(listening, json!({"logging": {}})).await;
    peer.notify("notifications/message", json!({"level": "info", "data": "hi"}))
        .await;
    // P048.
    peer.notify("window/logMessage", json!({})).await;
    let (pong, _) = tokio::join!(client.ping().into_future(), peer.serve("ping", json!({})));
    pong.unwrap();
    assert_eq!(
        *heard.lock().unwrap(),
        ["log \"hi\"", "notifications/message", "window/logMessage"]
    );
}

#[tokio::test]
async fn a_result_of_an_unknown_kind_is_an_error_and_an_absent_kind_is_complete() {
    let (client, mut peer) = stateless(builder(), json!({"tools": {}})).await;
    let (result, _) = tokio::join!(
        client.tool("a").into_future(),
        peer.serve("tools/call", json!({"resultType": "task", "content": []}))
    );
    let error = result.unwrap_err();
    assert!(
        error.is_protocol() && error.to_string().contains("task"),
        "{error}"
    );
    let (result, _) = tokio::join!(
        client.tool("a").into_future(),
        peer.serve("tools/call", json!({"content": []}))
    );
    result.unwrap();
    // A version that the server no longer speaks is reported as such.
    let script = async {
        let request = peer.expect("tools/call").await;
        peer.refuse(&request, -32022, "Unsupported protocol version")
            .await;
    };
    let (result, ()) = tokio::join!(client.tool("a").into_future(), script);
    let error = result.unwrap_err();
    assert!(error.is_peer_error() && error.is_negotiation());
}

#[tokio::test]
async fn a_call_may_be_dropped_at_any_point() {
    use std::future::poll_fn;
    use std::task::Poll;

    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    for polls in 0..5 {
        let mut call = client.tool("a").on_progress(|_| {}).into_future();
        for _ in 0..polls {
            let pending = poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await;
            assert!(pending);
            tokio::task::yield_now().await;
        }
    }
    let script = async {
        let mut open = Vec::new();
        let mut seen = 0;
        loop {
            let message = peer.next().await;
            match message["method"].as_str().unwrap() {
                "tools/call" => {
                    seen += 1;
                    open.push(message["id"].clone());
                }
                "notifications/cancelled" => open.retain(|id| *id != message["params"]["requestId"]),
                _ => {
                    peer.answer(&message, json!({})).await;
                    break (seen, open);
                }
            }
        }
    };
    let (pong, (seen, open)) = tokio::join!(client.ping().into_future(), script);
    pong.unwrap();
    assert_eq!((seen, open), (4, vec![]));
}
