use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_codec::Line;
use mcp_exchange::{
    BoxHandler, BoxLink, Exchange, Handler, LinkError, Notice, Outbox, Reply, ReplyFuture, Scope,
    ScopeBuilder, Session, StatusHint,
};
use mcp_jsonrpc::encode::NoId;
use mcp_jsonrpc::{Call, ErrorObject, Frame, Limits, Message, Peerhood, Request, Response, ScanError, scan};
use mcp_session::{Admission, ClientInbound, NoteVerdict, ServerInbound, Verdict, batch_refused};
use mcp_types::method;
use tokio::task::{AbortHandle, JoinSet};

use crate::connection::Role;
use crate::link::{PipeLink, cancelled};
use crate::options::Options;
use crate::shared::{Batch, Destination, Shared, UnderWay, encode_error, encode_result, panicked};
use crate::trace::{Direction, Trace};

/// Decides what becomes of each line: the place where bytes meet the session rules and the handler.
pub(crate) struct Dispatch {
    handler: BoxHandler,
    rules: Rules,
    shared: Arc<Shared>,
    outbox: Arc<dyn Outbox>,
    limits: Limits,
    trace: Option<Trace>,
    max_in_flight: usize,
    session: Option<Session>,
    attending: Option<AbortHandle>,
    /// Notifications whose handlers wait.
    hearing: JoinSet<()>,
    /// An unreadable line was answered, and no valid message has come since (P002).
    muted: bool,
}

enum Rules {
    Server(ServerInbound),
    Client(ClientInbound),
}

impl Dispatch {
    pub(crate) fn new(handler: BoxHandler, role: Role, shared: Arc<Shared>, options: Options) -> Self {
        let rules = match role {
            Role::Server => Rules::Server(ServerInbound::new(handler.revisions())),
            Role::Client => Rules::Client(ClientInbound::default()),
        };
        Self {
            handler,
            rules,
            outbox: Arc::clone(&shared) as Arc<dyn Outbox>,
            shared,
            limits: options.limits,
            trace: options.trace,
            max_in_flight: options.max_in_flight,
            session: None,
            attending: None,
            hearing: JoinSet::new(),
            muted: false,
        }
    }

    /// Ends what runs beside the session.
    pub(crate) fn end_session(&mut self) {
        if let Some(attending) = self.attending.take() {
            attending.abort();
        }
    }

    pub(crate) fn line(&mut self, line: Line) {
        let frame = match line {
            Line::Message(frame) => frame,
            Line::Oversized { limit, bytes } => {
                tracing::warn!(limit, bytes, "a line over the limit was dropped");
                let text = format!("Invalid request: buffer exceeded {limit} bytes");
                self.report(&ErrorObject::invalid_request(text));
                return;
            }
        };
        if let Some(trace) = &self.trace {
            trace.see(Direction::Received, &frame);
        }
        match scan(frame, &self.limits) {
            Ok(Frame::One(message)) => self.message(message, &Destination::Lane),
            Ok(Frame::Batch(messages)) => self.batch(messages),
            Err(error) => self.unreadable(&error, &Destination::Lane),
        }
    }

    fn batch(&mut self, messages: Vec<Result<Message, ScanError>>) {
        let takes = match &mut self.rules {
            Rules::Server(rules) => {
                let modern = |message: &Result<Message, ScanError>| match message {
                    Ok(Message::Request(request)) => ServerInbound::is_stateless(&request.call),
                    Ok(Message::Notification(call)) => ServerInbound::is_stateless(call),
                    _ => false,
                };
                rules.takes_batches() && !messages.iter().any(modern)
            }
            Rules::Client(rules) => {
                settle(rules, &self.shared);
                rules.takes_batches()
            }
        };
        if !takes {
            return self.refuse_batch(&messages);
        }
        let destination = Batch::start();
        for message in messages {
            match message {
                Ok(message) => self.message(message, &destination),
                Err(error) => self.unreadable(&error, &destination),
            }
        }
        destination.settle(&self.shared, None);
    }

