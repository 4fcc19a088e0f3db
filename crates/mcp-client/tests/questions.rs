//! What a server asks of its client, in both eras.

mod peer;

use std::sync::Arc;
use std::time::Duration;

use mcp_client::ClientBuilder;
use mcp_jsonrpc::{ErrorObject, RawJson, codes};
use mcp_types::{CreateMessageResult, ElicitResult, Role, Root, SamplingContent};
use peer::{Peer, builder, stateful, stateless};
use serde_json::{Value, json};
use tokio::sync::Notify;

fn helpful() -> ClientBuilder {
    builder()
        .roots([Root::new("file:///a")])
        .on_sample(|params| async move {
            if params.max_tokens == 0 {
                return Err(ErrorObject::new(codes::USER_REJECTED, "not now"));
            }
            Ok(CreateMessageResult::new(
                Role::Assistant,
                SamplingContent::text("hello"),
                "small",
            ))
        })
        .on_elicit(|form| async move {
            match &*form.message {
                "no?" => ElicitResult::decline(),
                _ => ElicitResult::accept([("name", RawJson::encode("Ada").unwrap())]),
            }
        })
}

fn form(message: &str) -> Value {
    json!({"message": message, "requestedSchema": {"type": "object", "properties": {}}})
}

async fn ask(peer: &mut Peer, method: &str, params: Value) -> Value {
    peer.send(json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params}))
        .await;
    let answer = peer.next().await;
    assert_eq!(answer["id"], "q");
    answer
}

#[tokio::test]
async fn requests_of_the_server_are_answered_by_the_handlers() {
    let (client, mut peer) = stateful(helpful(), json!({})).await;
    let sample = json!({"messages": [], "maxTokens": 5});
    assert_eq!(
        ask(&mut peer, "sampling/createMessage", sample).await["result"],
        json!({"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "small"})
    );
    let refused = json!({"messages": [], "maxTokens": 0});
    assert_eq!(
        ask(&mut peer, "sampling/createMessage", refused).await["error"],
        json!({"code": -1, "message": "not now"})
    );
    assert_eq!(
        ask(&mut peer, "elicitation/create", form("who?")).await["result"],
        json!({"action": "accept", "content": {"name": "Ada"}})
    );
    assert_eq!(
        ask(&mut peer, "elicitation/create", form("no?")).await["result"],
        json!({"action": "decline"})
    );
    assert_eq!(
        ask(&mut peer, "roots/list", json!({})).await["result"],
        json!({"roots": [{"uri": "file:///a"}]})
    );
    client.set_roots([Root::new("file:///b")]).await.unwrap();
    peer.expect("notifications/roots/list_changed").await;
    assert_eq!(
        ask(&mut peer, "roots/list", json!({})).await["result"],
        json!({"roots": [{"uri": "file:///b"}]})
    );
    assert!(
        client
            .set_roots([Root::new("http://b")])
            .await
            .unwrap_err()
            .is_usage()
    );
}

#[tokio::test]
async fn p049_what_was_not_declared_is_refused() {
    let (client, mut peer) = stateful(builder(), json!({})).await;
    for method in [
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "foo/bar",
    ] {
        let answer = ask(&mut peer, method, json!({"a": [1]})).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    assert!(client.set_roots([]).await.unwrap_err().is_unsupported());

    let (_client, mut peer) = stateful(helpful(), json!({})).await;
    let url = json!({"mode": "url", "message": "m", "url": "https://a.example", "elicitationId": "e"});
    for (method, params) in [
        ("elicitation/create", url),
        ("elicitation/create", json!({"mode": "voice", "message": "m"})),
        ("elicitation/create", json!({"message": 7})),
        (
            "sampling/createMessage",
            json!({"messages": [], "maxTokens": 5, "toolChoice": {"mode": "auto"}}),
        ),
    ] {
        let answer = ask(&mut peer, method, params).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test]
async fn p066_p142_a_slow_handler_blocks_nothing() {
    let release = Arc::new(Notify::new());
    let released = Arc::clone(&release);
    let slow = builder().on_elicit(move |_| {
        let released = Arc::clone(&released);
        async move {
            released.notified().await;
            ElicitResult::cancel()
        }
    });
    let (client, mut peer) = stateful(slow, json!({"tools": {}})).await;
    let script = async {
        let call = peer.expect("tools/call").await;
        let ping = peer.expect("ping").await;
        let params = form("who?");
        peer.send(json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params}))
            .await;
        peer.notify("notifications/tools/list_changed", json!({})).await;
        peer.send(json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}))
            .await;
        assert_eq!(
            peer.next().await,
            json!({"jsonrpc": "2.0", "id": 2, "result": {}})
        );
        peer.answer(&ping, json!({})).await;
        release.notify_one();
        assert_eq!(peer.next().await["result"], json!({"action": "cancel"}));
        peer.answer(&call, json!({"content": []})).await;
    };
    let (call, pong, ()) = tokio::join!(
        client.tool("a").into_future(),
        client.ping().into_future(),
        script
    );
    call.unwrap();
    pong.unwrap();
}

fn wanted(requests: Value, state: Option<&str>) -> Value {
    let mut result = json!({"resultType": "input_required"});
    if requests != json!(null) {
        result["inputRequests"] = requests;
    }
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    result
}

