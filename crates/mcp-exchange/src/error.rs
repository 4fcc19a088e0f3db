use std::borrow::Cow;
use std::sync::Arc;

/// Why a message could not go out, or an answer will not come. Never what the peer said: that is an
/// [`ErrorObject`](mcp_jsonrpc::ErrorObject).
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct LinkError {
    kind: Kind,
    message: Cow<'static, str>,
    #[source]
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Closed,
    Start,
    Transport,
    Peer,
    Usage,
}

impl LinkError {
    fn new(kind: Kind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// The connection is gone; what was under way is lost.
    pub fn closed(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Closed, message)
    }

    /// The peer could not be started or reached.
    pub fn start(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Start, message)
    }

    /// Reading or writing failed.
    pub fn transport(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Transport, message)
    }

    /// The peer broke the protocol for this call.
    pub fn peer(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Peer, message)
    }

    /// The caller used the link in a way it does not allow.
    pub fn usage(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Names the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Whether the connection is gone: connect again before calling again.
    pub fn is_closed(&self) -> bool {
        self.kind == Kind::Closed
    }

    /// Whether the peer could not be started or reached.
    pub fn is_start(&self) -> bool {
        self.kind == Kind::Start
    }

    /// Whether the peer is at fault; the connection may still be used.
    pub fn is_peer(&self) -> bool {
        self.kind == Kind::Peer
    }
}