    /// One error for the whole array (P042), and none for an array of answers (P002).
    fn refuse_batch(&mut self, messages: &[Result<Message, ScanError>]) {
        tracing::warn!("a batch was refused");
        if messages
            .iter()
            .any(|message| matches!(message, Ok(Message::Request(_))))
        {
            // Somebody waits for an answer, each time.
            self.muted = false;
        }
        let answer = |message: &Result<Message, ScanError>| match message {
            Ok(message) => matches!(message, Message::Response(_)),
            Err(error) => error.peerhood() == Peerhood::Answer,
        };
        if !messages.iter().all(answer) {
            self.report(&batch_refused());
        }
    }

    fn message(&mut self, message: Message, destination: &Destination) {
        self.muted = false;
        match message {
            Message::Request(request) => self.request(request, destination),
            Message::Notification(call) => self.notification(call),
            Message::Response(response) => self.response(response),
        }
    }

    /// A line that is no message. What answers one of our calls fails that call; what may be a request is refused
    /// under its id; what has no id is reported once.
    fn unreadable(&mut self, error: &ScanError, destination: &Destination) {
        tracing::warn!(%error, "a line that is no message was skipped");
        match (error.id(), error.peerhood()) {
            (Some(id), Peerhood::Answer | Peerhood::Unknown)
                if self.shared.spoil(
                    id,
                    LinkError::peer(format!("the peer's answer is malformed: {error}")),
                ) => {}
            (_, Peerhood::Answer) => {}
            (Some(id), peerhood) if self.answers(peerhood) => {
                destination.expect();
                destination.send(&self.shared, encode_error(Ok(id), &error.to_error_object()));
            }
            (Some(_), _) => {}
            (None, _) if self.is_server() && matches!(destination, Destination::Batch(_)) => {
                destination.expect();
                destination.send(
                    &self.shared,
                    encode_error(Err(NoId::Null), &error.to_error_object()),
                );
            }
            (None, _) => self.report(&error.to_error_object()),
        }
    }

    fn is_server(&self) -> bool {
        matches!(self.rules, Rules::Server(_))
    }

    /// Whether something unreadable that has an id gets an answer. A client answers only what is a request for sure,
    /// and nothing in the stateless era.
    fn answers(&mut self, peerhood: Peerhood) -> bool {
        match &mut self.rules {
            Rules::Server(_) => true,
            Rules::Client(rules) => {
                settle(rules, &self.shared);
                peerhood == Peerhood::Call && rules.answers()
            }
        }
    }

    /// Answers something whose id cannot be known: a server does so once, a client never (P002).
    fn report(&mut self, error: &ErrorObject) {
        let Rules::Server(rules) = &self.rules else { return };
        if std::mem::replace(&mut self.muted, true) {
            return;
        }
        let no_id = if rules.only_stateless_seen() {
            NoId::Absent
        } else {
            NoId::Null
        };
        self.shared.lane.push(encode_error(Err(no_id), error));
    }

    fn response(&mut self, response: Response) {
        match (&response.id, &response.outcome) {
            (None, Err(error)) => tracing::warn!(%error, "the peer could not read something"),
            (id, _) => {
                let id = id.clone();
                if !self.shared.answer(response) {
                    tracing::debug!(?id, "an answer that nothing waits for was dropped");
                }
            }
        }
    }

