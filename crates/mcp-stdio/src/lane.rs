use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use mcp_jsonrpc::{Limits, RawJson, encode};
use tokio::sync::Notify;

use crate::trace::{Direction, Trace};

/// Frames below this are gathered into one buffer; larger ones are written from where they are.
const GATHER_BELOW: usize = 8 * 1024;

/// A buffer that held more than this is given up once it is empty.
const KEEP_BELOW: usize = 256 * 1024;

/// What waits to be written on a connection. Frames are appended by whoever has them, under a lock held for a copy
/// at most; the connection's own task takes all of them at once and writes them together.
pub(crate) struct Lane {
    state: Mutex<State>,
    room: Notify,
    max_unsent: usize,
    trace: Option<Trace>,
}

#[derive(Default)]
struct State {
    unsent: Unsent,
    closed: bool,
    /// The connection's task, where it sleeps.
    task: Option<Waker>,
    /// It sleeps because nothing waits: the next frame wakes it. Otherwise it waits for the peer, and a frame more
    /// makes no difference.
    idle: bool,
}

/// Lines in order: whole large ones, then the gathered small ones behind them.
#[derive(Default)]
pub(crate) struct Unsent {
    chunks: VecDeque<Bytes>,
    tail: BytesMut,
    bytes: usize,
    /// How many of them came by [`Lane::push`].
    answers: usize,
    /// The most bytes since it was empty.
    peak: usize,
}

impl Unsent {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The next bytes, for a gathered write.
    pub(crate) fn slices<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        let tail = (!self.tail.is_empty()).then_some(&self.tail[..]);
        let mut count = 0;
        for (slot, bytes) in into
            .iter_mut()
            .zip(self.chunks.iter().map(|chunk| &chunk[..]).chain(tail))
        {
            *slot = IoSlice::new(bytes);
            count += 1;
        }
        count
    }

    /// Forgets bytes that were written.
    pub(crate) fn advance(&mut self, mut written: usize) {
        self.bytes -= written;
        if self.bytes == 0 {
            self.chunks.clear();
            self.tail.clear();
            if self.peak >= KEEP_BELOW {
                self.tail = BytesMut::new();
            }
            (self.answers, self.peak) = (0, 0);
            return;
        }
        while let Some(first) = self.chunks.front_mut() {
            if written < first.len() {
                first.advance(written);
                return;
            }
            written -= first.len();
            self.chunks.pop_front();
        }
        self.tail.advance(written);
    }

    fn put(&mut self, mut frame: BytesMut) {
        self.bytes += frame.len() + 1;
        self.peak = self.peak.max(self.bytes);
        if frame.len() < GATHER_BELOW {
            self.tail.reserve(frame.len() + 1);
            self.tail.put_slice(&frame);
            self.tail.put_u8(b'\n');
        } else {
            if !self.tail.is_empty() {
                self.chunks.push_back(self.tail.split().freeze());
            }
            frame.put_u8(b'\n');
            self.chunks.push_back(frame.freeze());
        }
    }
}

impl Lane {
    pub(crate) fn new(max_unsent: usize) -> Self {
        Self {
            state: Mutex::default(),
            room: Notify::new(),
            max_unsent,
            trace: None,
        }
    }

    pub(crate) fn with_trace(mut self, trace: Option<Trace>) -> Self {
        self.trace = trace;
        self
    }

    /// Called with the lock held, so that a trace shows the order on the wire.
    fn traced(&self, frame: &[u8]) {
        if let Some(trace) = &self.trace {
            trace.see(Direction::Sent, frame);
        }
    }

    /// Appends a frame, whatever waits already: for answers, whose number is bounded elsewhere.
    pub(crate) fn push(&self, frame: BytesMut) {
        let Some(frame) = one_line(frame) else { return };
        let mut state = self.lock();
        if !state.closed {
            state.unsent.answers += frame.len() + 1;
            self.traced(&frame);
            state.unsent.put(frame);
            let task = state.filled();
            drop(state);
            wake(task);
        }
    }

    /// Appends a frame if there is room.
    pub(crate) fn try_push(&self, frame: BytesMut) -> Result<(), BytesMut> {
        let Some(frame) = one_line(frame) else {
            return Ok(());
        };
        let mut state = self.lock();
        if state.closed || state.unsent.bytes >= self.max_unsent {
            return Err(frame);
        }
        self.traced(&frame);
        state.unsent.put(frame);
        let task = state.filled();
        drop(state);
        wake(task);
        Ok(())
    }

    /// Waits until there is room. False when the lane is closed.
    pub(crate) async fn room(&self) -> bool {
        loop {
            let mut changed = std::pin::pin!(self.room.notified());
            changed.as_mut().enable();
            {
                let state = self.lock();
                if state.closed {
                    return false;
                }
                if state.unsent.bytes < self.max_unsent {
                    return true;
                }
            }
            changed.await;
        }
    }

    /// Bytes of answers that wait.
    pub(crate) fn answers(&self) -> usize {
        self.lock().unsent.answers
    }

    /// Takes everything that waits, into an empty buffer.
    pub(crate) fn take(&self, into: &mut Unsent) {
        let full = {
            let mut state = self.lock();
            std::mem::swap(&mut state.unsent, into);
            into.bytes >= self.max_unsent
        };
        if full {
            self.room.notify_waiters();
        }
    }

    /// Where nothing waits, remembers whom to wake when something does. False where something waits.
    pub(crate) fn sleep(&self, task: &Waker) -> bool {
        let mut state = self.lock();
        if !state.unsent.is_empty() {
            return false;
        }
        state.remember(task, true);
        true
    }

    /// Remembers whom to wake by [`Lane::wake`], but not for every frame.
    pub(crate) fn watch(&self, task: &Waker) {
        self.lock().remember(task, false);
    }

