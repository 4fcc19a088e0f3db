//! The joint between transports, servers and clients of the Model Context Protocol: the exchange.
//!
//! An *exchange* is one request and everything scoped to it: its progress, its log messages, the questions asked
//! on its behalf, its cancellation and its single answer. Transports make exchanges out of bytes and hand them to
//! a [`Handler`]; what goes the other way (a client's calls, a server's questions) goes through a [`Link`].
//! Neither side sees a connection, so a handler behaves alike on a pipe, over HTTP and in every revision.
//!
//! ```
//! use mcp_exchange::{Exchange, Handler, Reply};
//! use mcp_jsonrpc::RawJson;
//!
//! /// Answers every request with its own parameters.
//! struct Mirror;
//!
//! impl Handler for Mirror {
//!     async fn call(&self, exchange: Exchange) -> Reply {
//!         let params = exchange.request.call.params().cloned().unwrap_or(RawJson::empty_object());
//!         exchange.scope.complete_raw(&params)
//!     }
//! }
//! # let _ = mcp_exchange::BoxHandler::new(Mirror);
//! ```
//!
//! # Cancel safety
//!
//! Dropping a handler's future cancels the work of its exchange; dropping an [`Incoming`] before its end cancels
//! the call. Both are how cancellation is done, so both are always safe.

mod error;
mod extensions;
mod handler;
mod incoming;
mod layer;
mod link;
mod peer;
mod reply;
mod scope;
mod session;
mod signal;

pub use error::LinkError;
pub use extensions::Extensions;
pub use handler::{BoxHandler, Handler, Notice, ReplyFuture};
pub use incoming::{CallSlot, Event, Incoming, call_slot};
pub use layer::Layer;
pub use link::{BoxLink, Closed, Connect, Link, Outgoing};
pub use peer::Peer;
pub use reply::{Reply, StatusHint};
pub use scope::{Exchange, Outbox, Scope, ScopeBuilder};
pub use session::Session;
pub use signal::Signal;
