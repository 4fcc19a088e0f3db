use std::sync::{Mutex, PoisonError};

use mcp_exchange::{BoxHandler, BoxLink, Connect, LinkError};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadHalf, WriteHalf};

use crate::connection::{Connection, Role};
use crate::link::PipeLink;
use crate::options::Options;
use crate::shared::CloseOnDrop;

/// A client's way to a server over any pair of byte streams. Can be connected once.
pub struct Streams<R, W> {
    streams: Mutex<Option<(R, W)>>,
    options: Options,
}

/// A client's end of a pair of byte streams: what the server writes, and what it reads.
///
/// ```
/// # async fn example(socket: tokio::net::UnixStream) {
/// let (read, write) = socket.into_split();
/// let transport = mcp_stdio::streams(read, write);
/// # let _ = transport;
/// # }
/// ```
pub fn streams<R, W>(reader: R, writer: W) -> Streams<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    Streams {
        streams: Mutex::new(Some((reader, writer))),
        options: Options::default(),
    }
}

impl<R, W> Streams<R, W> {
    /// Sets the bounds.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
}

impl<R, W> Connect for Streams<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    async fn connect(&self, inbound: BoxHandler) -> Result<BoxLink, LinkError> {
        let taken = self.streams.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (reader, writer) =
            taken.ok_or_else(|| LinkError::start("this pair of streams was connected before"))?;
        Ok(spawn(reader, writer, inbound, self.options.clone()))
    }
}

fn spawn<R, W>(reader: R, writer: W, inbound: BoxHandler, options: Options) -> BoxLink
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let connection = Connection::new(reader, writer, inbound, Role::Client, options);
    let link = PipeLink::holding(connection.shared());
    let shared = CloseOnDrop(connection.shared());
    tokio::spawn(async move {
        let (how, reader) = connection.run().await;
        drop(reader);
        shared.0.set_closed(how);
    });
    BoxLink::new(link)
}

/// One end of an in-memory connection, as its reading and writing half.
pub type PairEnd = (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>);

/// Two ends of an in-memory connection: client and server in one process, with the bytes of a real one.
///
/// `capacity` is how many bytes each direction holds before its writer waits.
pub fn pair(capacity: usize) -> (PairEnd, PairEnd) {
    let (one, other) = tokio::io::duplex(capacity);
    (tokio::io::split(one), tokio::io::split(other))
}

#[cfg(feature = "process")]
mod child {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;
    use std::time::Duration;

    use mcp_exchange::{BoxHandler, BoxLink, Closed, Connect, LinkError};
    use tokio::time::timeout;

    use crate::connection::{Connection, Role};
    use crate::link::PipeLink;
    use crate::process::{Child, Command, ExitStatus, Stdin, Stdout};
    use crate::shared::CloseOnDrop;

    /// How long the end of output may come after the end of the program, and the end of the program after that of
    /// its output, before the one is taken for the other: some descendant keeps the pipe, or the program lives on.
    const APART: Duration = Duration::from_millis(500);

    /// Starting the program is how this transport connects; each connect starts it anew. Closing the link closes the
    /// program's input and then ends its process group within the command's grace times.
    impl Connect for Command {
        async fn connect(&self, inbound: BoxHandler) -> Result<BoxLink, LinkError> {
            let failed =
                |error: crate::process::SpawnError| LinkError::start(error.to_string()).with_source(error);
            let mut child = self.clone().spawn().map_err(failed)?;
            let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
                return Err(LinkError::start("the program has no standard input or output"));
            };
            let options = self.connection_options().clone();
            let connection = Connection::new(stdout, stdin, inbound, Role::Client, options);
            let link = PipeLink::holding(connection.shared());
            tokio::spawn(drive(connection, child));
            Ok(BoxLink::new(link))
        }
    }

    async fn drive(connection: Connection<Stdout, Stdin>, mut child: Child) {
        let shared = CloseOnDrop(connection.shared());
        let (how, rest) = match until_exit(connection, &child).await {
            Some((how, mut stdout)) => {
                // The child may have more to say; a full pipe must not keep it from ending.
                let rest = tokio::spawn(async move {
                    let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
                });
                (how, Some(rest))
            }
            None => (Closed::new("the program ended", true), None),
        };
        if !shared.0.is_closing() {
            // Whoever waits for an answer need not wait for the end of every descendant, too.
            let why = match timeout(APART, child.exit_report()).await {
                Ok(report) => format!("the connection is closed: {report}"),
                Err(_) => format!("the connection is closed: {} ({})", how.reason, child.program()),
            };
            shared.0.lose_calls(&LinkError::closed(why));
        }
        let report = child.close().await;
        if let Some(rest) = rest {
            rest.abort();
        }
        let code = match report.status() {
            ExitStatus::Code(code) => Some(code),
            _ => None,
        };
        let reason = if shared.0.is_closing() {
            how.reason
        } else {
            report.to_string().into()
        };
        let closed = Closed::new(reason, how.orderly && code == Some(0)).with_exit_code(code);
        shared.0.set_closed(closed);
    }

    /// Runs the connection until it ends, or its program did. None where the program has ended and somebody else
    /// keeps its output open.
    async fn until_exit(connection: Connection<Stdout, Stdin>, child: &Child) -> Option<(Closed, Stdout)> {
        let mut run = pin!(connection.run());
        let ended = {
            let mut exit = pin!(child.exit_report());
            poll_fn(|cx| match run.as_mut().poll(cx) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending => exit.as_mut().poll(cx).map(|_| None),
            })
            .await
        };
        match ended {
            Some(ended) => Some(ended),
            None => timeout(APART, run).await.ok(),
        }
    }
}
