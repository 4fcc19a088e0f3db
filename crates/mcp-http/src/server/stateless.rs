//! One stateless exchange: the handler runs inside the response, without a task and without a queue. Whatever comes
//! first decides the form: an answer is a JSON body, an event opens a stream. Dropping the response, which is what hyper
//! does when the client goes, cancels the handler (2026-07-28: basic/transports).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode};
use mcp_exchange::{BoxHandler, Exchange, Reply, ReplyFuture, Scope, ScopeBuilder, StatusHint};
use mcp_jsonrpc::{ErrorObject, Request, codes};
use mcp_session::Admission;
use mcp_types::method;
use tokio::time::{Instant, Sleep};

use super::answer;
use super::body::{Body, Events};
use super::lane::Lane;
use crate::{names, sse};

pub(crate) struct Running {
    scope: Scope,
    lane: Arc<Lane>,
    /// None once it has answered.
    work: Option<ReplyFuture>,
}

impl Running {
    pub(crate) fn start(
        handler: &BoxHandler,
        request: Request,
        admission: Admission,
        headers: &HeaderMap,
    ) -> Self {
        let lane = Arc::new(Lane::default());
        let scope = ScopeBuilder::new(request.id.clone(), admission.peer, Arc::clone(&lane) as _)
            .progress_token(admission.progress_token)
            .log_level(admission.log_level)
            .build();
        let is_call = request.call.method() == method::TOOLS_CALL;
        let mut exchange = Exchange::new(request, scope.clone());
        if is_call {
            exchange.extensions.insert(names::param_headers(headers));
        }
        let made = catch_unwind(AssertUnwindSafe(|| handler.call_boxed(exchange)));
        let work = made.unwrap_or_else(|_| {
            let reply = panicked(&scope);
            Box::pin(async move { reply })
        });
        Self {
            scope,
            lane,
            work: Some(work),
        }
    }

    fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Reply> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        let reply = match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(reply)) => reply,
            Err(_) => panicked(&self.scope),
        };
        self.work = None;
        self.scope.close();
        Poll::Ready(reply)
    }

    /// Waits for the first thing to say, and answers with it.
    pub(crate) async fn respond(mut self, keep_alive: Duration) -> Response<Body> {
        let (event, reply) = std::future::poll_fn(|cx| {
            let reply = self.poll_reply(cx);
            // Events that came before the answer go before it.
            match (self.lane.poll_next(cx), reply) {
                (Poll::Ready(event), Poll::Ready(reply)) => Poll::Ready((Some(event), Some(reply))),
                (Poll::Ready(event), Poll::Pending) => Poll::Ready((Some(event), None)),
                (Poll::Pending, Poll::Ready(reply)) => Poll::Ready((None, Some(reply))),
                (Poll::Pending, Poll::Pending) => Poll::Pending,
            }
        })
        .await;
        match (event, reply) {
            (None, Some(reply)) => {
                let status = status(reply.hint());
                answer::json(status, reply.into_frame())
            }
            (event, reply) => {
                let first = event.map(|event| {
                    let mut out = BytesMut::new();
                    sse::event(&mut out, None, &event);
                    out
                });
                answer::events(Stream {
                    running: self,
                    first,
                    reply,
                    keep_alive,
                    quiet: Box::pin(tokio::time::sleep(keep_alive)),
                    ended: false,
                })
            }
        }
    }
}

/// The response is gone: so is the work.
impl Drop for Running {
    fn drop(&mut self) {
        self.scope.close();
        self.lane.close();
        self.scope.signal().cancel();
    }
}

fn panicked(scope: &Scope) -> Reply {
    tracing::error!("a handler panicked");
    scope.fail(&ErrorObject::internal("Internal error"))
}

/// 2026-07-28: basic/transports; errors of the envelope have statuses, other errors come with 200.
fn status(hint: StatusHint) -> StatusCode {
    match hint {
        StatusHint::Error(codes::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        StatusHint::Error(
            codes::HEADER_MISMATCH
            | codes::MISSING_REQUIRED_CLIENT_CAPABILITY
            | codes::UNSUPPORTED_PROTOCOL_VERSION,
        ) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// The rest of an exchange that began with an event.
struct Stream {
    running: Running,
    first: Option<BytesMut>,
    reply: Option<Reply>,
    keep_alive: Duration,
    quiet: Pin<Box<Sleep>>,
    ended: bool,
}

impl Events for Stream {
    fn poll_events(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        if this.ended {
            return Poll::Ready(None);
        }
        let mut out = this.first.take().unwrap_or_default();
        if let (None, Poll::Ready(reply)) = (&this.reply, this.running.poll_reply(cx)) {
            this.reply = Some(reply);
        }
        while let Poll::Ready(event) = this.running.lane.poll_next(cx) {
            sse::event(&mut out, None, &event);
        }
        if let Some(reply) = this.reply.take() {
            sse::event(&mut out, None, &reply.into_frame());
            this.ended = true;
        }
        if out.is_empty() {
            if this.quiet.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            sse::comment(&mut out);
        }
        // A fresh span of quiet begins; polling it registers the wake-up.
        this.quiet.as_mut().reset(Instant::now() + this.keep_alive);
        Poll::Ready(Some(out.freeze()))
    }
}
