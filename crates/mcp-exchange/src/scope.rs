use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{BufMut, BytesMut};
use mcp_jsonrpc::{ErrorObject, RawJson, Request, RequestId, encode};
use mcp_types::wire::Wire;
use mcp_types::{LoggingLevel, Revision};

use crate::extensions::Extensions;
use crate::link::BoxLink;
use crate::peer::Peer;
use crate::reply::{self, Reply};
use crate::session::Session;
use crate::signal::Signal;

/// One request and everything scoped to it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// What is asked.
    pub request: Request,
    /// Where its events go, and how it is answered.
    pub scope: Scope,
    /// What the transport or a layer adds.
    pub extensions: Extensions,
}

impl Exchange {
    /// An exchange for this request.
    pub fn new(request: Request, scope: Scope) -> Self {
        Self {
            request,
            scope,
            extensions: Extensions::default(),
        }
    }
}

/// Where the events of an exchange are written: a pipe's way out, an HTTP response's stream.
pub trait Outbox: Send + Sync + 'static {
    /// Queues a frame if there is room now; gives it back otherwise.
    ///
    /// # Errors
    /// The frame, where there is no room or the way out is gone.
    fn try_send(&self, frame: BytesMut) -> Result<(), BytesMut>;

    /// Waits until there may be room. False when the way out is gone for good.
    fn room(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;
}

/// Everything scoped to one exchange: who asked, where its events go, its cancellation, and how to answer it.
///
/// A clone is a reference count. Events come before the answer, in the order in which they were sent; once the
/// exchange was answered or cancelled, nothing more goes out.
#[derive(Clone)]
pub struct Scope(Arc<Shared>);

struct Shared {
    id: RequestId,
    peer: Arc<Peer>,
    session: Option<Session>,
    asker: Option<BoxLink>,
    outbox: Arc<dyn Outbox>,
    progress_token: Option<RawJson>,
    log_level: Option<LoggingLevel>,
    signal: Signal,
    lane: Mutex<Lane>,
}

#[derive(Default)]
struct Lane {
    closed: bool,
    last_progress: Option<f64>,
    /// The newest progress, where the way out had no room for it yet.
    held: Option<BytesMut>,
}

/// Makes a [`Scope`]; for transports.
pub struct ScopeBuilder {
    shared: Shared,
}

impl ScopeBuilder {
    /// A scope for the request of this id from this peer, whose events go to `outbox`.
    pub fn new(id: RequestId, peer: Arc<Peer>, outbox: Arc<dyn Outbox>) -> Self {
        Self {
            shared: Shared {
                id,
                peer,
                session: None,
                asker: None,
                outbox,
                progress_token: None,
                log_level: None,
                signal: Signal::default(),
                lane: Mutex::default(),
            },
        }
    }

    /// The stateful session it belongs to.
    #[must_use]
    pub fn session(mut self, session: Option<Session>) -> Self {
        self.shared.session = session;
        self
    }

    /// Where questions of this exchange go, in the stateful era.
    #[must_use]
    pub fn asker(mut self, asker: Option<BoxLink>) -> Self {
        self.shared.asker = asker;
        self
    }

    /// The token that the caller gave for progress: a JSON string or integer.
    #[must_use]
    pub fn progress_token(mut self, token: Option<RawJson>) -> Self {
        self.shared.progress_token = token;
        self
    }

    /// The log level that the request asked for, in the stateless era.
    #[must_use]
    pub fn log_level(mut self, level: Option<LoggingLevel>) -> Self {
        self.shared.log_level = level;
        self
    }

    /// The scope.
    pub fn build(self) -> Scope {
        Scope(Arc::new(self.shared))
    }
}

impl Scope {
    /// The request's id.
    pub fn id(&self) -> &RequestId {
        &self.0.id
    }