    fn request(&mut self, request: Request, destination: &Destination) {
        let in_batch = matches!(destination, Destination::Batch(_));
        destination.expect();
        let (under_way, duplicate) = {
            let in_flight = self.shared.in_flight();
            (in_flight.len(), in_flight.contains_key(&request.id))
        };
        if duplicate {
            let text = "Invalid request: a request with this id is under way";
            return self.refuse(&request, &ErrorObject::invalid_request(text), destination);
        }
        if in_batch && request.call.method() == method::INITIALIZE {
            let text = "Invalid request: initialize cannot be part of a batch";
            return self.refuse(&request, &ErrorObject::invalid_request(text), destination);
        }
        if self.shared.take_failed_handshake() {
            self.forget_session();
        }
        let verdict = match &mut self.rules {
            Rules::Server(rules) => rules.request(&request),
            Rules::Client(rules) => {
                settle(rules, &self.shared);
                let Some(verdict) = rules.request(&request) else {
                    tracing::warn!(
                        method = request.call.method(),
                        "a request was dropped: servers ask nothing in this revision"
                    );
                    return destination.settle(&self.shared, None);
                };
                verdict
            }
        };
        let (admission, handshake) = match verdict {
            Verdict::Answer(value) => {
                return destination.send(&self.shared, encode_result(&request.id, &value));
            }
            Verdict::Refuse(error) => return self.refuse(&request, &error, destination),
            Verdict::Handshake(admission) => {
                let link = BoxLink::new(PipeLink::new(Arc::clone(&self.shared)));
                self.session = Some(Session::new(Arc::clone(&admission.peer), link));
                self.shared.set_revision(admission.peer.revision);
                (admission, true)
            }
            Verdict::Serve(admission) => (admission, false),
            _ => return self.refuse(&request, &ErrorObject::internal("Internal error"), destination),
        };
        if under_way >= self.max_in_flight {
            if handshake {
                self.forget_session();
            }
            let text = format!("Too many requests under way (limit {})", self.max_in_flight);
            return self.refuse(&request, &ErrorObject::internal(text), destination);
        }
        self.serve(request, admission, handshake, destination);
    }

    /// The handler refused the handshake: there was none, and another may follow.
    fn forget_session(&mut self) {
        self.session = None;
        self.end_session();
        if let Rules::Server(rules) = &mut self.rules {
            rules.handshake_failed();
        }
    }

    fn refuse(&self, request: &Request, error: &ErrorObject, destination: &Destination) {
        destination.send(&self.shared, encode_error(Ok(&request.id), error));
    }

    /// Polls the handler where the request was read; only what has to wait gets a task of its own.
    fn serve(&mut self, request: Request, admission: Admission, handshake: bool, destination: &Destination) {
        let session = self
            .session
            .clone()
            .filter(|_| !admission.peer.revision.is_stateless());
        let asker = session.as_ref().map(|session| session.link().clone());
        let id = request.id.clone();
        let scope = ScopeBuilder::new(id.clone(), admission.peer, Arc::clone(&self.outbox))
            .session(session)
            .asker(asker)
            .progress_token(admission.progress_token)
            .log_level(admission.log_level)
            .build();
        let handler = &self.handler;
        let subscription = request.call.method() == method::SUBSCRIPTIONS_LISTEN;
        let exchange = Exchange::new(request, scope.clone());
        // Making the future runs user code, too.
        let started = catch_unwind(AssertUnwindSafe(|| {
            let mut future = handler.call_boxed(exchange);
            // Whoever polls next registers a waker of its own.
            let first = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (future, first)
        }));
        let reply = match started {
            Ok((future, Poll::Pending)) => {
                let entry = UnderWay {
                    scope: scope.clone(),
                    handshake,
                    subscription,
                };
                self.shared.in_flight().insert(id, entry);
                let task = under_way(future, scope, Arc::clone(&self.shared), destination.clone());
                tokio::spawn(task);
                return;
            }
            Ok((_, Poll::Ready(reply))) => reply,
            Err(panic) => {
                log_panic(&*panic);
                scope.fail(&panicked())
            }
        };
        if handshake && matches!(reply.hint(), StatusHint::Error(_)) {
            self.forget_session();
        }
        scope.close();
        destination.send(&self.shared, reply.into_frame());
    }

