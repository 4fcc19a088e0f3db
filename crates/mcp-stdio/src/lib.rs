//! The Model Context Protocol over byte streams: a server's own stdin and stdout, a child process, an in-memory
//! pair, a Unix socket.
//!
//! ```no_run
//! # use mcp_exchange::{Exchange, Handler, Reply};
//! # struct App;
//! # impl Handler for App {
//! #     async fn call(&self, exchange: Exchange) -> Reply {
//! #         exchange.scope.complete_raw(&mcp_jsonrpc::RawJson::empty_object())
//! #     }
//! # }
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> std::io::Result<()> {
//!     mcp_stdio::serve(App).await?;
//!     Ok(())
//! }
//! ```
//!
//! # How it runs
//!
//! One task a connection reads lines, hands them to the session rules and the handler, and writes what waits, all
//! of it in one write. A handler is polled where its request was read; only one that has to wait gets a task of its
//! own. So a handler must not block its thread: give such work to `tokio::task::spawn_blocking`.
//!
//! # Limits
//!
//! [`Options`] has all of them. When more waits to be written than [`Options::max_unsent`], events and calls wait;
//! a server that owes so many answers reads nothing more until the peer has taken some. A client never stops
//! reading, so that two peers cannot wait for each other for ever.
//!
//! # Cancel safety
//!
//! Dropping a serve future cancels every request under way. Dropping a client's call sends
//! `notifications/cancelled`. Dropping the last clone of a client's link closes the connection.
//!
//! # Features
//!
//! `process`: starting servers as child processes ([`process::Command`](process)); off by default, since a server
//! has no need of it.

mod connect;
mod connection;
mod dispatch;
mod lane;
mod link;
mod options;
#[cfg(feature = "process")]
pub mod process;
mod serve;
mod shared;
mod standard;
mod trace;

pub use connect::{PairEnd, Streams, pair, streams};
pub use link::PipeLink;
pub use options::Options;
pub use serve::{serve, serve_on, serve_with};
pub use trace::{Direction, Trace};
