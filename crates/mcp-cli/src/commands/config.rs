use mcp_host::config::{RemoteMode, ServerSpec, Severity, Surroundings, Template, Transport};
use serde::Serialize;

use crate::args::Global;
use crate::config::{self, Loaded, what_starts};
use crate::failure::Failure;
use crate::screen;

#[derive(Serialize)]
struct Document {
    path: String,
    format: &'static str,
    named: bool,
    servers: Vec<Server>,
    problems: Vec<Problem>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Server {
    name: String,
    line: usize,
    enabled: bool,
    required: bool,
    #[serde(flatten)]
    transport: Reached,
    variables: Vec<Variable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Literal text in variables and headers is often a secret, so only references are shown there.
#[derive(Serialize)]
#[serde(tag = "transport", rename_all = "lowercase")]
enum Reached {
    Stdio {
        command: String,
        args: Vec<String>,
        env: Vec<Pair>,
    },
    Http {
        mode: &'static str,
        url: String,
        headers: Vec<Pair>,
    },
    None {},
}

#[derive(Serialize)]
struct Pair {
    name: String,
    value: Option<String>,
}

#[derive(Serialize)]
struct Variable {
    name: String,
    /// Not there where the file was found and its user did not agree yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<bool>,
}

#[derive(Serialize)]
struct Problem {
    severity: &'static str,
    code: &'static str,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    message: String,
}

/// Shows the configuration as understood. Starts nothing and shows no value of a variable.
pub(crate) fn run(global: &Global, json: bool) -> Result<(), Failure> {
    let loaded = config::load(global)?;
    let document = document(&loaded, loaded.named || global.yes);
    match json {
        true => screen::json(&document),
        false => screen::result(&text_of(&loaded, &document)),
    }
}

fn document(loaded: &Loaded, consent: bool) -> Document {
    let config = &loaded.config;
    let around = Surroundings::new(&config.workspace);
    let server = |spec: &ServerSpec| Server {
        name: spec.name.clone(),
        line: spec.line,
        enabled: !spec.disabled,
        required: spec.required,
        transport: reached(spec),
        variables: spec
            .variables()
            .into_iter()
            .map(|name| Variable {
                set: consent.then(|| around.is_set(name)),
                name: name.to_owned(),
            })
            .collect(),
        error: spec
            .transport
            .as_ref()
            .err()
            .map(|problem| problem.message.clone()),
    };
    let problem = |found: &mcp_host::config::Diagnostic| Problem {
        severity: match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        code: found.code.as_str(),
        line: found.line,
        column: found.column,
        server: found.server.clone(),
        message: found.message.clone(),
    };
    Document {
        path: config.path.display().to_string(),
        format: config.format.as_str(),
        named: loaded.named,
        servers: config.servers.iter().map(server).collect(),
        problems: config.diagnostics.iter().map(problem).collect(),
    }
}

fn reached(spec: &ServerSpec) -> Reached {
    let masked = |name: &str, value: Option<&Template>| Pair {
        name: name.to_owned(),
        value: value.map(Template::masked),
    };
    match &spec.transport {
        Ok(Transport::Stdio(stdio)) => Reached::Stdio {
            command: stdio.command.source().to_owned(),
            args: stdio.args.iter().map(|arg| arg.source().to_owned()).collect(),
            env: stdio
                .env
                .iter()
                .map(|(name, value)| masked(name, value.as_ref()))
                .collect(),
        },
        Ok(Transport::Http(http)) => Reached::Http {
            mode: match http.mode {
                RemoteMode::StreamableHttp => "streamable-http",
                RemoteMode::Sse => "sse",
                RemoteMode::Auto => "auto",
            },
            url: http.url.source().to_owned(),
            headers: http
                .headers
                .iter()
                .map(|(name, value)| masked(name, Some(value)))
                .collect(),
        },
        _ => Reached::None {},
    }
}

fn text_of(loaded: &Loaded, document: &Document) -> String {
    let mut out = format!(
        "{} (format {})\n",
        screen::one_line(&document.path),
        document.format
    );
    for (spec, server) in loaded.config.servers.iter().zip(&document.servers) {
        let state = match (server.enabled, server.required) {
            (false, _) => ", disabled",
            (true, true) => ", required",
            (true, false) => "",
        };
        out.push_str(&format!(
            "\n{} (line {}{state})\n    {}\n",
            screen::one_line(&server.name),
            server.line,
            what_starts(spec)
        ));
        let (what, pairs) = match &server.transport {
            Reached::Stdio { env, .. } => ("env", env.as_slice()),
            Reached::Http { headers, .. } => ("header", headers.as_slice()),
            Reached::None {} => ("", [].as_slice()),
        };
        for pair in pairs {
            let name = screen::one_line(&pair.name);
            out.push_str(&match &pair.value {
                Some(value) => format!("    {what} {name}: {}\n", screen::one_line(value)),
                None => format!("    {what} {name}: taken away\n"),
            });
        }
        for variable in &server.variables {
            let state = match variable.set {
                Some(true) => "set",
                Some(false) => "not set",
                None => "not looked at: the file was found, not named (see --yes)",
            };
            out.push_str(&format!(
                "    variable {}: {state}\n",
                screen::one_line(&variable.name)
            ));
        }
    }
    if !loaded.config.diagnostics.is_empty() {
        out.push('\n');
    }
    for found in &loaded.config.diagnostics {
        out.push_str(&format!("{}\n", screen::one_line(&found.to_string())));
    }
    out
}
