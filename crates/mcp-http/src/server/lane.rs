use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use mcp_exchange::Outbox;
use tokio::sync::Notify;

/// Bytes of events that may wait for a client.
const MAX_WAITING: usize = 1024 * 1024;

/// The events of one stateless exchange on their way to its response.
#[derive(Default)]
pub(crate) struct Lane {
    state: Mutex<State>,
    room: Notify,
}

#[derive(Default)]
struct State {
    frames: VecDeque<Bytes>,
    bytes: usize,
    closed: bool,
    reader: Option<Waker>,
}

impl Lane {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next event, or a wake-up when there is one.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Bytes> {
        let mut state = self.lock();
        match state.frames.pop_front() {
            Some(frame) => {
                state.bytes -= frame.len();
                drop(state);
                self.room.notify_waiters();
                Poll::Ready(frame)
            }
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Takes no more.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.frames.clear();
        drop(state);
        self.room.notify_waiters();
    }
}

impl Outbox for Lane {
    fn try_send(&self, frame: BytesMut) -> Result<(), BytesMut> {
        let mut state = self.lock();
        if state.closed || state.bytes >= MAX_WAITING {
            return Err(frame);
        }
        state.bytes += frame.len();
        state.frames.push_back(frame.freeze());
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
        Ok(())
    }

    fn room(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async {
            loop {
                let mut changed = std::pin::pin!(self.room.notified());
                changed.as_mut().enable();
                {
                    let state = self.lock();
                    if state.closed {
                        return false;
                    }
                    if state.bytes < MAX_WAITING {
                        return true;
                    }
                }
                changed.await;
            }
        })
    }
}
