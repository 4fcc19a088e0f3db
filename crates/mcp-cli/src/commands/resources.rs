use mcp_client::{Client, ClientError};
use mcp_types::{ReadResourceResult, Resource, ResourceTemplate};
use serde::Serialize;

use crate::args::Global;
use crate::failure::Failure;
use crate::screen;
use crate::servers::{self, ServerState, Servers};

/// What one server has.
#[derive(Serialize)]
struct Listed {
    server: String,
    resources: Vec<Resource>,
    templates: Vec<ResourceTemplate>,
}

#[derive(Serialize)]
struct Document {
    resources: Vec<Listed>,
    servers: Vec<ServerState>,
}

/// Lists the resources and templates of all servers, or of one.
pub(crate) async fn list(global: &Global, only: Option<&str>, json: bool) -> Result<(), Failure> {
    let servers = servers::start(global, only).await?;
    let mut all = Vec::new();
    let mut verdict = servers.verdict();
    for (name, client) in servers.host().clients() {
        match list_one(client).await {
            Ok((resources, templates)) => all.push(Listed {
                server: name.to_owned(),
                resources,
                templates,
            }),
            Err(error) => {
                screen::note(&format!("{name}: {error}"));
                verdict = Err(Failure::silent());
            }
        }
    }
    let states = servers.states();
    servers.close().await;
    match json {
        true => screen::json(&Document {
            resources: all,
            servers: states,
        })?,
        false => screen::result(&all.iter().map(text_of).collect::<String>())?,
    }
    verdict
}

async fn list_one(client: &Client) -> Result<(Vec<Resource>, Vec<ResourceTemplate>), ClientError> {
    Ok((
        client.list_resources().await?,
        client.list_resource_templates().await?,
    ))
}

fn text_of(listed: &Listed) -> String {
    let server = screen::one_line(&listed.server);
    let mut out = String::new();
    let mut entry = |uri: &str, name: &str, mime_type: Option<&str>, description: Option<&str>| {
        let kind = mime_type
            .map(|kind| format!(", {}", screen::one_line(kind)))
            .unwrap_or_default();
        out.push_str(&format!(
            "{}  ({}{kind})\n",
            screen::one_line(uri),
            screen::one_line(name)
        ));
        out.push_str(&screen::indented(
            &format!("[{server}] {}", description.unwrap_or_default()),
            4,
        ));
    };
    for one in &listed.resources {
        entry(
            &one.uri,
            &one.name,
            one.mime_type.as_deref(),
            one.description.as_deref(),
        );
    }
    for one in &listed.templates {
        entry(
            &one.uri_template,
            &one.name,
            one.mime_type.as_deref(),
            one.description.as_deref(),
        );
    }
    out
}

/// Reads a resource: from the server that lists it, else from the first that has it.
pub(crate) async fn read(global: &Global, uri: &str, only: Option<&str>, json: bool) -> Result<(), Failure> {
    let servers = servers::start(global, only).await?;
    let found = find(&servers, uri).await;
    servers.close().await;
    let result = found?;
    match json {
        true => screen::json(&result),
        false => screen::result(&contents_of(&result)),
    }
}

async fn find(servers: &Servers, uri: &str) -> Result<ReadResourceResult, Failure> {
    let mut clients: Vec<(&str, &Client)> = Vec::new();
    for (name, client) in servers.host().clients() {
        if client.server_capabilities().resources.is_none() {
            continue;
        }
        let listed = client.list_resources().await.unwrap_or_default();
        match listed.iter().any(|resource| resource.uri == uri) {
            true => clients.insert(0, (name, client)),
            // It may be one of a template, or not be listed at all.
            false => clients.push((name, client)),
        }
    }
    let mut reasons = Vec::new();
    for (name, client) in clients {
        match client.read_resource(uri).await {
            Ok(result) => return Ok(result),
            Err(error) => reasons.push(format!("\n  {name}: {error}")),
        }
    }
    let why = match reasons.is_empty() {
        true => "\n  No running server has resources.".to_owned(),
        false => reasons.concat(),
    };
    Err(Failure::operation(format!("cannot read {uri}{why}")))
}

fn contents_of(result: &ReadResourceResult) -> String {
    let mut parts = Vec::new();
    for contents in &result.contents {
        parts.push(match (&contents.text, &contents.blob) {
            (Some(text), _) => mcp_stdio::process::shown(text).into_owned(),
            (None, blob) => {
                let mime_type = contents
                    .mime_type
                    .as_deref()
                    .unwrap_or("application/octet-stream");
                let (uri, mime_type) = (screen::one_line(&contents.uri), screen::one_line(mime_type));
                let length = blob.as_ref().map_or(0, String::len);
                format!("[resource {uri}, {mime_type}, {length} base64 chars; --json has them]")
            }
        });
    }
    parts.join("\n")
}
