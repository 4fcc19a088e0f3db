use mcp_exchange::{BoxHandler, Closed, Handler};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::connection::{Connection, Role};
use crate::options::Options;
use crate::shared::CloseOnDrop;
use crate::standard;

/// Serves on the process's own stdin and stdout until the input ends, under the default [`Options`].
///
/// Nothing but messages goes to stdout. Returns when the client closed the input and the accepted requests were
/// answered, or closed the output; end the process then. Where stdin is neither a pipe nor a socket, a read of it may
/// still be waiting in a thread of the runtime: `std::process::exit` or `Runtime::shutdown_background` do not wait
/// for it.
///
/// # Errors
/// When stdin or stdout cannot be used.
///
/// # Cancel safety
/// Dropping it cancels every request under way.
pub async fn serve(handler: impl Handler) -> std::io::Result<Closed> {
    serve_with(handler, Options::default()).await
}

/// [`serve`] with other bounds.
///
/// # Errors
/// As [`serve`].
pub async fn serve_with(handler: impl Handler, options: Options) -> std::io::Result<Closed> {
    let (reader, writer) = (standard::input()?, standard::output()?);
    Ok(serve_on(reader, writer, handler, options).await)
}

/// Serves on any pair of byte streams: a Unix socket's halves, one end of [`pair`](crate::pair), a serial line.
///
/// # Cancel safety
/// Dropping it cancels every request under way.
pub async fn serve_on<R, W>(reader: R, writer: W, handler: impl Handler, options: Options) -> Closed
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let connection = Connection::new(reader, writer, BoxHandler::new(handler), Role::Server, options);
    let shared = CloseOnDrop(connection.shared());
    let (how, _) = connection.run().await;
    shared.0.set_closed(how.clone());
    how
}
