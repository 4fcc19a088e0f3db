//! Streams of events: reading them, and taking them up again where they broke.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming as HttpBody;
use mcp_exchange::{CallSlot, LinkError};
use mcp_jsonrpc::{Frame, RequestId, scan};

use super::link::{Shared, lock, refused};
use super::options::MAX_WAIT;
use crate::{names, sse};

/// What became of a stream that was read.
pub(super) enum Read {
    /// The call has its answer.
    Answered,
    /// It ended, or broke, without one.
    Broken,
}

/// Where a stream can be taken up again.
#[derive(Default)]
pub(super) struct Place {
    last_id: Option<String>,
    wait: Option<Duration>,
    events: u64,
}

/// Events as they come.
pub(super) struct Reader {
    body: HttpBody,
    decoder: sse::Decoder,
}

impl Reader {
    pub(super) fn new(response: Response<HttpBody>, limit: usize) -> Self {
        Self {
            body: response.into_body(),
            decoder: sse::Decoder::new(limit),
        }
    }

    /// The next event that has data; None when the stream ended or broke. Ids and times to wait go into `place`.
    pub(super) async fn next(&mut self, place: &mut Place) -> Result<Option<sse::Event>, LinkError> {
        loop {
            while let Some(mut event) = self
                .decoder
                .next_event()
                .map_err(|error| LinkError::peer(error.to_string()))?
            {
                if let Some(milliseconds) = event.retry {
                    place.wait = Some(Duration::from_millis(milliseconds));
                }
                if event.id.is_some() {
                    place.last_id = event.id.take();
                    place.events += 1;
                }
                if !event.data.is_empty() {
                    return Ok(Some(event));
                }
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Some(bytes) = frame.data_ref() {
                        self.decoder.feed(bytes);
                    }
                }
                Some(Err(error)) => {
                    tracing::debug!(%error, "a stream broke");
                    return Ok(None);
                }
                None => return Ok(None),
            }
        }
    }
}

impl Shared {
    /// Reads the stream that answers a call, and takes it up again where it broke and the server lets it.
    pub(super) async fn streamed(
        self: &Arc<Self>,
        id: &RequestId,
        response: Response<HttpBody>,
        slot: &CallSlot,
    ) -> Result<(), LinkError> {
        let mut place = Place::default();
        let mut response = Some(response);
        let (mut tries, mut seen) = (0, 0);
        loop {
            let read = match response.take() {
                Some(response) => self.read_stream(response, Some((id, slot)), &mut place).await?,
                None => Read::Broken,
            };
            if matches!(read, Read::Answered) {
                return Ok(());
            }
            let stateful = self.revision().is_some_and(|revision| !revision.is_stateless());
            let (Some(last), true) = (place.last_id.clone(), stateful) else {
                return Err(LinkError::transport(
                    "the server's stream ended without an answer",
                ));
            };
            // Only new events are a reason to begin counting anew (P090).
            if place.events > seen {
                (tries, seen) = (0, place.events);
            }
            if tries >= self.options.max_resumes {
                return Err(LinkError::transport(
                    "the server's stream broke and could not be taken up again",
                ));
            }
            tokio::time::sleep(self.wait(&place, tries)).await;
            tries += 1;
            match self.get(Some(&last)).await {
                Ok(next) if next.status().is_success() => response = Some(next),
                Ok(next) => return Err(refused(next.status(), b"", true)),
                Err(_) => {}
            }
        }
    }

    fn wait(&self, place: &Place, tries: u32) -> Duration {
        let first = place.wait.unwrap_or(self.options.first_wait);
        first
            .saturating_mul(2u32.saturating_pow(tries))
            .min(MAX_WAIT.max(first))
    }

    pub(super) async fn get(&self, last: Option<&str>) -> Result<Response<HttpBody>, LinkError> {
        let mut headers = self.headers(None);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.remove(CONTENT_TYPE);
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(names::LAST_EVENT_ID, last);
        }
        self.pool
            .send(
                Method::GET,
                &self.url,
                &headers,
                Bytes::new(),
                self.options.max_redirects,
            )
            .await
    }

    pub(super) async fn read_stream(
        self: &Arc<Self>,
        response: Response<HttpBody>,
        call: Option<(&RequestId, &CallSlot)>,
        place: &mut Place,
    ) -> Result<Read, LinkError> {
        let mut reader = Reader::new(response, self.options.max_answer);
        while let Some(event) = reader.next(place).await? {
            if self.event(event, call) {
                return Ok(Read::Answered);
            }
        }
        Ok(Read::Broken)
    }

    /// Takes an event. True where it has the answer to the call.
    pub(super) fn event(self: &Arc<Self>, event: sse::Event, call: Option<(&RequestId, &CallSlot)>) -> bool {
        if event.name != "message" {
            return false;
        }
        match scan(event.data, &self.limits) {
            Ok(Frame::One(message)) => self.message(message, call),
            Ok(Frame::Batch(messages)) => messages
                .into_iter()
                .flatten()
                .fold(false, |answered, message| answered | self.message(message, call)),
            Err(error) => {
                let about = error.id();
                let lost = LinkError::peer(format!("the server's answer is malformed: {error}"));
                if let Some(slot) = self.pair_waiting(about) {
                    slot.lost(lost);
                    return false;
                }
                let ours = call.filter(|(id, _)| about.is_some_and(|other| id.is_answered_by(other)));
                let Some((_, slot)) = ours else {
                    tracing::warn!(%error, "an event that is no message was skipped");
                    return false;
                };
                slot.lost(lost);
                true
            }
        }
    }

    /// Opens the stream on which the server speaks by itself, in the background: it is optional, and 405 means that there
    /// is none (P089).
    pub(super) fn listen(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            let mut place = Place::default();
            let (mut tries, mut seen) = (0, 0);
            loop {
                let Some(shared) = weak.upgrade() else { return };
                match shared.get(place.last_id.as_deref()).await {
                    Ok(response) if response.status().is_success() => {
                        if shared.read_stream(response, None, &mut place).await.is_err() {
                            return;
                        }
                    }
                    // None is offered, or no longer.
                    Ok(_) => return,
                    Err(error) => tracing::debug!(%error, "the server's own stream cannot be opened"),
                }
                if place.events > seen {
                    (tries, seen) = (0, place.events);
                }
                if tries >= shared.options.max_resumes {
                    return;
                }
                let wait = shared.wait(&place, tries);
                tries += 1;
                drop(shared);
                tokio::time::sleep(wait).await;
            }
        });
        if let Some(before) = lock(&self.own).replace(task.abort_handle()) {
            before.abort();
        }
    }
}
