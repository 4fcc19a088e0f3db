//! Which client meets which server, in which revision.

use std::path::{Path, PathBuf};

use super::peers::{CLIENTS, Client, CommandLine, Folder, Places, REVISIONS, SERVERS, Server};

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    peers: Vec<String>,
    /// Dated ones, and `auto` for a client that is left to choose.
    revisions: Vec<String>,
    pub(crate) install_only: bool,
    /// Peers against each other, which proves the peers' programs rather than ours.
    self_check: bool,
}

impl Asked {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut asked = Self::default();
        let mut rest = arguments.iter();
        while let Some(flag) = rest.next() {
            let mut value = || {
                rest.next()
                    .cloned()
                    .ok_or_else(|| format!("{flag} wants a value"))
            };
            match flag.as_str() {
                "--peer" => {
                    let name = value()?;
                    let peers = CLIENTS.iter().map(|one| (one.name, one.program));
                    let mut peers = peers.chain(SERVERS.iter().map(|one| (one.name, one.program)));
                    if !peers.any(|(known, program)| known == name && !program.is_own()) {
                        return Err(format!("no peer is called {name}"));
                    }
                    asked.peers.push(name);
                }
                "--revision" => {
                    let revision = value()?;
                    if revision != "auto" && !REVISIONS.contains(&revision.as_str()) {
                        return Err(format!("nobody knows {revision}"));
                    }
                    asked.revisions.push(revision);
                }
                "--install" => asked.install_only = true,
                "--self-check" => asked.self_check = true,
                other => return Err(format!("unknown: {other}")),
            }
        }
        Ok(asked)
    }

    fn wants(&self, client: &Client, server: &Server) -> bool {
        // One of the two is ours, or neither in a self-check.
        let fits = match (client.program.is_own(), server.program.is_own()) {
            (false, false) => self.self_check,
            (true, true) => false,
            _ => !self.self_check,
        };
        let named = |name: &str| self.peers.is_empty() || self.peers.iter().any(|one| one == name);
        let by_client = !client.program.is_own() && named(client.name);
        let by_server = !server.program.is_own() && named(server.name);
        fits && (by_client || by_server) && client.steps(server.offer).is_some()
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static Client, &'static Server)> {
        let all = CLIENTS
            .iter()
            .flat_map(|client| SERVERS.iter().map(move |server| (client, server)));
        all.filter(|(client, server)| self.wants(client, server))
    }

    /// What has to be installed.
    pub(crate) fn folders(&self) -> Vec<Folder> {
        let needed: Vec<Folder> = self
            .pairs()
            .flat_map(|(client, server)| [client.program.folder(), server.program.folder()])
            .flatten()
            .collect();
        Folder::ALL
            .into_iter()
            .filter(|folder| needed.contains(folder))
            .collect()
    }
}

/// A cell to run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) client: &'static str,
    pub(crate) client_command: CommandLine,
    pub(crate) steps: &'static [&'static str],
    pub(crate) server: &'static str,
    pub(crate) server_command: CommandLine,
    /// `None` leaves the choice to the client.
    pub(crate) revision: Option<&'static str>,
    /// What the two have to agree on.
    pub(crate) expected: &'static str,
    /// A folder for this cell alone, not made yet.
    pub(crate) room: PathBuf,
}

impl Plan {
    /// The revision as it is shown.
    pub(crate) fn revision_name(&self) -> &'static str {
        self.revision.unwrap_or("auto")
    }

    /// No other cell of a run has it.
    pub(crate) fn name(&self) -> String {
        format!("{}-{}-{}", self.client, self.server, self.revision_name())
    }
}

