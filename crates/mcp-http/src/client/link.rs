//! The way to a server over HTTP: each message is a request of its own, and what comes back finds its call.

use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri};
use hyper::body::Incoming as HttpBody;
use mcp_exchange::{
    BoxHandler, CallSlot, Closed, Exchange, Incoming, Link, LinkError, Notice, Outbox, Outgoing,
    ScopeBuilder, call_slot,
};
use mcp_jsonrpc::{Call, Frame, Limits, Message, ParamKey, RawJson, Request, RequestId, encode, scan};
use mcp_session::{Admission, ClientInbound, NoteVerdict, Verdict};
use mcp_types::meta::RequestMeta;
use mcp_types::{ProgressParams, ProgressToken, Revision, method};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::options::Options;
use super::pair::{Pair, may_be_older};
use super::streams::Place;
use super::wire::{Pool, excerpt, read};
use crate::names;

const UNSET: u8 = u8::MAX;

pub(crate) struct Shared {
    pub(super) pool: Pool,
    pub(super) url: Uri,
    headers: HeaderMap,
    pub(super) options: Options,
    pub(super) limits: Limits,
    inbound: BoxHandler,
    rules: Mutex<ClientInbound>,
    next_id: AtomicI64,
    revision: AtomicU8,
    session: Mutex<Option<HeaderValue>>,
    /// The handshake as it was sent, to repeat it when the server forgot the session.
    handshake: Mutex<Option<Bytes>>,
    renewing: tokio::sync::Mutex<()>,
    pub(super) own: Mutex<Option<AbortHandle>>,
    /// Set where the server speaks HTTP+SSE.
    pub(super) pair: OnceLock<Pair>,
    closed: watch::Sender<Option<Closed>>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A link over HTTP; see [`Link`].
#[derive(Clone)]
pub(crate) struct HttpLink(Arc<Shared>);

impl HttpLink {
    pub(crate) fn new(
        pool: Pool,
        url: Uri,
        headers: HeaderMap,
        options: Options,
        inbound: BoxHandler,
    ) -> Self {
        Self(Arc::new(Shared {
            pool,
            url,
            headers,
            limits: Limits::default().with_max_bytes(options.max_answer),
            options,
            inbound,
            rules: Mutex::default(),
            next_id: AtomicI64::new(0),
            revision: AtomicU8::new(UNSET),
            session: Mutex::default(),
            handshake: Mutex::default(),
            renewing: tokio::sync::Mutex::default(),
            own: Mutex::default(),
            pair: OnceLock::new(),
            closed: watch::Sender::new(None),
        }))
    }
}

impl HttpLink {
    /// Opens the stream of HTTP+SSE.
    pub(crate) async fn open_pair(&self) -> Result<(), LinkError> {
        self.0.open_pair().await
    }
}

impl Shared {
    pub(super) fn revision(&self) -> Option<Revision> {
        Revision::ALL
            .get(usize::from(self.revision.load(Ordering::Acquire)))
            .copied()
    }

    fn gone(&self) -> Option<LinkError> {
        self.closed
            .borrow()
            .as_ref()
            .map(|how| LinkError::closed(format!("the connection is closed: {}", how.reason)))
    }

    /// The headers of a message: the configured ones, and on top of them those that the protocol demands.
    pub(super) fn headers(&self, call: Option<&Call>) -> HeaderMap {
        let mut headers = self.headers.clone();
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut set = |name: HeaderName, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        let meta = call.and_then(|call| call.param(ParamKey::Meta));
        let said = meta.as_ref().and_then(|meta| RequestMeta::parse(meta).ok());
        let stateless = said.and_then(|meta| meta.protocol_version.map(|version| version.into_owned()));
        match (stateless, call) {
            (Some(version), Some(call)) => {
                set(names::PROTOCOL_VERSION, &version);
                set(names::METHOD, call.method());
                let name = names::name_key(call.method()).map(|key| call.param_str(key));
                if let Some(Ok(Some(name))) = name {
                    set(names::NAME, &names::encode(&name));
                }
            }
            _ => {
                let settled = self
                    .revision()
                    .filter(|_| call.is_none_or(|call| call.method() != method::INITIALIZE));
                if let Some(revision) = settled {
                    set(names::PROTOCOL_VERSION, revision.name());
                }
                if let Some(session) = lock(&self.session).clone().filter(|_| settled.is_some()) {
                    headers.insert(names::SESSION_ID, session);
                }
            }
        }
        headers
    }

