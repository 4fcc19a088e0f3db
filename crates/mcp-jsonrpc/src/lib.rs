//! JSON-RPC 2.0 messages as the Model Context Protocol uses them.
//!
//! One pass over the bytes of a message ([`scan`]) checks syntax, UTF-8 and depth, finds the parts of the
//! envelope and leaves every payload where it is: a [`RawJson`] is a slice of its frame. Numbers, member order
//! and unknown members stay exactly as the peer wrote them.
//!
//! ```
//! use mcp_jsonrpc::{Frame, Limits, Message, scan};
//!
//! let frame = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add"}}"#;
//! let Frame::One(Message::Request(request)) = scan(frame.as_slice().into(), &Limits::default())? else {
//!     unreachable!("an object with a method and an id is a request");
//! };
//! assert_eq!(request.call.method(), "tools/call");
//! # Ok::<(), mcp_jsonrpc::ScanError>(())
//! ```
//!
//! # Limits
//!
//! [`Limits`] bounds the bytes, the depth and the batch length of what [`scan`] accepts. A message over a limit
//! fails alone, with its id where that was readable.

pub mod codes;
pub mod encode;
mod error;
mod id;
mod limits;
mod message;
mod raw;
mod scan;

pub use error::{ErrorObject, ParseError, Peerhood, ScanError, ScanErrorKind};
pub use id::RequestId;
pub use limits::Limits;
pub use message::{Call, Frame, Message, ParamKey, Request, Response};
pub use raw::{JsonKind, RawJson};
pub use scan::scan;
