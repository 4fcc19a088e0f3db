//! With a server of the contract.

use std::sync::mpsc;

use super::*;

fn strings(names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    names.sort();
    names
}

/// Each name of a list that came in at least two pages.
fn paged(what: &str, mut names: Vec<String>, pages: usize, right: &[&str]) -> Outcome {
    names.sort();
    expect(what, names, strings(right))?;
    if pages < 2 {
        Err(format!("{what} came in one page"))
    } else {
        Ok(json!({"pages": pages}))
    }
}

/// Every page of a list: the items, and how many pages there were.
macro_rules! every_page {
    ($session:ident, $page:ident, $field:ident) => {{
        let (mut items, mut pages, mut cursor) = (Vec::new(), 0, None::<String>);
        loop {
            let page = $session.client.$page(cursor.as_deref()).await.map_err(told)?;
            items.extend(page.$field);
            pages += 1;
            cursor = page.next_cursor;
            if cursor.is_none() || pages == 50 {
                break (items, pages);
            }
        }
    }};
}

pub(super) async fn take(session: &Session, step: &str) -> Outcome {
    let client = &session.client;
    let modern = client.revision() >= Revision::V2025_06_18;
    match step {
        "list_tools" => {
            let (_, pages) = every_page!(session, list_tools_page, tools);
            let tools = client.list_tools().await.map_err(told)?;
            if modern {
                let structured = tools.iter().find(|tool| tool.name == "structured");
                let schema = value(structured.and_then(|tool| tool.output_schema.as_ref()))?;
                expect(
                    "outputSchema",
                    &schema["properties"]["sum"]["type"],
                    &json!("integer"),
                )?;
            }
            let names = tools.into_iter().map(|tool| tool.name).collect();
            paged(
                "tools",
                names,
                pages,
                &["echo", "image", "structured", "fail", "progress", "slow", "ask"],
            )
        }
        "list_resources" => {
            let (_, pages) = every_page!(session, list_resources_page, resources);
            let resources = client.list_resources().await.map_err(told)?;
            let names = resources.into_iter().map(|resource| resource.name).collect();
            paged("resources", names, pages, &["one", "two", "three", "four"])
        }
        "list_templates" => {
            let templates = client.list_resource_templates().await.map_err(told)?;
            let templates: Vec<_> = templates
                .iter()
                .map(|template| template.uri_template.as_str())
                .collect();
            expect("templates", templates, vec!["memo://{name}"])?;
            DONE
        }
        "list_prompts" => {
            let (_, pages) = every_page!(session, list_prompts_page, prompts);
            let prompts = client.list_prompts().await.map_err(told)?;
            let greet = prompts
                .iter()
                .find(|prompt| prompt.name == "greet")
                .ok_or("no greet")?;
            let arguments: Vec<_> = greet
                .arguments
                .iter()
                .map(|a| (a.name.as_str(), a.required))
                .collect();
            expect("arguments", arguments, vec![("who", Some(true))])?;
            let names = prompts.into_iter().map(|prompt| prompt.name).collect();
            paged("prompts", names, pages, &["bow", "greet", "nod", "wave"])
        }
        "echo" => {
            let text = "tea, \"thé\", 茶\n🫖";
            expect(
                "text",
                call_text(session, "echo", json!({"text": text})).await?.as_str(),
                text,
            )?;
            DONE
        }
        "image" => image(session, "image", PNG).await,
        "structured" => {
            let result = call(session, "structured", json!({"a": 2, "b": -5})).await?;
            let text: Value =
                serde_json::from_str(first_text(&result).unwrap_or_default()).map_err(|e| e.to_string())?;
            expect("text", text, json!({"sum": -3}))?;
            if modern {
                expect(
                    "structuredContent",
                    value(result.structured_content.as_ref())?,
                    json!({"sum": -3}),
                )?;
            }
            DONE
        }
        "fail" => failing(session, "fail", json!({}), "it failed").await,
        "unknown_tool" => unknown_tool(session).await,
        "progress" => {
            let (sender, reports) = mpsc::channel();
            let request = tool(session, "progress", &json!({"steps": 3}));
            let request = request.on_progress(move |report| {
                let _ = sender.send((
                    report.progress.to_string(),
                    report.total.map(|total| total.to_string()),
                ));
            });
            let result = request.await.map_err(told)?;
            expect("text", first_text(&result), Some("done"))?;
            let seen: Vec<_> = reports.iter().collect();
            let right = ["1", "2", "3"].map(|step| (step.to_owned(), Some("3".to_owned())));
            // Some SDKs write whole numbers with a fraction.
            let plain = |text: String| text.strip_suffix(".0").map_or(text.clone(), str::to_owned);
            let seen: Vec<_> = seen
                .into_iter()
                .map(|(step, total)| (plain(step), total.map(plain)))
                .collect();
            expect("progress", seen, right.to_vec())?;
            DONE
        }
        "cancel" if client.revision() < Revision::V2024_11_05 => {
            Ok(json!({"skipped": "no cancellation in this revision"}))
        }
        "cancel" => {
            let request = tool(session, "slow", &json!({"ms": 60_000})).into_future();
            tokio::select! {
                outcome = request => return Err(format!("answered {outcome:?}")),
                started = session.said("started") => started?,
            }
            session.said("cancelled").await?;
            expect(
                "a later call",
                call_text(session, "echo", json!({"text": "still here"}))
                    .await?
                    .as_str(),
                "still here",
            )?;
            DONE
        }
        "resource" => read(session, "memo://one", "text/plain", |text| text == "memo one").await,
        "template" => read(session, "memo://tea", "text/plain", |text| text == "memo tea").await,
        "missing_resource" => missing_resource(session, "nowhere://tea").await,
        "prompt" => prompt(session, "greet", ("who", "Ada"), "Hello, Ada!").await,
        "ask" if !modern => Ok(json!({"skipped": "no elicitation in this revision"})),
        "ask" => {
            let name = RawJson::from_text("\"Ada\"").map_err(|error| error.to_string())?;
            session.will_answer(ElicitResult::accept(JsonObject::from([("name", name)])));
            expect(
                "accepted",
                call_text(session, "ask", json!({})).await?.as_str(),
                "hello Ada",
            )?;
            session.will_answer(ElicitResult::decline());
            expect(
                "declined",
                call_text(session, "ask", json!({})).await?.as_str(),
                "declined",
            )?;
            expect(
                "questions",
                session.asked(),
                vec!["What is your name?".to_owned(); 2],
            )?;
            DONE
        }
        other => unknown(other),
    }
}
