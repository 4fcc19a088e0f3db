//! With the reference servers, which have what they have.

use std::sync::mpsc;

use super::*;

pub(super) async fn everything(session: &Session, step: &str) -> Outcome {
    let client = &session.client;
    let modern = client.revision() >= Revision::V2025_06_18;
    match step {
        "list_tools" => {
            let right = [
                "echo",
                "get-sum",
                "get-tiny-image",
                "get-structured-content",
                "trigger-long-running-operation",
            ];
            has(
                "tools",
                client
                    .list_tools()
                    .await
                    .map_err(told)?
                    .iter()
                    .map(|tool| tool.name.as_str()),
                &right,
            )
        }
        "list_resources" => {
            let resources = client.list_resources().await.map_err(told)?;
            has(
                "resources",
                resources.iter().map(|resource| resource.name.as_str()),
                &["architecture.md"],
            )
        }
        "list_templates" => {
            let templates = client.list_resource_templates().await.map_err(told)?;
            let uris = templates.iter().map(|template| template.uri_template.as_str());
            has("templates", uris, &["demo://resource/dynamic/text/{resourceId}"])
        }
        "list_prompts" => {
            let prompts = client.list_prompts().await.map_err(told)?;
            has(
                "prompts",
                prompts.iter().map(|prompt| prompt.name.as_str()),
                &["simple-prompt", "args-prompt"],
            )
        }
        "echo" => {
            expect(
                "text",
                call_text(session, "echo", json!({"message": "tea"}))
                    .await?
                    .as_str(),
                "Echo: tea",
            )?;
            DONE
        }
        "image" => image(session, "get-tiny-image", "iVBORw0KGgo").await,
        "structured" => {
            let result = call(session, "get-structured-content", json!({"location": "New York"})).await?;
            let text: Value =
                serde_json::from_str(first_text(&result).unwrap_or_default()).map_err(|e| e.to_string())?;
            expect("text", text["conditions"].is_string(), true)?;
            if modern {
                expect(
                    "structuredContent",
                    value(result.structured_content.as_ref())?,
                    text,
                )?;
            }
            DONE
        }
        // The argument is missing.
        "fail" => failing(session, "echo", json!({}), "message").await,
        "unknown_tool" => unknown_tool(session).await,
        "progress" => {
            let (sender, reports) = mpsc::channel();
            let request = tool(
                session,
                "trigger-long-running-operation",
                &json!({"duration": 1, "steps": 3}),
            );
            let request = request.on_progress(move |_| {
                let _ = sender.send(());
            });
            let result = request.await.map_err(told)?;
            expect("isError", result.is_error, false)?;
            match reports.iter().count() {
                0 => Err("no progress".into()),
                // Its last report may come after the answer.
                seen => Ok(json!({"reports": seen})),
            }
        }
        "cancel" => {
            let (sender, first) = tokio::sync::oneshot::channel();
            let mut sender = Some(sender);
            let request = tool(
                session,
                "trigger-long-running-operation",
                &json!({"duration": 1, "steps": 10}),
            );
            let request = request.on_progress(move |_| {
                if let Some(sender) = sender.take() {
                    let _ = sender.send(());
                }
            });
            tokio::select! {
                outcome = request.into_future() => return Err(format!("answered {outcome:?}")),
                begun = first => begun.map_err(|error| error.to_string())?,
            }
            expect(
                "a later call",
                call_text(session, "echo", json!({"message": "tea"}))
                    .await?
                    .as_str(),
                "Echo: tea",
            )?;
            DONE
        }
        "resource" => {
            let uri = "demo://resource/static/document/architecture.md";
            read(session, uri, "text/markdown", |text| {
                text.starts_with("# Everything Server")
            })
            .await
        }
        "template" => {
            let uri = "demo://resource/dynamic/text/7";
            read(session, uri, "text/plain", |text| text.starts_with("Resource 7:")).await
        }
        "missing_resource" => missing_resource(session, "demo://nowhere").await,
        "prompt" => {
            prompt(
                session,
                "args-prompt",
                ("city", "Oslo"),
                "What's weather in Oslo?",
            )
            .await
        }
        "ask" if !modern => Ok(json!({"skipped": "no elicitation in this revision"})),
        "ask" => {
            session.will_answer(ElicitResult::decline());
            let text = call_text(session, "trigger-elicitation-request", json!({})).await?;
            expect("declined", text.contains("declined"), true)?;
            expect("questions", session.asked().len(), 1)?;
            DONE
        }
        other => unknown(other),
    }
}

