//! The servers of the configuration, started for one command.

use mcp_host::config::{HostConfig, Surroundings};
use mcp_host::launch::{Host, Launcher, State};

use crate::args::Global;
use crate::ask::Terminal;
use crate::config;
use crate::failure::Failure;
use crate::screen;
use crate::trace;

/// Running servers. Those that did not start were reported.
pub(crate) struct Servers {
    host: Host,
}

/// Starts the servers of the configuration, or only one.
pub(crate) async fn start(global: &Global, only: Option<&str>) -> Result<Servers, Failure> {
    let mut loaded = config::load(global)?;
    loaded.warn(only);
    if let Some(only) = only {
        let names: Vec<String> = loaded
            .config
            .servers
            .iter()
            .map(|spec| screen::one_line(&spec.name))
            .collect();
        loaded.config.servers.retain(|spec| spec.name == only);
        match loaded.config.servers.first() {
            None => {
                let text = format!(
                    "there is no server \"{only}\" in {}",
                    loaded.config.path.display()
                );
                return Err(Failure::usage(format!("{text}; it has: {}", names.join(", "))));
            }
            Some(spec) if spec.disabled => {
                let text = format!(
                    "the server \"{only}\" is disabled in {}",
                    loaded.config.path.display()
                );
                return Err(Failure::usage(text));
            }
            Some(_) => {}
        }
    }
    loaded.demand_consent(global)?;
    launch(global, &loaded.config).await
}

/// Starts the servers of a configuration, whose user agreed.
pub(crate) async fn launch(global: &Global, config: &HostConfig) -> Result<Servers, Failure> {
    let around = Surroundings::new(&config.workspace);
    let mut launcher = Launcher::new("mcp", env!("CARGO_PKG_VERSION"));
    if global.verbose {
        launcher = launcher.on_stderr(|server, line| {
            screen::error_line(&format!("{}: {line}", screen::one_line(server)));
        });
    }
    let terminal = Terminal::default();
    launcher = launcher.client(move |spec, builder| terminal.set_up(&spec.name, builder));
    if global.trace {
        let masks = trace::Masks::of(config, &around);
        launcher = launcher.command(move |spec, command| {
            let options =
                mcp_stdio::Options::default().with_trace(trace::printer(Some(&spec.name), masks.clone()));
            command.options(options)
        });
    }
    let host = launcher.start(config, &around).await;
    for server in host.servers() {
        if let Some(why) = server.failure() {
            screen::note(&format!("{}: {why}", server.name()));
        }
    }
    if config.servers.iter().all(|spec| spec.disabled) {
        screen::note(&format!("no server is enabled in {}", config.path.display()));
    }
    Ok(Servers { host })
}

impl Servers {
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// The names of the servers that did not start.
    pub(crate) fn failed(&self) -> Vec<&str> {
        let failed = self
            .host
            .servers()
            .iter()
            .filter(|server| server.failure().is_some());
        failed.map(|server| server.name()).collect()
    }

    /// A listing is worth 0 as long as one server answers and no required one is missing.
    pub(crate) fn verdict(&self) -> Result<(), Failure> {
        let all = self.host.servers();
        let running = all.iter().any(|server| server.client().is_some());
        let failed = all.iter().any(|server| server.failure().is_some());
        let missing = all
            .iter()
            .any(|server| server.is_required() && server.failure().is_some());
        match missing || (failed && !running) {
            true => Err(Failure::silent()),
            false => Ok(()),
        }
    }

    /// Ends all servers, and tells of those that had to be forced or failed at the end.
    pub(crate) async fn close(self) {
        for ending in self.host.close().await {
            if let Some(closed) = ending.closed.filter(|closed| !closed.orderly) {
                tracing::info!("{}: {}", ending.name, closed.reason);
            }
        }
    }

    /// How each server is, for JSON documents.
    pub(crate) fn states(&self) -> Vec<ServerState> {
        let state = |server: &mcp_host::launch::Server| ServerState {
            name: server.name().to_owned(),
            state: match server.state() {
                State::Disabled => "disabled",
                State::Failed(_) => "failed",
                State::Running(_) => "running",
            },
            protocol_version: server.client().map(|client| client.revision().name()),
            error: server.failure().map(ToString::to_string),
        };
        self.host.servers().iter().map(state).collect()
    }
}

/// How a server is.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerState {
    name: String,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol_version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}
