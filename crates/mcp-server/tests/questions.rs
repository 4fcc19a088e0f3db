//! Asking the client: as a request of its own in the stateful era, as `input_required` in the stateless one.

mod peer;

use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use mcp_server::{
    AskError, Cx, Elicit, Elicited, Failure, ListRoots, Prompt, Resource, Sample, Server, Tool,
};
use mcp_types::{CreateMessageParams, ElicitSchema, Map, PropertySchema, Revision};
use peer::{ERAS, Peer, accept, bare, drive, everything, text};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Notify;

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

fn greeter() -> Server {
    Server::builder("s", "1")
        .tool(Tool::new("greet", greet))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn one_line_asks_in_both_eras() {
    for revision in ERAS {
        for (reply, said) in [
            (accept("Ann"), "hello Ann"),
            (json!({"action": "decline"}), "declined"),
            (json!({"action": "cancel"}), "cancelled"),
        ] {
            let mut peer = Peer::with(greeter(), revision, everything()).await;
            let (answer, rounds) = drive(&mut peer, "greet", |method, params| {
                assert_eq!(method, "elicitation/create");
                let schema = json!({"type": "object", "required": ["name"],
                    "properties": {"name": {"type": "string", "description": "In full."}}});
                assert_eq!(
                    *params,
                    json!({"mode": "form", "message": "Who is it?", "requestedSchema": schema})
                );
                reply.clone()
            })
            .await;
            assert_eq!((text(&answer["result"]), rounds), (said, 1), "{revision}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_form_of_elicitation_has_no_mode() {
    let mut peer = Peer::with(greeter(), Revision::V2025_06_18, json!({"elicitation": {}})).await;
    let (answer, _) = drive(&mut peer, "greet", |_, params| {
        assert!(params.get("mode").is_none(), "{params}");
        accept("Ann")
    })
    .await;
    assert_eq!(text(&answer["result"]), "hello Ann");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_that_was_not_declared() {
    let sample = |cx: Cx| async move {
        let params = CreateMessageParams::new(Vec::new(), 10_u64);
        cx.ask("s", Sample(params)).await.map(|_| "sampled")
    };
    let tooled = |cx: Cx| async move {
        let tool = mcp_types::Tool::new("t", RawJson::empty_object());
        let params = CreateMessageParams::new(Vec::new(), 10_u64).with_tools([tool]);
        cx.ask("s", Sample(params)).await.map(|_| "sampled")
    };
    let url = |cx: Cx| async move {
        cx.ask("u", Elicit::url("Open it", "https://a.example/", "e1"))
            .await
            .map(|_| "opened")
    };
    let roots = |cx: Cx| async move { cx.ask("r", ListRoots).await.map(|_| "listed") };
    let server = Server::builder("s", "1")
        .tool(Tool::new("form", greet))
        .tool(Tool::new("url", url))
        .tool(Tool::new("sample", sample))
        .tool(Tool::new("tooled", tooled))
        .tool(Tool::new("roots", roots))
        .build()
        .unwrap();
    let cases = [
        (
            "form",
            json!({}),
            "elicitation",
            json!({"elicitation": {"form": {}}}),
        ),
        (
            "form",
            json!({"elicitation": {"url": {}}}),
            "elicitation",
            json!({"elicitation": {"form": {}}}),
        ),
        (
            "url",
            json!({"elicitation": {}}),
            "elicitation by URL",
            json!({"elicitation": {"url": {}}}),
        ),
        (
            "sample",
            json!({"elicitation": {}}),
            "sampling",
            json!({"sampling": {}}),
        ),
        (
            "tooled",
            json!({"sampling": {}}),
            "sampling",
            json!({"sampling": {"tools": {}}}),
        ),
        ("roots", json!({"roots": null}), "roots", json!({"roots": {}})),
    ];
    for (tool, declared, what, required) in cases {
        let mut peer = Peer::with(server.clone(), Revision::V2026_07_28, declared.clone()).await;
        let answer = peer.call("tools/call", json!({"name": tool})).await;
        assert_eq!(
            answer["error"],
            json!({"code": -32021, "message": "Missing required client capability",
                "data": {"requiredCapabilities": required}})
        );
        let mut peer = Peer::with(server.clone(), Revision::V2025_11_25, declared).await;
        let result = peer.tool(tool, json!({})).await;
        assert_eq!(
            (text(&result), &result["isError"]),
            (&*format!("the client does not support {what}"), &json!(true))
        );
        assert!(peer.notices.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn revisions_without_a_question_count_as_clients_without_it() {
    let tells = |cx: Cx| async move {
        let form = cx.ask("f", Elicit::of::<Name>("Who?")).await;
        let url = cx
            .ask("u", Elicit::url("Open it", "https://a.example/", "e1"))
            .await;
        let several = ElicitSchema::new().required("a", PropertySchema::choices(["x"]));
        let several = cx.ask("m", Elicit::fields("Which?", several)).await;
        let roots = cx.ask("r", ListRoots).await;
        let unsupported = |error: Option<AskError>| error.is_some_and(|error| error.is_unsupported());
        let all = [
            unsupported(form.err()),
            unsupported(url.err()),
            unsupported(several.err()),
            unsupported(roots.err()),
        ];
        format!("{all:?}")
    };
    let server = Server::builder("s", "1")
        .tool(Tool::new("tells", tells))
        .build()
        .unwrap();
    // What a revision has is asked; the client answers -32601 to all of it.
    for (revision, expected) in [
        (Revision::V2024_10_07, "[true, true, true, true]"),
        (Revision::V2024_11_05, "[true, true, true, false]"),
        (Revision::V2025_03_26, "[true, true, true, false]"),
        (Revision::V2025_06_18, "[false, true, true, false]"),
        (Revision::V2025_11_25, "[false, false, false, false]"),
    ] {
        let mut peer = Peer::with(server.clone(), revision, everything()).await;
        let id = peer.request("tools/call", json!({"name": "tells"})).await;
        loop {
            let message = peer.next().await;
            if message.get("method").is_none() {
                assert_eq!(message["id"], id);
                assert_eq!(text(&message["result"]), expected, "{revision}");
                break;
            }
            let error = json!({"code": -32601, "message": "Method not found"});
            peer.send(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))
                .await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn questions_side_by_side_are_one_round() {
    async fn both(cx: Cx) -> Result<String, Failure> {
        let (one, two) = tokio::join!(
            cx.ask("one", Elicit::of::<Name>("One?")),
            cx.ask("two", Elicit::of::<Name>("Two?"))
        );
        let names = [one?, two?].map(|answer| answer.accepted().map_or_else(|| "-".into(), |who| who.name));
        Ok(names.join(" "))
    }
    for revision in ERAS {
        let server = Server::builder("s", "1")
            .tool(Tool::new("both", both))
            .build()
            .unwrap();
        let mut peer = Peer::with(server, revision, everything()).await;
        let (answer, rounds) = drive(&mut peer, "both", |_, params| {
            accept(params["message"].as_str().unwrap())
        })
        .await;
        assert_eq!(text(&answer["result"]), "One? Two?");
        assert_eq!(rounds, if revision.is_stateless() { 1 } else { 2 });
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_answer_fails_the_call() {
    for (bad, said) in [
        (json!({"action": "accept"}), "name: must be filled in"),
        (
            json!({"action": "accept", "content": {"name": 1}}),
            "name: must be a text",
        ),
        (json!({"action": "shrug"}), "unknown variant"),
        (json!(null), "invalid type"),
    ] {
        let mut peer = Peer::with(greeter(), Revision::V2026_07_28, everything()).await;
        let call = json!({"name": "greet", "inputResponses": {"who": bad}});
        let (code, message) = peer.error("tools/call", call).await;
        assert_eq!(code, -32602);
        assert!(
            message.starts_with("Invalid params: the client's answer is malformed: "),
            "{message}"
        );
        assert!(message.contains(said), "{message}");
        // In the stateful era the call itself was fine.
        let mut peer = Peer::with(greeter(), Revision::V2025_11_25, everything()).await;
        let (answer, _) = drive(&mut peer, "greet", |_, _| bad.clone()).await;
        assert_eq!(answer["result"]["isError"], json!(true));
        assert!(text(&answer["result"]).contains(said), "{answer}");
    }
}

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("could not ask")]
    Ask(#[from] AskError),
    #[error(transparent)]
    Plain(AskError),
    #[error("deep down")]
    Deep(#[source] Box<Trouble>),
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_is_found_below_the_authors_own_errors() {
    async fn asked(cx: Cx) -> Result<Elicited<Name>, AskError> {
        cx.ask("who", Elicit::of::<Name>("Who?")).await
    }
    fn said(answer: Elicited<Name>) -> String {
        answer.accepted().map_or_else(String::new, |who| who.name)
    }
    let server = Server::builder("s", "1")
        .tool(Tool::new("from", |cx: Cx| async {
            Ok::<_, Trouble>(said(asked(cx).await?))
        }))
        .tool(Tool::new("transparent", |cx: Cx| async {
            asked(cx).await.map(said).map_err(Trouble::Plain)
        }))
        .tool(Tool::new("deep", |cx: Cx| async {
            asked(cx)
                .await
                .map(said)
                .map_err(|error| Trouble::Deep(Box::new(Trouble::Plain(error))))
        }))
        .tool(Tool::new("boxed", |cx: Cx| async {
            asked(cx)
                .await
                .map(said)
                .map_err(|error| Failure::boxed(Trouble::Plain(error)))
        }))
        .build()
        .unwrap();
    for revision in ERAS {
        let mut peer = Peer::with(server.clone(), revision, everything()).await;
        for tool in ["from", "transparent", "deep", "boxed"] {
            let (answer, rounds) = drive(&mut peer, tool, |_, _| accept("Ann")).await;
            assert_eq!((text(&answer["result"]), rounds), ("Ann", 1), "{tool} {revision}");
        }
    }
    let mut peer = Peer::new(server, Revision::V2026_07_28).await;
    for tool in ["from", "transparent", "deep", "boxed"] {
        assert_eq!(
            peer.error("tools/call", json!({"name": tool})).await.0,
            -32021,
            "{tool}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn prompts_and_resources_may_ask_and_completion_may_not() {
    let server = Server::builder("s", "1")
        .resource(Resource::new("x:y", "y", greet))
        .prompt(
            Prompt::new("p", |cx: Cx, _args: Map<String>| greet(cx))
                .argument(mcp_types::PromptArgument::new("a"))
                .complete("a", |cx: Cx, _what| async move {
                    vec![greet(cx).await.unwrap_or_else(|failure| format!("{failure:?}"))]
                }),
        )
        .build()
        .unwrap();
    let complete =
        json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}});
    let mut peer = Peer::with(server.clone(), Revision::V2026_07_28, everything()).await;
    for (method, params) in [
        ("resources/read", json!({"uri": "x:y"})),
        ("prompts/get", json!({"name": "p"})),
    ] {
        let first = peer.result(method, params.clone()).await;
        assert_eq!(first["resultType"], "input_required");
        assert_eq!(first["inputRequests"]["who"]["method"], "elicitation/create");
        assert!(first.get("ttlMs").is_none());
        assert!(first["_meta"]["io.modelcontextprotocol/serverInfo"].is_object());
        let mut retry = params;
        retry["inputResponses"] = json!({"who": accept("Ann")});
        let second = peer.result(method, retry).await;
        assert!(second.to_string().contains("hello Ann"), "{second}");
    }
    for revision in ERAS {
        let mut peer = Peer::with(server.clone(), revision, everything()).await;
        let result = peer.result("completion/complete", complete.clone()).await;
        let said = result["completion"]["values"][0].as_str().unwrap();
        assert!(said.contains("cannot be asked during this request"), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_url_is_asked_for_with_an_id_in_one_revision_only() {
    let server = Server::builder("s", "1")
        .tool(Tool::new("open", |cx: Cx| async move {
            let question = Elicit::url("Please sign in", "https://a.example/login", "e1");
            Ok::<_, Failure>(match cx.ask("login", question).await? {
                Elicited::Accept(()) => "consented",
                _ => "refused",
            })
        }))
        .build()
        .unwrap();
    for revision in ERAS {
        let mut peer = Peer::with(server.clone(), revision, everything()).await;
        let (answer, _) = drive(&mut peer, "open", |_, params| {
            let mut expected =
                json!({"mode": "url", "message": "Please sign in", "url": "https://a.example/login"});
            if !revision.is_stateless() {
                expected["elicitationId"] = "e1".into();
            }
            assert_eq!(*params, expected);
            json!({"action": "accept"})
        })
        .await;
        assert_eq!(text(&answer["result"]), "consented");
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_client_refuses_reaches_the_handler_with_its_code() {
    let server = Server::builder("s", "1")
        .tool(Tool::new("sample", |cx: Cx| async move {
            let params = CreateMessageParams::new(Vec::new(), 10_u64);
            match cx.ask("s", Sample(params)).await {
                Ok(_) => "sampled".to_owned(),
                Err(error) => format!("{error} {:?}", error.error_object().map(|object| object.code)),
            }
        }))
        .build()
        .unwrap();
    let mut peer = Peer::with(server, Revision::V2025_11_25, everything()).await;
    let id = peer.request("tools/call", json!({"name": "sample"})).await;
    let question = peer.next().await;
    let error = json!({"code": -1, "message": "User rejected sampling request"});
    peer.send(json!({"jsonrpc": "2.0", "id": question["id"], "error": error}))
        .await;
    let answer = peer.answer(id).await;
    assert_eq!(
        text(&answer["result"]),
        "the client refused: User rejected sampling request Some(-1)"
    );
}

#[tokio::test(start_paused = true)]
async fn p050_a_call_before_initialized_runs_and_its_question_waits() {
    let go = Arc::new(Notify::new());
    let wait = Arc::clone(&go);
    let late = move |cx: Cx| {
        let wait = Arc::clone(&wait);
        async move {
            wait.notified().await;
            greet(cx).await
        }
    };
    let server = Server::builder("s", "1")
        .tool(Tool::new("greet", greet))
        .tool(Tool::new("late", late))
        .build()
        .unwrap();
    let mut peer = Peer::fresh(server, Revision::V2025_11_25, everything());
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": everything(), "clientInfo": {"name": "t", "version": "0"}});
    peer.result("initialize", hello).await;
    let (call, late) = (
        peer.request("tools/call", json!({"name": "greet"})).await,
        peer.request("tools/call", json!({"name": "late"})).await,
    );
    // The list is answered and no question came before.
    peer.result("tools/list", json!({})).await;
    assert!(peer.notices.is_empty(), "{:?}", peer.notices);
    peer.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    // One had asked before, the other asks only now.
    for id in [call, late] {
        let question = peer.next().await;
        assert_eq!(question["method"], "elicitation/create");
        peer.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": accept("Ann")}))
            .await;
        assert_eq!(text(&peer.answer(id).await["result"]), "hello Ann");
        go.notify_one();
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_its_time_and_with_its_call() {
    let server = Server::builder("s", "1")
        .tool(Tool::new("greet", greet))
        .ask_timeout(std::time::Duration::from_secs(5))
        .build()
        .unwrap();
    let mut peer = Peer::with(server, Revision::V2025_11_25, everything()).await;
    // Nobody answers; time is paused and runs to the limit at once.
    let result = peer.tool("greet", json!({})).await;
    assert_eq!(text(&result), "the client did not answer in time");
    let methods: Vec<&str> = peer
        .notices
        .iter()
        .map(|m| m["method"].as_str().unwrap())
        .collect();
    assert_eq!(methods, ["elicitation/create", "notifications/cancelled"]);
    assert_eq!(peer.notices[1]["params"]["requestId"], peer.notices[0]["id"]);
    peer.notices.clear();

    let call = peer.request("tools/call", json!({"name": "greet"})).await;
    let question = peer.next().await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}});
    peer.send(cancelled).await;
    let end = peer.next().await;
    assert_eq!(
        (&end["method"], &end["params"]["requestId"]),
        (&json!("notifications/cancelled"), &question["id"])
    );
}

#[tokio::test(start_paused = true)]
async fn a_context_that_outlives_its_call_does_nothing() {
    let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
    let leak = move |cx: Cx| {
        let _ = send.send(cx.clone());
        async { "done" }
    };
    let server = Server::builder("s", "1")
        .logging()
        .tool(Tool::new("leak", leak))
        .build()
        .unwrap();
    for revision in ERAS {
        let mut peer = Peer::with(server.clone(), revision, everything()).await;
        peer.meta = json!({"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"});
        peer.tool("leak", json!({})).await;
        let cx = receive.recv().await.unwrap();
        assert!(!cx.progress(1.0, None).await);
        cx.progress_now(2.0, None, None);
        assert!(!cx.log(mcp_types::LoggingLevel::Error, "late").await);
        assert!(!cx.notify("notifications/own", json!({})).await);
        let error = cx.ask("who", Elicit::of::<Name>("Who?")).await.err().unwrap();
        assert!(
            !error.is_interrupt() && error.to_string().contains("the call is over"),
            "{error}"
        );
        peer.result("tools/list", json!({})).await;
        assert!(peer.notices.is_empty(), "{:?}", peer.notices);
    }
}

#[tokio::test(start_paused = true)]
async fn a_form_that_no_client_could_show_is_the_authors_fault() {
    #[derive(Deserialize, JsonSchema)]
    struct Nested {
        #[allow(dead_code)]
        inner: Vec<Vec<String>>,
    }
    let server = Server::builder("s", "1")
        .tool(Tool::new("nested", |cx: Cx| async move {
            cx.ask("n", Elicit::of::<Nested>("?")).await.map(|_| "asked")
        }))
        .build()
        .unwrap();
    for revision in ERAS {
        let mut peer = Peer::with(server.clone(), revision, everything()).await;
        let result = peer.tool("nested", json!({})).await;
        assert_eq!(
            bare(result),
            json!({"isError": true, "content": [{"type": "text", "text":
                "a form cannot have the field \"inner\": it is no text, number, boolean or choice"}]})
        );
    }
}
