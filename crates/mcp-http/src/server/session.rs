//! One stateful session: its rules, its requests under way, its streams, its questions.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::BytesMut;
use mcp_exchange::{
    BoxHandler, BoxLink, CallSlot, Closed, Exchange, Incoming, Link, LinkError, Notice, Outgoing, Reply,
    ReplyFuture, Scope, ScopeBuilder, Session, call_slot,
};
use mcp_jsonrpc::{Call, ErrorObject, RawJson, Request, RequestId, Response, encode};
use mcp_session::{Admission, NoteVerdict, ServerInbound, Slots, Verdict};
use mcp_types::{ProgressParams, ProgressToken, Revision, method};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::stream::Stream;

/// A session and everything that belongs to it. Dropping the last reference ends all of it.
pub(crate) struct HttpSession {
    pub(crate) id: Box<str>,
    handler: BoxHandler,
    rules: Mutex<ServerInbound>,
    session: OnceLock<Session>,
    /// Our requests that wait for an answer.
    questions: Mutex<Slots<CallSlot>>,
    /// Requests of the client under way.
    in_flight: Mutex<HashMap<RequestId, Scope>>,
    max_in_flight: usize,
    /// The stream that stands by itself, number 0.
    pub(crate) own: Arc<Stream>,
    streams: Mutex<HashMap<u64, Arc<Stream>>>,
    next_stream: AtomicU64,
    next_id: AtomicI64,
    keep_bytes: usize,
    /// Belongs to the old pair of URLs: everything goes on the stream that stands by itself.
    pub(crate) pair: bool,
    seen: Mutex<Instant>,
    attending: Mutex<Option<AbortHandle>>,
    closed: OnceLock<()>,
    ended: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What became of a request.
pub(crate) enum Taken {
    /// Its events and its answer come on this stream.
    Stream(Arc<Stream>),
    /// This is the answer.
    Answer(BytesMut),
    /// Too many are under way.
    Busy,
}

impl HttpSession {
    pub(crate) fn new(
        id: String,
        handler: BoxHandler,
        rules: ServerInbound,
        max_in_flight: usize,
        keep_bytes: usize,
        pair: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            id: id.into(),
            handler,
            rules: Mutex::new(rules),
            session: OnceLock::new(),
            questions: Mutex::default(),
            in_flight: Mutex::default(),
            max_in_flight,
            own: Stream::new(0, keep_bytes),
            streams: Mutex::default(),
            next_stream: AtomicU64::new(1),
            next_id: AtomicI64::new(0),
            keep_bytes,
            pair,
            seen: Mutex::new(Instant::now()),
            attending: Mutex::default(),
            closed: OnceLock::new(),
            ended: Notify::new(),
        })
    }

    /// The revision of the handshake.
    pub(crate) fn revision(&self) -> Option<Revision> {
        lock(&self.rules).stateful_peer().map(|peer| peer.revision)
    }

    pub(crate) fn takes_batches(&self) -> bool {
        lock(&self.rules).takes_batches()
    }

    /// The client was heard of.
    pub(crate) fn touch(&self) {
        *lock(&self.seen) = Instant::now();
    }

    /// How long nothing has happened and nothing is under way.
    pub(crate) fn idle(&self) -> Option<Duration> {
        let busy = !lock(&self.in_flight).is_empty() || self.own.is_attached();
        (!busy).then(|| lock(&self.seen).elapsed())
    }

    /// Forgets streams that nobody can come back to.
    pub(crate) fn sweep(&self, after: Duration) {
        lock(&self.streams).retain(|_, stream| !stream.is_spent() && !stream.is_stale(after));
    }

    /// The stream of this number.
    pub(crate) fn stream(&self, number: u64) -> Option<Arc<Stream>> {
        if number == 0 {
            Some(Arc::clone(&self.own))
        } else {
            lock(&self.streams).get(&number).cloned()
        }
    }

    /// Takes a request. Polls its handler once here; what has to wait goes on in a task that the session owns, since a
    /// closed connection cancels nothing in these revisions (2025-11-25: basic/transports).
    pub(crate) fn request(self: &Arc<Self>, request: Request) -> Taken {
        let duplicate = lock(&self.in_flight).contains_key(&request.id);
        if duplicate {
            let text = "Invalid request: a request with this id is under way";
            return Taken::Answer(error(&request.id, &ErrorObject::invalid_request(text)));
        }
        let verdict = lock(&self.rules).request(&request);
        let admission = match verdict {
            Verdict::Answer(value) => {
                let mut frame = BytesMut::new();
                encode::result(&mut frame, &request.id, value.as_bytes());
                return Taken::Answer(frame);
            }
            Verdict::Refuse(refused) => return Taken::Answer(error(&request.id, &refused)),
            Verdict::Handshake(admission) => {
                let link = BoxLink::new(SessionLink {
                    session: Arc::downgrade(self),
                    stream: Arc::clone(&self.own),
                });
                let _ = self.session.set(Session::new(Arc::clone(&admission.peer), link));
                admission
            }
            Verdict::Serve(admission) => admission,
            _ => return Taken::Answer(error(&request.id, &ErrorObject::internal("Internal error"))),
        };
        if lock(&self.in_flight).len() >= self.max_in_flight {
            return Taken::Busy;
        }
        Taken::Stream(self.serve(request, admission))
    }

    fn serve(self: &Arc<Self>, request: Request, admission: Admission) -> Arc<Stream> {
        let stream = if self.pair {
            Arc::clone(&self.own)
        } else {
            Stream::new(self.next_stream.fetch_add(1, Ordering::Relaxed), self.keep_bytes)
        };
        let asker = SessionLink {
            session: Arc::downgrade(self),
            stream: Arc::clone(&stream),
        };
        let id = request.id.clone();
        let scope = ScopeBuilder::new(id.clone(), admission.peer, Arc::clone(&stream) as _)
            .session(self.session.get().cloned())
            .asker(Some(BoxLink::new(asker)))
            .progress_token(admission.progress_token)
            .log_level(admission.log_level)
            .build();
        let exchange = Exchange::new(request, scope.clone());
        let handler = &self.handler;
        let started = catch_unwind(AssertUnwindSafe(|| {
            let mut work = handler.call_boxed(exchange);
            let first = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (work, first)
        }));
        if !self.pair && (self.keep_bytes > 0 || !matches!(started, Ok((_, Poll::Ready(_))))) {
            lock(&self.streams).insert(stream.number, Arc::clone(&stream));
        }
        match started {
            Ok((_, Poll::Ready(reply))) => finish(&scope, &stream, reply),
            Ok((work, Poll::Pending)) => {
                lock(&self.in_flight).insert(id, scope.clone());
                tokio::spawn(under_way(work, scope, Arc::clone(&stream), Arc::downgrade(self)));
            }
            Err(_) => finish(&scope, &stream, panicked(&scope)),
        }
        stream
    }

    /// Takes a notification.
    pub(crate) fn notification(self: &Arc<Self>, call: Call) {
        let verdict = lock(&self.rules).notification(&call);
        match verdict {
            NoteVerdict::Ignore(why) => {
                tracing::debug!(method = call.method(), why, "a notification was dropped")
            }
            NoteVerdict::Cancel(id) => {
                let scope = lock(&self.in_flight).get(&id).cloned();
                if let Some(scope) = scope {
                    scope.close();
                    scope.signal().cancel();
                }
            }
            NoteVerdict::Initialized => {
                if let Some(session) = self.session.get() {
                    let attend = tokio::spawn(self.handler.attend_boxed(session.clone())).abort_handle();
                    if let Some(before) = lock(&self.attending).replace(attend) {
                        before.abort();
                    }
                }
                self.deliver(call);
            }
            _ if call.method() == method::PROGRESS && self.progress(&call) => {}
            _ => self.deliver(call),
        }
    }

    fn progress(&self, call: &Call) -> bool {
        let Ok(params) = call.parse::<ProgressParams>() else {
            return false;
        };
        let id = match params.progress_token {
            ProgressToken::Number(number) => RequestId::Number(number),
            ProgressToken::String(text) => RequestId::String(text),
        };
        let slot = lock(&self.questions).get(&id).cloned();
        slot.is_some_and(|slot| {
            slot.notice(call.clone());
            true
        })
    }

    fn deliver(&self, call: Call) {
        let notice = Notice::new(call, self.session.get().cloned());
        tokio::spawn(self.handler.notify_boxed(notice));
    }

    /// Takes the answer to a question of ours.
    pub(crate) fn response(&self, response: Response) {
        let slot = response.id.as_ref().and_then(|id| lock(&self.questions).take(id));
        match slot {
            Some(slot) => slot.done(response.outcome),
            None => tracing::debug!("an answer that nothing waits for was dropped"),
        }
    }

    /// Cancels the request of this stream, where the endpoint says that a closed connection does so.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let scope = lock(&self.in_flight).get(id).cloned();
        if let Some(scope) = scope {
            scope.close();
            scope.signal().cancel();
        }
    }

    /// Ends the session: the one clean-up for a DELETE, for idleness and for the end of the server.
    pub(crate) fn close(&self) {
        if self.closed.set(()).is_err() {
            return;
        }
        if let Some(attending) = lock(&self.attending).take() {
            attending.abort();
        }
        let scopes: Vec<Scope> = lock(&self.in_flight).values().cloned().collect();
        for scope in scopes {
            scope.close();
            scope.signal().cancel();
        }
        for slot in lock(&self.questions).take_all() {
            slot.lost(LinkError::closed("the session has ended"));
        }
        for (_, stream) in lock(&self.streams).drain() {
            stream.end();
        }
        self.own.end();
        self.ended.notify_waiters();
    }
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        self.close();
    }
}

