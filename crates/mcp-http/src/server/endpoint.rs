use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CONTENT_LENGTH, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use mcp_exchange::{BoxHandler, Handler};
use mcp_jsonrpc::{Call, Frame, Limits, Message, ScanError, codes, scan};
use mcp_session::{ServerInbound, Verdict, batch_refused};
use mcp_types::{Revision, Revisions, method};

use super::body::Body;
use super::options::Options;
use super::session::{HttpSession, Taken};
use super::stateless::Running;
use super::{answer, guard, names};
use crate::sse;

/// The endpoint of a server: a [`tower_service::Service`] of HTTP requests that serves both eras on one URL. It nests in
/// hyper and axum as it is; [`serve`](super::serve()) runs it by itself. A clone is the same endpoint.
#[derive(Clone)]
pub struct Endpoint {
    shared: Arc<Shared>,
}

struct Shared {
    handler: BoxHandler,
    served: Revisions,
    options: Options,
    limits: Limits,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    by_id: HashMap<Box<str>, Arc<HttpSession>>,
    sweeping: bool,
    closed: bool,
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
                sessions: Mutex::default(),
            }),
        }
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.shared.sessions().by_id.len()
    }

    /// Ends every session and takes no new ones.
    pub fn close(&self) {
        let all = {
            let mut sessions = self.shared.sessions();
            sessions.closed = true;
            std::mem::take(&mut sessions.by_id)
        };
        for session in all.into_values() {
            session.close();
        }
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

const NOT_ACCEPTABLE: &str = "Not Acceptable: Client must accept both application/json and text/event-stream";
const NO_SESSION_ID: &str = "Bad Request: Mcp-Session-Id header is required";
const NO_SESSION: &str = "Session not found";
/// The longest session id that is looked up.
const MAX_SESSION_ID: usize = 256;

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

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
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.get(request.headers()),
            Method::DELETE => self.delete(request.headers()),
            Method::OPTIONS => preflight(),
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

    async fn post<B>(self: &Arc<Self>, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let headers = parts.headers;
        let modern = guard::text(&headers, &names::PROTOCOL_VERSION)
            .and_then(Revision::from_name)
            .is_some_and(Revision::is_stateless);
        if !guard::accepts(&headers, "application", "json")
            || !guard::accepts(&headers, "text", "event-stream")
        {
            return answer::refusal(StatusCode::NOT_ACCEPTABLE, -32000, NOT_ACCEPTABLE, modern);
        }
        if !guard::is_json(&headers) {
            let text = "Unsupported Media Type: Content-Type must be application/json";
            return answer::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32000, text, modern);
        }
        let body = match self.read(&headers, body).await {
            Ok(body) => body,
            Err(response) => return response,
        };
        match scan(body, &self.limits) {
            Ok(Frame::One(message)) => self.message(&headers, message, modern),
            Ok(Frame::Batch(messages)) => return self.batch(&headers, messages, modern).await,
            Err(error) => {
                let object = error.to_error_object();
                return match error.id() {
                    Some(id) => answer::error(StatusCode::BAD_REQUEST, id, &object),
                    None => answer::refusal(
                        StatusCode::BAD_REQUEST,
                        object.code,
                        object.message.into_owned(),
                        modern,
                    ),
                };
            }
        }
        .await
    }

    /// Reads a body up to the limit: one piece is used as it is, several are joined.
    async fn read<B>(&self, headers: &HeaderMap, body: B) -> Result<Bytes, Response<Body>>
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let too_large = || {
            let text = format!("Payload Too Large: the limit is {} bytes", self.options.max_body);
            answer::refusal(StatusCode::PAYLOAD_TOO_LARGE, codes::INVALID_REQUEST, text, false)
        };
        let announced = guard::text(headers, &CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        if announced.is_some_and(|length| length > self.options.max_body as u64) {
            return Err(too_large());
        }
        match Limited::new(body, self.options.max_body).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
            Err(error) => {
                let text = format!("Bad Request: the body cannot be read: {error}");
                Err(answer::refusal(
                    StatusCode::BAD_REQUEST,
                    codes::INVALID_REQUEST,
                    text,
                    false,
                ))
            }
        }
    }

    /// One message. Returns the rest of the work as a future, so that the scan's results need not cross an await.
    fn message(
        self: &Arc<Self>,
        headers: &HeaderMap,
        message: Message,
        modern: bool,
    ) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        let done = |response| -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
            Box::pin(std::future::ready(response))
        };
        let request = match message {
            Message::Request(request) => request,
            other => return done(self.without_answer(headers, other, modern)),
        };
        if modern || ServerInbound::is_stateless(&request.call) {
            return match self.stateless(headers, &request) {
                Ok(admission) => {
                    let running = Running::start(&self.handler, request, admission);
                    Box::pin(running.respond(self.options.keep_alive))
                }
                Err((status, error)) => done(answer::error(status, &request.id, &error)),
            };
        }
        let session = if request.call.method() == method::INITIALIZE {
            if let Err(response) = self.agrees(headers, &request.call) {
                return done(response);
            }
            self.open()
        } else {
            self.session(headers)
        };
        let session = match session {
            Ok(session) => session,
            Err(response) => return done(response),
        };
        let fresh = request.call.method() == method::INITIALIZE;
        let id = request.id.clone();
        let mut response = match session.request(request) {
            Taken::Answer(frame) if self.options.json => answer::json(StatusCode::OK, frame),
            Taken::Answer(frame) => {
                let mut out = BytesMut::new();
                sse::event(&mut out, None, &frame);
                answer::whole_events(out)
            }
            Taken::Busy => answer::busy(Some(&id), "Too many requests under way in this session"),
            Taken::Stream(stream) => {
                if self.options.json {
                    return self.json_reply(session, stream, fresh);
                }
                let priming =
                    self.options.replay_bytes > 0 && session.revision() == Some(Revision::V2025_11_25);
                match stream.take_whole(priming) {
                    Some(out) => answer::whole_events(out),
                    None => {
                        let attached = stream.attach(None, priming, self.options.keep_alive);
                        let cancels = self.options.disconnect_cancels && self.options.replay_bytes == 0;
                        let owner = Arc::downgrade(&session);
                        answer::events(attached.on_drop(move || {
                            if let (true, Some(session)) = (cancels, owner.upgrade()) {
                                session.cancel(&id);
                            }
                        }))
                    }
                }
            }
        };
        if fresh {
            self.admit(&session, &mut response);
        }
        done(response)
    }

    /// Waits for the answer and sends it as one body; what else there is goes to the session's own stream.
    fn json_reply(
        self: &Arc<Self>,
        session: Arc<HttpSession>,
        stream: Arc<super::stream::Stream>,
        fresh: bool,
    ) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        let shared = Arc::clone(self);
        Box::pin(async move {
            let reply = stream.last(&session.own).await;
            let mut response = match reply {
                Some(frame) => answer::json(StatusCode::OK, frame),
                None => answer::bare(StatusCode::ACCEPTED),
            };
            if fresh {
                shared.admit(&session, &mut response);
            }
            response
        })
    }

    /// Judges a stateless request: what its `_meta` says, and whether its headers say the same.
    fn stateless(
        &self,
        headers: &HeaderMap,
        request: &mcp_jsonrpc::Request,
    ) -> Result<mcp_session::Admission, (StatusCode, mcp_jsonrpc::ErrorObject)> {
        use mcp_jsonrpc::{ErrorObject, ParamKey};
        use mcp_types::meta::RequestMeta;
        let bad = |error| (StatusCode::BAD_REQUEST, error);
        let raw = request
            .call
            .param(ParamKey::Meta)
            .unwrap_or(mcp_jsonrpc::RawJson::empty_object());
        let meta = RequestMeta::parse(&raw).map_err(|error| {
            bad(ErrorObject::invalid_params(format!(
                "Invalid params: _meta: {error}"
            )))
        })?;
        let version = meta.protocol_version.as_deref().ok_or_else(|| {
            bad(ErrorObject::invalid_params(
                "Invalid params: _meta lacks io.modelcontextprotocol/protocolVersion",
            ))
        })?;
        match guard::text(headers, &names::PROTOCOL_VERSION) {
            None => return Err(bad(names::mismatch("MCP-Protocol-Version is missing"))),
            Some(said) if said != version => {
                let text = format!("MCP-Protocol-Version is {said:?}, the body says {version:?}");
                return Err(bad(names::mismatch(text)));
            }
            Some(_) => {}
        }
        names::match_body(headers, &request.call).map_err(bad)?;
        match ServerInbound::new(self.served).request(request) {
            Verdict::Serve(admission) => Ok(admission),
            Verdict::Refuse(error) if error.code == codes::METHOD_NOT_FOUND => {
                Err((StatusCode::NOT_FOUND, error))
            }
            Verdict::Refuse(error) => Err(bad(error)),
            _ => Err(bad(ErrorObject::internal("Internal error"))),
        }
    }

    /// A notification or a response: accepted without a body.
    fn without_answer(&self, headers: &HeaderMap, message: Message, modern: bool) -> Response<Body> {
        if modern {
            return match message {
                Message::Response(_) => {
                    let text = "Invalid request: servers ask nothing in this revision";
                    answer::refusal(StatusCode::BAD_REQUEST, codes::INVALID_REQUEST, text, true)
                }
                // Nothing is defined for them; a closed stream is the cancel.
                _ => answer::bare(StatusCode::ACCEPTED),
            };
        }
        let session = match self.session(headers) {
            Ok(session) => session,
            Err(response) => return response,
        };
        match message {
            Message::Notification(call) => session.notification(call),
            Message::Response(response) => session.response(response),
            Message::Request(_) => {}
        }
        answer::bare(StatusCode::ACCEPTED)
    }

    /// A batch: in sessions of 2025-03-26 alone, answered by one array.
    async fn batch(
        self: &Arc<Self>,
        headers: &HeaderMap,
        messages: Vec<Result<Message, ScanError>>,
        modern: bool,
    ) -> Response<Body> {
        let refused = batch_refused();
        let refuse = || {
            answer::refusal(
                StatusCode::BAD_REQUEST,
                refused.code,
                refused.message.to_string(),
                modern,
            )
        };
        if modern {
            return refuse();
        }
        let session = match self.session(headers) {
            Ok(session) if session.takes_batches() => session,
            Ok(_) => return refuse(),
            Err(response) => return response,
        };
        let mut array = BytesMut::new();
        let mut add = |frame: &[u8]| {
            array.extend_from_slice(if array.is_empty() { b"[" } else { b"," });
            array.extend_from_slice(frame);
        };
        let mut waiting = Vec::new();
        for message in messages {
            match message {
                Ok(Message::Notification(call)) => session.notification(call),
                Ok(Message::Response(response)) => session.response(response),
                Ok(Message::Request(request)) => match session.request(request) {
                    Taken::Answer(frame) => add(&frame),
                    Taken::Busy => return answer::busy(None, "Too many requests under way in this session"),
                    Taken::Stream(stream) => waiting.push(stream),
                },
                Err(error) => {
                    let mut frame = BytesMut::new();
                    let id = error.id().ok_or(mcp_jsonrpc::encode::NoId::Null);
                    mcp_jsonrpc::encode::error(&mut frame, id, &error.to_error_object());
                    add(&frame);
                }
            }
        }
        for stream in waiting {
            if let Some(frame) = stream.last(&session.own).await {
                add(&frame);
            }
        }
        if array.is_empty() {
            return answer::bare(StatusCode::ACCEPTED);
        }
        array.extend_from_slice(b"]");
        answer::json(StatusCode::OK, array)
    }

    /// The session that a request belongs to.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<HttpSession>, Response<Body>> {
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
        let session = self.sessions().by_id.get(id).cloned();
        let Some(session) = session else {
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

    /// A version header on `initialize` may not contradict its body (P057).
    fn agrees(&self, headers: &HeaderMap, call: &Call) -> Result<(), Response<Body>> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            protocol_version: Option<String>,
        }
        let said = guard::text(headers, &names::PROTOCOL_VERSION);
        let asked = call
            .parse::<Params>()
            .ok()
            .and_then(|params| params.protocol_version);
        match (said, asked) {
            (Some(said), Some(asked)) if said != asked => {
                let text = format!("Bad Request: MCP-Protocol-Version is {said:?}, the body says {asked:?}");
                Err(answer::refusal(StatusCode::BAD_REQUEST, -32000, text, false))
            }
            _ => Ok(()),
        }
    }

    /// A session that is not yet known to anybody.
    fn open(&self) -> Result<Arc<HttpSession>, Response<Body>> {
        let id = match &self.options.ids {
            Some(ids) => ids(),
            None => random_id().ok_or_else(|| answer::busy(None, "no random numbers for a session id"))?,
        };
        let rules = ServerInbound::new(self.served);
        let (max, keep) = (self.options.max_in_flight, self.options.replay_bytes);
        Ok(HttpSession::new(id, self.handler.clone(), rules, max, keep))
    }

    /// Keeps a session whose handshake succeeded, and tells its id.
    fn admit(self: &Arc<Self>, session: &Arc<HttpSession>, response: &mut Response<Body>) {
        // A handshake that was refused leaves no session behind.
        let Some(id) = session
            .revision()
            .and_then(|_| HeaderValue::from_str(&session.id).ok())
        else {
            return;
        };
        let mut gone = None;
        {
            let mut sessions = self.sessions();
            if sessions.closed {
                *response = answer::busy(None, "the server is ending");
                return;
            }
            if sessions.by_id.len() >= self.options.max_sessions {
                let oldest = sessions
                    .by_id
                    .values()
                    .filter_map(|one| Some((one.idle()?, one.id.clone())))
                    .max();
                match oldest {
                    Some((_, id)) => gone = sessions.by_id.remove(&id),
                    None => {
                        *response = answer::busy(None, "Too many sessions");
                        return;
                    }
                }
            }
            sessions.by_id.insert(session.id.clone(), Arc::clone(session));
            if !std::mem::replace(&mut sessions.sweeping, true) {
                let step =
                    (self.options.session_idle / 4).clamp(Duration::from_millis(50), Duration::from_secs(30));
                tokio::spawn(sweep(Arc::downgrade(self), step));
            }
        }
        if let Some(gone) = gone {
            gone.close();
        }
        response.headers_mut().insert(names::SESSION_ID, id);
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
        self.sessions().by_id.remove(&session.id);
        session.close();
        answer::bare(StatusCode::OK)
    }
}