    /// Wakes the connection's task.
    pub(crate) fn wake(&self) {
        let task = self.lock().task.take();
        wake(task);
    }

    /// Takes no more frames, and forgets those that wait.
    pub(crate) fn close(&self) {
        {
            let mut state = self.lock();
            state.closed = true;
            state.unsent = Unsent::default();
        }
        self.wake();
        self.room.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remember(&mut self, task: &Waker, idle: bool) {
        self.idle = idle;
        match &mut self.task {
            Some(known) if known.will_wake(task) => {}
            slot => *slot = Some(task.clone()),
        }
    }

    /// A frame was added: whom to wake.
    fn filled(&mut self) -> Option<Waker> {
        if std::mem::take(&mut self.idle) {
            self.task.take()
        } else {
            None
        }
    }
}

fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}

/// A payload that came from elsewhere may hold line breaks between its tokens. None where it is not JSON: such a
/// frame would end up as several lines.
pub(crate) fn one_line(frame: BytesMut) -> Option<BytesMut> {
    if memchr::memchr2(b'\n', b'\r', &frame).is_none() {
        return Some(frame);
    }
    let limits = Limits::default()
        .with_max_bytes(usize::MAX)
        .with_max_depth(usize::MAX);
    match RawJson::from_bytes(frame.freeze(), &limits) {
        Ok(value) => Some(BytesMut::from(encode::compact(&value).into_bytes())),
        Err(error) => {
            tracing::error!(%error, "a message that is not JSON was not sent");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Count {
        fn count(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn frame(text: &str) -> BytesMut {
        BytesMut::from(text)
    }

    /// Writes it out in pieces of so many bytes.
    fn written(unsent: &mut Unsent, piece: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while !unsent.is_empty() {
            let mut slices = [IoSlice::new(&[]); 3];
            let count = unsent.slices(&mut slices);
            let all: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect();
            let some = all.len().min(piece);
            assert!(some > 0);
            out.extend_from_slice(&all[..some]);
            unsent.advance(some);
        }
        assert_eq!(unsent.answers, 0);
        out
    }

    #[test]
    fn frames_large_and_small_come_out_in_order_however_they_are_written() {
        let large = "L".repeat(GATHER_BELOW);
        let frames = ["a", "b", &large, "c", &large, &large, "d", "e"];
        let expected: String = frames.iter().flat_map(|text| [*text, "\n"]).collect();
        for piece in [1, 2, 1000, GATHER_BELOW, GATHER_BELOW + 1, usize::MAX] {
            let lane = Lane::new(usize::MAX);
            let mut unsent = Unsent::default();
            for round in 0..3 {
                for text in frames {
                    lane.push(frame(text));
                }
                assert_eq!(lane.answers(), expected.len());
                lane.take(&mut unsent);
                assert_eq!(lane.answers(), 0);
                assert!(
                    written(&mut unsent, piece) == expected.as_bytes(),
                    "piece {piece}, round {round}"
                );
            }
        }
    }

    #[test]
    fn a_buffer_that_was_large_is_given_up_and_a_small_one_kept() {
        let mut unsent = Unsent::default();
        unsent.put(frame("small"));
        written(&mut unsent, usize::MAX);
        assert!(unsent.tail.capacity() > 0);
        for _ in 0..100 {
            unsent.put(frame(&"x".repeat(GATHER_BELOW - 1)));
        }
        written(&mut unsent, 1000);
        assert_eq!(unsent.tail.capacity(), 0);
    }

    #[test]
    fn answers_always_have_room_and_others_wait() {
        let lane = Lane::new(4);
        lane.try_push(frame("abc")).unwrap();
        assert_eq!(lane.answers(), 0);
        assert_eq!(lane.try_push(frame("d")).unwrap_err(), frame("d"));
        lane.push(frame("answer"));
        assert_eq!(lane.answers(), 7);

        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut room = std::pin::pin!(lane.room());
        let mut cx = Context::from_waker(&waker);
        assert!(room.as_mut().poll(&mut cx).is_pending());
        lane.take(&mut Unsent::default());
        assert_eq!(count.count(), 1);
        assert_eq!(room.as_mut().poll(&mut cx), Poll::Ready(true));
    }

    #[test]
    fn the_task_is_woken_by_a_frame_only_where_it_is_idle_and_by_the_end_always() {
        let lane = Lane::new(1000);
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        assert!(lane.sleep(&waker));
        lane.push(frame("a"));
        lane.push(frame("b"));
        assert_eq!(count.count(), 1);
        assert!(!lane.sleep(&waker), "something waits");
        lane.watch(&waker);
        lane.push(frame("c"));
        lane.try_push(frame("d")).unwrap();
        assert_eq!(count.count(), 1, "it waits for the peer");
        lane.wake();
        assert_eq!(count.count(), 2);
        lane.take(&mut Unsent::default());
        assert!(lane.sleep(&waker));
        lane.close();
        assert_eq!(count.count(), 3);
        lane.push(frame("e"));
        assert!(lane.try_push(frame("f")).is_err());
        assert!(lane.sleep(&waker), "nothing waits in a closed lane");
        let mut room = std::pin::pin!(lane.room());
        let mut cx = Context::from_waker(&waker);
        assert_eq!(room.as_mut().poll(&mut cx), Poll::Ready(false));
    }

    #[test]
    fn p013_a_frame_is_one_line_or_nothing() {
        let lane = Lane::new(1000);
        lane.push(frame("{\"a\":\r\n 1}"));
        lane.push(frame("{\n"));
        lane.try_push(frame("{\n")).unwrap();
        let mut unsent = Unsent::default();
        lane.take(&mut unsent);
        assert_eq!(written(&mut unsent, usize::MAX), b"{\"a\":1}\n");
    }
}
