use std::time::Duration;

use super::diagnostic::{Diagnostic, Place};
use super::template::Template;

/// One server as the file describes it. Nothing in here is resolved.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerSpec {
    /// The key, as written.
    pub name: String,
    /// Switched off in the file.
    pub disabled: bool,
    /// The host should not go on without it.
    pub required: bool,
    /// How to reach it, or why the entry cannot be used (also among the diagnostics of the file).
    pub transport: Result<Transport, Diagnostic>,
    /// Limits the file asks for.
    pub timeouts: Timeouts,
    /// Tools the file lets through.
    pub tools: ToolFilter,
    /// Line of the entry, counted from 1.
    pub line: usize,
    pub(super) path: std::path::PathBuf,
    pub(super) place: Place,
}

/// How to reach a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Transport {
    /// Start a program and talk over its pipes.
    Stdio(StdioSpec),
    /// Talk to a URL.
    Http(HttpSpec),
}

/// A program to start. `Debug` hides literal text of arguments and variables, which people do use for secrets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StdioSpec {
    /// The program.
    pub command: Template,
    /// Its arguments.
    pub args: Vec<Template>,
    /// Variables in the order of the file; `None` takes one away.
    pub env: Vec<(String, Option<Template>)>,
    /// More variables of ours to pass on.
    pub inherit: Vec<String>,
    /// A file with more variables, below those of `env`.
    pub env_file: Option<Template>,
    /// The working directory; the workspace if there is none.
    pub cwd: Option<Template>,
}

/// A URL to talk to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpSpec {
    /// Which transport, or both in turn.
    pub mode: RemoteMode,
    /// The endpoint.
    pub url: Template,
    /// Headers for every request, in the order of the file.
    pub headers: Vec<(String, Template)>,
    /// A program that prints headers. Not run by this crate.
    pub headers_helper: Option<Template>,
}

/// Which HTTP transport to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteMode {
    /// Streamable HTTP.
    StreamableHttp,
    /// The older HTTP with server-sent events.
    Sse,
    /// Streamable HTTP, then the older one.
    Auto,
}

/// Limits a file asks for; `None` leaves the host's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the server has answered the first request.
    pub startup: Option<Duration>,
    /// For one call.
    pub call: Option<Duration>,
}

/// Which tools of a server to offer, by original name; `*` stands for any text. Denial wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these, if given.
    pub allow: Option<Vec<String>>,
    /// Never these.
    pub deny: Vec<String>,
}

impl ToolFilter {
    /// Whether a tool of this original name is offered.
    pub fn permits(&self, tool: &str) -> bool {
        let listed = |names: &[String]| names.iter().any(|pattern| matches(pattern, tool));
        !listed(&self.deny) && self.allow.as_deref().is_none_or(listed)
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        // The earliest place leaves the most room for what follows.
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod filter_tests {
    use super::ToolFilter;

    #[test]
    fn denial_wins_and_stars_stand_for_any_text() {
        let filter = |allow: Option<&[&str]>, deny: &[&str]| ToolFilter {
            allow: allow.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
            deny: deny.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert!(filter(None, &[]).permits("x"));
        assert!(!filter(Some(&[]), &[]).permits("x"));
        assert!(filter(Some(&["read_*"]), &["*_secret"]).permits("read_note"));
        assert!(!filter(Some(&["read_*"]), &["*_secret"]).permits("read_secret"));
        assert!(!filter(Some(&["a*b"]), &[]).permits("ab_c"));
        assert!(filter(Some(&["a*b*c"]), &[]).permits("a1b2bc"));
        assert!(!filter(Some(&["ab*b"]), &[]).permits("ab"));
        assert!(!filter(None, &["Read"]).permits("Read") && filter(None, &["Read"]).permits("read"));
    }
}
