//! The streams of a session: one for each request, and one that stands by itself.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use mcp_exchange::Outbox;
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

use super::body::Events;
use crate::sse;

/// Bytes of events that may wait for a client that does not read, or is not there.
const MAX_WAITING: usize = 1024 * 1024;

/// A numbered stream of events. Whoever is attached gets what comes; what nobody got yet waits, and what was sent is kept
/// for a while where streams can be resumed.
pub(crate) struct Stream {
    pub(crate) number: u64,
    keep_bytes: usize,
    state: Mutex<State>,
    room: Notify,
}

#[derive(Default)]
struct State {
    /// Events in order; the first has the number `first`.
    events: VecDeque<Bytes>,
    first: u64,
    /// The next to send.
    next: u64,
    /// Bytes that wait, and bytes that are kept.
    waiting: usize,
    kept: usize,
    ended: Option<Instant>,
    /// Goes up with each attachment, so that an older one knows that it is over.
    attachment: u64,
    attached: bool,
    reader: Option<Waker>,
}

impl Stream {
    pub(crate) fn new(number: u64, keep_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            number,
            keep_bytes,
            state: Mutex::new(State {
                first: 1,
                next: 1,
                ..State::default()
            }),
            room: Notify::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends an event, whatever waits already.
    pub(crate) fn push(&self, frame: BytesMut) {
        let mut state = self.lock();
        if state.ended.is_some() {
            return;
        }
        state.waiting += frame.len();
        state.events.push_back(frame.freeze());
        wake(state);
    }

    /// Appends the answer, behind which nothing comes: one step, so that nobody sees it as just another event.
    pub(crate) fn finish(&self, frame: BytesMut) {
        let mut state = self.lock();
        if state.ended.is_some() {
            return;
        }
        state.waiting += frame.len();
        state.events.push_back(frame.freeze());
        state.ended = Some(Instant::now());
        wake(state);
        self.room.notify_waiters();
    }

    /// Nothing more will come.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended.get_or_insert_with(Instant::now);
        wake(state);
        self.room.notify_waiters();
    }

    /// Whether it ended that long ago, and can be forgotten.
    pub(crate) fn is_stale(&self, after: Duration) -> bool {
        let state = self.lock();
        let over = state.ended.is_some_and(|at| at.elapsed() >= after);
        over && !state.attached
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.lock().attached
    }

    /// Whether so much waits for the client that nothing more should be begun.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().waiting >= MAX_WAITING
    }

    /// Whether everything was sent and nobody may come back for it.
    pub(crate) fn is_spent(&self) -> bool {
        let state = self.lock();
        self.keep_bytes == 0 && state.ended.is_some() && state.waiting == 0
    }

    /// The whole stream as bytes, where it ended before anybody was attached: one body for a request that was answered at
    /// once.
    pub(crate) fn take_whole(&self, priming: bool) -> Option<BytesMut> {
        let mut state = self.lock();
        state.ended?;
        let mut out = BytesMut::new();
        if priming {
            sse::priming(&mut out, &self.id(0));
        }
        self.drain(&mut state, &mut out);
        Some(out)
    }

    /// Attaches a client: it gets what comes after the event of this number, where that is known, else what nobody got.
    pub(crate) fn attach(
        self: &Arc<Self>,
        after: Option<u64>,
        priming: bool,
        keep_alive: Duration,
    ) -> Attached {
        let mut state = self.lock();
        if let Some(after) = after {
            let from = after.saturating_add(1).max(state.first);
            let again = state
                .events
                .iter()
                .skip(usize::try_from(from - state.first).unwrap_or(usize::MAX));
            let again: usize = again.map(Bytes::len).sum();
            if from <= state.next {
                (state.waiting, state.kept) = (again, (state.kept + state.waiting).saturating_sub(again));
                state.next = from;
            }
        }
        state.attachment += 1;
        state.attached = true;
        let attachment = state.attachment;
        // The one before is over.
        wake(state);
        let mut preface = BytesMut::new();
        if priming {
            sse::priming(&mut preface, &self.id(0));
        }
        Attached {
            stream: Arc::clone(self),
            attachment,
            preface,
            started: false,
            keep_alive,
            quiet: Box::pin(tokio::time::sleep(keep_alive)),
            on_drop: None,
        }
    }

    /// The last event of this stream, which is the answer, once it ended; those before it go to another stream.
    pub(crate) async fn last(&self, others: &Stream) -> Option<Bytes> {
        std::future::poll_fn(|cx| {
            let mut state = self.lock();
            let mut last = None;
            while let Some(event) = state.events.pop_front() {
                state.waiting = state.waiting.saturating_sub(event.len());
                state.first += 1;
                state.next = state.first;
                if let Some(before) = last.replace(event) {
                    others.push(BytesMut::from(&before[..]));
                }
            }
            if state.ended.is_some() {
                return Poll::Ready(last);
            }
            if let Some(event) = last {
                others.push(BytesMut::from(&event[..]));
            }
            state.reader = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.number)
    }

    /// Moves what waits into `out`.
    fn drain(&self, state: &mut State, out: &mut BytesMut) {
        let start = usize::try_from(state.next - state.first).unwrap_or(usize::MAX);
        for (at, event) in state.events.iter().enumerate().skip(start) {
            let id = (self.keep_bytes > 0).then(|| self.id(state.first + at as u64));
            sse::event(out, id.as_deref(), event);
        }
        state.next = state.first + state.events.len() as u64;
        state.kept += std::mem::take(&mut state.waiting);
        while state.kept > self.keep_bytes {
            let Some(gone) = state.events.pop_front() else {
                break;
            };
            state.first += 1;
            state.kept = state.kept.saturating_sub(gone.len());
        }
        self.room.notify_waiters();
    }
}