async fn under_way(mut work: ReplyFuture, scope: Scope, stream: Arc<Stream>, session: Weak<HttpSession>) {
    let reply = {
        let mut cancelled = std::pin::pin!(scope.signal().cancelled());
        std::future::poll_fn(|cx| {
            if cancelled.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
                Ok(reply) => reply.map(Some),
                Err(_) => Poll::Ready(Some(panicked(&scope))),
            }
        })
        .await
    };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(work)));
    if let Some(session) = session.upgrade() {
        // The id is free before the client can see the answer.
        lock(&session.in_flight).remove(scope.id());
        session.touch();
    }
    match reply {
        Some(reply) => finish(&scope, &stream, reply),
        None => end(&stream),
    }
}

fn finish(scope: &Scope, stream: &Stream, reply: Reply) {
    if !scope.close() {
        end(stream);
    } else if stream.number == 0 {
        stream.push(reply.into_frame());
    } else {
        stream.finish(reply.into_frame());
    }
}

/// Ends the stream of a request that has no answer. The stream that stands by itself goes on.
fn end(stream: &Stream) {
    if stream.number != 0 {
        stream.end();
    }
}

fn panicked(scope: &Scope) -> Reply {
    tracing::error!("a handler panicked");
    scope.fail(&ErrorObject::internal("Internal error"))
}

