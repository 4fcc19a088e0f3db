use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use mcp_exchange::{BoxHandler, Handler};
use mcp_jsonrpc::{Limits, codes};
use mcp_session::ServerInbound;
use mcp_types::{Revision, Revisions};

use super::body::Body;
use super::options::Options;
use super::session::HttpSession;
use super::table::Table;
use super::{answer, guard};
use crate::names;

/// The endpoint of a server: a [`tower_service::Service`] of HTTP requests that serves both eras on one URL. It nests in
/// hyper and axum as it is; [`serve`](super::serve()) runs it by itself. A clone is the same endpoint.
#[derive(Clone)]
pub struct Endpoint {
    shared: Arc<Shared>,
}

/// What the clones of an endpoint share.
pub(super) struct Shared {
    pub(super) handler: BoxHandler,
    pub(super) served: Revisions,
    pub(super) options: Options,
    pub(super) limits: Limits,
    pub(super) sessions: Arc<Table>,
}

impl Endpoint {
    /// An endpoint for this server, with the default [`Options`].
    pub fn new(handler: impl Handler) -> Self {
        Self::with_options(handler, Options::default())
    }

    /// An endpoint for this server.
    pub fn with_options(handler: impl Handler, options: Options) -> Self {
        let handler = BoxHandler::new(handler);
        let limits = Limits::default().with_max_bytes(options.max_body);
        let served = handler.revisions();
        Self {
            shared: Arc::new(Shared {
                handler,
                served,
                options,
                limits,
                sessions: Arc::default(),
            }),
        }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.shared.sessions.len()
    }

    /// Ends every session, as a restart would; clients open new ones.
    pub fn forget_sessions(&self) {
        self.shared.sessions.clear();
    }

    /// Ends every session and takes no new ones.
    pub fn close(&self) {
        self.shared.sessions.close();
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("sessions", &self.sessions())
            .finish_non_exhaustive()
    }
}

impl<B> tower_service::Service<Request<B>> for Endpoint
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let origin = request
                .headers()
                .get(ORIGIN)
                .and_then(|origin| guard::allowed_origin(origin, &shared.options))
                .cloned();
            let mut response = shared.handle(request).await;
            if let Some(origin) = origin {
                let headers = response.headers_mut();
                headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
                headers.insert(
                    ACCESS_CONTROL_EXPOSE_HEADERS,
                    HeaderValue::from_static("Mcp-Session-Id"),
                );
                headers.append(VARY, HeaderValue::from_static("Origin"));
            }
            Ok(response)
        })
    }
}

const NO_SESSION_ID: &str = "Bad Request: Mcp-Session-Id header is required";
const NO_SESSION: &str = "Session not found";
/// The longest session id that is looked up.
const MAX_SESSION_ID: usize = 256;
/// How many headers a page may ask for.
const MAX_PARAM_HEADERS: usize = 64;

