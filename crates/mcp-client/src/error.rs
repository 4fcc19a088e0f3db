use std::borrow::Cow;
use std::error::Error;
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
    #[error("{0}")]
    Closed(#[source] LinkError),
    #[error("{0}")]
    Start(#[source] LinkError),
    #[error("{0}")]
    Link(#[source] LinkError),
    #[error("{text}")]
    Protocol {
        text: Cow<'static, str>,
        #[source]
        source: Option<ParseError>,
    },
    #[error("{0}")]
    Negotiation(#[source] SessionError),
    #[error("{0}")]
    Unsupported(Cow<'static, str>),
    #[error("{0}")]
    Cancelled(Cow<'static, str>),
    #[error("{0}")]
    Tool(String),
    #[error("{text}")]
    Usage {
        text: Cow<'static, str>,
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
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
            Kind::Protocol {
                text: error.to_string().into(),
                source: None,
            }
        } else {
            Kind::Link(error)
        })
    }

    pub(crate) fn protocol(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::Protocol {
            text: text.into(),
            source: None,
        })
    }

    pub(crate) fn unreadable(method: &str, source: ParseError) -> Self {
        Self::new(Kind::Protocol {
            text: format!("the server's answer to {method} is malformed: {source}").into(),
            source: Some(source),
        })
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
        Self::new(Kind::Usage {
            text: text.into(),
            source: None,
        })
    }

    pub(crate) fn encode(source: EncodeError) -> Self {
        Self::new(Kind::Usage {
            text: source.to_string().into(),
            source: Some(Box::new(source)),
        })
    }

    pub(crate) fn arguments(source: serde_json::Error) -> Self {
        Self::new(Kind::Usage {
            text: format!("the arguments cannot be encoded: {source}").into(),
            source: Some(Box::new(source)),
        })
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

    /// Whether the server answered with an error; [`ClientError::error_object`] is what it said.
    pub fn is_peer_error(&self) -> bool {
        matches!(*self.0, Kind::Peer(_))
    }

    /// Whether the server broke the protocol: its answer cannot be read, or is not what was asked for.
    pub fn is_protocol(&self) -> bool {
        matches!(*self.0, Kind::Protocol { .. })
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
        matches!(*self.0, Kind::Usage { .. })
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
