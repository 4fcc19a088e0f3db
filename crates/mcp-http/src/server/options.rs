use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Makes session ids; see [`Options::session_ids`].
type Ids = Arc<dyn Fn() -> String + Send + Sync>;

/// Bounds and choices of an endpoint. Every one has a default that is safe on a developer's machine.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// Hosts that a request may name in `Host` (without a port: any port). Default: the loopback names.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may call, as `https://app.example` (without a port: any port). Default: the loopback ones.
    pub allowed_origins: Vec<String>,
    /// Bytes of a request's body. Default 4 MiB; beyond, 413.
    pub max_body: usize,
    /// Sessions at once. Default 10,000; beyond, the one that was idle longest gives way, or 503.
    pub max_sessions: usize,
    /// How long a session may be idle. Default 30 minutes.
    pub session_idle: Duration,
    /// Requests under way in one session, and in all stateless exchanges together per client connection. Default 64;
    /// beyond, 503 with `Retry-After`.
    pub max_in_flight: usize,
    /// Sessions answer with one JSON body instead of a stream. Default false.
    pub json: bool,
    /// Bytes of events that one stream keeps for clients that come back; 0 means that streams cannot be resumed.
    /// Default 0.
    pub replay_bytes: usize,
    /// How long a finished stream can still be resumed. Default 60 s.
    pub replay_time: Duration,
    /// Time between two comments on a quiet stream. Default 15 s.
    pub keep_alive: Duration,
    /// A closed connection cancels the requests of sessions, too, where streams cannot be resumed. Default false, as
    /// the revisions with sessions have it.
    pub disconnect_cancels: bool,
    pub(crate) ids: Option<Ids>,
    pub(crate) pair: Option<Pair>,
}

/// The paths of the transport of 2024-11-05; see [`Options::http_sse`].
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) events: String,
    pub(crate) messages: String,
}

impl Default for Options {
    fn default() -> Self {
        let loopback = ["localhost", "127.0.0.1", "[::1]"];
        Self {
            allowed_hosts: loopback.iter().map(ToString::to_string).collect(),
            allowed_origins: loopback
                .iter()
                .flat_map(|host| [format!("http://{host}"), format!("https://{host}")])
                .collect(),
            max_body: 4 * 1024 * 1024,
            max_sessions: 10_000,
            session_idle: Duration::from_secs(30 * 60),
            max_in_flight: 64,
            json: false,
            replay_bytes: 0,
            replay_time: Duration::from_secs(60),
            keep_alive: Duration::from_secs(15),
            disconnect_cancels: false,
            ids: None,
            pair: None,
        }
    }
}

impl Options {
    /// Also takes requests for this host, with any port where none is given.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.allowed_hosts.push(host.into());
        self
    }

    /// Also takes requests from pages of this origin, with any port where none is given.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.allowed_origins.push(origin.into());
        self
    }

    /// Sets [`Options::max_body`].
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sets [`Options::max_sessions`] and [`Options::session_idle`].
    #[must_use]
    pub fn sessions(mut self, count: usize, idle: Duration) -> Self {
        (self.max_sessions, self.session_idle) = (count, idle);
        self
    }

    /// Sets [`Options::max_in_flight`].
    #[must_use]
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.max_in_flight = requests;
        self
    }

    /// Sets [`Options::json`].
    #[must_use]
    pub fn json(mut self, json: bool) -> Self {
        self.json = json;
        self
    }

    /// Lets clients come back to a stream: sets [`Options::replay_bytes`] and [`Options::replay_time`].
    #[must_use]
    pub fn replay(mut self, bytes: usize, time: Duration) -> Self {
        (self.replay_bytes, self.replay_time) = (bytes, time);
        self
    }

    /// Sets [`Options::keep_alive`].
    #[must_use]
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    /// Sets [`Options::disconnect_cancels`].
    #[must_use]
    pub fn disconnect_cancels(mut self, cancels: bool) -> Self {
        self.disconnect_cancels = cancels;
        self
    }

    /// Also serves HTTP+SSE, the transport of 2024-11-05 and before, for clients that know nothing newer: a GET of
    /// `events` opens a stream that names `messages`, where the client posts. Customary are `/sse` and `/messages`. Both
    /// are paths from the root of the server, as clients see them. Default: it is not served.
    #[must_use]
    pub fn http_sse(mut self, events: impl Into<String>, messages: impl Into<String>) -> Self {
        let (events, messages) = (events.into(), messages.into());
        self.pair = Some(Pair { events, messages });
        self
    }

    /// Makes session ids this way. They must be visible ASCII, and nobody may be able to guess one: the default takes
    /// 128 bits from the system.
    #[must_use]
    pub fn session_ids(mut self, ids: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.ids = Some(Arc::new(ids));
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .field("max_body", &self.max_body)
            .field("max_sessions", &self.max_sessions)
            .finish_non_exhaustive()
    }
}
