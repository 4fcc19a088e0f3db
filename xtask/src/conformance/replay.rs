//! The layer `replay`: every handler of the fixture that asks its client something, live and replayed.

use mcp_exchange::BoxHandler;
use mcp_jsonrpc::ErrorObject;
use mcp_testkit::{Answer, Driver, replay_both_ways};
use mcp_types::{ClientCapabilities, Revision};
use serde_json::{Value, json};

use super::Outcome;
use super::fixture::{self, Kind};

/// How the client answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Agrees,
    Declines,
    Cancels,
    Babbles,
}

/// A call that asks: method, parameters, questions, rounds.
struct Asking {
    method: &'static str,
    params: Value,
    questions: usize,
    rounds: usize,
}

pub(super) fn run() -> Vec<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(run_all()),
        Err(error) => vec![outcome("runtime".into(), Some(error.to_string()))],
    }
}

async fn run_all() -> Vec<Outcome> {
    let tool = |name: &str, questions, rounds| Asking {
        method: "tools/call",
        params: json!({"name": name}),
        questions,
        rounds,
    };
    let asking = [
        tool("ask_name", 1, 1),
        tool("ask_url", 1, 1),
        tool("ask_model", 1, 1),
        tool("ask_roots", 1, 1),
        // Two questions at once are one round; one after the other, two.
        tool("ask_both", 2, 1),
        tool("ask_twice", 2, 2),
        Asking {
            method: "prompts/get",
            params: json!({"name": "asked"}),
            questions: 1,
            rounds: 1,
        },
        Asking {
            method: "resources/read",
            params: json!({"uri": "ask://name"}),
            questions: 1,
            rounds: 1,
        },
    ];
    let mut outcomes = Vec::new();
    for one in &asking {
        outcomes.push(agreed(one).await);
    }
    for mood in [Mood::Declines, Mood::Cancels] {
        for one in asking
            .iter()
            .filter(|one| one.params != json!({"name": "ask_twice"}))
        {
            outcomes.push(in_mood(one, mood).await);
        }
    }
    outcomes.push(remembered().await);
    outcomes.push(silent_without_capability().await);
    outcomes.extend(tampered().await);
    outcomes.push(dropped().await);
    outcomes
}

fn outcome(name: String, failure: Option<String>) -> Outcome {
    Outcome {
        layer: "replay",
        krate: "mcp-server",
        revision: "both eras".into(),
        transport: "-",
        name,
        failure,
    }
}

fn handler() -> Result<BoxHandler, String> {
    fixture::server(Kind::Rich)
        .map(BoxHandler::new)
        .map_err(|error| error.to_string())
}

fn everything() -> ClientCapabilities {
    let all = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
    serde_json::from_value(all).unwrap_or_default()
}

fn answer(mood: Mood, method: &str) -> Answer {
    Answer::Result(match (method, mood) {
        ("elicitation/create", Mood::Declines) => json!({"action": "decline"}),
        ("elicitation/create", Mood::Cancels) => json!({"action": "cancel"}),
        ("elicitation/create", Mood::Babbles) => json!({"action": "accept", "content": {"name": 7}}),
        ("elicitation/create", Mood::Agrees) => json!({"action": "accept", "content": {"name": "Ada"}}),
        ("sampling/createMessage", _) => {
            json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"})
        }
        ("roots/list", _) => json!({"roots": [{"uri": "file:///a"}]}),
        _ => return Answer::Error(ErrorObject::method_not_found(method)),
    })
}

async fn both_ways(one: &Asking, mood: Mood) -> Result<mcp_testkit::Replayed, String> {
    // Made once before, so that a fixture that cannot be built is told.
    handler()?;
    let make = || handler().unwrap_or_else(|error| panic!("the fixture: {error}"));
    let answer = move |method: &str, _: &Value| answer(mood, method);
    replay_both_ways(make, one.method, &one.params, &everything(), answer)
        .await
        .map_err(|error| error.to_string())
}

async fn agreed(one: &Asking) -> Outcome {
    let failure = match both_ways(one, Mood::Agrees).await {
        Err(error) => Some(error),
        Ok(got) if (got.questions, got.rounds) != (one.questions, one.rounds) => Some(format!(
            "{} questions in {} rounds, not {} in {}",
            got.questions, got.rounds, one.questions, one.rounds
        )),
        Ok(got) if got.outcome.get("error").is_some() => Some(format!("it failed: {}", got.outcome)),
        Ok(_) => None,
    };
    outcome(format!("{} {}", one.method, one.params), failure)
}

async fn in_mood(one: &Asking, mood: Mood) -> Outcome {
    let failure = both_ways(one, mood).await.err();
    outcome(
        format!("{} {}, the user {mood:?}", one.method, one.params),
        failure,
    )
}

