//! The rounds of one call in the stateless era, and the state that travels with them.

mod peer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_server::{Cx, Elicit, Elicited, Failure, Server, Tool};
use mcp_session::{SessionError, StateSealer};
use mcp_types::Revision;
use peer::{ERAS, Peer, accept, drive, everything, text};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// In full.
    name: String,
}

async fn greet(cx: Cx) -> Result<String, Failure> {
    Ok(match cx.ask("who", Elicit::of::<Name>("Who is it?")).await? {
        Elicited::Accept(who) => format!("hello {}", who.name),
        Elicited::Decline => "declined".into(),
        Elicited::Cancel => "cancelled".into(),
    })
}

/// Asks twice, one after the other, and counts what runs again.
fn two_steps(runs: Arc<AtomicU32>, works: Arc<AtomicU32>) -> Server {
    let steps = move |cx: Cx| {
        let (runs, works) = (Arc::clone(&runs), Arc::clone(&works));
        async move {
            runs.fetch_add(1, Ordering::Relaxed);
            let one = cx.ask("one", Elicit::of::<Name>("One?")).await?;
            let plan = cx
                .remember("plan", async || Ok(works.fetch_add(1, Ordering::Relaxed) + 7))
                .await?;
            let two = cx.ask("two", Elicit::of::<Name>("Two?")).await?;
            let names = [one, two].map(|answer| answer.accepted().map_or_else(|| "-".into(), |who| who.name));
            Ok::<_, Failure>(format!("{} {plan} {}", names[0], names[1]))
        }
    };
    Server::builder("s", "1")
        .tool(Tool::new("steps", steps))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn earlier_answers_and_remembered_values_survive_the_rounds() {
    for revision in ERAS {
        let (runs, works) = (Arc::default(), Arc::default());
        let server = two_steps(Arc::clone(&runs), Arc::clone(&works));
        let mut peer = Peer::with(server, revision, everything()).await;
        let (answer, rounds) = drive(&mut peer, "steps", |_, params| {
            accept(params["message"].as_str().unwrap())
        })
        .await;
        assert_eq!((text(&answer["result"]), rounds), ("One? 7 Two?", 2));
        assert_eq!(works.load(Ordering::Relaxed), 1);
        assert_eq!(
            runs.load(Ordering::Relaxed),
            if revision.is_stateless() { 3 } else { 1 }
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_earlier_answer_alone_is_carried_along_too() {
    async fn steps(cx: Cx) -> Result<String, Failure> {
        let mut said = Vec::new();
        for key in ["one", "two", "three"] {
            let who = cx.ask(key, Elicit::of::<Name>(key)).await?.accepted();
            said.extend(who.map(|who| who.name));
        }
        Ok(said.join(" "))
    }
    for revision in ERAS {
        let server = Server::builder("s", "1")
            .tool(Tool::new("steps", steps))
            .build()
            .unwrap();
        let mut peer = Peer::with(server, revision, everything()).await;
        let answer = |_: &str, params: &Value| accept(params["message"].as_str().unwrap());
        let (answer, rounds) = drive(&mut peer, "steps", answer).await;
        assert_eq!(
            (text(&answer["result"]), rounds),
            ("one two three", 3),
            "{revision}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_means_one_answer_and_one_value_in_both_eras() {
    async fn twice(cx: Cx) -> Result<String, Failure> {
        let mut said = String::new();
        for n in 0..2 {
            let who = cx.ask("who", Elicit::of::<Name>("Who?")).await?.accepted();
            let number: u32 = cx.remember("n", async || Ok(n)).await?;
            said.push_str(&format!(
                "{} {number} ",
                who.map_or_else(String::new, |who| who.name)
            ));
        }
        Ok(said)
    }
    for revision in ERAS {
        let server = Server::builder("s", "1")
            .tool(Tool::new("twice", twice))
            .build()
            .unwrap();
        let mut peer = Peer::with(server, revision, everything()).await;
        let (answer, rounds) = drive(&mut peer, "twice", |_, _| accept("Ann")).await;
        assert_eq!(
            (text(&answer["result"]), rounds),
            ("Ann 0 Ann 0 ", 1),
            "{revision}"
        );
    }
}

/// Plays the first round of `steps` and returns the call's second round, ready to be sent.
async fn second_round(peer: &mut Peer) -> Value {
    let first = peer
        .result("tools/call", json!({"name": "steps", "arguments": {}}))
        .await;
    assert_eq!(
        first["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["one"]
    );
    assert!(first.get("requestState").is_none(), "nothing is known yet");
    let retry = json!({"name": "steps", "arguments": {}, "inputResponses": {"one": accept("Ann"), "two": accept("Eve"), "x": 1}});
    let second = peer.result("tools/call", retry).await;
    assert_eq!(
        second["resultType"], "complete",
        "an answer that is there is taken: {second}"
    );
    let retry = json!({"name": "steps", "arguments": {}, "inputResponses": {"one": accept("Ann"), "x": 1}});
    let second = peer.result("tools/call", retry).await;
    assert_eq!(second["resultType"], "input_required");
    json!({"name": "steps", "arguments": {}, "requestState": second["requestState"],
        "inputResponses": {"two": accept("Bob")}})
}

#[tokio::test(start_paused = true)]
async fn a_missing_answer_is_asked_for_again_and_other_keys_are_ignored() {
    let server = two_steps(Arc::default(), Arc::default());
    let mut peer = Peer::with(server, Revision::V2026_07_28, everything()).await;
    let mut call = second_round(&mut peer).await;
    let state = call["requestState"].as_str().unwrap().to_owned();
    assert!(
        !state.contains(r#""x""#),
        "what nobody asked for is not carried along: {state}"
    );
    // The sealed answer stands against a new one; the missing one is asked for again.
    call["inputResponses"] = json!({"one": accept("Eve"), "other": {}});
    let again = peer.result("tools/call", call.clone()).await;
    assert_eq!(
        again["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["two"]
    );
    call["inputResponses"] = json!({"two": accept("Bob")});
    assert_eq!(text(&peer.result("tools/call", call).await), "Ann 8 Bob");
}

#[tokio::test(start_paused = true)]
async fn a_request_state_that_is_not_ours_is_refused() {
    let server = two_steps(Arc::default(), Arc::default());
    let mut peer = Peer::with(server, Revision::V2026_07_28, everything()).await;
    let good = second_round(&mut peer).await;
    let state = good["requestState"].as_str().unwrap().to_owned();
    let changed = state.replace("Ann", "Eve");
    assert_ne!(changed, state);
    for (bad, said) in [
        (json!(changed), "requestState was changed"),
        (json!("v1.00.{}"), "requestState was changed"),
        (json!("x"), "requestState is not one of this server's"),
        (json!(7), "requestState is not a string"),
    ] {
        let mut call = good.clone();
        call["requestState"] = bad;
        let error = peer.error("tools/call", call).await;
        assert_eq!(error, (-32602, format!("Invalid params: {said}")));
    }
    let mut other = good.clone();
    other["arguments"] = json!({"a": 1});
    let error = peer.error("tools/call", other).await;
    assert_eq!(
        error,
        (
            -32602,
            "Invalid params: requestState belongs to another request".to_owned()
        )
    );
    let mut list = good.clone();
    list["inputResponses"] = json!([]);
    let error = peer.error("tools/call", list).await;
    assert_eq!(
        error,
        (
            -32602,
            "Invalid params: inputResponses is not an object".to_owned()
        )
    );
    // Another process has another key.
    let mut stranger = Peer::with(
        two_steps(Arc::default(), Arc::default()),
        Revision::V2026_07_28,
        everything(),
    )
    .await;
    assert_eq!(stranger.error("tools/call", good.clone()).await.0, -32602);
    assert_eq!(text(&peer.result("tools/call", good).await), "Ann 8 Bob");
}

#[tokio::test(start_paused = true)]
async fn a_result_stands_where_the_interrupt_was_swallowed() {
    let server = Server::builder("s", "1")
        .tool(Tool::new("guess", |cx: Cx| async move {
            match cx.ask("who", Elicit::of::<Name>("Who?")).await {
                Ok(_) => "asked",
                Err(_) => "guessed",
            }
        }))
        .build()
        .unwrap();
    let mut peer = Peer::with(server, Revision::V2026_07_28, everything()).await;
    let result = peer.result("tools/call", json!({"name": "guess"})).await;
    assert_eq!(
        (text(&result), &result["resultType"]),
        ("guessed", &json!("complete"))
    );
}

/// Seals nothing, so that a test can write what it likes; and it can lose its key.
struct Open {
    broken: bool,
}

impl StateSealer for Open {
    fn seal(&self, payload: &[u8]) -> Result<String, SessionError> {
        String::from_utf8(payload.to_vec()).map_err(|_| SessionError::internal("not text"))
    }

    fn open(&self, token: &str) -> Result<Vec<u8>, SessionError> {
        match self.broken {
            true => Err(SessionError::internal(
                "the key store is at 10.0.0.1 and does not answer",
            )),
            false => Ok(token.as_bytes().to_vec()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_that_expired_is_refused_and_a_broken_sealer_is_our_own_fault() {
    async fn steps(cx: Cx) -> Result<String, Failure> {
        cx.remember("plan", async || Ok(1)).await?;
        greet(cx).await
    }
    let server = |broken| {
        Server::builder("s", "1")
            .sealer(Open { broken })
            .tool(Tool::new("steps", steps))
            .build()
            .unwrap()
    };
    let mut peer = Peer::with(server(false), Revision::V2026_07_28, everything()).await;
    let first = peer.result("tools/call", json!({"name": "steps"})).await;
    let mut state: Value = serde_json::from_str(first["requestState"].as_str().unwrap()).unwrap();
    let call = |state: &Value| json!({"name": "steps", "requestState": state.to_string(), "inputResponses": {"who": accept("Ann")}});
    assert_eq!(text(&peer.result("tools/call", call(&state)).await), "hello Ann");
    state["expires"] = 1.into();
    let error = peer.error("tools/call", call(&state)).await;
    assert_eq!(
        error,
        (-32602, "Invalid params: requestState has expired".to_owned())
    );
    let error = peer
        .error("tools/call", json!({"name": "steps", "requestState": "{}"}))
        .await;
    assert_eq!(
        error,
        (-32602, "Invalid params: requestState has another form".to_owned())
    );

    let mut peer = Peer::with(server(true), Revision::V2026_07_28, everything()).await;
    let error = peer.error("tools/call", call(&state)).await;
    assert_eq!(error, (-32603, "Internal error".to_owned()));
}
