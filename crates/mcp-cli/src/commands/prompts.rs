use mcp_client::Client;
use mcp_types::{CallToolResult, GetPromptResult, Prompt, Role};
use serde::Serialize;

use crate::args::Global;
use crate::failure::Failure;
use crate::screen;
use crate::servers::{self, ServerState, Servers};

/// What one server has.
#[derive(Serialize)]
struct Listed {
    server: String,
    prompts: Vec<Prompt>,
}

#[derive(Serialize)]
struct Document {
    prompts: Vec<Listed>,
    servers: Vec<ServerState>,
}

/// Lists the prompts of all servers, or of one.
pub(crate) async fn list(global: &Global, only: Option<&str>, json: bool) -> Result<(), Failure> {
    let servers = servers::start(global, only).await?;
    let mut verdict = servers.verdict();
    let (all, failed) = list_all(&servers).await;
    for text in &failed {
        screen::note(text);
        verdict = Err(Failure::silent());
    }
    let states = servers.states();
    servers.close().await;
    match json {
        true => screen::json(&Document {
            prompts: all,
            servers: states,
        })?,
        false => screen::result(&all.iter().map(text_of).collect::<String>())?,
    }
    verdict
}

async fn list_all(servers: &Servers) -> (Vec<Listed>, Vec<String>) {
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for (name, client) in servers.host().clients() {
        match client.list_prompts().await {
            Ok(prompts) => all.push(Listed {
                server: name.to_owned(),
                prompts,
            }),
            Err(error) => failed.push(format!("{name}: {error}")),
        }
    }
    (all, failed)
}

fn text_of(listed: &Listed) -> String {
    let server = screen::one_line(&listed.server);
    let mut out = String::new();
    for prompt in &listed.prompts {
        out.push_str(&screen::one_line(&prompt.name));
        for argument in &prompt.arguments {
            let name = screen::one_line(&argument.name);
            out.push_str(&match argument.required {
                Some(true) => format!(" {name}="),
                _ => format!(" [{name}=]"),
            });
        }
        out.push('\n');
        let description = prompt
            .description
            .as_deref()
            .or(prompt.title.as_deref())
            .unwrap_or_default();
        out.push_str(&screen::indented(&format!("[{server}] {description}"), 4));
    }
    out
}

/// Fills a prompt in. Where several servers have one of this name, `--server` must say which is meant.
pub(crate) async fn fill(
    global: &Global,
    name: &str,
    values: &[String],
    only: Option<&str>,
    json: bool,
) -> Result<(), Failure> {
    let mut pairs = Vec::new();
    for value in values {
        let Some((key, value)) = value.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(Failure::usage(format!("{value:?} is not KEY=VALUE")));
        };
        pairs.push((key, value));
    }
    let servers = servers::start(global, only).await?;
    let filled = fill_one(&servers, name, &pairs).await;
    servers.close().await;
    let result = filled?;
    match json {
        true => screen::json(&result),
        false => screen::result(&messages_of(&result)),
    }
}

async fn fill_one(servers: &Servers, name: &str, pairs: &[(&str, &str)]) -> Result<GetPromptResult, Failure> {
    let (all, failed) = list_all(servers).await;
    for text in &failed {
        screen::note(text);
    }
    let having = all
        .iter()
        .filter(|listed| listed.prompts.iter().any(|prompt| prompt.name == name));
    let having: Vec<&str> = having.map(|listed| listed.server.as_str()).collect();
    let server = match having.as_slice() {
        [] => {
            let text = format!("there is no prompt {name:?}; `mcp prompts` lists what there is");
            return Err(Failure::operation(text));
        }
        [server] => *server,
        several => {
            let names = several.join(", ");
            let text = format!("several servers have a prompt {name:?}: {names}. Choose one with --server");
            return Err(Failure::usage(text));
        }
    };
    let client: Option<&Client> = servers.host().server(server).and_then(|server| server.client());
    let Some(client) = client else {
        return Err(Failure::operation(format!("{server}: the server is gone")));
    };
    let filled = client.prompt(name).args(pairs.iter().copied()).await;
    filled.map_err(|error| Failure::operation(format!("{server}: {name}: {error}")))
}

fn messages_of(result: &GetPromptResult) -> String {
    let mut out = String::new();
    for message in &result.messages {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            _ => "other",
        };
        // The same placeholders as for a tool's result.
        let text = mcp_bridge::text::for_model(&CallToolResult::new([message.content.clone()]));
        out.push_str(&format!("{role}: {}\n", mcp_stdio::process::shown(&text)));
    }
    out
}
