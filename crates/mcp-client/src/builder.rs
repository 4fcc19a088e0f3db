use std::future::Future;
use std::sync::Mutex;
use std::time::Duration;

use mcp_exchange::Connect;
use mcp_jsonrpc::{Call, ErrorObject, RawJson};
use mcp_types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitFormParams, ElicitResult,
    ElicitUrlParams, Implementation, LogMessageParams, Revision, Revisions, Root,
};

use crate::client::Client;
use crate::connect;
use crate::error::ClientError;
use crate::questions::{Questions, boxed};

/// Sets a [`Client`] up: who it is, what its host can do for a server, and its bounds.
///
/// What a server may ask for is declared exactly where there is a handler for it.
#[must_use]
pub struct ClientBuilder {
    pub(crate) info: Implementation,
    pub(crate) revisions: Revisions,
    pub(crate) known: Option<Revision>,
    pub(crate) server_name: Option<String>,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) questions: Questions,
    pub(crate) ears: Ears,
    pub(crate) bounds: Bounds,
}

/// Who hears notifications.
#[derive(Default)]
pub(crate) struct Ears {
    pub(crate) log: Option<Ear<LogMessageParams>>,
    pub(crate) notice: Option<Ear<Call>>,
}

type Ear<T> = Box<dyn Fn(&T) + Send + Sync>;

/// The bounds of a client.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    pub(crate) probe_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) max_timeout: Duration,
    pub(crate) max_pages: usize,
    pub(crate) max_items: usize,
    pub(crate) max_rounds: usize,
}

impl ClientBuilder {
    pub(crate) fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            revisions: Revisions::ALL,
            known: None,
            server_name: None,
            capabilities: ClientCapabilities::new(),
            questions: Questions::default(),
            ears: Ears::default(),
            bounds: Bounds {
                probe_timeout: Duration::from_secs(5),
                timeout: Duration::from_secs(60),
                max_timeout: Duration::from_secs(600),
                max_pages: 1000,
                max_items: 100_000,
                max_rounds: 10,
            },
        }
    }

    /// The name of this program for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// All that this program says about itself, name and version included.
    pub fn info(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// The revisions that may be spoken; all by default. With one revision only there is nothing to find out, so
    /// nothing is probed where it has a handshake.
    pub fn revisions(mut self, revisions: impl Into<Revisions>) -> Self {
        self.revisions = revisions.into();
        self
    }

    /// What this server spoke last time ([`Client::revision`]): the probe is skipped. Where the server no longer
    /// speaks it, the rest of [`ClientBuilder::revisions`] is tried.
    pub fn known_revision(mut self, revision: impl Into<Option<Revision>>) -> Self {
        self.known = revision.into();
        self
    }

    /// What to call the server where it does not give itself a name; default `server`.
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// How long to wait for the answer to `server/discover` before the server counts as an old one. Default 5 s.
    pub fn probe_timeout(mut self, time: Duration) -> Self {
        self.bounds.probe_timeout = time;
        self
    }

    /// How long each request waits for its answer. Default 60 s; see [`Request::timeout`](crate::Request::timeout).
    pub fn timeout(mut self, time: Duration) -> Self {
        self.bounds.timeout = time;
        self
    }

    /// How long a request whose time is extended by progress waits at most. Default 10 min.
    pub fn max_timeout(mut self, time: Duration) -> Self {
        self.bounds.max_timeout = time;
        self
    }

    /// How many pages of one list are fetched. Default 1000; one more is an error.
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.bounds.max_pages = pages;
        self
    }

    /// How many items of one list are kept. Default 100 000; one more is an error.
    pub fn max_items(mut self, items: usize) -> Self {
        self.bounds.max_items = items;
        self
    }

    /// How often one call may come back for input (2026-07-28: basic/patterns/mrtr). Default 10.
    pub fn max_rounds(mut self, rounds: usize) -> Self {
        self.bounds.max_rounds = rounds;
        self
    }

    /// The places that servers may work in: `file:` URIs. Guidance, not access control.
    pub fn roots(mut self, roots: impl IntoIterator<Item = Root>) -> Self {
        self.questions.roots = Some(Mutex::new(roots.into_iter().collect()));
        self
    }

    /// Answers `sampling/createMessage`: let the user see and refuse it. An error refuses, with
    /// [`USER_REJECTED`](mcp_jsonrpc::codes::USER_REJECTED) for instance.
    pub fn on_sample<F>(mut self, handler: impl Fn(CreateMessageParams) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.questions.sample = Some(boxed(handler));
        self
    }

    /// Declares that [`ClientBuilder::on_sample`] lets the model use the tools of the request.
    pub fn sampling_tools(mut self, can: bool) -> Self {
        self.questions.sampling_tools = can;
        self
    }

    /// Answers `elicitation/create` in form mode: show which server asks, and let the user decline.
    pub fn on_elicit<F>(mut self, handler: impl Fn(ElicitFormParams) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ElicitResult> + Send + 'static,
    {
        self.questions.elicit_form = Some(boxed(handler));
        self
    }

    /// Answers `elicitation/create` in URL mode: show the whole URL, never fetch it, open it only with consent.
    pub fn on_elicit_url<F>(mut self, handler: impl Fn(ElicitUrlParams) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ElicitResult> + Send + 'static,
    {
        self.questions.elicit_url = Some(boxed(handler));
        self
    }

    /// Hears log messages. Called where they are read, so it must not block.
    pub fn on_log(mut self, hear: impl Fn(&LogMessageParams) + Send + Sync + 'static) -> Self {
        self.ears.log = Some(Box::new(hear));
        self
    }

    /// Hears every notification that belongs to no call, unknown ones too. Called where they are read, in order, so
    /// it must not block. For changes of lists and resources see [`Client::listen`].
    pub fn on_notice(mut self, hear: impl Fn(&Call) + Send + Sync + 'static) -> Self {
        self.ears.notice = Some(Box::new(hear));
        self
    }

    /// Declares an extension, with its settings (2026-07-28).
    pub fn extension(mut self, id: impl Into<String>, settings: RawJson) -> Self {
        let extensions = self.capabilities.extensions.get_or_insert_default();
        extensions.insert(id, settings);
        self
    }

    /// Declares an experimental capability.
    pub fn experimental(mut self, name: impl Into<String>, settings: RawJson) -> Self {
        let experimental = self.capabilities.experimental.get_or_insert_default();
        experimental.insert(name, settings);
        self
    }

    /// Connects, and finds out which revision to speak.
    ///
    /// # Errors
    /// When the server cannot be started or reached, ends, does not answer `initialize` in time, refuses it, or has
    /// no revision in common with this client. The connection is closed then.
    ///
    /// # Cancel safety
    /// When dropped, the connection is closed.
    pub async fn connect(self, transport: impl Connect) -> Result<Client, ClientError> {
        connect::connect(self, transport).await
    }
}

impl std::fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("info", &self.info)
            .field("revisions", &self.revisions)
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}
