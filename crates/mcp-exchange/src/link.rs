use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use mcp_jsonrpc::RequestId;
use mcp_types::Revision;

use crate::error::LinkError;
use crate::handler::BoxHandler;
use crate::incoming::Incoming;
use crate::param_headers::ParamHeaders;

/// A message to send: a method and its encoded parameters.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outgoing {
    /// The method.
    pub method: Cow<'static, str>,
    /// The parameters: one JSON object without raw line breaks, or none.
    pub params: Option<Bytes>,
    /// Arguments that are repeated in headers, for links that [take](Link::takes_param_headers) them.
    pub param_headers: Option<ParamHeaders>,
}

impl Outgoing {
    /// A message.
    pub fn new(method: impl Into<Cow<'static, str>>, params: Option<Bytes>) -> Self {
        Self {
            method: method.into(),
            params,
            param_headers: None,
        }
    }

    /// Adds arguments that are repeated in headers.
    #[must_use]
    pub fn with_param_headers(mut self, headers: Option<ParamHeaders>) -> Self {
        self.param_headers = headers;
        self
    }
}

/// The way to a peer, on any transport: what a client calls through, and what a server asks through.
pub trait Link: Send + Sync + 'static {
    /// The next request id of this link; never the same twice.
    fn next_id(&self) -> RequestId;

    /// Sends a request under an id from [`Link::next_id`]. Waits while the way out is full.
    ///
    /// # Errors
    /// When the connection is gone, or the request could not be written.
    ///
    /// # Cancel safety
    /// When dropped, nothing was sent.
    fn open(&self, id: RequestId, call: Outgoing)
    -> impl Future<Output = Result<Incoming, LinkError>> + Send;

    /// Sends a notification. Waits while the way out is full.
    ///
    /// # Errors
    /// When the connection is gone.
    ///
    /// # Cancel safety
    /// When dropped, nothing was sent.
    fn notify(&self, note: Outgoing) -> impl Future<Output = Result<(), LinkError>> + Send;

    /// Tells the transport which revision both sides settled on.
    fn negotiated(&self, revision: Revision) {
        let _ = revision;
    }

    /// Whether arguments that a tool's schema marks are to be repeated in headers, which is so on HTTP.
    fn takes_param_headers(&self) -> bool {
        false
    }

    /// Waits until the connection is gone, and says why.
    ///
    /// # Cancel safety
    /// Nothing is lost when dropped.
    fn closed(&self) -> impl Future<Output = Closed> + Send;

    /// Ends the connection in bounded time: lets written messages go out, then closes.
    fn close(&self) -> impl Future<Output = Closed> + Send;
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Closed {
    /// One line for people: `closed by us`, `end of input`, `exit code 3`.
    pub reason: Cow<'static, str>,
    /// The exit code, where the peer was a child process that ended by itself.
    pub exit_code: Option<i32>,
    /// Whether this was an orderly end.
    pub orderly: bool,
}

impl Closed {
    /// An end, for this reason.
    pub fn new(reason: impl Into<Cow<'static, str>>, orderly: bool) -> Self {
        Self {
            reason: reason.into(),
            exit_code: None,
            orderly,
        }
    }

    /// Adds the exit code of a child process.
    #[must_use]
    pub fn with_exit_code(mut self, code: Option<i32>) -> Self {
        self.exit_code = code;
        self
    }
}

/// A transport that can reach a peer: a command to spawn, a URL, one end of a pipe.
pub trait Connect: Send + Sync + 'static {
    /// Reaches the peer. Its requests and notifications go to `inbound`. Called again when the peer died while it
    /// was probed, so a transport that can be used only once fails the second time.
    ///
    /// # Errors
    /// When the peer could not be started or reached.
    fn connect(&self, inbound: BoxHandler) -> impl Future<Output = Result<BoxLink, LinkError>> + Send;
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

trait DynLink: Send + Sync {
    fn next_id(&self) -> RequestId;
    fn open(&self, id: RequestId, call: Outgoing) -> Boxed<'_, Result<Incoming, LinkError>>;
    fn notify(&self, note: Outgoing) -> Boxed<'_, Result<(), LinkError>>;
    fn negotiated(&self, revision: Revision);
    fn takes_param_headers(&self) -> bool;
    fn closed(&self) -> Boxed<'_, Closed>;
    fn close(&self) -> Boxed<'_, Closed>;
}

impl<L: Link> DynLink for L {
    fn next_id(&self) -> RequestId {
        Link::next_id(self)
    }
    fn open(&self, id: RequestId, call: Outgoing) -> Boxed<'_, Result<Incoming, LinkError>> {
        Box::pin(Link::open(self, id, call))
    }
    fn notify(&self, note: Outgoing) -> Boxed<'_, Result<(), LinkError>> {
        Box::pin(Link::notify(self, note))
    }
    fn negotiated(&self, revision: Revision) {
        Link::negotiated(self, revision);
    }
    fn takes_param_headers(&self) -> bool {
        Link::takes_param_headers(self)
    }
    fn closed(&self) -> Boxed<'_, Closed> {
        Box::pin(Link::closed(self))
    }
    fn close(&self) -> Boxed<'_, Closed> {
        Box::pin(Link::close(self))
    }
}

/// Any link. A clone is a reference count.
#[derive(Clone)]
pub struct BoxLink(Arc<dyn DynLink>);

impl BoxLink {
    /// Erases a link's type.
    pub fn new(link: impl Link) -> Self {
        Self(Arc::new(link))
    }

    /// [`Link::next_id`].
    pub fn next_id(&self) -> RequestId {
        self.0.next_id()
    }

    /// [`Link::open`].
    ///
    /// # Errors
    /// As [`Link::open`].
    pub async fn open(&self, id: RequestId, call: Outgoing) -> Result<Incoming, LinkError> {
        self.0.open(id, call).await
    }

    /// [`Link::notify`].
    ///
    /// # Errors
    /// As [`Link::notify`].
    pub async fn notify(&self, note: Outgoing) -> Result<(), LinkError> {
        self.0.notify(note).await
    }

    /// [`Link::negotiated`].
    pub fn negotiated(&self, revision: Revision) {
        self.0.negotiated(revision);
    }

    /// [`Link::takes_param_headers`].
    pub fn takes_param_headers(&self) -> bool {
        self.0.takes_param_headers()
    }

    /// [`Link::closed`].
    pub async fn closed(&self) -> Closed {
        self.0.closed().await
    }

    /// [`Link::close`].
    pub async fn close(&self) -> Closed {
        self.0.close().await
    }
}

impl fmt::Debug for BoxLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxLink")
    }
}
