//! The harnesses find what they are there to find.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mcp_exchange::BoxHandler;
use mcp_server::{Cx, Elicit, Failure, Server, Tool};
use mcp_stdio::{Options, serve_on};
use mcp_testkit::{Answer, Driver, Transcript, pair, play, replay_both_ways};
use mcp_types::{ClientCapabilities, ElicitSchema, ElicitationCapability, JsonObject, Revision};
use serde_json::{Value, json};

fn can_elicit() -> ClientCapabilities {
    ClientCapabilities::default().with_elicitation(ElicitationCapability::default())
}

fn yes(_: &str, _: &Value) -> Answer {
    Answer::Result(json!({"action": "accept", "content": {}}))
}

/// A tool that has an effect before it asks: wrongly, or remembered.
fn server(remembered: bool) -> BoxHandler {
    let runs = Arc::new(AtomicU32::new(0));
    let tool = move |cx: Cx| {
        let runs = Arc::clone(&runs);
        async move {
            let work = async || Ok::<u32, Failure>(runs.fetch_add(1, Ordering::SeqCst) + 1);
            let run = match remembered {
                true => cx.remember("run", work).await?,
                false => work().await?,
            };
            let question: Elicit<JsonObject> = Elicit::fields("Go on?", ElicitSchema::default());
            cx.ask("go", question).await?;
            Ok::<String, Failure>(format!("run {run}"))
        }
    };
    let server = Server::builder("s", "1").tool(Tool::new("t", tool)).build();
    BoxHandler::new(server.unwrap())
}

#[tokio::test]
async fn an_effect_before_a_question_shows_unless_it_is_remembered() {
    let call = json!({"name": "t"});
    let outcome = replay_both_ways(|| server(true), "tools/call", &call, &can_elicit(), yes).await;
    let outcome = outcome.unwrap();
    assert_eq!((outcome.rounds, outcome.questions), (1, 1));
    assert_eq!(outcome.outcome["content"][0]["text"], "run 1");
    let error = replay_both_ways(|| server(false), "tools/call", &call, &can_elicit(), yes).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("run 1") && error.contains("run 2"), "{error}");
}

#[tokio::test]
async fn a_driver_hears_events_and_questions() {
    let tool = async |cx: Cx| {
        cx.progress(1.0, None).await;
        "done"
    };
    let server = Server::builder("s", "1")
        .tool(Tool::new("t", tool))
        .build()
        .unwrap();
    for revision in Revision::ALL {
        let driver = Driver::new(server.clone(), revision);
        let params = json!({"name": "t", "_meta": {"progressToken": "p"}});
        let answer = driver.call("tools/call", params).await.unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
        assert_eq!(
            driver.events()[0]["params"],
            json!({"progressToken": "p", "progress": 1})
        );
        assert!(driver.questions().is_empty());
    }
}

async fn played(text: &str, revision: Revision) -> Result<(), String> {
    let transcript = Transcript::parse(text).unwrap();
    let (mut client, (reader, writer)) = pair();
    let server = Server::builder("s", "1")
        .tool(Tool::new("t", async |_: Cx| "done"))
        .build();
    let serving = serve_on(reader, writer, server.unwrap(), Options::default());
    let (_, play) = tokio::join!(serving, play(&transcript, revision, &mut client));
    play.outcome.map_err(|error| error.to_string())
}

const CALL: &str = r#"# Title: a call
> {"id":1,"method":"tools/call","params":{"name":"t"}}
"#;

#[tokio::test]
async fn a_transcript_holds_in_every_revision_or_says_where_it_does_not() {
    let good = r#"< {"id":1,"result":{"content":[{"type":"text","text":"done"}],"...":0}}"#;
    for revision in Revision::ALL {
        played(&format!("{CALL}{good}"), revision).await.unwrap();
    }
    let bad = r#"< {"id":1,"result":{"content":[{"type":"text","text":"other"}],"...":0}}"#;
    let error = played(&format!("{CALL}{bad}"), Revision::LATEST)
        .await
        .unwrap_err();
    assert!(
        error.contains("line 3") && error.contains("/result/content/0/text"),
        "{error}"
    );
}

#[tokio::test]
async fn what_nobody_expects_and_what_does_not_come_fail_a_transcript() {
    let twice = format!("{CALL}< {{\"...\":0}}\n> {{\"id\":2,\"method\":\"foo\"}}");
    let error = played(&twice, Revision::LATEST).await.unwrap_err();
    assert!(error.contains("more than expected"), "{error}");
    let never = format!("{CALL}< {{\"...\":0}}\nclose\n< {{\"id\":2}}");
    let error = played(&never, Revision::LATEST).await.unwrap_err();
    assert!(error.contains("the server ended"), "{error}");
}

#[tokio::test]
async fn unordered_lines_may_come_in_any_order() {
    let text = r#"# Title: two
> {"id":1,"method":"foo"}
> {"id":2,"method":"bar"}
<* {"id":2,"error":{"code":-32601,"message":"..."}}
<* {"id":1,"error":{"code":-32601,"message":"..."}}
"#;
    played(text, Revision::LATEST).await.unwrap();
    let ordered = text.replace("<*", "<");
    assert!(played(&ordered, Revision::LATEST).await.is_err());
}