/// Every pair that is asked for and installed, in each revision that both know. Rooms are below `scratch`.
pub(crate) fn plan(asked: &Asked, there: &[Folder], places: &Places, scratch: &Path) -> Vec<Plan> {
    let here = |folder: Option<Folder>| folder.is_none_or(|folder| there.contains(&folder));
    let mut plans = Vec::new();
    for (client, server) in asked.pairs() {
        let Some(steps) = client.steps(server.offer) else {
            continue;
        };
        if !here(client.program.folder()) || !here(server.program.folder()) {
            continue;
        }
        let both = || {
            client
                .revisions
                .iter()
                .copied()
                .filter(|revision| server.revisions.contains(revision))
        };
        let forced = both().map(|revision| (Some(revision), revision));
        let chosen = both()
            .next_back()
            .filter(|_| client.chooses)
            .map(|newest| (None, newest));
        for (revision, expected) in forced.chain(chosen) {
            let shown = revision.unwrap_or("auto");
            if !asked.revisions.is_empty() && asked.revisions.iter().all(|one| one != shown) {
                continue;
            }
            let room = scratch.join(format!("{}-{}-{shown}", client.name, server.name));
            plans.push(Plan {
                client: client.name,
                client_command: client.command(places, server.offer),
                steps,
                server: server.name,
                server_command: server.command(places, &room),
                revision,
                expected,
                room,
            });
        }
    }
    plans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Result<Asked, String> {
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        Asked::parse(&arguments)
    }

    type Shown = (&'static str, &'static str, Option<&'static str>, &'static str);

    fn planned(asked: &Asked, there: &[Folder]) -> Vec<Shown> {
        let places = Places {
            installed: "peers".into(),
            own: "xtask".into(),
        };
        let plans = plan(asked, there, &places, Path::new("scratch"));
        plans
            .iter()
            .map(|plan| (plan.client, plan.server, plan.revision, plan.expected))
            .collect()
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert_eq!(asked(&["--peer"]), Err("--peer wants a value".into()));
        assert_eq!(
            asked(&["--peer", "nobody"]),
            Err("no peer is called nobody".into())
        );
        assert_eq!(asked(&["--peer", "ours"]), Err("no peer is called ours".into()));
        assert_eq!(
            asked(&["--revision", "1999-01-01"]),
            Err("nobody knows 1999-01-01".into())
        );
        assert_eq!(asked(&["tea"]), Err("unknown: tea".into()));
    }

    #[test]
    fn peers_meet_ours_in_both_directions() -> Result<(), String> {
        let asked = asked(&["--revision", "auto"])?;
        assert_eq!(asked.folders(), Folder::ALL);
        let shown = planned(&asked, &[Folder::Ts1, Folder::Reference]);
        let stateful = "2025-11-25";
        assert_eq!(
            shown,
            [
                ("ours", "ts1", None, stateful),
                ("ours", "everything", None, stateful),
                ("ours", "filesystem", None, stateful),
                ("ours", "memory", None, stateful),
                ("ours", "sequential-thinking", None, stateful),
                ("ts1", "ours", None, stateful),
            ]
        );
        Ok(())
    }

    #[test]
    fn a_client_that_cannot_choose_is_only_forced() -> Result<(), String> {
        let asked = asked(&["--peer", "inspector"])?;
        assert_eq!(asked.folders(), [Folder::Reference]);
        assert_eq!(
            planned(&asked, &Folder::ALL),
            [
                ("inspector", "ours", Some("2025-11-25"), "2025-11-25"),
                ("inspector", "ours", Some("2026-07-28"), "2026-07-28"),
            ]
        );
        Ok(())
    }

    #[test]
    fn a_self_check_runs_peers_in_the_revisions_that_both_know() -> Result<(), String> {
        let asked = asked(&[
            "--self-check",
            "--peer",
            "py",
            "--revision",
            "2026-07-28",
            "--revision",
            "auto",
        ])?;
        assert_eq!(
            planned(&asked, &[Folder::Ts1, Folder::Py]),
            [
                ("ts1", "py", None, "2025-11-25"),
                ("py", "ts1", None, "2025-11-25"),
                ("py", "py", Some("2026-07-28"), "2026-07-28"),
                ("py", "py", None, "2026-07-28"),
            ]
        );
        Ok(())
    }
}
