mod error;
mod snapshot;
mod source;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use mcp_jsonrpc::RawJson;
use mcp_types::{CallToolResult, Tool};

pub use self::error::{BridgeError, Problem};
pub use self::snapshot::{BridgedTool, ChatTool, Tools};
pub use self::source::{Gate, SourceError, SourceFuture, ToolSource};
use crate::name::{self, Naming};

/// Bounds on what a server may add.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Servers. One more is refused. Default 64.
    pub max_servers: usize,
    /// Tools of one server. More are left out and reported. Default 1,000.
    pub max_tools: usize,
    /// Bytes of a description that a model sees. The rest is cut, and the text says so. Default 16 KiB.
    pub max_description: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_servers: 64,
            max_tools: 1_000,
            max_description: 16 * 1024,
        }
    }
}

/// The tools of many servers.
///
/// A cheap clone. Readers take a [`snapshot`](Self::snapshot), which never changes; every change of a server's
/// list makes a new one with names assigned to the whole set, and swaps it in at once.
#[derive(Clone)]
pub struct Registry(Arc<Inner>);

/// How a registry is to be.
#[derive(Default)]
pub struct RegistryBuilder {
    naming: Naming,
    reserved: Vec<String>,
    gate: Option<Arc<dyn Gate>>,
    limits: Limits,
}

struct Inner {
    options: RegistryBuilder,
    servers: Mutex<BTreeMap<String, Arc<Server>>>,
    current: RwLock<Arc<Tools>>,
}

struct Server {
    source: Arc<dyn ToolSource>,
    /// Refreshes asked for so far.
    asked: AtomicU64,
    /// Held while the list is fetched. Holds how many of the refreshes are done.
    done: tokio::sync::Mutex<u64>,
    listed: Mutex<Listed>,
}

#[derive(Default)]
struct Listed {
    tools: Vec<Arc<Tool>>,
    failure: Option<SourceError>,
}

impl RegistryBuilder {
    /// Uses other names than the default ones.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Keeps names that start so for the host. A server whose tools would be named so cannot be attached, and a
    /// single tool that would be is left out and reported.
    #[must_use]
    pub fn reserve(mut self, prefix: impl Into<String>) -> Self {
        self.reserved.push(prefix.into());
        self
    }

    /// Asks `gate` before a tool is shown and again before it is called.
    #[must_use]
    pub fn gate(mut self, gate: impl Gate) -> Self {
        self.gate = Some(Arc::new(gate));
        self
    }

