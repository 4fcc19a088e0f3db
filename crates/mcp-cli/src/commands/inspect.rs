use std::ffi::OsString;

use mcp_client::{Client, ClientError};
use mcp_http::client::Http;
use mcp_jsonrpc::RawJson;
use mcp_stdio::process::Command;
use mcp_types::{
    CallToolResult, Implementation, Prompt, Resource, ResourceTemplate, Revision, ServerCapabilities, Tool,
};
use serde::Serialize;

use crate::args::{Global, Inspect};
use crate::arguments;
use crate::ask::Terminal;
use crate::commands::call;
use crate::commands::tools::hints;
use crate::failure::Failure;
use crate::screen;
use crate::trace;

/// All that a server said, in the order of the asking.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    server_info: Implementation,
    protocol_version: &'static str,
    capabilities: ServerCapabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    tools: Vec<Tool>,
    resources: Vec<Resource>,
    resource_templates: Vec<ResourceTemplate>,
    prompts: Vec<Prompt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallToolResult>,
    /// Lists that the server declared and did not give.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// Connects to one server, shows what it has, and calls one tool if asked.
pub(crate) async fn run(global: &Global, args: Inspect) -> Result<(), Failure> {
    let revision = args.protocol.as_deref().map(revision_of).transpose()?;
    let wanted = match args.call.as_deref() {
        Some([name, json]) => Some((name.as_str(), arguments::read(Some(json))?)),
        _ => None,
    };
    let name = match (&args.url, args.command.first()) {
        (Some(url), _) => url.clone(),
        (None, Some(program)) => program.to_string_lossy().into_owned(),
        (None, None) => return Err(Failure::usage("there is neither a URL nor a command after --")),
    };
    let mut builder = Client::builder("mcp", env!("CARGO_PKG_VERSION"));
    builder = Terminal::default().set_up(&name, builder);
    if let Some(revision) = revision {
        builder = builder.revisions(revision);
    }
    let client = match &args.url {
        Some(url) => builder.connect(url_of(url, &args.header)?).await,
        None => builder.connect(command_of(global, &args.command)?).await,
    };
    let client = client.map_err(|error| Failure::operation(format!("no connection to {name}: {error}")))?;
    let report = ask(&client, wanted).await;
    client.close().await;
    let report = report?;
    for problem in &report.problems {
        screen::note(problem);
    }
    match args.json {
        true => screen::json(&report)?,
        false => screen::result(&text_of(&report))?,
    }
    let failed = report.call.is_some_and(|result| result.is_error);
    match failed || !report.problems.is_empty() {
        true => Err(Failure::silent()),
        false => Ok(()),
    }
}

fn command_of(global: &Global, command: &[OsString]) -> Result<Command, Failure> {
    let Some((program, rest)) = command.split_first() else {
        return Err(Failure::usage("there is no command after --"));
    };
    let mut command = Command::new(program).args(rest.iter().cloned());
    if global.verbose {
        command = command.on_stderr(|line| screen::error_line(&line.to_string()));
    }
    if global.trace {
        let options = mcp_stdio::Options::default();
        command = command.options(options.with_trace(trace::printer(None, trace::Masks::default())));
    }
    Ok(command)
}

fn url_of(url: &str, headers: &[String]) -> Result<Http, Failure> {
    let wrong = |error: mcp_exchange::LinkError| Failure::usage(error.to_string());
    let mut server = Http::new(url).map_err(wrong)?;
    for header in headers {
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| Failure::usage("a header is given as `name: value`"))?;
        server = server.header(name.trim(), value.trim()).map_err(wrong)?;
    }
    Ok(server)
}

fn revision_of(name: &str) -> Result<Revision, Failure> {
    Revision::from_name(name).ok_or_else(|| {
        let all: Vec<&str> = Revision::ALL.iter().map(|revision| revision.name()).collect();
        Failure::usage(format!(
            "there is no revision {name:?}; known are {}",
            all.join(", ")
        ))
    })
}

async fn ask(client: &Client, wanted: Option<(&str, RawJson)>) -> Result<Report, Failure> {
    let mut problems = Vec::new();
    let tools = listed(client.list_tools().await, "tools", &mut problems);
    let resources = listed(client.list_resources().await, "resources", &mut problems);
    let resource_templates = match client.server_capabilities().resources {
        Some(_) => listed(
            client.list_resource_templates().await,
            "resource templates",
            &mut problems,
        ),
        None => Vec::new(),
    };
    let prompts = listed(client.list_prompts().await, "prompts", &mut problems);
    let call = match wanted {
        Some((name, arguments)) => {
            let called = client.tool(name).args_raw(&arguments).await;
            Some(called.map_err(|error| Failure::operation(format!("{name}: {error}")))?)
        }
        None => None,
    };
    Ok(Report {
        server_info: client.server_info().clone(),
        protocol_version: client.revision().name(),
        capabilities: client.server_capabilities().clone(),
        instructions: client.instructions().map(str::to_owned),
        tools,
        resources,
        resource_templates,
        prompts,
        call,
        problems,
    })
}

fn listed<T>(list: Result<Vec<T>, ClientError>, what: &str, problems: &mut Vec<String>) -> Vec<T> {
    list.unwrap_or_else(|error| {
        problems.push(format!("the {what} could not be listed: {error}"));
        Vec::new()
    })
}

fn text_of(report: &Report) -> String {
    let mut out = String::new();
    let info = &report.server_info;
    let mut name = screen::one_line(&format!("{} {}", info.name, info.version));
    if let Some(title) = &info.title {
        name.push_str(&format!(" ({})", screen::one_line(title)));
    }
    out.push_str(&format!(
        "server: {name}\nprotocol: {}\n",
        report.protocol_version
    ));
    let capabilities = RawJson::encode(&report.capabilities);
    let capabilities = capabilities.as_ref().map_or("{}", RawJson::as_str);
    out.push_str(&format!("capabilities: {}\n", screen::one_line(capabilities)));
    if let Some(instructions) = &report.instructions {
        out.push_str(&format!("instructions:\n{}", screen::indented(instructions, 4)));
    }
    out.push_str(&format!("tools: {}\n", report.tools.len()));
    for tool in &report.tools {
        let hints = hints(tool.annotations.as_ref());
        entry(&mut out, &tool.name, &hints, tool.description.as_deref());
    }
    out.push_str(&format!("resources: {}\n", report.resources.len()));
    for one in &report.resources {
        entry(&mut out, &one.uri, "", one.description.as_deref());
    }
    if !report.resource_templates.is_empty() {
        out.push_str(&format!(
            "resource templates: {}\n",
            report.resource_templates.len()
        ));
    }
    for one in &report.resource_templates {
        entry(&mut out, &one.uri_template, "", one.description.as_deref());
    }
    out.push_str(&format!("prompts: {}\n", report.prompts.len()));
    for one in &report.prompts {
        entry(&mut out, &one.name, "", one.description.as_deref());
    }
    if let Some(result) = &report.call {
        out.push_str("call:\n");
        out.push_str(&screen::indented(&call::text_of(result), 2));
    }
    out
}

fn entry(out: &mut String, name: &str, hints: &str, description: Option<&str>) {
    out.push_str(&format!("  {}{hints}\n", screen::one_line(name)));
    out.push_str(&screen::indented(description.unwrap_or_default(), 6));
}
