//! The Model Context Protocol over Streamable HTTP: the endpoint of a server, for both eras on one URL, and the reading
//! and writing of server-sent events.
//!
//! From 2026-07-28 every request stands by itself: its handler runs inside the response, answers with JSON or with a
//! stream, and is cancelled when the client goes. Up to 2025-11-25 there are sessions: they own their requests, so that
//! a broken connection cancels nothing, and streams that can be resumed where [`Options::replay`](server::Options::replay)
//! says so.
//!
//! # Features
//!
//! `server`: the endpoint. `client`: the transport for `mcp-client`. `rustls`: https for it, with the system's roots.

#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "client", feature = "server"))]
mod names;
#[cfg(feature = "server")]
pub mod server;
pub mod sse;

#[cfg(all(doctest, feature = "server"))]
mod readme {
    #[doc = include_str!("../README.md")]
    struct Readme;
}
