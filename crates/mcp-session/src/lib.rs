//! The session rules of the Model Context Protocol, without IO.
//!
//! What a server may answer before the handshake, which era a request belongs to, how a client finds out what a
//! server speaks, which answer belongs to which question, and how state travels safely through an untrusted
//! client: rules that every transport needs and none should own. Everything here is a plain value that is fed
//! messages and says what to do, so the rules are tested without a socket.
//!
//! ```
//! use mcp_jsonrpc::{Frame, Limits, Message, scan};
//! use mcp_session::{ServerInbound, Verdict};
//! use mcp_types::Revisions;
//!
//! let mut rules = ServerInbound::new(Revisions::ALL);
//! let frame = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
//! let Frame::One(Message::Request(early)) = scan(frame.as_slice().into(), &Limits::default())? else {
//!     unreachable!("it has a method and an id");
//! };
//! // No handshake yet, and no version in `_meta`.
//! assert!(matches!(rules.request(&early), Verdict::Refuse(_)));
//! # Ok::<(), mcp_jsonrpc::ScanError>(())
//! ```

mod error;
mod inbound;
mod negotiate;
mod seal;
mod slots;

pub use error::SessionError;
pub use inbound::{Admission, ClientInbound, NoteVerdict, ServerInbound, Verdict, batch_refused};
pub use negotiate::{Probe, Step, answer_version, unsupported_version};
pub use seal::{Binding, HmacSealer, RoundState, StateSealer, open_round, seal_round};
pub use slots::Slots;
