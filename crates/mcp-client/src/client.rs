use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use mcp_exchange::{BoxLink, Closed, Outgoing};
use mcp_types::method::{self, Gate, Side};
use mcp_types::{ClientCapabilities, Implementation, LoggingLevel, Revision, Root, ServerCapabilities};

use crate::builder::{Bounds, ClientBuilder};
use crate::catalogue::Catalogue;
use crate::error::ClientError;
use crate::inbound::Inlet;

/// A connection to one server. A clone is a reference count; calls run concurrently.
///
/// When the last clone is dropped, the connection is closed in the background; [`Client::close`] waits for it.
#[derive(Clone)]
pub struct Client(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) link: Lifeline,
    pub(crate) inlet: Arc<Inlet>,
    pub(crate) revision: Revision,
    pub(crate) server: Server,
    pub(crate) declared: ClientCapabilities,
    /// Members of `_meta` that each request has, encoded; empty in the stateful era.
    pub(crate) common_meta: Bytes,
    /// As its place in [`LEVELS`] plus one; 0 for none.
    log_level: AtomicU8,
    pub(crate) bounds: Bounds,
    pub(crate) catalogue: Catalogue,
}

/// What the server said about itself.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) info: Implementation,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
    /// What to call it where it has no name.
    pub(crate) fallback_name: String,
}

/// Closes a link whose last user is gone.
pub(crate) struct Lifeline(pub(crate) BoxLink);

impl Drop for Lifeline {
    fn drop(&mut self) {
        let link = self.0.clone();
        // Without a runtime there is no connection left to close.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { link.close().await });
        }
    }
}

const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

impl Inner {
    pub(crate) fn new(
        link: Lifeline,
        inlet: Arc<Inlet>,
        revision: Revision,
        server: Server,
        declared: ClientCapabilities,
        common_meta: Bytes,
        bounds: Bounds,
    ) -> Self {
        Self {
            link,
            inlet,
            revision,
            server,
            declared,
            common_meta,
            log_level: AtomicU8::new(0),
            bounds,
            catalogue: Catalogue::default(),
        }
    }

    /// The log level that each request asks for, in the stateless era.
    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        let at = self.log_level.load(Ordering::Relaxed);
        LEVELS.get(usize::from(at).checked_sub(1)?).copied()
    }

    pub(crate) fn set_log_level(&self, level: LoggingLevel) {
        let at = LEVELS.iter().position(|known| *known == level);
        let at = at.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0);
        self.log_level.store(at, Ordering::Relaxed);
    }

    /// Whether a method may be sent: it exists in this revision, and what it needs was declared.
    ///
    /// 2025-06-18: basic/lifecycle, "Operation".
    pub(crate) fn permits(&self, name: &'static str) -> Result<(), ClientError> {
        let Some(info) = method::lookup(name, Side::Client, self.revision) else {
            return Err(ClientError::unsupported(format!(
                "{name} does not exist in protocol version {}",
                self.revision
            )));
        };
        let Some(gate) = info.gate else { return Ok(()) };
        if gate.is_open(&self.declared, &self.server.capabilities) {
            return Ok(());
        }
        let what = match gate {
            Gate::Server(capability, None) => format!("the server did not declare {capability}"),
            Gate::Server(capability, Some(member)) => {
                format!("the server did not declare {capability}.{member}")
            }
            _ => "a capability was not declared".to_owned(),
        };
        Err(ClientError::unsupported(format!("{name}: {what}")))
    }
}

impl Client {
    /// Begins to set a client up: the name and version of this program.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ClientBuilder {
        ClientBuilder::new(name, version)
    }

    /// The revision in use. Remember it for [`ClientBuilder::known_revision`].
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// Who the server says it is; empty where it does not say. For screens and logs, never to be trusted.
    pub fn server_info(&self) -> &Implementation {
        &self.0.server.info
    }

    /// The server's name for people: its title, else its name, else [`ClientBuilder::server_name`].
    pub fn server_name(&self) -> &str {
        let info = &self.0.server.info;
        let names = [info.title.as_deref(), Some(info.name.as_str())];
        let named = names.into_iter().flatten().find(|name| !name.is_empty());
        named.unwrap_or(&self.0.server.fallback_name)
    }

    /// What the server declared.
    pub fn server_capabilities(&self) -> &ServerCapabilities {
        &self.0.server.capabilities
    }

    /// How to use the server, for the model, in the server's words.
    pub fn instructions(&self) -> Option<&str> {
        self.0.server.instructions.as_deref()
    }

    /// What this client declared.
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.declared
    }

    /// The link below, for what this client has no words for.
    pub fn link(&self) -> &BoxLink {
        &self.0.link.0
    }

    /// Waits until the connection is gone, and says why.
    ///
    /// # Cancel safety
    /// Nothing is lost when dropped.
    pub async fn closed(&self) -> Closed {
        self.link().closed().await
    }

    /// Ends the connection in bounded time; calls under way fail.
    pub async fn close(&self) -> Closed {
        self.link().close().await
    }

    /// Replaces the roots, and tells the server. Without [`ClientBuilder::roots`] there are none to replace.
    ///
    /// # Errors
    /// When roots were not declared, one is no `file:` URI, or the connection is gone.
    pub async fn set_roots(&self, roots: impl IntoIterator<Item = Root>) -> Result<(), ClientError> {
        let Some(slot) = &self.0.inlet.questions.roots else {
            return Err(ClientError::unsupported("this client did not declare roots"));
        };
        let roots: Vec<Root> = roots.into_iter().collect();
        check_roots(&roots)?;
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = roots;
        if method::lookup(method::ROOTS_LIST_CHANGED, Side::Client, self.0.revision).is_none() {
            return Ok(());
        }
        let note = Outgoing::new(method::ROOTS_LIST_CHANGED, None);
        self.link().notify(note).await.map_err(ClientError::link)
    }
}

/// A root is a `file:` URI (2025-11-25: client/roots).
pub(crate) fn check_roots(roots: &[Root]) -> Result<(), ClientError> {
    match roots.iter().find(|root| !root.uri.starts_with("file://")) {
        None => Ok(()),
        Some(root) => Err(ClientError::usage(format!(
            "a root must be a file: URI, not {}",
            root.uri
        ))),
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.0.server.info.name)
            .field("revision", &self.0.revision)
            .finish_non_exhaustive()
    }
}
