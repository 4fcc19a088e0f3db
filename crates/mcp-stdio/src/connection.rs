use std::future::poll_fn;
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use mcp_codec::LineDecoder;
use mcp_exchange::{BoxHandler, Closed, LinkError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::time::{Instant, Sleep};

use crate::dispatch::Dispatch;
use crate::lane::Unsent;
use crate::options::Options;
use crate::shared::Shared;

/// How long written messages may take to go out once the connection is closing.
const FLUSH: Duration = Duration::from_secs(2);

/// Which side of the protocol this end plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Server,
    Client,
}

/// Answers that a client lets pile up, in multiples of [`Options::max_unsent`], before it gives up on a server that
/// asks and never reads.
const CLIENT_PATIENCE: usize = 16;

/// One connection: reads lines, hands them on, writes what waits. A single task does both directions and holds no
/// rules of its own.
///
/// A server stops reading while too many of its answers wait, so a peer that asks and never reads costs bounded
/// memory. A client reads always: were both to stop, each would wait for the other for ever.
pub(crate) struct Connection<R, W> {
    reader: R,
    writer: W,
    decoder: LineDecoder,
    shared: Arc<Shared>,
    dispatch: Dispatch,
    role: Role,
    drain: Duration,
    max_unsent: usize,
    /// Taken from the lane, being written.
    writing: Unsent,
    flushed: bool,
    /// Something was written since this was reset.
    wrote: bool,
    /// Writing failed; what is to be read still counts.
    mute: bool,
    /// The end of input was read; lines may be left.
    eof: bool,
    reading: bool,
    /// The wish to close was seen.
    closing: bool,
    /// When the wait for the last requests, or for the last bytes, ends.
    deadline: Option<Pin<Box<Sleep>>>,
}

/// What came of reading.
enum Input {
    /// Something; there may be more.
    Some,
    /// The end.
    End,
}

