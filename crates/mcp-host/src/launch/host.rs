use mcp_bridge::Registry;
use mcp_client::Client;
use mcp_exchange::Closed;
use tokio::task::JoinSet;

use super::error::LaunchError;
use super::stderr::Lines;
use crate::config::ServerSpec;

/// The servers of one configuration, and their tools. Dropped, it ends them in the background.
#[derive(Debug)]
pub struct Host {
    servers: Vec<Server>,
    registry: Registry,
    /// Hear changes of the servers' tools. Aborted when dropped.
    follows: JoinSet<()>,
}

/// One server of the configuration.
#[derive(Debug)]
pub struct Server {
    name: String,
    required: bool,
    pub(super) state: State,
    pub(super) lines: Lines,
}

/// What became of a server.
#[derive(Debug)]
pub enum State {
    /// Switched off in the file; not started.
    Disabled,
    /// It could not be used, for this reason.
    Failed(LaunchError),
    /// Connected.
    Running(Client),
}

/// How a server ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ending {
    /// The server's name.
    pub name: String,
    /// How the connection ended, with the exit code of a program; none where the server did not run.
    pub closed: Option<Closed>,
    /// The last lines of its standard error, safe to show.
    pub stderr: Vec<String>,
}

impl Server {
    pub(super) fn new(spec: &ServerSpec) -> Self {
        Self {
            name: spec.name.clone(),
            required: spec.required,
            state: match spec.disabled {
                true => State::Disabled,
                // Until it is known better.
                false => State::Failed(LaunchError::lost()),
            },
            lines: Lines::default(),
        }
    }

    /// The name, as in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the file says that a host should not go on without it.
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// What became of it.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The client, where it runs.
    pub fn client(&self) -> Option<&Client> {
        match &self.state {
            State::Running(client) => Some(client),
            _ => None,
        }
    }

    /// Why it could not be started.
    pub fn failure(&self) -> Option<&LaunchError> {
        match &self.state {
            State::Failed(why) => Some(why),
            _ => None,
        }
    }

    /// The last lines of its standard error so far, safe to show.
    pub fn stderr(&self) -> Vec<String> {
        self.lines.all()
    }
}

impl Host {
    pub(super) fn new(servers: Vec<Server>, registry: Registry, follows: JoinSet<()>) -> Self {
        Self {
            servers,
            registry,
            follows,
        }
    }

    /// Every server of the file, in its order; those that are off or failed too.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The server of this name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// The servers that run, with their clients, in the order of the file.
    pub fn clients(&self) -> impl Iterator<Item = (&str, &Client)> {
        self.servers
            .iter()
            .filter_map(|server| Some((server.name(), server.client()?)))
    }

    /// The tools of all servers.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Ends all servers at the same time, each in bounded time, and says how each ended, in the order of the file.
    ///
    /// # Cancel safety
    /// When dropped, the servers are still ended, in the background.
    pub async fn close(mut self) -> Vec<Ending> {
        self.follows.abort_all();
        let mut closing = JoinSet::new();
        for (at, server) in self.servers.iter().enumerate() {
            if let Some(client) = server.client().cloned() {
                self.registry.detach(server.name());
                closing.spawn(async move { (at, client.close().await) });
            }
        }
        let mut closed: Vec<Option<Closed>> = self.servers.iter().map(|_| None).collect();
        while let Some(joined) = closing.join_next().await {
            if let Ok((at, how)) = joined {
                closed[at] = Some(how);
            }
        }
        let ended = self.servers.into_iter().zip(closed);
        ended
            .map(|(server, closed)| Ending {
                closed,
                stderr: server.lines.all(),
                name: server.name,
            })
            .collect()
    }
}