#[tokio::test]
async fn a_stateless_call_is_answered_round_by_round() {
    let (client, mut peer) = stateless(helpful(), json!({"tools": {}})).await;
    let script = async {
        let first = peer.expect("tools/call").await;
        let asked = json!({
            "who": {"method": "elicitation/create", "params": form("who?")},
            "where": {"method": "roots/list"},
            "what\"": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}},
        });
        peer.answer(&first, wanted(asked, Some("s\u{e9}\"1"))).await;
        let second = peer.expect("tools/call").await;
        assert_ne!(first["id"], second["id"]);
        // Progress of the retry comes under its own token.
        assert_eq!(second["params"]["_meta"]["progressToken"], second["id"]);
        let mut params = second["params"].clone();
        params["_meta"]["progressToken"] = first["id"].clone();
        let added = params.as_object_mut().unwrap();
        assert_eq!(added.remove("requestState"), Some(json!("s\u{e9}\"1")));
        assert_eq!(
            added.remove("inputResponses"),
            Some(json!({
                "who": {"action": "accept", "content": {"name": "Ada"}},
                "where": {"roots": [{"uri": "file:///a"}]},
                "what\"": {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "small"},
            }))
        );
        assert_eq!(params, first["params"]);
        // Another round, without state: then none is sent.
        let asked = json!({"again": {"method": "elicitation/create", "params": form("no?")}});
        peer.answer(&second, wanted(asked, None)).await;
        let third = peer.expect("tools/call").await;
        assert_eq!(third["params"].get("requestState"), None);
        assert_eq!(
            third["params"]["inputResponses"],
            json!({"again": {"action": "decline"}})
        );
        peer.answer(&third, json!({"resultType": "complete", "content": []}))
            .await;
    };
    let call = client
        .tool("deploy")
        .args(&json!({"to": "x"}))
        .on_progress(|_| {})
        .into_future();
    let (result, ()) = tokio::join!(call, script);
    result.unwrap();
}

#[tokio::test]
async fn rounds_are_capped() {
    let (client, mut peer) = stateless(helpful().max_rounds(3), json!({"tools": {}})).await;
    let script = async {
        for _ in 0..4 {
            let asked = json!({"who": {"method": "roots/list"}});
            peer.serve("tools/call", wanted(asked, None)).await;
        }
    };
    let (result, ()) = tokio::join!(client.tool("deploy").into_future(), script);
    let error = result.unwrap_err();
    assert!(
        error.is_protocol() && error.to_string().contains("more than 3 times"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_asked_again_later_three_times_at_most() {
    let (client, mut peer) = stateless(helpful(), json!({"tools": {}})).await;
    let started = tokio::time::Instant::now();
    let script = async {
        peer.serve("tools/call", wanted(json!(null), Some("1"))).await;
        let second = peer
            .serve("tools/call", json!({"resultType": "complete", "content": []}))
            .await;
        assert_eq!(second["params"]["requestState"], "1");
        assert_eq!(second["params"].get("inputResponses"), None);
    };
    let (result, ()) = tokio::join!(client.tool("deploy").into_future(), script);
    result.unwrap();
    assert_eq!(started.elapsed(), Duration::from_millis(250));

    let script = async {
        for _ in 0..4 {
            peer.serve("tools/call", wanted(json!(null), Some("1"))).await;
        }
    };
    let (result, ()) = tokio::join!(client.tool("deploy").into_future(), script);
    assert!(result.unwrap_err().is_protocol());
    assert_eq!(started.elapsed(), Duration::from_millis(250 + 250 + 500 + 1000));
}

#[tokio::test]
async fn what_may_not_be_asked_for_ends_the_call_and_so_does_a_refusal() {
    let (client, mut peer) = stateless(helpful(), json!({"tools": {}, "prompts": {}})).await;
    let url = json!({"mode": "url", "message": "m", "url": "https://a.example"});
    for asked in [
        json!({"q": {"method": "elicitation/create", "params": url}}),
        json!({"q": {"method": "tools/list"}}),
        json!({}),
        json!(7),
    ] {
        let (result, _) = tokio::join!(
            client.tool("deploy").into_future(),
            peer.serve("tools/call", wanted(asked.clone(), None))
        );
        assert!(result.unwrap_err().is_protocol(), "{asked}");
    }
    let asked =
        json!({"q": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 0}}});
    let (result, _) = tokio::join!(
        client.prompt("p").into_future(),
        peer.serve("prompts/get", wanted(asked, None))
    );
    let error = result.unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    // Only three methods may come back for input.
    let asked = json!({"q": {"method": "roots/list"}});
    let (result, _) = tokio::join!(client.list_tools(), peer.serve("tools/list", wanted(asked, None)));
    assert!(result.unwrap_err().is_protocol());
}

#[tokio::test]
async fn raw_calls_of_a_tool_go_round_too_and_raw_requests_do_not() {
    let (client, mut peer) = stateless(helpful(), json!({"tools": {}})).await;
    let script = async {
        peer.serve("tools/call", wanted(json!({"q": {"method": "roots/list"}}), None))
            .await;
        peer.serve("tools/call", json!({"resultType": "complete", "x": 1}))
            .await;
        peer.serve("tools/call", wanted(json!({"q": {"method": "roots/list"}}), None))
            .await;
    };
    let asking = async {
        let result = client.tool("a").raw().await.unwrap();
        assert_eq!(result.as_str(), r#"{"resultType":"complete","x":1}"#);
        let result = client
            .request("tools/call", Some(RawJson::from_text(r#"{"name":"a"}"#).unwrap()))
            .await;
        assert!(result.unwrap().as_str().contains("input_required"));
    };
    tokio::join!(asking, script);
}
