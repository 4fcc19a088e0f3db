//! Example 7: resources and prompts.

use mcp_server::{BuildError, Failure, Prompt, Resource, Server, Template};
use mcp_stdio::Options;
use mcp_types::{ContentBlock, GetPromptResult, PromptMessage, ResourceContents, Revision, Role};
use serde_json::Value;

use super::wire::{join, json_text};
use super::{Input, Lines};

const NOTES: [(&str, &str); 2] = [
    ("todo", "- fix the parser\n- add tests"),
    ("design", "The parser is a recursive-descent parser."),
];

fn note(name: &str) -> Option<ResourceContents> {
    let (_, text) = NOTES.iter().find(|(known, _)| *known == name)?;
    let contents = ResourceContents::from_text(format!("notes://{name}"), *text);
    Some(contents.with_mime_type("text/markdown"))
}

async fn read(name: Option<&String>) -> Result<ResourceContents, Failure> {
    name.and_then(|name| note(name)).ok_or_else(Failure::not_found)
}

async fn review(name: Option<String>) -> Result<GetPromptResult, Failure> {
    let name = name.unwrap_or_default();
    let note = note(&name).ok_or_else(|| Failure::invalid_params("no such note"))?;
    let messages = vec![
        PromptMessage::user("List the open questions in this note:"),
        PromptMessage::new(Role::User, ContentBlock::resource(note)),
    ];
    Ok(GetPromptResult::new(messages).with_description(format!("Review of {name}")))
}

fn notes_server() -> Result<Server, BuildError> {
    let mut server = Server::builder("notes-server", "1.0.0")
        .template(
            Template::new("notes://{name}", "note", |_, values| async move {
                read(values.get("name")).await
            })
            .description("A note by name"),
        )
        .prompt(
            Prompt::new("review", |_, arguments| review(arguments.get("note").cloned()))
                .description("Review a note for open questions")
                .required("note"),
        );
    for (name, text) in NOTES {
        let resource = Resource::new(format!("notes://{name}"), name, move |_| async move { text });
        server = server.resource(resource.mime_type("text/markdown"));
    }
    server.build()
}

pub(super) async fn features(input: Input, revision: Revision) -> Lines {
    let (client, _) = join(notes_server()?, revision, Options::default(), Options::default()).await?;
    let mut out = Vec::new();
    for line in input {
        let (method, params) = line.split_once(' ').ok_or("no params")?;
        match client.request(method.to_owned(), Some(json_text(params)?)).await {
            Ok(result) => {
                out.push(line.to_owned());
                out.push(format!("  {result}"));
            }
            Err(error) => {
                let params: Value = serde_json::from_str(params)?;
                let said = error.error_object().ok_or_else(|| error.to_string())?;
                let uri = params["uri"].as_str().unwrap_or_default();
                out.push(format!("{method} {uri} -> error: {}", said.message));
            }
        }
    }
    Ok(out)
}