    pub(super) async fn post(
        &self,
        headers: &HeaderMap,
        frame: Bytes,
    ) -> Result<Response<HttpBody>, LinkError> {
        self.pool
            .send(
                Method::POST,
                self.pair.get().map_or(&self.url, |pair| &pair.url),
                headers,
                frame,
                self.options.max_redirects,
            )
            .await
    }

    /// One call from its request to its answer. Runs in a task whose end is the end of the call.
    async fn call(
        self: Arc<Self>,
        id: RequestId,
        call: Call,
        headers: HeaderMap,
        frame: Bytes,
        slot: CallSlot,
    ) {
        if let Err(error) = self.carry(&id, &call, headers, frame, &slot).await {
            slot.lost(error);
        }
    }

    async fn carry(
        self: &Arc<Self>,
        id: &RequestId,
        call: &Call,
        headers: HeaderMap,
        frame: Bytes,
        slot: &CallSlot,
    ) -> Result<(), LinkError> {
        if let Some(pair) = self.pair.get() {
            if headers.contains_key(&names::METHOD) {
                return Err(LinkError::peer("HTTP+SSE has no stateless revision"));
            }
            return self.carry_pair(pair, id, &headers, frame, slot).await;
        }
        let mut response = self.post(&headers, frame.clone()).await?;
        let used = headers.get(&names::SESSION_ID);
        if response.status() == StatusCode::NOT_FOUND && used.is_some() {
            // The server forgot the session: one handshake for all who wait, then this request once more. It was
            // refused before it ran, so nothing runs twice (P085).
            self.renew(used).await?;
            response = self.post(&self.headers(Some(call)), frame.clone()).await?;
        }
        if call.method() == method::INITIALIZE {
            *lock(&self.session) = response.headers().get(&names::SESSION_ID).cloned();
        }
        let status = response.status();
        if media_type(&response) == "text/event-stream" {
            return self.streamed(id, response, slot).await;
        }
        let body = read(response, self.options.max_answer).await?;
        match scan(body.clone(), &self.limits) {
            Ok(Frame::One(Message::Response(answer))) => {
                let ours = answer
                    .id
                    .as_ref()
                    .is_none_or(|answered| id.is_answered_by(answered));
                // A refusal before dispatch has no id; it came back for this request all the same.
                if ours && (answer.id.is_some() || answer.outcome.is_err()) {
                    slot.done(answer.outcome);
                    return Ok(());
                }
                Err(LinkError::peer("the server answered another request"))
            }
            _ => {
                let error = refused(status, &body, used.is_some());
                if call.method() != method::INITIALIZE || !may_be_older(status) {
                    return Err(error);
                }
                // The last rung: what the server refused may be all that is newer than 2024-11-05.
                if let Err(other) = self.open_pair().await {
                    tracing::debug!(%other, "the server does not speak HTTP+SSE either");
                    return Err(error);
                }
                let Some(pair) = self.pair.get() else {
                    return Err(error);
                };
                self.carry_pair(pair, id, &headers, frame, slot).await
            }
        }
    }

    /// Takes a message. True where it is the answer to the call.
    pub(super) fn message(self: &Arc<Self>, message: Message, call: Option<(&RequestId, &CallSlot)>) -> bool {
        match message {
            Message::Response(response) => match (call, &response.id) {
                (Some((id, slot)), Some(answered)) if id.is_answered_by(answered) => {
                    slot.done(response.outcome);
                    return true;
                }
                (_, id) => match self.pair_waiting(id.as_ref()) {
                    Some(slot) => slot.done(response.outcome),
                    None => tracing::debug!("an answer that nothing waits for was dropped"),
                },
            },
            Message::Notification(note) => self.notification(note, call),
            Message::Request(request) => self.question(request),
        }
        false
    }

    fn notification(&self, note: Call, call: Option<(&RequestId, &CallSlot)>) {
        if note.method() == method::PROGRESS {
            let token = note
                .parse::<ProgressParams>()
                .ok()
                .map(|params| match params.progress_token {
                    ProgressToken::Number(number) => RequestId::Number(number),
                    ProgressToken::String(text) => RequestId::String(text),
                });
            if let Some((_, slot)) = call.filter(|(id, _)| token.as_ref() == Some(*id)) {
                slot.notice(note);
            } else if let Some(slot) = self.pair_progress(token.as_ref()) {
                slot.notice(note);
            }
            return;
        }
        let verdict = lock(&self.rules).notification(&note);
        if let NoteVerdict::Ignore(why) = verdict {
            tracing::debug!(method = note.method(), why, "a notification was dropped");
            return;
        }
        tokio::spawn(self.inbound.notify_boxed(Notice::new(note, None)));
    }

