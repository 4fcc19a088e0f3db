//! The Model Context Protocol over HTTP.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;
pub mod sse;