// A refusal is a response; boxing it to hand it up two levels would cost more than moving it.
#[expect(clippy::result_large_err)]
impl Shared {
    async fn handle<B>(self: &Arc<Self>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if let Err(text) = guard::caller(request.headers(), request.uri(), &self.options) {
            tracing::warn!("{text}");
            return answer::refusal(
                StatusCode::FORBIDDEN,
                codes::INVALID_REQUEST,
                format!("Forbidden: {text}"),
                true,
            );
        }
        if let Some(pair) = &self.options.pair {
            match *request.method() {
                Method::GET if request.uri().path() == pair.events => {
                    return self.open_pair(request.headers(), pair);
                }
                Method::POST if request.uri().path() == pair.messages => {
                    return self.post_pair(request).await;
                }
                _ => {}
            }
        }
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.get(request.headers()),
            Method::DELETE => self.delete(request.headers()),
            Method::OPTIONS => preflight(request.headers()),
            _ => self.not_allowed(),
        }
    }

    fn stateful(&self) -> bool {
        !self.served.and(Revisions::STATEFUL).is_empty()
    }

    fn not_allowed(&self) -> Response<Body> {
        let mut response = answer::bare(StatusCode::METHOD_NOT_ALLOWED);
        let methods = if self.stateful() {
            "GET, POST, DELETE"
        } else {
            "POST"
        };
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static(methods));
        response
    }

    /// The session that a request belongs to.
    pub(super) fn session(&self, headers: &HeaderMap) -> Result<Arc<HttpSession>, Response<Body>> {
        let Some(id) = headers.get(&names::SESSION_ID) else {
            return Err(answer::refusal(
                StatusCode::BAD_REQUEST,
                -32000,
                NO_SESSION_ID,
                false,
            ));
        };
        let id = id.as_bytes().trim_ascii();
        if id.is_empty() || id.len() > MAX_SESSION_ID || !id.iter().all(u8::is_ascii_graphic) {
            let text = "Bad Request: Mcp-Session-Id is not a session id";
            return Err(answer::refusal(StatusCode::BAD_REQUEST, -32000, text, false));
        }
        let id = std::str::from_utf8(id).unwrap_or_default();
        let session = self.sessions.get(id);
        let Some(session) = session.filter(|session| !session.pair) else {
            return Err(answer::refusal(StatusCode::NOT_FOUND, -32001, NO_SESSION, false));
        };
        if let Some(version) = guard::text(headers, &names::PROTOCOL_VERSION) {
            let known = Revision::from_name(version).is_some_and(|one| self.served.contains(one));
            if !known {
                let text = format!("Bad Request: Unsupported protocol version: {version}");
                return Err(answer::refusal(StatusCode::BAD_REQUEST, -32000, text, false));
            }
        }
        session.touch();
        Ok(session)
    }

    /// A session that is not yet known to anybody.
    pub(super) fn open(&self, pair: bool) -> Result<Arc<HttpSession>, Response<Body>> {
        let id = match &self.options.ids {
            Some(ids) => ids(),
            None => random_id().ok_or_else(|| answer::busy(None, "no random numbers for a session id"))?,
        };
        let rules = ServerInbound::new(self.served);
        let keep = if pair { 0 } else { self.options.replay_bytes };
        let max = self.options.max_in_flight;
        Ok(HttpSession::new(id, self.handler.clone(), rules, max, keep, pair))
    }

    /// Keeps a session whose handshake succeeded, and tells its id. One that was refused leaves no session behind.
    pub(super) fn admit(&self, session: &Arc<HttpSession>, response: &mut Response<Body>) {
        let settled = session.revision().is_some();
        let Some(id) = HeaderValue::from_str(&session.id).ok().filter(|_| settled) else {
            return;
        };
        match self.sessions.admit(session, &self.options) {
            Ok(()) => {
                response.headers_mut().insert(names::SESSION_ID, id);
            }
            Err(text) => *response = answer::busy(None, text),
        }
    }

    /// The stream that stands by itself, or one to come back to.
    fn get(&self, headers: &HeaderMap) -> Response<Body> {
        if !self.stateful() {
            return self.not_allowed();
        }
        if !guard::accepts(headers, "text", "event-stream") {
            let text = "Not Acceptable: Client must accept text/event-stream";
            return answer::refusal(StatusCode::NOT_ACCEPTABLE, -32000, text, false);
        }
        let session = match self.session(headers) {
            Ok(session) => session,
            Err(response) => return response,
        };
        let keep_alive = self.options.keep_alive;
        if let Some(last) =
            guard::text(headers, &names::LAST_EVENT_ID).filter(|_| self.options.replay_bytes > 0)
        {
            let place = last
                .split_once('-')
                .and_then(|(stream, event)| Some((stream.parse().ok()?, event.parse().ok()?)));
            return match place.and_then(|(stream, event): (u64, u64)| Some((session.stream(stream)?, event)))
            {
                Some((stream, event)) => answer::events(stream.attach(Some(event), false, keep_alive)),
                // What cannot be resumed replays nothing.
                None => answer::refusal(
                    StatusCode::BAD_REQUEST,
                    -32000,
                    "Bad Request: Last-Event-ID is unknown or too old",
                    false,
                ),
            };
        }
        if session.own.is_attached() {
            let text = "Conflict: Only one SSE stream is allowed per session";
            return answer::refusal(StatusCode::CONFLICT, -32000, text, false);
        }
        let priming = self.options.replay_bytes > 0 && session.revision() == Some(Revision::V2025_11_25);
        answer::events(session.own.attach(None, priming, keep_alive))
    }

    fn delete(&self, headers: &HeaderMap) -> Response<Body> {
        if !self.stateful() {
            return self.not_allowed();
        }
        let session = match self.session(headers) {
            Ok(session) => session,
            Err(response) => return response,
        };
        self.sessions.remove(&session.id);
        answer::bare(StatusCode::OK)
    }
}

/// 128 bits that nobody can guess.
fn random_id() -> Option<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What a browser asks before it lets a page call. The origin was checked; the headers of the answer say so.
fn preflight(asked: &HeaderMap) -> Response<Body> {
    let mut response = answer::bare(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    let mut allowed = String::from(
        "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, \
         Last-Event-ID",
    );
    // There is no pattern for headers whose names the tools make up.
    let asked = guard::text(asked, &ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or_default();
    for name in asked.split(',').map(str::trim).take(MAX_PARAM_HEADERS) {
        if name
            .get(..names::PARAM.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(names::PARAM))
        {
            allowed.push_str(", ");
            allowed.push_str(name);
        }
    }
    if let Ok(allowed) = HeaderValue::from_str(&allowed) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    response
}
