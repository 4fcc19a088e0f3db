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
use crate::link::PipeLink;
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

/// One connection: reads lines, hands them on, writes what waits. A single task does both directions and holds no
/// rules of its own; it reads whenever it can, so answers and cancellations always come through.
pub(crate) struct Connection<R, W> {
    reader: R,
    writer: W,
    decoder: LineDecoder,
    shared: Arc<Shared>,
    dispatch: Dispatch,
    role: Role,
    drain: Duration,
    /// Taken from the lane, being written.
    writing: Unsent,
    flushed: bool,
    reading: bool,
    /// When the wait for the last requests, or for the last bytes, ends.
    deadline: Option<Pin<Box<Sleep>>>,
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
            dispatch: Dispatch::new(handler, role, Arc::clone(&shared), options),
            shared,
            role,
            writing: Unsent::default(),
            flushed: true,
            reading: true,
            deadline: None,
        }
    }

    /// The way out of this connection.
    pub(crate) fn link(&self) -> PipeLink {
        PipeLink::new(Arc::clone(&self.shared))
    }

    /// Runs until the connection is over, and gives the reader back: a child process may still have something to
    /// say while it ends. The writer is closed by then.
    pub(crate) async fn run(mut self) -> (Closed, R, Arc<Shared>) {
        let how = poll_fn(|cx| self.poll(cx)).await;
        self.dispatch.end();
        self.shared.lane.close();
        self.shared.end_requests(true);
        // The peer sees the end of our output; it does not matter whether it is still there.
        let _ = poll_fn(|cx| Pin::new(&mut self.writer).poll_shutdown(cx)).await;
        let Self {
            reader,
            writer,
            shared,
            ..
        } = self;
        drop(writer);
        (how, reader, shared)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Closed> {
        loop {
            if let Poll::Ready(Err(error)) = self.poll_write(cx) {
                // A closed pipe is how a peer ends a session; it is no failure (P024).
                return Poll::Ready(Closed::new(
                    format!("the peer closed its input ({})", error.kind()),
                    true,
                ));
            }
            if self.shared.is_closing() && self.reading {
                self.stop_reading(FLUSH, true);
            }
            if self.reading && !self.shared.lane.is_full() {
                match self.poll_read(cx) {
                    Poll::Ready(Ok(0)) => {
                        if let Some(line) = self.decoder.finish() {
                            self.dispatch.line(line);
                        }
                        self.stop_reading(self.drain, self.role == Role::Client);
                        continue;
                    }
                    Poll::Ready(Ok(_)) => {
                        while let Some(line) = self.decoder.next_line() {
                            self.dispatch.line(line);
                        }
                        continue;
                    }
                    Poll::Ready(Err(error)) => {
                        return Poll::Ready(Closed::new(format!("reading failed: {error}"), false));
                    }
                    Poll::Pending => {}
                }
            }
            if !self.reading {
                let over = self.shared.in_flight().is_empty() && self.writing.is_empty() && self.flushed;
                if over && self.shared.lane.sleep(cx.waker()) {
                    return Poll::Ready(self.ended());
                }
                if let Some(deadline) = &mut self.deadline {
                    if deadline.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(self.ended());
                    }
                }
            }
            // With something half written, the writer wakes us; otherwise whoever appends a frame does.
            if !self.writing.is_empty() || self.shared.lane.sleep(cx.waker()) {
                if self.shared.is_closing() && self.reading {
                    continue;
                }
                return Poll::Pending;
            }
        }
    }

    fn ended(&self) -> Closed {
        if self.shared.is_closing() {
            return Closed::new("closed by us", true);
        }
        let reason = match self.role {
            Role::Server => "end of input",
            Role::Client => "the server closed its output",
        };
        Closed::new(reason, true)
    }

    /// The read side is over. Requests under way may finish within `time`; answers to ours will not come.
    fn stop_reading(&mut self, time: Duration, cancel: bool) {
        self.reading = false;
        self.dispatch.end();
        self.shared.end_requests(cancel);
        if self.role == Role::Server {
            // A client's calls are told once it is known why the server went.
            let why = LinkError::closed(format!("the connection is closed: {}", self.ended().reason));
            self.shared.lose_calls(&why);
        }
        self.deadline = Some(Box::pin(tokio::time::sleep_until(Instant::now() + time)));
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        let buffer = self.decoder.buffer();
        let read = pin!(self.reader.read_buf(buffer));
        read.poll(cx)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
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
        }
    }
}
