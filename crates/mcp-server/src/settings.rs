use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_session::StateSealer;
use mcp_types::{CacheHints, Implementation, Revisions};

/// What holds for a whole server.
pub(crate) struct Settings {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) revisions: Revisions,
    pub(crate) page_size: Option<usize>,
    pub(crate) unknown_tool: UnknownTool,
    pub(crate) policy: Option<Policy>,
    pub(crate) logging: bool,
    pub(crate) subscribe: bool,
    pub(crate) dynamic: bool,
    pub(crate) sealer: Arc<dyn StateSealer>,
    pub(crate) state_lifetime: Duration,
    pub(crate) ask_timeout: Duration,
    pub(crate) cache: CacheHints,
}

/// What a call of a tool gets that is not there, or is withheld; both always get the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownTool {
    /// -32602 `Unknown tool: NAME`, as the specification has it.
    #[default]
    Protocol,
    /// An `isError` result `Tool not available: NAME`, which the model gets to see.
    Result,
}

/// Decides whether a tool may be seen and called, by its name.
pub(crate) type Policy = Arc<dyn Fn(&str) -> bool + Send + Sync>;

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("info", &self.info)
            .field("revisions", &self.revisions)
            .finish_non_exhaustive()
    }
}
