use std::sync::Arc;

use bytes::BytesMut;
use mcp_exchange::{Closed, Incoming, Link, LinkError, Outgoing, call_slot};
use mcp_jsonrpc::{RequestId, encode};
use mcp_types::{Revision, method};

use crate::lane::one_line;
use crate::shared::Shared;

/// The way out of a connection; see [`Link`]. The answers come to the connection's own task.
///
/// A client's connection is closed when the last clone of its link is gone, and no call waits.
#[derive(Clone)]
pub struct PipeLink {
    shared: Arc<Shared>,
    hold: Option<Arc<Hold>>,
}

/// Closes the connection when nobody can call through it any more.
struct Hold(Arc<Shared>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.begin_close();
    }
}

impl PipeLink {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, hold: None }
    }

    /// A link whose last clone takes the connection with it.
    pub(crate) fn holding(shared: Arc<Shared>) -> Self {
        let hold = Some(Arc::new(Hold(Arc::clone(&shared))));
        Self { shared, hold }
    }
}

impl Link for PipeLink {
    fn next_id(&self) -> RequestId {
        self.shared.next_id()
    }

    async fn open(&self, id: RequestId, call: Outgoing) -> Result<Incoming, LinkError> {
        let params = call.params.as_deref();
        let mut frame = BytesMut::new();
        encode::request(&mut frame, &id, &call.method, params);
        let mut frame = one_line(frame).ok_or_else(not_json)?;
        let (slot, mut incoming) = call_slot();
        loop {
            self.shared.expect(id.clone(), slot.clone())?;
            match self.shared.lane.try_push(frame) {
                Ok(()) => break,
                Err(back) => frame = back,
            }
            // Not sent yet, so a drop here must leave nothing behind.
            self.shared.forget(&id);
            if !self.shared.lane.room().await {
                return Err(self.shared.gone());
            }
        }
        let (shared, hold) = (Arc::clone(&self.shared), self.hold.clone());
        // A handshake must not be cancelled, and a probe may have met a server that knows no cancellation yet.
        let quiet = matches!(&*call.method, method::INITIALIZE | method::SERVER_DISCOVER);
        incoming.on_drop(move |reason| {
            if shared.forget(&id) && !quiet && shared.revision() != Some(Revision::V2024_10_07) {
                shared.lane.push(cancelled(&id, reason.as_deref()));
            }
            // Only now: a call that waits keeps the connection.
            drop(hold);
        });
        Ok(incoming)
    }

    async fn notify(&self, note: Outgoing) -> Result<(), LinkError> {
        let params = note.params.as_deref();
        let mut frame = BytesMut::new();
        encode::notification(&mut frame, &note.method, params);
        let mut frame = one_line(frame).ok_or_else(not_json)?;
        while let Err(back) = self.shared.lane.try_push(frame) {
            frame = back;
            if !self.shared.lane.room().await {
                return Err(self.shared.gone());
            }
        }
        Ok(())
    }

    fn negotiated(&self, revision: Revision) {
        self.shared.set_revision(revision);
    }

    async fn closed(&self) -> Closed {
        self.shared.closed().await
    }

    async fn close(&self) -> Closed {
        self.shared.begin_close();
        self.shared.closed().await
    }
}

fn not_json() -> LinkError {
    LinkError::usage("the parameters are not JSON")
}

pub(crate) fn cancelled(id: &RequestId, reason: Option<&str>) -> BytesMut {
    let mut params = BytesMut::with_capacity(64);
    params.extend_from_slice(br#"{"requestId":"#);
    encode::id(&mut params, id);
    if let Some(reason) = reason {
        params.extend_from_slice(br#","reason":"#);
        encode::string(&mut params, reason);
    }
    params.extend_from_slice(b"}");
    let mut frame = BytesMut::new();
    encode::notification(&mut frame, method::CANCELLED, Some(&params));
    frame
}
