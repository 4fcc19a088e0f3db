//! Whose file it is, and what follows from that.

use std::fmt;
use std::path::Path;

use super::diagnostic::{Code, ConfigError, Reporter};
use super::document::{Node, Value};
use super::template::Syntax;

/// A host's way of writing such files. It decides how references are spelled, in which unit times are, and what is
/// meant where no transport is given; the names of fields are mostly shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Ours, and every plain `mcpServers` file.
    Native,
    /// `.mcp.json` of a project.
    ClaudeCode,
    /// `.vscode/mcp.json`, with `servers`.
    VsCode,
    /// `crush.json`, with `mcp`.
    Crush,
}

/// What a format's `timeout` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timeout {
    CallSeconds,
    CallMilliseconds,
    StartupSeconds,
    None,
}

impl Format {
    /// The name, as in listings.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Native => "native",
            Format::ClaudeCode => "claude-code",
            Format::VsCode => "vscode",
            Format::Crush => "crush",
        }
    }

    pub(super) fn top_key(self) -> &'static str {
        match self {
            Format::Native | Format::ClaudeCode => "mcpServers",
            Format::VsCode => "servers",
            Format::Crush => "mcp",
        }
    }

    pub(super) fn timeout(self) -> Timeout {
        match self {
            Format::Native => Timeout::CallSeconds,
            Format::ClaudeCode => Timeout::CallMilliseconds,
            Format::VsCode => Timeout::None,
            Format::Crush => Timeout::StartupSeconds,
        }
    }

    /// Whether a URL without a type is normal here; elsewhere a guess is worth a warning.
    pub(super) fn infers_transport(self) -> bool {
        matches!(self, Format::Native | Format::VsCode)
    }

    pub(super) fn syntax(self) -> Syntax {
        let none = Syntax::default();
        match self {
            Format::Native => Syntax {
                braces: true,
                defaults: true,
                env_prefix: true,
                folders: true,
                ..none
            },
            Format::ClaudeCode => Syntax {
                braces: true,
                defaults: true,
                ..none
            },
            Format::VsCode => Syntax {
                env_prefix: true,
                folders: true,
                inputs: true,
                unset_is_empty: true,
                ..none
            },
            Format::Crush => Syntax {
                braces: true,
                bare: true,
                defaults: true,
                demands: true,
                commands: true,
                unset_is_empty: true,
                empty_is_unset: true,
                ..none
            },
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The format, and the object that holds the servers, if there is one.
///
/// In this order: the path, `$schema`, the top key, telling fields.
pub(super) fn detect<'a>(
    path: &Path,
    root: &'a Node,
    reporter: &mut Reporter,
) -> Result<(Format, Option<&'a Node>), ConfigError> {
    if root.members().is_none() {
        let text = format!("expected an object with \"mcpServers\", found {}", root.kind());
        return Err(ConfigError::parse(path, root.place, text));
    }
    let keys = ["mcpServers", "servers", "mcp"];
    let by_path = from_path(path);
    let format = by_path
        .or_else(|| from_schema(root))
        .unwrap_or_else(|| from_shape(root));
    let present = std::iter::once(format.top_key())
        .chain(keys)
        .find_map(|key| root.member(key));
    let Some(member) = present else {
        if is_bare_map(root) {
            return Ok((format, Some(root)));
        }
        let text = format!("no \"{}\" object, so no servers", format.top_key());
        reporter.warn(Code::NoServers, root.place, text);
        return Ok((format, None));
    };
    if member.name != format.top_key() {
        let text = format!(
            "the file uses \"{}\"; this format wants \"{}\". Read anyway.",
            member.name,
            format.top_key()
        );
        reporter.warn(Code::WrongTopKey, member.place, text);
    }
    if member.node.members().is_none() {
        let text = format!(
            "\"{}\" must be an object of servers, found {}",
            member.name,
            member.node.kind()
        );
        return Err(ConfigError::parse(path, member.node.place, text));
    }
    Ok((format, Some(&member.node)))
}

fn from_path(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?;
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    match (folder, name) {
        (".vscode", "mcp.json") => Some(Format::VsCode),
        (_, "mcp-host.json") => Some(Format::Native),
        (_, ".mcp.json") => Some(Format::ClaudeCode),
        (_, "crush.json" | ".crush.json") => Some(Format::Crush),
        _ => None,
    }
}

fn from_schema(root: &Node) -> Option<Format> {
    let schema = root.member("$schema")?.node.as_str()?;
    schema.contains("charm.land").then_some(Format::Crush)
}

fn from_shape(root: &Node) -> Format {
    if let Some(servers) = root.member("mcpServers") {
        let tells = |entry: &Node| {
            ["headersHelper", "alwaysLoad"]
                .iter()
                .any(|key| entry.member(key).is_some())
        };
        let claude = servers
            .node
            .members()
            .unwrap_or_default()
            .iter()
            .any(|server| tells(&server.node));
        return if claude {
            Format::ClaudeCode
        } else {
            Format::Native
        };
    }
    match (root.member("servers"), root.member("mcp")) {
        (Some(_), _) => Format::VsCode,
        (None, Some(_)) => Format::Crush,
        (None, None) => Format::Native,
    }
}

/// A map of servers without a wrapper.
fn is_bare_map(root: &Node) -> bool {
    let members = root.members().unwrap_or_default();
    let is_server = |node: &Node| {
        matches!(node.value, Value::Object(_))
            && (node.member("command").is_some() || node.member("url").is_some())
    };
    !members.is_empty() && members.iter().all(|member| is_server(&member.node))
}
