//! Starting the servers of a configuration, and ending them.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use mcp_host::config::{HostConfig, Surroundings};
//! use mcp_host::launch::{Launcher, State};
//! use mcp_jsonrpc::RawJson;
//!
//! let config = HostConfig::load("mcp-host.json")?;
//! let around = Surroundings::new(&config.workspace);
//! let host = Launcher::new("my-host", "0.1.0")
//!     .on_stderr(|server, line| eprintln!("{server}: {line}"))
//!     .start(&config, &around)
//!     .await;
//! for server in host.servers() {
//!     if let State::Failed(why) = server.state() {
//!         eprintln!("{}: {why}", server.name());
//!     }
//! }
//! let result = host.registry().call("mcp__notes__search", RawJson::empty_object()).await?;
//! println!("{}", mcp_bridge::text::for_model(&result));
//! host.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! Servers start at the same time, up to a bound, and are listed in the order of the file. One that fails is kept with
//! its reason, and the others work. A configuration that was found rather than named must not be started before its
//! user agreed; that is up to the caller.
//!
//! # Limits
//!
//! [`Launcher::concurrency`] servers start at once; each may take the `startup_timeout` of its entry, else
//! [`Launcher::startup_timeout`]. Of each server's standard error the last 200 lines are kept.
//! [`Host::close`] ends all at the same time, each within its grace times.

mod error;
mod host;
mod source;
mod stderr;

use std::sync::Arc;
use std::time::Duration;

use mcp_client::ClientBuilder;
use mcp_http::client::Http;
use mcp_stdio::process::Command;

pub use self::error::LaunchError;
pub use self::host::{Ending, Host, Server, State};

use self::stderr::Lines;
use crate::config::{HostConfig, HttpLaunch, Launch, RemoteMode, ServerSpec, StdioLaunch, Surroundings};

/// How long a server may take to answer `server/discover` before it counts as an old one.
const PROBE: Duration = Duration::from_secs(5);

/// How servers are started.
pub struct Launcher {
    name: String,
    version: String,
    concurrency: usize,
    startup_timeout: Duration,
    hear: Option<Hear>,
    set_up: Option<SetUp>,
    set_up_command: Option<SetUpCommand>,
    registry: mcp_bridge::Registry,
}

type Hear = Arc<dyn Fn(&str, &str) + Send + Sync>;
type SetUp = Box<dyn Fn(&ServerSpec, ClientBuilder) -> ClientBuilder + Send + Sync>;
type SetUpCommand = Box<dyn Fn(&ServerSpec, Command) -> Command + Send + Sync>;