fn wake(mut state: MutexGuard<'_, State>) {
    let reader = state.reader.take();
    drop(state);
    if let Some(reader) = reader {
        reader.wake();
    }
}

/// For events of handlers.
impl Outbox for Stream {
    fn try_send(&self, frame: BytesMut) -> Result<(), BytesMut> {
        {
            let state = self.lock();
            if state.ended.is_some() || state.waiting >= MAX_WAITING {
                return Err(frame);
            }
        }
        self.push(frame);
        Ok(())
    }

    fn room(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async {
            loop {
                let mut changed = std::pin::pin!(self.room.notified());
                changed.as_mut().enable();
                {
                    let state = self.lock();
                    if state.ended.is_some() {
                        return false;
                    }
                    if state.waiting < MAX_WAITING {
                        return true;
                    }
                }
                changed.await;
            }
        })
    }
}

/// A client on a stream.
pub(crate) struct Attached {
    stream: Arc<Stream>,
    attachment: u64,
    /// What comes before the first event.
    preface: BytesMut,
    started: bool,
    keep_alive: Duration,
    quiet: Pin<Box<Sleep>>,
    on_drop: Option<Box<dyn FnOnce() + Send>>,
}

impl Attached {
    /// Begins the stream with these bytes.
    pub(crate) fn preface(mut self, bytes: BytesMut) -> Self {
        self.preface = bytes;
        self
    }

    /// Runs this when the client goes before the stream ended.
    pub(crate) fn on_drop(mut self, run: impl FnOnce() + Send + 'static) -> Self {
        self.on_drop = Some(Box::new(run));
        self
    }
}

impl Events for Attached {
    fn poll_events(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        let mut out = std::mem::take(&mut this.preface);
        let first = !std::mem::replace(&mut this.started, true);
        {
            let mut state = this.stream.lock();
            if state.attachment != this.attachment {
                return Poll::Ready(None);
            }
            this.stream.drain(&mut state, &mut out);
            if out.is_empty() {
                if state.ended.is_some() {
                    return Poll::Ready(None);
                }
                state.reader = Some(cx.waker().clone());
            }
        }
        if out.is_empty() {
            // The client sees at once that there is a stream.
            if !first && this.quiet.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            sse::comment(&mut out);
        }
        this.quiet.as_mut().reset(Instant::now() + this.keep_alive);
        Poll::Ready(Some(out.freeze()))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let mut state = self.stream.lock();
        let current = state.attachment == self.attachment;
        if current {
            state.attached = false;
        }
        let ended = state.ended.is_some();
        drop(state);
        if let (true, false, Some(run)) = (current, ended, self.on_drop.take()) {
            run();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> BytesMut {
        BytesMut::from(text)
    }

    async fn read(attached: &mut Pin<Box<Attached>>) -> Option<String> {
        let bytes = std::future::poll_fn(|cx| attached.as_mut().poll_events(cx)).await;
        bytes.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
    }

    const LONG: Duration = Duration::from_secs(15);

    #[tokio::test(start_paused = true)]
    async fn p099_a_stream_is_resumed_after_the_event_that_was_seen() {
        let stream = Stream::new(7, 1000);
        let mut first = Box::pin(stream.attach(None, true, LONG));
        stream.push(frame("1"));
        stream.push(frame("2"));
        let text = read(&mut first).await.unwrap();
        assert!(
            text.starts_with("id: 7-0\ndata:\n\n") && text.ends_with("id: 7-2\ndata: 2\n\n"),
            "{text}"
        );
        drop(first);
        stream.push(frame("3"));
        stream.end();
        let mut again = Box::pin(stream.attach(Some(1), false, LONG));
        let text = read(&mut again).await.unwrap();
        assert_eq!(
            text,
            "event: message\nid: 7-2\ndata: 2\n\nevent: message\nid: 7-3\ndata: 3\n\n"
        );
        assert_eq!(read(&mut again).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_got_waits_and_without_a_store_nothing_has_an_id() {
        let stream = Stream::new(1, 0);
        let mut gone = Box::pin(stream.attach(None, false, LONG));
        assert_eq!(read(&mut gone).await.unwrap(), ":\n\n");
        drop(gone);
        stream.push(frame("a"));
        let mut next = Box::pin(stream.attach(None, false, LONG));
        assert_eq!(read(&mut next).await.unwrap(), "event: message\ndata: a\n\n");
        assert_eq!(read(&mut next).await.unwrap(), ":\n\n", "a keep-alive");
        assert!(stream.lock().events.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_newer_of_two_clients_has_the_stream() {
        let stream = Stream::new(1, 0);
        let mut old = Box::pin(stream.attach(None, false, LONG));
        let mut new = Box::pin(stream.attach(None, false, LONG));
        stream.push(frame("a"));
        assert_eq!(read(&mut old).await, None);
        assert!(read(&mut new).await.unwrap().contains("data: a"));
        drop(old);
        assert!(stream.is_attached());
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_is_bounded_by_bytes() {
        let stream = Stream::new(1, 10);
        let mut client = Box::pin(stream.attach(None, false, LONG));
        for n in 0..100 {
            stream.push(frame(&format!("{n:04}")));
            read(&mut client).await;
        }
        assert_eq!(stream.lock().events.len(), 2);
        drop(client);
        let mut late = Box::pin(stream.attach(Some(5), false, LONG));
        let text = read(&mut late).await.unwrap();
        assert!(
            text.contains("1-99") && text.contains("1-100") && !text.contains("1-98"),
            "{text}"
        );
    }
}
