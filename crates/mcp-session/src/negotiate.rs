use mcp_jsonrpc::{ErrorObject, codes};
use mcp_types::{Revision, Revisions};

use crate::error::SessionError;

/// The revision a server answers `initialize` with: the one that was asked for if it serves it, else its newest
/// with a handshake. None where it serves no revision with a handshake (2025-11-25: basic/lifecycle).
pub fn answer_version(asked: &str, served: Revisions) -> Option<Revision> {
    let served = served.and(Revisions::STATEFUL);
    Revision::from_name(asked)
        .filter(|revision| served.contains(*revision))
        .or_else(|| served.newest())
}

/// -32022 with what the server serves and what was asked for (2026-07-28: basic/versioning).
pub fn unsupported_version(asked: &str, served: Revisions) -> ErrorObject {
    #[derive(serde::Serialize)]
    struct Data<'a> {
        supported: Vec<&'static str>,
        requested: &'a str,
    }
    let supported = served.iter().map(Revision::name).collect();
    ErrorObject::new(
        codes::UNSUPPORTED_PROTOCOL_VERSION,
        "Unsupported protocol version",
    )
    .with_data(&Data {
        supported,
        requested: asked,
    })
}

/// What a client does next while it finds out how to talk to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Send `server/discover` in this revision.
    Discover(Revision),
    /// Send `initialize` and offer this revision.
    Initialize(Revision),
    /// Start the server again (it died of the probe), then send `initialize` and offer this revision.
    Restart(Revision),
    /// Talk in this revision.
    Settled(Revision),
}

/// Finds the revision in which to talk to a server: a modern attempt first, the handshake where that fails
/// (2026-07-28: basic/versioning; the table of probes in `docs/eras.md`).
///
/// It does no IO: feed it what came back and do what it says.
#[derive(Debug, Clone)]
pub struct Probe {
    offered: Revisions,
    retried: bool,
}

impl Probe {
    /// A probe that may settle on any of these.
    pub fn new(offered: Revisions) -> Self {
        Self {
            offered,
            retried: false,
        }
    }

    /// The first step. With `known` (the era that this server spoke last time) the probe is skipped.
    ///
    /// # Errors
    /// When no revision is offered.
    pub fn first(&self, known: Option<Revision>) -> Result<Step, SessionError> {
        if let Some(known) = known.filter(|known| self.offered.contains(*known)) {
            return Ok(if known.is_stateless() {
                Step::Settled(known)
            } else {
                Step::Initialize(known)
            });
        }
        match self.offered.and(Revisions::STATELESS).newest() {
            Some(revision) => Ok(Step::Discover(revision)),
            None => self.handshake(),
        }
    }

    /// The server answered `server/discover` with the versions that it supports.
    ///
    /// # Errors
    /// When none of them is offered.
    pub fn discovered<'a>(&self, supported: impl IntoIterator<Item = &'a str>) -> Result<Step, SessionError> {
        let named: Vec<&str> = supported.into_iter().collect();
        let common: Revisions = named
            .iter()
            .filter_map(|name| Revision::from_name(name))
            .collect();
        let common = common.and(self.offered);
        if let Some(revision) = common.and(Revisions::STATELESS).newest() {
            return Ok(Step::Settled(revision));
        }
        match common.newest() {
            Some(revision) => Ok(Step::Initialize(revision)),
            None => Err(self.nothing_in_common(&named.join(", "))),
        }
    }

    /// The server answered `server/discover` with an error. -32022 proves a modern server: one more attempt in a
    /// revision it names, and the handshake only where it names nothing else. Anything else means an old server.
    ///
    /// # Errors
    /// When no revision is left to try.
    pub fn refused<'a>(
        &mut self,
        code: i64,
        supported: impl IntoIterator<Item = &'a str>,
    ) -> Result<Step, SessionError> {
        if code != codes::UNSUPPORTED_PROTOCOL_VERSION {
            return self.handshake();
        }
        let named: Vec<&str> = supported.into_iter().collect();
        let common: Revisions = named
            .iter()
            .filter_map(|name| Revision::from_name(name))
            .collect();
        let common = common.and(self.offered);
        if let Some(revision) = common
            .and(Revisions::STATELESS)
            .newest()
            .filter(|_| !self.retried)
        {
            self.retried = true;
            return Ok(Step::Discover(revision));
        }
        match common.and(Revisions::STATEFUL).newest() {
            Some(revision) => Ok(Step::Initialize(revision)),
            None => Err(self.nothing_in_common(&named.join(", "))),
        }
    }

    /// The server did not answer the probe in time.
    ///
    /// # Errors
    /// When no revision with a handshake is offered.
    pub fn silent(&self) -> Result<Step, SessionError> {
        self.handshake()
    }

    /// The server went away during the probe.
    ///
    /// # Errors
    /// When no revision with a handshake is offered.
    pub fn died(&self) -> Result<Step, SessionError> {
        match self.handshake()? {
            Step::Initialize(revision) => Ok(Step::Restart(revision)),
            other => Ok(other),
        }
    }

    /// The server answered `initialize` with this version.
    ///
    /// # Errors
    /// When it is not one that was offered; the error names both.
    pub fn initialized(&self, version: &str, offered: Revision) -> Result<Step, SessionError> {
        match Revision::from_name(version) {
            Some(revision) if self.offered.contains(revision) && !revision.is_stateless() => {
                Ok(Step::Settled(revision))
            }
            _ => Err(SessionError::negotiation(format!(
                "the server speaks protocol version {version:?}; this client offered {offered} and can speak {}",
                names(self.offered.and(Revisions::STATEFUL)),
            ))),
        }
    }

    fn handshake(&self) -> Result<Step, SessionError> {
        match self.offered.and(Revisions::STATEFUL).newest() {
            Some(revision) => Ok(Step::Initialize(revision)),
            None => Err(SessionError::negotiation(format!(
                "the server does not answer in {}, and no older protocol version may be tried",
                names(self.offered),
            ))),
        }
    }

    fn nothing_in_common(&self, named: &str) -> SessionError {
        SessionError::negotiation(format!(
            "the server speaks {}; this client can speak {}",
            if named.is_empty() {
                "no version that it names"
            } else {
                named
            },
            names(self.offered),
        ))
    }
}

