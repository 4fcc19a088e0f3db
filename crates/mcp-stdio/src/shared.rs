use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use mcp_exchange::{CallSlot, Closed, LinkError, Outbox, Scope};
use mcp_jsonrpc::{Call, ErrorObject, RawJson, RequestId, Response};
use mcp_session::Slots;
use mcp_types::{ProgressParams, ProgressToken, Revision};
use tokio::sync::watch;

use crate::lane::Lane;
use crate::options::Options;

/// What the task of a connection shares with its link, its calls and its handlers.
pub(crate) struct Shared {
    pub(crate) lane: Lane,
    /// Our requests that wait for an answer.
    calls: Mutex<Calls>,
    /// The peer's requests that are under way in tasks of their own.
    in_flight: Mutex<HashMap<RequestId, UnderWay>>,
    /// A handshake under way ended with an error; the session rules are told before the next request.
    handshake_failed: AtomicBool,
    next_id: AtomicI64,
    /// The revision that both sides settled on in a handshake, or a client by itself; as its place in
    /// `Revision::ALL`.
    revision: AtomicU8,
    closing: AtomicBool,
    closed: watch::Sender<Option<Closed>>,
}

#[derive(Default)]
struct Calls {
    waiting: Slots<CallSlot>,
    /// Why no answer can come any more.
    over: Option<LinkError>,
}

/// A request of the peer whose handler waits.
pub(crate) struct UnderWay {
    pub(crate) scope: Scope,
    /// It is `initialize`, which cannot be cancelled (2025-11-25: basic/utilities/cancellation).
    pub(crate) handshake: bool,
    /// It is a subscription, whose end is told twice.
    pub(crate) subscription: bool,
}

const UNSET: u8 = u8::MAX;

impl Shared {
    pub(crate) fn new(options: &Options) -> Arc<Self> {
        Arc::new(Self {
            lane: Lane::new(options.max_unsent).with_trace(options.trace.clone()),
            calls: Mutex::default(),
            in_flight: Mutex::default(),
            handshake_failed: AtomicBool::new(false),
            next_id: AtomicI64::new(0),
            revision: AtomicU8::new(UNSET),
            closing: AtomicBool::new(false),
            closed: watch::Sender::new(None),
        })
    }