    fn notification(&mut self, call: Call) {
        let verdict = match &mut self.rules {
            Rules::Server(rules) => rules.notification(&call),
            Rules::Client(rules) => {
                if call.method() == method::PROGRESS {
                    if !self.shared.progress(call) {
                        tracing::debug!("progress for an unknown token was dropped");
                    }
                    return;
                }
                rules.notification(&call)
            }
        };
        match verdict {
            NoteVerdict::Ignore(why) => {
                tracing::debug!(method = call.method(), why, "a notification was dropped")
            }
            NoteVerdict::Cancel(id) => {
                self.shared.cancel(&id);
                if matches!(self.rules, Rules::Client(_)) {
                    // A stateless server ends a subscription this way; its caller reads it as the end.
                    self.deliver(call);
                }
            }
            NoteVerdict::Initialized => {
                if let (Some(session), None) = (&self.session, &self.attending) {
                    let attend = self.handler.attend_boxed(session.clone());
                    self.attending = Some(tokio::spawn(attend).abort_handle());
                }
                self.deliver(call);
            }
            _ if call.method() == method::PROGRESS && self.shared.progress(call.clone()) => {}
            _ => self.deliver(call),
        }
    }

    fn deliver(&mut self, call: Call) {
        // Panics among them were told to the panic hook.
        while self.hearing.try_join_next().is_some() {}
        if self.hearing.len() >= self.max_in_flight {
            tracing::warn!(
                method = call.method(),
                "a notification was dropped: the handlers of too many others wait"
            );
            return;
        }
        let notice = Notice::new(call, self.session.clone());
        let handler = &self.handler;
        let started = catch_unwind(AssertUnwindSafe(|| {
            let mut future = handler.notify_boxed(notice);
            let first = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (future, first)
        }));
        match started {
            Ok((_, Poll::Ready(()))) => {}
            Ok((future, Poll::Pending)) => {
                self.hearing.spawn(future);
            }
            Err(panic) => log_panic(&*panic),
        }
    }
}

/// The end of the connection, also where the future that drives it is dropped.
impl Drop for Dispatch {
    fn drop(&mut self) {
        self.end_session();
        self.shared.lane.close();
        self.shared.end_requests(true);
    }
}

/// Tells the rules of a client what both sides settled on.
fn settle(rules: &mut ClientInbound, shared: &Shared) {
    if let Some(revision) = shared.revision().filter(|now| rules.peer().revision != *now) {
        rules.negotiated(revision);
    }
}

/// The rest of a request that had to wait. Ends when it is answered or cancelled, and frees the id after that.
async fn under_way(mut future: ReplyFuture, scope: Scope, shared: Arc<Shared>, destination: Destination) {
    let reply = {
        let mut cancelled = pin!(scope.signal().cancelled());
        std::future::poll_fn(|cx| {
            if cancelled.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
                Ok(Poll::Ready(reply)) => Poll::Ready(Some(reply)),
                Ok(Poll::Pending) => Poll::Pending,
                Err(panic) => {
                    log_panic(&*panic);
                    Poll::Ready(Some(scope.fail(&panicked())))
                }
            }
        })
        .await
    };
    // The work is over before its id is free.
    if catch_unwind(AssertUnwindSafe(|| drop(future))).is_err() {
        tracing::error!("a handler panicked while it was dropped");
    }
    let open = scope.close();
    {
        // In one step: the peer may reuse the id as soon as it has the answer, and the connection may end as soon
        // as nothing is under way.
        let mut in_flight = shared.in_flight();
        let failed = |reply: &Reply| matches!(reply.hint(), StatusHint::Error(_));
        if reply.as_ref().is_none_or(failed)
            && in_flight
                .get(scope.id())
                .is_some_and(|under_way| under_way.handshake)
        {
            shared.fail_handshake();
        }
        let entry = in_flight.remove(scope.id());
        match reply.filter(|_| open).map(Reply::into_frame) {
            Some(frame) => {
                destination.send(&shared, frame);
                if entry.is_some_and(|entry| entry.subscription) {
                    // On a pipe the end of a subscription is told both ways (2026-07-28: basic/utilities/cancellation).
                    shared.lane.push(cancelled(scope.id(), None));
                }
            }
            None => destination.settle(&shared, None),
        }
    }
    shared.lane.wake();
}

fn log_panic(panic: &(dyn std::any::Any + Send)) {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    tracing::error!(panic = text, "a handler panicked");
}
