use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use mcp_jsonrpc::{Limits, RawJson, encode};
use tokio::sync::Notify;

/// Frames below this are gathered into one buffer; larger ones are written from where they are.
const GATHER_BELOW: usize = 8 * 1024;

/// What waits to be written on a connection. Frames are appended by whoever has them, under a lock held for a copy
/// at most; the connection's own task takes all of them at once and writes them together.
pub(crate) struct Lane {
    state: Mutex<State>,
    room: Notify,
    max_unsent: usize,
}

#[derive(Default)]
struct State {
    unsent: Unsent,
    closed: bool,
    /// The connection's task, where it sleeps.
    writer: Option<Waker>,
}

/// Lines in order: whole large ones, then the gathered small ones behind them.
#[derive(Default)]
pub(crate) struct Unsent {
    chunks: VecDeque<Bytes>,
    tail: BytesMut,
    bytes: usize,
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
        }
    }

    /// Appends a frame, whatever waits already: for answers, whose number is bounded elsewhere.
    pub(crate) fn push(&self, frame: BytesMut) {
        let frame = one_line(frame);
        let mut state = self.lock();
        if !state.closed && !frame.is_empty() {
            state.unsent.put(frame);
            wake(state);
        }
    }

    /// Appends a frame if there is room.
    pub(crate) fn try_push(&self, frame: BytesMut) -> Result<(), BytesMut> {
        let frame = one_line(frame);
        let mut state = self.lock();
        if state.closed || state.unsent.bytes >= self.max_unsent {
            return Err(frame);
        }
        state.unsent.put(frame);
        wake(state);
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

    /// Whether so much waits that nothing more should be read.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().unsent.bytes >= self.max_unsent
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
    pub(crate) fn sleep(&self, writer: &Waker) -> bool {
        let mut state = self.lock();
        if !state.unsent.is_empty() {
            return false;
        }
        match &mut state.writer {
            Some(known) if known.will_wake(writer) => {}
            slot => *slot = Some(writer.clone()),
        }
        true
    }

    /// Wakes the connection's task.
    pub(crate) fn wake(&self) {
        wake(self.lock());
    }

    /// Takes no more frames.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        wake(state);
        self.room.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(mut state: MutexGuard<'_, State>) {
    let writer = state.writer.take();
    drop(state);
    if let Some(writer) = writer {
        writer.wake();
    }
}

/// A payload that came from elsewhere may hold line breaks between its tokens.
fn one_line(frame: BytesMut) -> BytesMut {
    if memchr::memchr2(b'\n', b'\r', &frame).is_none() {
        return frame;
    }
    let limits = Limits::default()
        .with_max_bytes(usize::MAX)
        .with_max_depth(usize::MAX);
    match RawJson::from_bytes(frame.freeze(), &limits) {
        Ok(value) => BytesMut::from(encode::compact(&value).into_bytes()),
        Err(error) => {
            tracing::error!(%error, "a message that is not JSON was not sent");
            BytesMut::new()
        }
    }
}