    pub(crate) fn next_id(&self) -> RequestId {
        RequestId::Number(self.next_id.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn set_revision(&self, revision: Revision) {
        let at = Revision::ALL.iter().position(|known| *known == revision);
        self.revision.store(
            at.and_then(|at| u8::try_from(at).ok()).unwrap_or(UNSET),
            Ordering::Release,
        );
    }

    pub(crate) fn revision(&self) -> Option<Revision> {
        Revision::ALL
            .get(usize::from(self.revision.load(Ordering::Acquire)))
            .copied()
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn in_flight(&self) -> MutexGuard<'_, HashMap<RequestId, UnderWay>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a call before it is written, so that its answer cannot come too early.
    pub(crate) fn expect(&self, id: RequestId, slot: CallSlot) -> Result<(), LinkError> {
        let mut calls = self.calls();
        if let Some(why) = &calls.over {
            return Err(why.clone());
        }
        calls
            .waiting
            .insert(id, slot)
            .map_err(|_| LinkError::usage("this request id is in use"))
    }

    /// Forgets a call. True where it was still waiting.
    pub(crate) fn forget(&self, id: &RequestId) -> bool {
        self.calls().waiting.take(id).is_some()
    }

    /// Gives an answer to the call that waits for it. False where none does.
    pub(crate) fn answer(&self, response: Response) -> bool {
        let Some(slot) = response.id.as_ref().and_then(|id| self.calls().waiting.take(id)) else {
            return false;
        };
        slot.done(response.outcome);
        true
    }

    /// Fails the call that waits for this answer, which could not be read.
    pub(crate) fn spoil(&self, id: &RequestId, error: LinkError) -> bool {
        let Some(slot) = self.calls().waiting.take(id) else {
            return false;
        };
        slot.lost(error);
        true
    }

    /// Gives progress to its call. False where its token is none of ours.
    pub(crate) fn progress(&self, call: Call) -> bool {
        let Ok(params) = call.parse::<ProgressParams>() else {
            return false;
        };
        let id = match params.progress_token {
            ProgressToken::Number(number) => RequestId::Number(number),
            ProgressToken::String(text) => RequestId::String(text),
        };
        let slot = self.calls().waiting.get(&id).cloned();
        slot.is_some_and(|slot| {
            slot.notice(call);
            true
        })
    }

    /// Cancels a request of the peer: nothing more is sent for it.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let scope = self
            .in_flight()
            .get(id)
            .filter(|under_way| !under_way.handshake)
            .map(|under_way| under_way.scope.clone());
        if let Some(scope) = scope {
            scope.cancel();
        }
    }

    /// Asks every request under way to end: politely, or by cancelling it.
    pub(crate) fn end_requests(&self, cancel: bool) {
        let scopes: Vec<Scope> = self
            .in_flight()
            .values()
            .map(|under_way| under_way.scope.clone())
            .collect();
        for scope in scopes {
            if cancel {
                scope.cancel();
            } else {
                scope.signal().drain();
            }
        }
    }

    /// Fails every call that waits, and every later one: no answer can come any more. The first reason stays.
    pub(crate) fn lose_calls(&self, why: &LinkError) {
        let lost = {
            let mut calls = self.calls();
            calls.over.get_or_insert_with(|| why.clone());
            calls.waiting.take_all()
        };
        for slot in lost {
            slot.lost(why.clone());
        }
    }

    /// Notes that a handshake under way ended with an error.
    pub(crate) fn fail_handshake(&self) {
        self.handshake_failed.store(true, Ordering::Release);
    }

    /// Whether a handshake ended with an error since this was asked last.
    pub(crate) fn take_failed_handshake(&self) -> bool {
        self.handshake_failed.load(Ordering::Acquire) && self.handshake_failed.swap(false, Ordering::AcqRel)
    }

    /// Asks the connection's task to end.
    pub(crate) fn begin_close(&self) {
        self.closing.store(true, Ordering::Release);
        self.lane.wake();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// The connection is over.
    pub(crate) fn set_closed(&self, how: Closed) {
        self.lane.close();
        self.end_requests(true);
        self.closed.send_if_modified(|state| {
            let first = state.is_none();
            state.get_or_insert(how);
            first
        });
        let why = self.gone();
        self.lose_calls(&why);
    }

    pub(crate) async fn closed(&self) -> Closed {
        let mut state = self.closed.subscribe();
        let how = state
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|state| state.clone());
        how.unwrap_or_else(|| Closed::new("the connection is gone", false))
    }

    /// The error for whoever comes too late.
    pub(crate) fn gone(&self) -> LinkError {
        if let Some(why) = &self.calls().over {
            return why.clone();
        }
        match &*self.closed.borrow() {
            Some(how) => LinkError::closed(format!("the connection is closed: {}", how.reason)),
            None => LinkError::closed("the connection is closed"),
        }
    }
}

/// For events of handlers.
impl Outbox for Shared {
    fn try_send(&self, frame: BytesMut) -> Result<(), BytesMut> {
        self.lane.try_push(frame)
    }

    fn room(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(self.lane.room())
    }
}

/// Where the answer to a request goes: straight out, or into the array that answers a batch.
#[derive(Clone)]
pub(crate) enum Destination {
    Lane,
    Batch(Arc<Mutex<Batch>>),
}

/// The answers to one batch, until all are there.
pub(crate) struct Batch {
    missing: usize,
    array: BytesMut,
}

impl Batch {
    /// For a batch whose messages are still being counted; [`Destination::settle`] takes the count back.
    pub(crate) fn start() -> Destination {
        Destination::Batch(Arc::new(Mutex::new(Batch {
            missing: 1,
            array: BytesMut::new(),
        })))
    }
}

impl Destination {
    /// One more answer will come.
    pub(crate) fn expect(&self) {
        if let Destination::Batch(batch) = self {
            batch.lock().unwrap_or_else(PoisonError::into_inner).missing += 1;
        }
    }

    /// An answer.
    pub(crate) fn send(&self, shared: &Shared, frame: BytesMut) {
        match self {
            Destination::Lane => shared.lane.push(frame),
            Destination::Batch(_) => self.settle(shared, Some(frame)),
        }
    }

    /// One that was expected is there, or will not come. The array goes out when none is missing; an empty one
    /// does not (JSON-RPC 2.0 section 6).
    pub(crate) fn settle(&self, shared: &Shared, frame: Option<BytesMut>) {
        let Destination::Batch(batch) = self else { return };
        let mut batch = batch.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(frame) = frame {
            let separator: &[u8] = if batch.array.is_empty() { b"[" } else { b"," };
            batch.array.extend_from_slice(separator);
            batch.array.extend_from_slice(&frame);
        }
        batch.missing = batch.missing.saturating_sub(1);
        if batch.missing == 0 && !batch.array.is_empty() {
            let mut array = batch.array.split();
            array.extend_from_slice(b"]");
            drop(batch);
            shared.lane.push(array);
        }
    }
}

/// What a request gets whose handler panicked. No details: they are for our own log.
pub(crate) fn panicked() -> ErrorObject {
    ErrorObject::internal("Internal error")
}

/// `{}` for the answer to a ping.
pub(crate) fn encode_result(id: &RequestId, value: &RawJson) -> BytesMut {
    let mut frame = BytesMut::new();
    mcp_jsonrpc::encode::result(&mut frame, id, value.as_bytes());
    frame
}

/// An error answer.
pub(crate) fn encode_error(
    id: Result<&RequestId, mcp_jsonrpc::encode::NoId>,
    error: &ErrorObject,
) -> BytesMut {
    let mut frame = BytesMut::new();
    mcp_jsonrpc::encode::error(&mut frame, id, error);
    frame
}

/// Declares the connection over when the future that drives it is dropped, so that nobody waits for it.
pub(crate) struct CloseOnDrop(pub(crate) Arc<Shared>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        // Does nothing where the end was told already.
        self.0
            .set_closed(Closed::new("the connection's task was dropped", false));
    }
}