    /// Sets the bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// A registry without servers.
    pub fn build(self) -> Registry {
        Registry(Arc::new(Inner {
            options: self,
            servers: Mutex::default(),
            current: RwLock::default(),
        }))
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A registry with default names and limits, and no gate.
    pub fn new() -> Self {
        RegistryBuilder::default().build()
    }

    /// Starts to set one up.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// Adds a server and lists its tools. A server that cannot be listed stays attached, without tools and with a
    /// [`Problem`] in the snapshot; the others are not touched.
    ///
    /// # Errors
    /// When the name is taken, its tools would shadow names of the host, or there are too many servers.
    ///
    /// # Cancel safety
    /// Dropped while listing, the server stays attached, without tools until the next refresh.
    pub async fn attach(&self, name: &str, source: impl ToolSource) -> Result<(), BridgeError> {
        let prefix = name::server_prefix(name);
        if let Some(reserved) = self
            .0
            .options
            .reserved
            .iter()
            .find(|r| prefix.starts_with(r.as_str()))
        {
            return Err(BridgeError::reserved(name, reserved));
        }
        let server = Arc::new(Server {
            source: Arc::new(source),
            asked: AtomicU64::new(0),
            done: tokio::sync::Mutex::new(0),
            listed: Mutex::default(),
        });
        {
            let mut servers = lock(&self.0.servers);
            if servers.contains_key(name) {
                return Err(BridgeError::attached(name));
            }
            if servers.len() >= self.0.options.limits.max_servers {
                return Err(BridgeError::too_many(self.0.options.limits.max_servers));
            }
            servers.insert(name.to_owned(), Arc::clone(&server));
        }
        self.list(name, &server).await;
        Ok(())
    }

    /// Takes a server out. Its calls under way go on. Says whether it was there.
    pub fn detach(&self, name: &str) -> bool {
        let mut servers = lock(&self.0.servers);
        let found = servers.remove(name).is_some();
        if found {
            self.swap(&servers);
        }
        found
    }

    /// Lists the tools of a server again, as after `notifications/tools/list_changed`.
    ///
    /// Any number of these at once costs one listing that is under way and one more. Each returns when the list
    /// is as new as its own call. If listing fails, the tools known so far stay and a [`Problem`] says so.
    ///
    /// # Errors
    /// When there is no server of that name.
    ///
    /// # Cancel safety
    /// Dropped, nothing changes; others that wait do the listing.
    pub async fn refresh(&self, name: &str) -> Result<(), BridgeError> {
        let server = lock(&self.0.servers).get(name).cloned();
        let server = server.ok_or_else(|| BridgeError::no_server(name))?;
        self.list(name, &server).await;
        Ok(())
    }

    /// The tools as they are now.
    pub fn snapshot(&self) -> Arc<Tools> {
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls a tool by its name in the snapshot; the server gets the original name. Arguments of `null` are sent
    /// as `{}`.
    ///
    /// # Errors
    /// When there is no such tool, the gate refuses, or the server did not give a result. A tool that failed is a
    /// result, with `is_error`.
    ///
    /// # Cancel safety
    /// Dropping it drops the call of the source.
    pub async fn call(&self, name: &str, arguments: RawJson) -> Result<CallToolResult, BridgeError> {
        let tools = self.snapshot();
        let tool = tools.get(name).ok_or_else(|| BridgeError::unknown_tool(name))?;
        if let Some(gate) = &self.0.options.gate {
            gate.admit(tool.server(), tool.definition())
                .map_err(|reason| BridgeError::refused(name, reason))?;
        }
        let arguments = match arguments.is_null() {
            true => RawJson::empty_object(),
            false => arguments,
        };
        let called = tool.source.call_tool(&tool.definition().name, arguments).await;
        called.map_err(|e| BridgeError::source(tool.server(), e))
    }

    async fn list(&self, name: &str, server: &Arc<Server>) {
        let wanted = server.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut done = server.done.lock().await;
        if *done >= wanted {
            return;
        }
        // Whoever asked up to here is served by this listing, which begins only now.
        let serves = server.asked.load(Ordering::SeqCst);
        let listed = server.source.list_tools().await;
        {
            let mut kept = lock(&server.listed);
            match listed {
                Ok(tools) => {
                    *kept = Listed {
                        tools: tools.into_iter().map(Arc::new).collect(),
                        failure: None,
                    }
                }
                Err(failure) => kept.failure = Some(failure),
            }
        }
        *done = serves;
        let servers = lock(&self.0.servers);
        // It may have been detached in the meantime, or detached and attached anew.
        if servers
            .get(name)
            .is_some_and(|current| Arc::ptr_eq(current, server))
        {
            self.swap(&servers);
        }
    }

    /// Makes the snapshot anew. The caller holds the lock of the servers, so that no older set comes last.
    fn swap(&self, servers: &BTreeMap<String, Arc<Server>>) {
        let tools = Tools::gather(&self.0.options, servers);
        for problem in tools.problems() {
            tracing::warn!(server = problem.server(), tool = problem.tool(), "{problem}");
        }
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry")
            .field("servers", &lock(&self.0.servers).keys().collect::<Vec<_>>())
            .field("tools", &self.snapshot().len())
            .finish_non_exhaustive()
    }
}

/// The tables are whole between any two statements, so a panic elsewhere leaves nothing broken in them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