impl<R, W> Connection<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    pub(crate) fn new(reader: R, writer: W, handler: BoxHandler, role: Role, options: Options) -> Self {
        let shared = Shared::new(&options);
        Self {
            reader,
            writer,
            decoder: LineDecoder::new(options.limits.max_bytes),
            drain: options.drain,
            max_unsent: options.max_unsent,
            dispatch: Dispatch::new(handler, role, Arc::clone(&shared), options),
            shared,
            role,
            writing: Unsent::default(),
            flushed: true,
            wrote: false,
            mute: false,
            eof: false,
            reading: true,
            closing: false,
            deadline: None,
        }
    }

    /// What the connection shares with its links.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Runs until the connection is over, and gives the reader back: a child process may still have something to
    /// say while it ends. The writer is closed by then.
    pub(crate) async fn run(mut self) -> (Closed, R) {
        let how = poll_fn(|cx| self.poll(cx)).await;
        // Ends the requests under way.
        drop(self.dispatch);
        // The peer sees the end of our output; it does not matter whether it is still there.
        let end = poll_fn(|cx| Pin::new(&mut self.writer).poll_shutdown(cx));
        let _ = tokio::time::timeout(FLUSH, end).await;
        (how, self.reader)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Closed> {
        loop {
            if let Poll::Ready(Err(error)) = self.poll_write(cx) {
                if self.role == Role::Server {
                    return Poll::Ready(broken(&error));
                }
                // The last words of a server that stopped reading may be the answer, or why it ended.
                self.stop_writing();
            }
            if self.shared.is_closing() && !self.closing {
                self.closing = true;
                self.stop_reading(FLUSH, true);
            }
            if self.reading {
                if self.role == Role::Client
                    && self.shared.lane.answers() > self.max_unsent.saturating_mul(CLIENT_PATIENCE)
                {
                    return Poll::Ready(Closed::new("the server asks and does not read", false));
                }
                match self.poll_input(cx) {
                    Poll::Ready(Ok(Input::Some)) => continue,
                    // Nothing that it asked is worth an answer any more.
                    Poll::Ready(Ok(Input::End)) if self.role == Role::Client => {
                        return Poll::Ready(self.ended());
                    }
                    Poll::Ready(Ok(Input::End)) => {
                        self.stop_reading(self.drain, false);
                        continue;
                    }
                    Poll::Ready(Err(error)) => {
                        return Poll::Ready(Closed::new(format!("reading failed: {error}"), false));
                    }
                    Poll::Pending => {}
                }
            } else {
                let idle = self.shared.in_flight().is_empty();
                if idle && self.writing.is_empty() && self.flushed && self.shared.lane.sleep(cx.waker()) {
                    return Poll::Ready(self.ended());
                }
                if idle && std::mem::take(&mut self.wrote) && !self.closing {
                    // A slow reader gets all answers, as long as it reads.
                    self.arm(self.drain);
                }
            }
            if let Some(deadline) = &mut self.deadline
                && deadline.as_mut().poll(cx).is_ready()
            {
                return Poll::Ready(self.ended());
            }
            if self.writing.is_empty() {
                // Whoever appends a frame wakes us.
                if !self.shared.lane.sleep(cx.waker()) {
                    continue;
                }
            } else {
                // The writer wakes us, or the wish to close.
                self.shared.lane.watch(cx.waker());
            }
            // Again, as it may have come before there was somebody to wake.
            if self.shared.is_closing() && !self.closing {
                continue;
            }
            return Poll::Pending;
        }
    }

    fn ended(&self) -> Closed {
        let reason = match self.role {
            _ if self.closing => "closed by us",
            Role::Client if self.mute => "the server closed its input",
            Role::Server => "end of input",
            Role::Client => "the server closed its output",
        };
        Closed::new(reason, true)
    }

    fn arm(&mut self, time: Duration) {
        let end = Instant::now() + time;
        match &mut self.deadline {
            Some(deadline) => deadline.as_mut().reset(end),
            none => *none = Some(Box::pin(tokio::time::sleep_until(end))),
        }
    }

    /// The read side is over. Requests under way may finish within `time`; answers to ours will not come.
    fn stop_reading(&mut self, time: Duration, cancel: bool) {
        self.reading = false;
        self.dispatch.end_session();
        self.shared.end_requests(cancel);
        let why = LinkError::closed(format!("the connection is closed: {}", self.ended().reason));
        self.shared.lose_calls(&why);
        self.arm(time);
    }

    /// The write side is over. What the peer still says counts, for a moment.
    fn stop_writing(&mut self) {
        self.mute = true;
        self.flushed = true;
        self.writing = Unsent::default();
        self.shared.lane.close();
        self.arm(FLUSH);
    }

    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<Input>> {
        // With that much waiting there is something half written, and the writer wakes us.
        while self.role == Role::Client || self.shared.lane.answers() < self.max_unsent {
            let line = self.decoder.next_line();
            let line = line.or_else(|| self.eof.then(|| self.decoder.finish()).flatten());
            match line {
                Some(line) => self.dispatch.line(line),
                None if self.eof => return Poll::Ready(Ok(Input::End)),
                None => {
                    let read = pin!(self.reader.read_buf(self.decoder.buffer()));
                    self.eof = ready!(read.poll(cx))? == 0;
                    return Poll::Ready(Ok(Input::Some));
                }
            }
        }
        Poll::Pending
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        if self.mute {
            return Poll::Ready(Ok(()));
        }
        loop {
            if self.writing.is_empty() {
                self.shared.lane.take(&mut self.writing);
            }
            if self.writing.is_empty() {
                if !self.flushed {
                    ready!(Pin::new(&mut self.writer).poll_flush(cx))?;
                    self.flushed = true;
                }
                return Poll::Ready(Ok(()));
            }
            self.flushed = false;
            let mut slices = [IoSlice::new(&[]); 32];
            let count = self.writing.slices(&mut slices);
            let written = ready!(Pin::new(&mut self.writer).poll_write_vectored(cx, &slices[..count]))?;
            if written == 0 {
                return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into()));
            }
            self.writing.advance(written);
            self.wrote = true;
        }
    }
}

/// A closed pipe is how a peer ends a session; it is no failure (P024).
fn broken(error: &std::io::Error) -> Closed {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, WriteZero};
    match error.kind() {
        BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | WriteZero => {
            Closed::new("the peer closed its input", true)
        }
        _ => Closed::new(format!("writing failed: {error}"), false),
    }
}
