//! Prompts, and the completion of their arguments and of templates' variables.

mod peer;

use mcp_server::{Completion, Cx, Failure, Prompt, Resource, Server, Template};
use mcp_types::{ContentBlock, GetPromptResult, Map, PromptMessage, ResourceContents, Revision};
use peer::{ERAS, Peer, bare};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Kind,
    Terse,
}

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// Which note.
    note: String,
    tone: Option<Tone>,
}

async fn review(_cx: Cx, args: Review) -> Result<GetPromptResult, Failure> {
    if args.note == "secret" {
        return Err(Failure::invalid_params("no such note"));
    }
    let contents = ResourceContents::from_text(format!("notes://{}", args.note), "The parser.");
    let ask = match args.tone {
        Some(Tone::Terse) => "Open questions?",
        Some(Tone::Kind) | None => "List the open questions in this note:",
    };
    let messages = vec![
        PromptMessage::user(ask),
        PromptMessage::new(mcp_types::Role::User, ContentBlock::resource(contents)),
    ];
    Ok(GetPromptResult::new(messages).with_description(format!("Review of {}", args.note)))
}

async fn names(_cx: Cx, what: Completion) -> Vec<String> {
    match what.known.get("count") {
        Some(_) => Vec::new(),
        None => (0..150).map(|n| format!("{}{n}", what.value)).collect(),
    }
}

fn server() -> Server {
    Server::builder("s", "1")
        .prompt(
            Prompt::typed("review", review)
                .description("Review a note for open questions")
                .complete("note", names),
        )
        .prompt(Prompt::new("plain", |_cx: Cx, args: Map<String>| async move {
            format!("{:?}", args.get("a"))
        }))
        .resource(Resource::new("notes://todo", "todo", |_cx: Cx| async { "" }))
        .template(
            Template::new(
                "notes://{name}/{part}",
                "note",
                |_cx: Cx, _values: Map<String>| async { "" },
            )
            .complete("name", names),
        )
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_prompt_takes_its_arguments_from_a_type() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        let list = peer.result("prompts/list", json!({})).await;
        assert_eq!(
            bare(list),
            json!({"prompts": [{"name": "plain"}, {"name": "review", "description": "Review a note for open questions",
                "arguments": [{"name": "note", "description": "Which note.", "required": true}, {"name": "tone"}]}]})
        );
        // P151: the embedded resource has one level.
        let got = peer
            .result(
                "prompts/get",
                json!({"name": "review", "arguments": {"note": "design"}}),
            )
            .await;
        assert_eq!(
            bare(got),
            json!({"description": "Review of design", "messages": [
                {"role": "user", "content": {"type": "text", "text": "List the open questions in this note:"}},
                {"role": "user", "content": {"type": "resource",
                    "resource": {"uri": "notes://design", "text": "The parser."}}}]})
        );
    }
}

#[tokio::test(start_paused = true)]
async fn wrong_names_and_arguments_of_prompts_are_invalid_params() {
    let cases = [
        (json!({"name": "none"}), "Unknown prompt: none"),
        (json!({"name": "review"}), "Missing argument: note"),
        (
            json!({"name": "review", "arguments": null}),
            "Missing argument: note",
        ),
        (
            json!({"name": "review", "arguments": {"note": "secret"}}),
            "no such note",
        ),
        (
            json!({"name": "review", "arguments": {"note": 1}}),
            "Invalid params: ",
        ),
        (
            json!({"name": "review", "arguments": {"note": "a", "tone": "loud"}}),
            "Invalid argument tone: ",
        ),
        (json!({}), "Invalid params: "),
    ];
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        for (params, said) in &cases {
            let (code, message) = peer.error("prompts/get", params.clone()).await;
            assert_eq!(code, -32602, "{params}");
            assert!(message.starts_with(said), "{params}: {message}");
        }
        let got = peer
            .result("prompts/get", json!({"name": "plain", "arguments": {}}))
            .await;
        assert_eq!(got["messages"][0]["content"]["text"], "None");
    }
}

#[tokio::test(start_paused = true)]
async fn completion_sends_at_most_100_values_and_says_that_there_are_more() {
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let mut peer = Peer::new(server(), revision).await;
        for reference in [
            json!({"type": "ref/prompt", "name": "review"}),
            json!({"type": "ref/resource", "uri": "notes://{name}/{part}"}),
        ] {
            let name = if reference["type"] == "ref/prompt" {
                "note"
            } else {
                "name"
            };
            let params = json!({"ref": reference, "argument": {"name": name, "value": "n"}});
            let found = peer.result("completion/complete", params.clone()).await["completion"].clone();
            assert_eq!(found["values"].as_array().unwrap().len(), 100);
            assert_eq!(
                (&found["values"][99], &found["total"], &found["hasMore"]),
                (&json!("n99"), &json!(150), &json!(true))
            );
            let mut known = params;
            known["context"] = json!({"arguments": {"count": "1"}});
            let found = peer.result("completion/complete", known).await["completion"].clone();
            assert_eq!(found, json!({"values": [], "total": 0, "hasMore": false}));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn completion_of_what_is_not_there_is_refused_and_of_what_has_no_completer_is_empty() {
    let params =
        |reference, argument: &str| json!({"ref": reference, "argument": {"name": argument, "value": ""}});
    let prompt = |name: &str| json!({"type": "ref/prompt", "name": name});
    let resource = |uri: &str| json!({"type": "ref/resource", "uri": uri});
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        for empty in [
            params(prompt("review"), "tone"),
            params(resource("notes://{name}/{part}"), "part"),
            params(resource("notes://todo"), "any"),
        ] {
            let found = peer.result("completion/complete", empty).await;
            assert_eq!(found["completion"]["values"], json!([]));
        }
        for (bad, said) in [
            (params(prompt("none"), "a"), "Unknown prompt: none"),
            (params(prompt("review"), "a"), "Unknown argument: a"),
            (params(resource("x:none"), "a"), "Unknown resource: x:none"),
            (
                params(resource("notes://{name}/{part}"), "a"),
                "Unknown argument: a",
            ),
            (
                params(json!({"type": "ref/tool", "name": "x"}), "a"),
                "Invalid params: unknown kind of ref",
            ),
            (
                json!({"ref": prompt("review")}),
                "Invalid params: missing field `argument`",
            ),
        ] {
            let (code, message) = peer.error("completion/complete", bad).await;
            assert_eq!(code, -32602);
            assert!(message.starts_with(said), "{message}");
        }
    }
}
