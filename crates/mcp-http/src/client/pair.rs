//! HTTP+SSE, the transport of 2024-11-05 and before: one stream that carries all that the server says, and a URL, named
//! by the stream's first event, that takes what we say (2025-11-25: basic/transports, "Backwards Compatibility").

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{StatusCode, Uri};
use mcp_exchange::{CallSlot, Closed, LinkError};
use mcp_jsonrpc::RequestId;
use mcp_session::Slots;

use super::link::{Shared, lock, media_type, refused};
use super::streams::{Place, Reader};
use super::wire::{read, resolve, same_origin};

/// The two halves, once they are known.
pub(super) struct Pair {
    /// Where messages are posted.
    pub(super) url: Uri,
    pub(super) waiting: Mutex<Slots<CallSlot>>,
}

/// The statuses by which a server that knows nothing newer refuses the handshake.
pub(super) fn may_be_older(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED
    )
}

impl Shared {
    /// Opens the stream and waits for the event that names where to post. An address on another origin is refused: what
    /// we post carries credentials.
    pub(super) async fn open_pair(self: &Arc<Self>) -> Result<(), LinkError> {
        let limit = self.options.send_timeout;
        let late = || LinkError::peer("the server's stream did not say in time where to post");
        let found = tokio::time::timeout(limit, self.find_pair()).await;
        let (mut reader, url) = found.map_err(|_| late())??;
        let pair = Pair {
            url,
            waiting: Mutex::default(),
        };
        if self.pair.set(pair).is_err() {
            return Err(LinkError::usage("the stream is open already"));
        }
        let weak = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            let why = loop {
                let event = match reader.next(&mut Place::default()).await {
                    Ok(Some(event)) => event,
                    Ok(None) => break LinkError::closed("the server's stream ended"),
                    Err(error) => break error,
                };
                let Some(shared) = weak.upgrade() else { return };
                shared.event(event, None);
            };
            if let Some(shared) = weak.upgrade() {
                shared.pair_ended(&why);
            }
        });
        if let Some(before) = lock(&self.own).replace(task.abort_handle()) {
            before.abort();
        }
        Ok(())
    }

    async fn find_pair(self: &Arc<Self>) -> Result<(Reader, Uri), LinkError> {
        let response = self.get(None).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(status, b"", false));
        }
        if media_type(&response) != "text/event-stream" {
            return Err(LinkError::peer("a GET of this URL opens no stream of events"));
        }
        let mut reader = Reader::new(response, self.options.max_answer);
        while let Some(event) = reader.next(&mut Place::default()).await? {
            if event.name != "endpoint" {
                continue;
            }
            let place = String::from_utf8_lossy(&event.data);
            let url = resolve(&self.url, place.trim()).filter(|url| same_origin(&self.url, url));
            let url = url.ok_or_else(|| {
                LinkError::peer(format!(
                    "the server wants messages at {:?}, which is not on its own origin",
                    place.chars().take(200).collect::<String>()
                ))
            })?;
            return Ok((reader, url));
        }
        Err(LinkError::peer(
            "the server's stream ended before it said where to post",
        ))
    }

    /// Posts a call; its answer comes on the stream.
    pub(super) async fn carry_pair(
        &self,
        pair: &Pair,
        id: &RequestId,
        headers: &http::HeaderMap,
        frame: Bytes,
        slot: &CallSlot,
    ) -> Result<(), LinkError> {
        lock(&pair.waiting)
            .insert(id.clone(), slot.clone())
            .map_err(|_| LinkError::usage("this request id is in use"))?;
        let posted = async {
            let response = self.post(headers, frame).await?;
            let status = response.status();
            if status.is_success() {
                return Ok(());
            }
            let body = read(response, self.options.max_answer).await.unwrap_or_default();
            Err(refused(status, &body, true))
        };
        let outcome = posted.await;
        if outcome.is_err() {
            lock(&pair.waiting).take(id);
        }
        outcome
    }

    /// What waits for this answer, on the pair's stream.
    pub(super) fn pair_waiting(&self, answered: Option<&RequestId>) -> Option<CallSlot> {
        lock(&self.pair.get()?.waiting).take(answered?)
    }

    /// The call that this progress is about, on the pair's stream.
    pub(super) fn pair_progress(&self, token: Option<&RequestId>) -> Option<CallSlot> {
        lock(&self.pair.get()?.waiting).get(token?).cloned()
    }

    /// A call that nobody waits for any longer.
    pub(super) fn pair_forget(&self, id: &RequestId) {
        if let Some(pair) = self.pair.get() {
            lock(&pair.waiting).take(id);
        }
    }

    fn pair_ended(&self, why: &LinkError) {
        let waiting = self.pair.get().map(|pair| lock(&pair.waiting).take_all());
        for slot in waiting.into_iter().flatten() {
            slot.lost(LinkError::closed(why.to_string()));
        }
        self.end(Closed::new(why.to_string(), false));
    }
}
