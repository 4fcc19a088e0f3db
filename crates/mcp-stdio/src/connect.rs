use std::sync::{Mutex, PoisonError};

use mcp_exchange::{BoxHandler, BoxLink, Connect, LinkError};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadHalf, WriteHalf};

use crate::connection::{Connection, Role};
use crate::options::Options;

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
    let link = connection.link();
    tokio::spawn(async move {
        let (how, reader, shared) = connection.run().await;
        drop(reader);
        shared.set_closed(how);
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
    use mcp_exchange::{BoxHandler, BoxLink, Closed, Connect, LinkError};

    use crate::connection::{Connection, Role};
    use crate::process::{Command, ExitStatus};

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
            let link = connection.link();
            tokio::spawn(async move {
                let (how, mut stdout, shared) = connection.run().await;
                // The child may have more to say; a full pipe must not keep it from ending.
                let rest = tokio::spawn(async move {
                    let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
                });
                let report = child.close().await;
                rest.abort();
                let code = match report.status() {
                    ExitStatus::Code(code) => Some(code),
                    _ => None,
                };
                let reason = if shared.is_closing() {
                    how.reason.clone()
                } else {
                    report.to_string().into()
                };
                shared.set_closed(Closed::new(reason, how.orderly && code == Some(0)).with_exit_code(code));
            });
            Ok(BoxLink::new(link))
        }
    }
}