fn names(revisions: Revisions) -> String {
    revisions
        .iter()
        .map(Revision::name)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_echoes_what_it_serves_and_else_offers_its_newest_handshake() {
        for revision in Revisions::STATEFUL.iter() {
            assert_eq!(answer_version(revision.name(), Revisions::ALL), Some(revision));
        }
        for unknown in ["2099-01-01", "2026-07-28", "", "v999"] {
            assert_eq!(
                answer_version(unknown, Revisions::ALL),
                Some(Revision::V2025_11_25),
                "{unknown}"
            );
        }
        let old = Revisions::only(Revision::V2024_11_05);
        assert_eq!(answer_version("2025-11-25", old), Some(Revision::V2024_11_05));
        assert_eq!(answer_version("2025-11-25", Revisions::STATELESS), None);
    }

    #[test]
    fn a_probe_goes_modern_where_it_can_and_never_shakes_hands_after_minus_32022() {
        let mut probe = Probe::new(Revisions::ALL);
        assert_eq!(probe.first(None).unwrap(), Step::Discover(Revision::V2026_07_28));
        assert_eq!(
            probe.discovered(["2026-07-28"]).unwrap(),
            Step::Settled(Revision::V2026_07_28)
        );
        assert_eq!(
            probe.discovered(["2025-06-18"]).unwrap(),
            Step::Initialize(Revision::V2025_06_18)
        );
        assert_eq!(
            probe.refused(-32022, ["2026-07-28"]).unwrap(),
            Step::Discover(Revision::V2026_07_28)
        );
        assert!(
            probe
                .refused(-32022, ["2030-01-01"])
                .unwrap_err()
                .is_negotiation()
        );
        assert_eq!(
            probe.refused(-32022, ["2025-11-25"]).unwrap(),
            Step::Initialize(Revision::V2025_11_25)
        );
    }

    #[test]
    fn any_other_error_silence_or_death_means_the_handshake() {
        let mut probe = Probe::new(Revisions::ALL);
        for code in [-32601, -32602, -32600, -32000, 7] {
            assert_eq!(
                probe.refused(code, []).unwrap(),
                Step::Initialize(Revision::V2025_11_25)
            );
        }
        assert_eq!(probe.silent().unwrap(), Step::Initialize(Revision::V2025_11_25));
        assert_eq!(probe.died().unwrap(), Step::Restart(Revision::V2025_11_25));
        let mut modern = Probe::new(Revisions::STATELESS);
        assert!(modern.silent().is_err());
        assert!(modern.refused(-32601, []).is_err());
    }

    #[test]
    fn the_answer_to_initialize_must_be_a_version_that_was_offered() {
        let probe = Probe::new(Revisions::ALL);
        assert_eq!(
            probe.initialized("2024-11-05", Revision::V2025_11_25).unwrap(),
            Step::Settled(Revision::V2024_11_05)
        );
        for bad in ["1999-01-01", "2026-07-28"] {
            let error = probe
                .initialized(bad, Revision::V2025_11_25)
                .unwrap_err()
                .to_string();
            assert!(error.contains(bad) && error.contains("2025-11-25"), "{error}");
        }
    }

    #[test]
    fn what_is_known_is_not_probed_again() {
        let probe = Probe::new(Revisions::ALL);
        let known = Some(Revision::V2025_06_18);
        assert_eq!(
            probe.first(known).unwrap(),
            Step::Initialize(Revision::V2025_06_18)
        );
        assert_eq!(
            probe.first(Some(Revision::LATEST)).unwrap(),
            Step::Settled(Revision::LATEST)
        );
    }
}