/// Forgets idle sessions and finished streams, for as long as the endpoint lives.
async fn sweep(shared: Weak<Shared>, step: Duration) {
    loop {
        tokio::time::sleep(step).await;
        let Some(shared) = shared.upgrade() else { return };
        let idle: Vec<Arc<HttpSession>> = {
            let mut sessions = shared.sessions();
            let limit = shared.options.session_idle;
            let over: Vec<Box<str>> = sessions
                .by_id
                .values()
                .filter(|session| session.idle().is_some_and(|idle| idle >= limit))
                .map(|session| session.id.clone())
                .collect();
            let gone = over.iter().filter_map(|id| sessions.by_id.remove(id)).collect();
            for session in sessions.by_id.values() {
                session.sweep(shared.options.replay_time);
            }
            if sessions.by_id.is_empty() {
                // A table gives its memory back only when told.
                sessions.by_id.shrink_to_fit();
                sessions.sweeping = false;
            }
            gone
        };
        let more = shared.sessions().sweeping;
        for session in idle {
            session.close();
        }
        if !more {
            return;
        }
    }
}

/// 128 bits that nobody can guess.
fn random_id() -> Option<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What a browser asks before it lets a page call. The origin was checked; the headers of the answer say so.
fn preflight() -> Response<Body> {
    let mut response = answer::bare(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(
            "Content-Type, Accept, Authorization, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, \
             Last-Event-ID",
        ),
    );
    response
}