    /// Answers a question of the server, in a request of its own.
    fn question(self: &Arc<Self>, request: Request) {
        let verdict = lock(&self.rules).request(&request);
        let shared = Arc::clone(self);
        let frame = match verdict {
            None => return,
            Some(Verdict::Serve(Admission {
                peer, progress_token, ..
            })) => {
                let scope = ScopeBuilder::new(request.id.clone(), peer, Arc::new(Nowhere))
                    .progress_token(progress_token)
                    .build();
                let work = self.inbound.call_boxed(Exchange::new(request, scope));
                tokio::spawn(async move {
                    let frame = work.await.into_frame().freeze();
                    shared.answer(frame).await;
                });
                return;
            }
            Some(Verdict::Answer(value)) => {
                let mut frame = BytesMut::new();
                encode::result(&mut frame, &request.id, value.as_bytes());
                frame
            }
            Some(Verdict::Refuse(error)) => {
                let mut frame = BytesMut::new();
                encode::error(&mut frame, Ok(&request.id), &error);
                frame
            }
            Some(_) => return,
        };
        tokio::spawn(async move { shared.answer(frame.freeze()).await });
    }

    async fn answer(&self, frame: Bytes) {
        let headers = self.headers(None);
        match tokio::time::timeout(self.options.send_timeout, self.post(&headers, frame)).await {
            Ok(Ok(response)) if response.status().is_success() => {}
            Ok(Ok(response)) => {
                tracing::warn!(status = %response.status(), "the server did not take our answer")
            }
            Ok(Err(error)) => tracing::warn!(%error, "our answer could not be sent"),
            Err(_) => tracing::warn!("our answer could not be sent in time"),
        }
    }

    /// A new session in place of the one that the server forgot, unless somebody was quicker.
    async fn renew(self: &Arc<Self>, forgotten: Option<&HeaderValue>) -> Result<(), LinkError> {
        let _one = self.renewing.lock().await;
        if lock(&self.session).as_ref() != forgotten {
            return Ok(());
        }
        let Some(frame) = lock(&self.handshake).clone() else {
            return Err(LinkError::transport("the server forgot the session"));
        };
        tracing::info!("the server forgot the session; a new one is opened");
        let mut headers = self.headers(None);
        headers.remove(&names::SESSION_ID);
        headers.remove(&names::PROTOCOL_VERSION);
        let response = self.post(&headers, frame).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(status, b"", false));
        }
        let session = response.headers().get(&names::SESSION_ID).cloned();
        // What the server says of itself was heard before; only the session is new.
        let (slot, answer) = call_slot();
        let id = RequestId::Number(0);
        if media_type(&response) == "text/event-stream" {
            let _ = self
                .read_stream(response, Some((&id, &slot)), &mut Place::default())
                .await;
        } else {
            let _ = read(response, self.options.max_answer).await;
        }
        drop(answer);
        *lock(&self.session) = session;
        self.send_note(method::INITIALIZED, None).await?;
        self.listen();
        Ok(())
    }

    async fn send_note(&self, method: &str, params: Option<&[u8]>) -> Result<(), LinkError> {
        let mut frame = BytesMut::new();
        encode::notification(&mut frame, method, params);
        let body = params.map(|params| RawJson::from_bytes(Bytes::copy_from_slice(params), &self.limits));
        let call = Call::new(method, body.and_then(Result::ok));
        let headers = self.headers(Some(&call));
        let sent = self.post(&headers, frame.freeze());
        let late = || LinkError::transport(format!("the server did not take {method} in time"));
        let response = tokio::time::timeout(self.options.send_timeout, sent)
            .await
            .map_err(|_| late())??;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let body = read(response, self.options.max_answer).await.unwrap_or_default();
        Err(refused(status, &body, headers.contains_key(&names::SESSION_ID)))
    }

    pub(super) fn end(&self, how: Closed) -> bool {
        if let Some(own) = lock(&self.own).take() {
            own.abort();
        }
        self.closed.send_if_modified(|state| {
            let first = state.is_none();
            state.get_or_insert(how);
            first
        })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(own) = lock(&self.own).take() {
            own.abort();
        }
    }
}

/// Why a request has no JSON-RPC answer.
pub(super) fn refused(status: StatusCode, body: &[u8], in_session: bool) -> LinkError {
    let said = excerpt(body);
    let said = if said.is_empty() {
        String::new()
    } else {
        format!(": {said}")
    };
    match status {
        // No sign of what the server speaks: it wants to know who asks.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            LinkError::transport(format!("the server wants authorization ({status}){said}"))
        }
        StatusCode::NOT_FOUND if !in_session => {
            LinkError::peer(format!("there is no endpoint at this URL ({status}){said}"))
        }
        status if status.is_server_error() => {
            LinkError::transport(format!("the server failed ({status}){said}"))
        }
        status if status.is_success() => {
            LinkError::peer(format!("the server's answer is no message ({status}){said}"))
        }
        status => LinkError::peer(format!("the server refused the request ({status}){said}")),
    }
}