    /// Who asked.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.0.peer
    }

    /// The revision in use.
    pub fn revision(&self) -> Revision {
        self.0.peer.revision
    }

    /// The session, in the stateful era.
    pub fn session(&self) -> Option<&Session> {
        self.0.session.as_ref()
    }

    /// Where questions of this exchange go, in the stateful era; none where there is no way to ask. Before
    /// `notifications/initialized` nothing but a ping should be asked (2025-11-25: basic/lifecycle); a handler knows
    /// that it came from [`Handler::attend`](crate::Handler::attend).
    pub fn asker(&self) -> Option<&BoxLink> {
        self.0.asker.as_ref()
    }

    /// Cancellation, and the wish that long-lived work end politely.
    pub fn signal(&self) -> &Signal {
        &self.0.signal
    }

    /// Whether the caller wants progress.
    pub fn wants_progress(&self) -> bool {
        self.0.progress_token.is_some()
    }

    /// The level from which on the caller wants log messages of this exchange; none where it wants none.
    ///
    /// In the stateful era a client that never said so gets everything from `info` on.
    pub fn log_threshold(&self) -> Option<LoggingLevel> {
        match &self.0.session {
            Some(session) => Some(session.log_level().unwrap_or(LoggingLevel::Info)),
            None => self.0.log_level,
        }
    }

    /// Sends progress, waiting while the way out is full. False where it was not sent: the caller wants none, it is
    /// not more than before, or the exchange is over.
    ///
    /// `progress` must grow each time and may be fractional; `total` may be unknown
    /// (2025-11-25: basic/utilities/progress).
    ///
    /// # Cancel safety
    /// When dropped, it was not sent.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        let Some(frame) = self.progress_frame(progress, total, message) else {
            return false;
        };
        self.send(frame, Some(progress)).await
    }

    /// Sends progress without waiting. Where the way out is full, only the newest is kept, and goes out with the
    /// next event or just before the answer.
    pub fn progress_now(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(frame) = self.progress_frame(progress, total, message) else {
            return;
        };
        let mut lane = self.lane();
        if lane.closed || lane.last_progress.is_some_and(|last| progress <= last) {
            return;
        }
        lane.last_progress = Some(progress);
        lane.held = self.0.outbox.try_send(frame).err();
    }

    /// Sends a notification on this exchange's stream, waiting while the way out is full. `params` is an encoded
    /// object. False where the exchange is over.
    ///
    /// # Cancel safety
    /// When dropped, it was not sent.
    pub async fn notify(&self, method: &str, params: &[u8]) -> bool {
        let mut frame = BytesMut::new();
        encode::notification(&mut frame, method, Some(params));
        self.send(frame, None).await
    }

    async fn send(&self, mut frame: BytesMut, progress: Option<f64>) -> bool {
        loop {
            {
                let mut lane = self.lane();
                if lane.closed
                    || progress.is_some_and(|new| lane.last_progress.is_some_and(|last| new <= last))
                {
                    return false;
                }
                if progress.is_none()
                    && let Some(held) = lane.held.take()
                {
                    lane.held = self.0.outbox.try_send(held).err();
                }
                if progress.is_some() || lane.held.is_none() {
                    match self.0.outbox.try_send(frame) {
                        Ok(()) => {
                            if progress.is_some() {
                                // It is newer than the one that was held.
                                lane.held = None;
                                lane.last_progress = progress;
                            }
                            return true;
                        }
                        Err(back) => frame = back,
                    }
                }
            }
            if !self.0.outbox.room().await {
                return false;
            }
        }
    }

    fn progress_frame(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> Option<BytesMut> {
        let token = self.0.progress_token.as_ref()?;
        let mut out = BytesMut::with_capacity(160);
        out.put_slice(br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#);
        out.put_slice(token.as_bytes());
        out.put_slice(br#","progress":"#);
        number(&mut out, progress)?;
        if let Some(total) = total {
            out.put_slice(br#","total":"#);
            number(&mut out, total)?;
        }
        if let Some(message) = message.filter(|_| self.revision() >= Revision::V2025_03_26) {
            out.put_slice(br#","message":"#);
            encode::string(&mut out, message);
        }
        out.put_slice(b"}}");
        Some(out)
    }

    /// Ends the exchange's events; for transports, before the answer is written. False where it was over already.
    pub fn close(&self) -> bool {
        let mut lane = self.lane();
        if let Some(held) = lane.held.take() {
            // A last try; newest-value progress may be lost where the way out stays full.
            drop(self.0.outbox.try_send(held));
        }
        !std::mem::replace(&mut lane.closed, true)
    }

    /// Cancels the exchange; for transports. Nothing more goes out for it, held progress neither
    /// (2026-07-28: basic/utilities/cancellation). False where it was over already; the signal is raised even then.
    pub fn cancel(&self) -> bool {
        let open = {
            let mut lane = self.lane();
            lane.held = None;
            !std::mem::replace(&mut lane.closed, true)
        };
        self.signal().cancel();
        open
    }

    /// The answer: a result, as this exchange's revision may see it.
    pub fn complete<T: Wire + ?Sized>(&self, value: &T) -> Reply {
        reply::complete(self.id(), self.revision(), value)
    }

    /// The answer: a result that is already encoded, and already as this revision may see it; in a stateless one it
    /// has its `resultType`.
    pub fn complete_raw(&self, value: &RawJson) -> Reply {
        reply::complete_raw(self.id(), value)
    }

    /// The answer: an error.
    pub fn fail(&self, error: &ErrorObject) -> Reply {
        reply::fail(self.id(), error)
    }

    fn lane(&self) -> MutexGuard<'_, Lane> {
        self.0.lane.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whole numbers without a fraction, as the lesson prints them. Nothing for what JSON cannot say.
fn number(out: &mut BytesMut, n: f64) -> Option<()> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let text = match n {
        n if !n.is_finite() => return None,
        n if n.fract() == 0.0 && n.abs() <= EXACT => (n as i64).to_string(),
        n => n.to_string(),
    };
    out.put_slice(text.as_bytes());
    Some(())
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("id", &self.0.id)
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
