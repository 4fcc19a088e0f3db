use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

use super::report::{Ending, ExitReport, ExitStatus};
use super::stderr::{Sink, Tail, drain};
use super::supervise::{Grace, Order, Process, Progress, SETTLE, supervise};

/// A running server process.
///
/// Dropping it ends the whole process group promptly and without blocking: `SIGTERM`, the second grace time, `SIGKILL`,
/// all in a background task; if the runtime is gone, `SIGKILL` at once.
pub struct Child {
    program: String,
    pid: u32,
    stdin: Option<Stdin>,
    stdout: Option<Stdout>,
    tail: Tail,
    order: watch::Sender<Order>,
    progress: watch::Receiver<Progress>,
}

impl Child {
    pub(super) fn start(
        runtime: &Handle,
        program: String,
        mut child: tokio::process::Child,
        sink: Option<Sink>,
        tail_size: usize,
        grace: Grace,
    ) -> Self {
        let (order, orders) = watch::channel(Order::Run);
        let (sender, progress) = watch::channel(Progress::default());
        let tail = Tail::new(tail_size);
        let pid = child.id().unwrap_or_default();
        let stdin = child.stdin.take().map(Stdin);
        let stdout = child.stdout.take().map(Stdout);
        let (pipe, kept, done) = (child.stderr.take(), tail.clone(), sender.clone());
        let stderr = runtime.spawn(async move {
            if let Some(pipe) = pipe {
                drain(pipe, kept, sink).await;
            }
            done.send_modify(|progress| progress.stderr_done = true);
        });
        runtime.spawn(supervise(
            Process::new(child, sender.clone()),
            orders,
            sender,
            stderr,
            grace,
        ));
        Self {
            program,
            pid,
            stdin,
            stdout,
            tail,
            order,
            progress,
        }
    }

    /// The process id, which is also the id of its group. Only for display: after the end the system may give the
    /// number to somebody else.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The program as it was given to [`Command::new`](super::Command::new).
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The pipe to its standard input, once. Dropping it is the end of input for the child.
    pub fn take_stdin(&mut self) -> Option<Stdin> {
        self.stdin.take()
    }

    /// The pipe from its standard output, once.
    pub fn take_stdout(&mut self) -> Option<Stdout> {
        self.stdout.take()
    }

    /// The last bytes of standard error so far, as raw text.
    pub fn stderr_tail(&self) -> String {
        self.tail.text()
    }

    /// Waits for the program to end and says how it did, with the last lines of standard error. Asks nothing of it.
    ///
    /// # Cancel safety
    /// Safe to drop and call again.
    pub async fn exit_report(&self) -> ExitReport {
        let mut progress = self.progress.clone();
        // An error is a closed channel: the runtime stops, and what is known is all there will be.
        let _ = progress
            .wait_for(|now| now.exited.is_some() || now.finished.is_some())
            .await
            .map(drop);
        let _ = timeout(SETTLE, progress.wait_for(|now| now.stderr_done))
            .await
            .map(drop);
        self.report()
    }

    /// Ends the child in bounded steps, see [`Grace`], and waits until its group has ended. Always returns.
    ///
    /// Drop what [`Child::take_stdin`] gave before: the end of input is the polite request that the first wait is for.
    ///
    /// # Cancel safety
    /// Dropping the future does not stop the close; calling again waits for the rest of it.
    pub async fn close(&mut self) -> ExitReport {
        self.stdin = None;
        self.order.send_if_modified(|order| {
            let first = *order == Order::Run;
            if first {
                *order = Order::Close;
            }
            first
        });
        let mut progress = self.progress.clone();
        let _ = progress.wait_for(|now| now.finished.is_some()).await.map(drop);
        self.report()
    }

    fn report(&self) -> ExitReport {
        let progress = *self.progress.borrow();
        ExitReport {
            program: self.program.clone(),
            status: progress.exited.unwrap_or(ExitStatus::Unknown),
            ending: progress.finished.unwrap_or(Ending::ByItself),
            stderr_tail: self.tail.text(),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The channel is also closed by this drop; the explicit order keeps the meaning in one place.
        self.order.send_replace(Order::Abandon);
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child")
            .field("program", &self.program)
            .field("pid", &self.pid)
            .field("progress", &*self.progress.borrow())
            .finish_non_exhaustive()
    }
}

/// Writes to a child's standard input. The pipe is polled directly, no thread is involved.
#[derive(Debug)]
pub struct Stdin(tokio::process::ChildStdin);

impl AsyncWrite for Stdin {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }
}

/// Reads from a child's standard output. The pipe is polled directly, no thread is involved.
#[derive(Debug)]
pub struct Stdout(tokio::process::ChildStdout);

impl AsyncRead for Stdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

#[cfg(all(test, unix))]
mod tests;