/// What is remembered is done once, however often the handler runs.
async fn remembered() -> Outcome {
    let one = Asking {
        method: "tools/call",
        params: json!({"name": "ask_twice"}),
        questions: 2,
        rounds: 2,
    };
    let failure = match both_ways(&one, Mood::Agrees).await {
        Err(error) => Some(error),
        Ok(got) => {
            let text = &got.outcome["content"][0]["text"];
            (text != "Ada hi: 1, 2 of 2").then(|| format!("work was done again: {text}"))
        }
    };
    outcome("remembered work is done once".into(), failure)
}

/// Without the capability nobody is asked, in neither era.
async fn silent_without_capability() -> Outcome {
    let failure = async {
        for revision in Revision::ALL {
            let driver = Driver::new(handler()?, revision);
            driver
                .call("tools/call", json!({"name": "ask_name"}))
                .await
                .map_err(|error| error.to_string())?;
            if !driver.questions().is_empty() {
                return Err(format!("asked in {revision}"));
            }
        }
        Ok(())
    };
    outcome("nothing undeclared is asked".into(), failure.await.err())
}

/// A `requestState` that was changed, belongs to another call or another principal is refused with -32602.
async fn tampered() -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let state = async {
        let driver = Driver::new(handler()?, Revision::LATEST)
            .capabilities(everything())
            .principal("ada");
        let call = json!({"name": "ask_twice"});
        let first = driver
            .call("tools/call", call)
            .await
            .map_err(|error| error.to_string())?;
        let state = first["result"]["requestState"].as_str().map(str::to_owned);
        Ok::<_, String>((driver, state.ok_or("no requestState")?))
    };
    let (driver, state) = match state.await {
        Ok(ready) => ready,
        Err(error) => return vec![outcome("tampered state".into(), Some(error))],
    };
    let mut flipped = state.clone().into_bytes();
    if let Some(last) = flipped.iter_mut().rev().nth(3) {
        *last = if *last == b'A' { b'B' } else { b'A' };
    }
    let flipped = String::from_utf8(flipped).unwrap_or_default();
    let cut: String = state.chars().take(state.len() / 2).collect();
    let cases = [
        (
            "a changed requestState",
            json!({"name": "ask_twice", "requestState": flipped}),
        ),
        (
            "half a requestState",
            json!({"name": "ask_twice", "requestState": cut}),
        ),
        (
            "an empty requestState",
            json!({"name": "ask_twice", "requestState": ""}),
        ),
        (
            "another tool's requestState",
            json!({"name": "ask_name", "requestState": state}),
        ),
        (
            "a requestState of other arguments",
            json!({"name": "ask_twice", "arguments": {"x": 1}, "requestState": state}),
        ),
    ];
    for (name, params) in cases {
        let answer = driver.call("tools/call", params).await;
        outcomes.push(outcome(format!("{name} is refused"), refused(answer)));
    }
    let other = driver.principal("eve");
    let answer = other
        .call("tools/call", json!({"name": "ask_twice", "requestState": state}))
        .await;
    outcomes.push(outcome(
        "another principal's requestState is refused".into(),
        refused(answer),
    ));
    let babbling = Asking {
        method: "tools/call",
        params: json!({"name": "ask_name"}),
        questions: 1,
        rounds: 1,
    };
    // Live, the handler sees a failure; replayed, the caller sees its own fault. Neither is a success.
    let failure = match both_ways(&babbling, Mood::Babbles).await {
        Ok(got) if got.outcome["isError"] != true => Some(format!("taken: {}", got.outcome)),
        _ => None,
    };
    outcomes.push(outcome(
        "an answer that does not fit is no success".into(),
        failure,
    ));
    outcomes
}

fn refused(answer: Result<Value, mcp_testkit::TestError>) -> Option<String> {
    match answer {
        Ok(answer) if answer["error"]["code"] == -32602 => None,
        Ok(answer) => Some(format!("not refused: {answer}")),
        Err(error) => Some(error.to_string()),
    }
}

/// A call may be dropped at each of its waits; the next one works.
async fn dropped() -> Outcome {
    let outcome_of = async {
        let driver = Driver::new(handler()?, Revision::LATEST_HANDSHAKE)
            .capabilities(everything())
            .answering(|method, _| answer(Mood::Agrees, method));
        let make = || driver.call("tools/call", json!({"name": "ask_both"}));
        let (_, answer) = mcp_testkit::drop_anywhere(make, |_| ()).await;
        let answer = answer.map_err(|error| error.to_string())?;
        match answer["result"]["content"][0]["text"] == "Ada / hi" {
            true => Ok(()),
            false => Err(format!("the last call gave {answer}")),
        }
    };
    outcome(
        "a call dropped at any wait harms no other".into(),
        outcome_of.await.err(),
    )
}