/// The media type, without parameters, in small letters.
pub(super) fn media_type(response: &Response<HttpBody>) -> String {
    let value = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    value
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// Progress about a question has no way back to the server here.
struct Nowhere;

impl Outbox for Nowhere {
    fn try_send(&self, _: BytesMut) -> Result<(), BytesMut> {
        Ok(())
    }

    fn room(&self) -> std::pin::Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(std::future::ready(false))
    }
}

impl Link for HttpLink {
    fn next_id(&self) -> RequestId {
        RequestId::Number(self.0.next_id.fetch_add(1, Ordering::Relaxed))
    }

    async fn open(&self, id: RequestId, call: Outgoing) -> Result<Incoming, LinkError> {
        let shared = &self.0;
        if let Some(error) = shared.gone() {
            return Err(error);
        }
        let mut frame = BytesMut::with_capacity(64 + call.params.as_ref().map_or(0, Bytes::len));
        encode::request(&mut frame, &id, &call.method, call.params.as_deref());
        let frame = frame.freeze();
        let Ok(Frame::One(Message::Request(request))) = scan(frame.clone(), &shared.limits) else {
            return Err(LinkError::usage("the request is no message, or over the limit"));
        };
        if call.method == method::INITIALIZE {
            *lock(&shared.handshake) = Some(frame.clone());
        }
        let (slot, mut incoming) = call_slot();
        let mut headers = shared.headers(Some(&request.call));
        let stateless = headers.contains_key(&names::METHOD);
        if let Some(repeated) = call.param_headers.as_ref().filter(|_| stateless) {
            names::write_params(&mut headers, repeated);
        }
        let quiet = call.method == method::INITIALIZE;
        let carried = Arc::clone(shared).call(id.clone(), request.call, headers, frame, slot);
        let task = tokio::spawn(carried).abort_handle();
        let weak = Arc::downgrade(shared);
        incoming.on_drop(move |reason| {
            // Dropping the response is the cancel of the stateless era; sessions want to be told.
            task.abort();
            let Some(shared) = weak.upgrade() else { return };
            shared.pair_forget(&id);
            if stateless || quiet {
                return;
            }
            tokio::spawn(async move {
                let mut params = BytesMut::from(&br#"{"requestId":"#[..]);
                encode::id(&mut params, &id);
                if let Some(reason) = reason {
                    params.extend_from_slice(br#","reason":"#);
                    encode::string(&mut params, &reason);
                }
                params.extend_from_slice(b"}");
                if let Err(error) = shared.send_note(method::CANCELLED, Some(&params)).await {
                    tracing::debug!(%error, "a cancellation could not be sent");
                }
            });
        });
        Ok(incoming)
    }

    async fn notify(&self, note: Outgoing) -> Result<(), LinkError> {
        if let Some(error) = self.0.gone() {
            return Err(error);
        }
        self.0.send_note(&note.method, note.params.as_deref()).await?;
        if note.method == method::INITIALIZED && self.0.pair.get().is_none() {
            self.0.listen();
        }
        Ok(())
    }

    fn takes_param_headers(&self) -> bool {
        true
    }

    fn negotiated(&self, revision: Revision) {
        let at = Revision::ALL.iter().position(|known| *known == revision);
        self.0.revision.store(
            at.and_then(|at| u8::try_from(at).ok()).unwrap_or(UNSET),
            Ordering::Release,
        );
        lock(&self.0.rules).negotiated(revision);
    }

    async fn closed(&self) -> Closed {
        let mut state = self.0.closed.subscribe();
        let how = state
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|state| state.clone());
        how.unwrap_or_else(|| Closed::new("the connection is gone", false))
    }

    async fn close(&self) -> Closed {
        let how = Closed::new("closed by us", true);
        if self.0.end(how.clone()) {
            let headers = self.0.headers(None);
            if headers.contains_key(&names::SESSION_ID) {
                // 405 is fine: not every server lets sessions be ended (P104).
                let sent = self
                    .0
                    .pool
                    .send(Method::DELETE, &self.0.url, &headers, Bytes::new(), 0);
                let _ = tokio::time::timeout(self.0.options.send_timeout, sent).await;
                *lock(&self.0.session) = None;
            }
        }
        how
    }
}