impl Launcher {
    /// The name and version that servers are told.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            concurrency: 8,
            startup_timeout: Duration::from_secs(60),
            hear: None,
            set_up: None,
            set_up_command: None,
            registry: mcp_bridge::Registry::new(),
        }
    }

    /// How many servers start at the same time. Default 8.
    #[must_use]
    pub fn concurrency(mut self, servers: usize) -> Self {
        self.concurrency = servers.max(1);
        self
    }

    /// How long a server may take until it can be used, where its entry does not say. Default 60 s.
    #[must_use]
    pub fn startup_timeout(mut self, time: Duration) -> Self {
        self.startup_timeout = time;
        self
    }

    /// Hears each line of a server's standard error as it comes: the server's name, and the line with terminal
    /// commands and hidden characters made visible. Called on the runtime, so it must not block.
    #[must_use]
    pub fn on_stderr(mut self, hear: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.hear = Some(Arc::new(hear));
        self
    }

    /// Changes the client of each server before it connects: what it answers, which revisions it speaks.
    #[must_use]
    pub fn client(
        mut self,
        set_up: impl Fn(&ServerSpec, ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Self {
        self.set_up = Some(Box::new(set_up));
        self
    }

    /// Changes the command of each server that is a program: grace times, bounds of the connection.
    #[must_use]
    pub fn command(
        mut self,
        set_up: impl Fn(&ServerSpec, Command) -> Command + Send + Sync + 'static,
    ) -> Self {
        self.set_up_command = Some(Box::new(set_up));
        self
    }

    /// Puts the tools into this registry instead of one with default settings.
    #[must_use]
    pub fn registry(mut self, registry: mcp_bridge::Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Starts every enabled server of a configuration.
    ///
    /// Never fails as a whole: what became of each server is its [`State`].
    ///
    /// # Cancel safety
    /// When dropped, servers that run already are ended in the background.
    pub async fn start(self, config: &HostConfig, around: &Surroundings) -> Host {
        let launcher = Arc::new(self);
        let bound = Arc::new(tokio::sync::Semaphore::new(launcher.concurrency));
        let mut starting = tokio::task::JoinSet::new();
        let mut servers: Vec<Server> = Vec::with_capacity(config.servers.len());
        for (at, spec) in config.servers.iter().enumerate() {
            servers.push(Server::new(spec));
            if spec.disabled {
                continue;
            }
            let (launcher, bound) = (Arc::clone(&launcher), Arc::clone(&bound));
            let (spec, around) = (spec.clone(), around.clone());
            let lines = servers[at].lines.clone();
            starting.spawn(async move {
                // The semaphore is never closed.
                let _permit = bound.acquire().await;
                (at, launcher.start_one(&spec, &around, lines).await)
            });
        }
        let mut follows = tokio::task::JoinSet::new();
        while let Some(joined) = starting.join_next().await {
            // A panic in a callback of ours is its server's failure; the state stays "failed".
            let Ok((at, started)) = joined else { continue };
            servers[at].state = match started {
                Ok((client, follow)) => {
                    if let Some(follow) = follow {
                        follows.spawn(follow.run());
                    }
                    State::Running(client)
                }
                Err(why) => State::Failed(why),
            };
        }
        Host::new(servers, launcher.registry.clone(), follows)
    }

    async fn start_one(
        &self,
        spec: &ServerSpec,
        around: &Surroundings,
        lines: Lines,
    ) -> Result<(mcp_client::Client, Option<mcp_bridge::Follow>), LaunchError> {
        let (launch, warnings) = spec.resolve(around).map_err(LaunchError::config)?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        let way = match &launch {
            Launch::Stdio(launch) => Way::Program(self.command_of(spec, launch, around, &lines)?),
            Launch::Http(launch) => Way::Url(url_of(launch)?),
        };
        let time = spec.timeouts.startup.unwrap_or(self.startup_timeout);
        // An old server may not answer the probe at all; the handshake needs time after it.
        let probe = PROBE.min(time / 3);
        let mut builder = mcp_client::Client::builder(&self.name, &self.version)
            .server_name(&spec.name)
            .probe_timeout(probe);
        if let Some(time) = spec.timeouts.call {
            builder = builder.timeout(time);
        }
        if let Some(set_up) = &self.set_up {
            builder = set_up(spec, builder);
        }
        let ready = async {
            let client = match way {
                Way::Program(command) => builder.connect(command).await,
                Way::Url(url) => builder.connect(url).await,
            };
            let client = client.map_err(LaunchError::client)?;
            let filtered = source::Filtered::new(client.clone(), spec.tools.clone());
            let attached = self.registry.attach_client_through(&spec.name, &client, filtered);
            let follow = attached.await.map_err(LaunchError::bridge)?;
            Ok((client, follow))
        };
        match tokio::time::timeout(time, ready).await {
            Ok(ready) => ready,
            Err(_) => {
                self.registry.detach(&spec.name);
                Err(LaunchError::slow(time, &lines.last()))
            }
        }
    }

    fn command_of(
        &self,
        spec: &ServerSpec,
        launch: &StdioLaunch,
        around: &Surroundings,
        lines: &Lines,
    ) -> Result<Command, LaunchError> {
        let (name, hear, lines) = (spec.name.clone(), self.hear.clone(), lines.clone());
        let mut command = Command::new(launch.command.expose())
            .args(launch.args.iter().map(|arg| arg.expose()))
            .cwd(launch.cwd.as_deref().unwrap_or(around.workspace()))
            .on_stderr(move |line| {
                let line = line.to_string();
                if let Some(hear) = &hear {
                    hear(&name, &line);
                }
                lines.push(line);
            });
        for (name, value) in launch.merged_env().map_err(LaunchError::env_file)? {
            command = command.env(name, value.expose());
        }
        for name in &launch.inherit {
            command = command.inherit(name);
        }
        for name in &launch.env_unset {
            command = command.env_remove(name);
        }
        if let Some(set_up) = &self.set_up_command {
            command = set_up(spec, command);
        }
        Ok(command)
    }
}

/// How a server is reached.
enum Way {
    Program(Command),
    Url(Http),
}

fn url_of(launch: &HttpLaunch) -> Result<Http, LaunchError> {
    let mut url = Http::new(launch.url.expose()).map_err(LaunchError::url)?;
    for (name, value) in &launch.headers {
        url = url.header(name, value.expose()).map_err(LaunchError::url)?;
    }
    if launch.mode == RemoteMode::Sse {
        url = url.http_sse();
    }
    Ok(url)
}

impl std::fmt::Debug for Launcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launcher")
            .field("name", &self.name)
            .field("concurrency", &self.concurrency)
            .field("startup_timeout", &self.startup_timeout)
            .finish_non_exhaustive()
    }
}
