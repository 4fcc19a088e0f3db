use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcp_jsonrpc::RawJson;
use mcp_types::{CallToolResult, Tool};

/// What a [`ToolSource`] returns.
pub type SourceFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, SourceError>> + Send + 'a>>;

/// Where tools come from: a client of a server, or anything that acts like one.
pub trait ToolSource: Send + Sync + 'static {
    /// All tools, every page of them.
    fn list_tools(&self) -> SourceFuture<'_, Vec<Tool>>;

    /// Calls a tool by its own name. Dropping the future cancels the call.
    fn call_tool<'a>(&'a self, name: &'a str, arguments: RawJson) -> SourceFuture<'a, CallToolResult>;
}

impl<S: ToolSource + ?Sized> ToolSource for Arc<S> {
    fn list_tools(&self) -> SourceFuture<'_, Vec<Tool>> {
        (**self).list_tools()
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: RawJson) -> SourceFuture<'a, CallToolResult> {
        (**self).call_tool(name, arguments)
    }
}

/// Decides which tools may be shown and called, as pins do.
pub trait Gate: Send + Sync + 'static {
    /// Lets the tool of a server through, as defined now.
    ///
    /// Asked for every tool whenever a list changes, and for one tool on each call: it should be quick. The
    /// registry is locked meanwhile, so it must not be called from here.
    ///
    /// # Errors
    /// Why not, for people.
    fn admit(&self, server: &str, tool: &Tool) -> Result<(), String>;
}

/// Why a source did not answer: what the peer said, or what failed on the way.
#[derive(Clone)]
pub struct SourceError(Arc<dyn Error + Send + Sync>);

impl SourceError {
    /// Wraps the source's own error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }

    /// The source's own error, if it is of type `E`; for instance [`ErrorObject`](mcp_jsonrpc::ErrorObject) where
    /// the peer answered with an error.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl fmt::Debug for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Stands for the error that it wraps, so its source is that error's source.
impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
