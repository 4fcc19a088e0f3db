use std::sync::Arc;

use mcp_types::{ClientCapabilities, Era, Implementation, Revision};

/// The other side of an exchange, as this exchange knows it: from `_meta` in the stateless era, from the
/// handshake before. Nothing in it was proven; only [`Peer::principal`] comes from a check of ours.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Peer {
    /// The revision in use.
    pub revision: Revision,
    /// What the client declared (for a server), or nothing (for a client).
    pub capabilities: ClientCapabilities,
    /// Who it says it is. For logs and screens; never trust it.
    pub info: Option<Implementation>,
    /// Who it was shown to be, where the transport authenticates.
    pub principal: Option<Arc<str>>,
}

impl Peer {
    /// A peer of this revision that declared nothing.
    pub fn new(revision: Revision) -> Self {
        Self {
            revision,
            capabilities: ClientCapabilities::default(),
            info: None,
            principal: None,
        }
    }

    /// Sets the capabilities.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets the name it gives itself.
    #[must_use]
    pub fn with_info(mut self, info: Option<Implementation>) -> Self {
        self.info = info;
        self
    }

    /// Sets who it was shown to be.
    #[must_use]
    pub fn with_principal(mut self, principal: impl Into<Arc<str>>) -> Self {
        self.principal = Some(principal.into());
        self
    }

    /// How the revision in use converses.
    pub fn era(&self) -> Era {
        self.revision.era()
    }
}
