use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use mcp_exchange::LinkError;
use mcp_jsonrpc::{ErrorObject, ParseError, codes};
use mcp_session::SessionError;
use mcp_types::wire::EncodeError;

/// Why a client did not get what it asked for. Ask the `is_*` questions to decide what to do; the text is for people.
///
/// Only [`ClientError::is_peer_error`] is something that the server said, printed as `MCP error CODE: MESSAGE`. What
/// went wrong on this side, a time-out above all, never looks like that.
#[derive(thiserror::Error)]
#[error(transparent)]
pub struct ClientError(Box<Kind>);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("{0}")]
    Peer(ErrorObject),
    #[error("{method}: no answer within {after:?}")]
    Timeout {
        method: Cow<'static, str>,
        after: Duration,
    },
    #[error(transparent)]
    Closed(LinkError),
    #[error(transparent)]
    Start(LinkError),
    #[error(transparent)]
    Transport(LinkError),
    #[error("{0}")]
    Protocol(Cow<'static, str>),
    #[error(transparent)]
    Negotiation(SessionError),
    #[error("{0}")]
    Unsupported(Cow<'static, str>),
    #[error("{0}")]
    Cancelled(Cow<'static, str>),
    #[error("{0}")]
    Tool(String),
    #[error("{0}")]
    Usage(Cow<'static, str>),
}

impl ClientError {
    fn new(kind: Kind) -> Self {
        Self(Box::new(kind))
    }

    pub(crate) fn peer(error: ErrorObject) -> Self {
        Self::new(Kind::Peer(error))
    }

    pub(crate) fn timeout(method: Cow<'static, str>, after: Duration) -> Self {
        Self::new(Kind::Timeout { method, after })
    }

    pub(crate) fn link(error: LinkError) -> Self {
        Self::new(if error.is_closed() {
            Kind::Closed(error)
        } else if error.is_start() {
            Kind::Start(error)
        } else if error.is_peer() {
            Kind::Protocol(error.to_string().into())
        } else {
            Kind::Transport(error)
        })
    }

    pub(crate) fn protocol(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Protocol(text.into()))
    }

    pub(crate) fn unreadable(method: &str, error: ParseError) -> Self {
        Self::protocol(format!("the server's answer to {method} is malformed: {error}"))
    }

    pub(crate) fn negotiation(error: SessionError) -> Self {
        Self::new(Kind::Negotiation(error))
    }

    pub(crate) fn unsupported(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Unsupported(text.into()))
    }

    pub(crate) fn cancelled(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Cancelled(text.into()))
    }

    pub(crate) fn tool(text: String) -> Self {
        Self::new(Kind::Tool(text))
    }

    pub(crate) fn usage(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Usage(text.into()))
    }

    pub(crate) fn encode(error: EncodeError) -> Self {
        Self::usage(error.to_string())
    }

    pub(crate) fn arguments(error: serde_json::Error) -> Self {
        Self::usage(format!("the arguments cannot be encoded: {error}"))
    }

    /// Whether there was no answer in time. The server was told to stop; whether it did the work is not known.
    pub fn is_timeout(&self) -> bool {
        matches!(*self.0, Kind::Timeout { .. })
    }

    /// Whether this side gave the call up: a handler refused what the server asked for on its behalf.
    pub fn is_cancelled(&self) -> bool {
        matches!(*self.0, Kind::Cancelled(_))
    }

    /// Whether the connection is gone: connect again. A call that was under way may or may not have been done.
    pub fn is_closed(&self) -> bool {
        matches!(*self.0, Kind::Closed(_))
    }

    /// Whether the server could not be started or reached.
    pub fn is_start(&self) -> bool {
        matches!(*self.0, Kind::Start(_))
    }

    /// Whether the transport failed for this request alone, or refused it: a network error, a login that is needed.
    /// Its error is among the [`source`](std::error::Error::source)s.
    pub fn is_transport(&self) -> bool {
        matches!(*self.0, Kind::Transport(_))
    }

    /// Whether the server answered with an error; [`ClientError::error_object`] is what it said.
    pub fn is_peer_error(&self) -> bool {
        matches!(*self.0, Kind::Peer(_))
    }

    /// Whether the server broke the protocol: its answer cannot be read, or is not what was asked for.
    pub fn is_protocol(&self) -> bool {
        matches!(*self.0, Kind::Protocol(_))
    }

    /// Whether both sides have no revision in common, or (-32022) no longer have.
    pub fn is_negotiation(&self) -> bool {
        match &*self.0 {
            Kind::Negotiation(_) => true,
            Kind::Peer(error) => error.code == codes::UNSUPPORTED_PROTOCOL_VERSION,
            _ => false,
        }
    }

    /// Whether this side refused before anything was sent: the server did not declare what the call needs, or the
    /// revision in use does not have it. [`Client::request`](crate::Client::request) sends it all the same.
    pub fn is_unsupported(&self) -> bool {
        matches!(*self.0, Kind::Unsupported(_))
    }

    /// Whether the tool itself failed; the text is the tool's. Only where a typed result was wanted:
    /// [`Request::structured`](crate::Request::structured).
    pub fn is_tool_failure(&self) -> bool {
        matches!(*self.0, Kind::Tool(_))
    }

    /// Whether the caller is at fault: arguments that cannot be encoded, options that contradict each other.
    pub fn is_usage(&self) -> bool {
        matches!(*self.0, Kind::Usage(_))
    }

    /// The error that the server answered with.
    pub fn error_object(&self) -> Option<&ErrorObject> {
        match &*self.0 {
            Kind::Peer(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Debug for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
