#![doc = include_str!("../README.md")]

mod error;
mod extensions;
mod handler;
mod incoming;
mod layer;
mod link;
mod param_headers;
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
pub use param_headers::{ParamHeader, ParamHeaders};
pub use peer::Peer;
pub use reply::{Reply, StatusHint};
pub use scope::{Exchange, Outbox, Scope, ScopeBuilder};
pub use session::Session;
pub use signal::Signal;
