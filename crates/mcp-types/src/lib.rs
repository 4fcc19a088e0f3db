//! The types of the Model Context Protocol in every revision, and what each revision may see of them.
//!
//! ```
//! use bytes::BytesMut;
//! use mcp_types::{CallToolResult, ContentBlock, Revision, wire};
//!
//! let result = CallToolResult::new([ContentBlock::text("Listen."), ContentBlock::audio("UklGRg==", "audio/wav")]);
//! let mut out = BytesMut::new();
//! wire::encode(&mut out, &result, Revision::V2026_07_28)?;
//! assert!(out.starts_with(br#"{"resultType":"complete","content":[{"type":"text","text":"Listen."},{"type":"audio""#));
//!
//! // The first revisions have neither `resultType` nor audio.
//! out.clear();
//! wire::encode(&mut out, &result, Revision::V2024_11_05)?;
//! assert!(out.starts_with(br#"{"content":[{"type":"text","text":"Listen."},{"type":"text""#));
//! # Ok::<(), wire::EncodeError>(())
//! ```
//!
//! # One vocabulary, six revisions
//!
//! Each entity exists once and holds the widest form there is. Reading is lenient and the same for all revisions:
//! absent and null are one, unknown members are kept in `extra`, unknown kinds of content stay as they came.
//! Writing goes through [`wire::encode`], which leaves out or replaces what the peer's revision does not know.
//! `Serialize` on the same types writes everything they hold; it is for logs and tests.
//!
//! # Where things are
//!
//! The entities are at the root, named as in the schema (parameters lose the word `Request`). [`method`] says which
//! methods exist where, [`meta`] what `_meta` may hold, [`Revision`] and [`Revisions`] name the revisions.
//!
//! # Limits
//!
//! Nothing here bounds sizes; the scanner of `mcp-jsonrpc` does that before anything is read. There are no features.

mod entity;
pub mod meta;
pub mod method;
mod model;
mod revision;
mod value;
pub mod wire;

pub use model::*;
pub use revision::{Era, Revision, Revisions};
pub use value::{JsonObject, Map, Meta, Millis, Number, ProgressToken};
