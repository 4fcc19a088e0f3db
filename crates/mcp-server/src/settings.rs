use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_session::StateSealer;
use mcp_types::{CacheHints, Implementation, Revisions};

use crate::hub::{Change, Hub};

/// What holds for a whole server: what was set when it was built, and who hears of changes.
pub(crate) struct Settings {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) revisions: Revisions,
    pub(crate) page_size: Option<usize>,
    pub(crate) unknown_tool: UnknownTool,
    pub(crate) policy: Option<Policy>,
    pub(crate) logging: bool,
    pub(crate) subscribe: bool,
    pub(crate) dynamic: Dynamic,
    pub(crate) sealer: Arc<dyn StateSealer>,
    pub(crate) state_lifetime: Duration,
    pub(crate) ask_timeout: Duration,
    pub(crate) cache: CacheHints,
    pub(crate) hub: Hub,
}

/// Which lists may change while the server runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Dynamic {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
}

impl Dynamic {
    pub(crate) fn allows(self, change: Change<'_>) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Uri(_) => true,
        }
    }
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