pub(super) async fn filesystem(session: &Session, step: &str) -> Outcome {
    // The server was given one folder, and says which.
    let folder = async || {
        let text = call_text(session, "list_allowed_directories", json!({})).await?;
        let folder = text.lines().nth(1).map(str::to_owned);
        folder.ok_or_else(|| format!("no folder in {text:?}"))
    };
    match step {
        "list_tools" => {
            let tools = session.client.list_tools().await.map_err(told)?;
            has(
                "tools",
                tools.iter().map(|tool| tool.name.as_str()),
                &["read_text_file", "write_file"],
            )
        }
        "write" => {
            let path = format!("{}/tea.txt", folder().await?);
            call_text(session, "write_file", json!({"path": path, "content": "tea\n"})).await?;
            DONE
        }
        "read" => {
            let path = format!("{}/tea.txt", folder().await?);
            expect(
                "text",
                call_text(session, "read_text_file", json!({"path": path}))
                    .await?
                    .as_str(),
                "tea\n",
            )?;
            DONE
        }
        "fail" => {
            failing(
                session,
                "read_text_file",
                json!({"path": "/etc/passwd"}),
                "Access denied",
            )
            .await
        }
        other => unknown(other),
    }
}

pub(super) async fn memory(session: &Session, step: &str) -> Outcome {
    match step {
        "list_tools" => {
            let tools = session.client.list_tools().await.map_err(told)?;
            has(
                "tools",
                tools.iter().map(|tool| tool.name.as_str()),
                &["create_entities", "search_nodes"],
            )
        }
        "create" => {
            let ada = json!({"name": "Ada", "entityType": "person", "observations": ["likes tea"]});
            expect(
                "text",
                call_text(session, "create_entities", json!({"entities": [ada]}))
                    .await?
                    .contains("likes tea"),
                true,
            )?;
            DONE
        }
        "search" => {
            expect(
                "text",
                call_text(session, "search_nodes", json!({"query": "tea"}))
                    .await?
                    .contains("Ada"),
                true,
            )?;
            DONE
        }
        "delete" => {
            call_text(session, "delete_entities", json!({"entityNames": ["Ada"]})).await?;
            expect(
                "text",
                call_text(session, "read_graph", json!({})).await?.contains("Ada"),
                false,
            )?;
            DONE
        }
        other => unknown(other),
    }
}

pub(super) async fn thinking(session: &Session, step: &str) -> Outcome {
    match step {
        "list_tools" => {
            let tools = session.client.list_tools().await.map_err(told)?;
            has(
                "tools",
                tools.iter().map(|tool| tool.name.as_str()),
                &["sequentialthinking"],
            )
        }
        "think" => {
            let thought =
                json!({"thought": "tea", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
            let text = call_text(session, "sequentialthinking", thought).await?;
            expect("text", text.contains("thoughtHistoryLength"), true)?;
            DONE
        }
        other => unknown(other),
    }
}

fn has<'a>(what: &str, names: impl Iterator<Item = &'a str>, right: &[&str]) -> Outcome {
    let names: Vec<&str> = names.collect();
    match right.iter().find(|name| !names.contains(name)) {
        None => Ok(json!({"count": names.len()})),
        Some(name) => Err(format!("{what} are without {name}: {names:?}")),
    }
}