fn error(id: &RequestId, object: &ErrorObject) -> BytesMut {
    let mut frame = BytesMut::with_capacity(128);
    encode::error(&mut frame, Ok(id), object);
    frame
}

/// The way to a session's client: on the stream of a request, or on the one that stands by itself. Answers come as
/// requests of their own.
struct SessionLink {
    session: Weak<HttpSession>,
    stream: Arc<Stream>,
}

impl SessionLink {
    fn session(&self) -> Result<Arc<HttpSession>, LinkError> {
        let session = self
            .session
            .upgrade()
            .filter(|session| session.closed.get().is_none());
        session.ok_or_else(|| LinkError::closed("the session has ended"))
    }

    async fn send(&self, frame: BytesMut) -> Result<(), LinkError> {
        use mcp_exchange::Outbox;
        let mut frame = frame;
        loop {
            match self.stream.try_send(frame) {
                Ok(()) => return Ok(()),
                Err(back) => frame = back,
            }
            if !self.stream.room().await {
                return Err(LinkError::closed("the stream has ended"));
            }
        }
    }
}

impl Link for SessionLink {
    fn next_id(&self) -> RequestId {
        let number = self
            .session
            .upgrade()
            .map_or(0, |session| session.next_id.fetch_add(1, Ordering::Relaxed));
        RequestId::Number(number)
    }

    async fn open(&self, id: RequestId, call: Outgoing) -> Result<Incoming, LinkError> {
        let session = self.session()?;
        let (slot, mut incoming) = call_slot();
        lock(&session.questions)
            .insert(id.clone(), slot)
            .map_err(|_| LinkError::usage("this request id is in use"))?;
        let mut frame = BytesMut::new();
        encode::request(&mut frame, &id, &call.method, call.params.as_deref());
        let (weak, stream, own) = (self.session.clone(), Arc::clone(&self.stream), id.clone());
        incoming.on_drop(move |reason| {
            let Some(session) = weak.upgrade() else { return };
            if lock(&session.questions).take(&own).is_some() {
                stream.push(cancelled(&own, reason.as_deref()));
            }
        });
        drop(session);
        self.send(frame).await?;
        Ok(incoming)
    }

    async fn notify(&self, note: Outgoing) -> Result<(), LinkError> {
        self.session()?;
        let mut frame = BytesMut::new();
        encode::notification(&mut frame, &note.method, note.params.as_deref());
        self.send(frame).await
    }

    async fn closed(&self) -> Closed {
        if let Some(session) = self.session.upgrade() {
            let mut ended = std::pin::pin!(session.ended.notified());
            ended.as_mut().enable();
            if session.closed.get().is_none() {
                ended.await;
            }
        }
        Closed::new("the session has ended", true)
    }

    async fn close(&self) -> Closed {
        if let Some(session) = self.session.upgrade() {
            session.close();
        }
        Closed::new("closed by us", true)
    }
}

fn cancelled(id: &RequestId, reason: Option<&str>) -> BytesMut {
    let mut params = BytesMut::from(&br#"{"requestId":"#[..]);
    encode::id(&mut params, id);
    if let Some(reason) = reason {
        params.extend_from_slice(br#","reason":"#);
        encode::string(&mut params, reason);
    }
    params.extend_from_slice(b"}");
    let params = RawJson::from_bytes(params.freeze(), &mcp_jsonrpc::Limits::default());
    let mut frame = BytesMut::new();
    encode::notification(
        &mut frame,
        method::CANCELLED,
        params.as_ref().ok().map(RawJson::as_bytes),
    );
    frame
}
