//! JSON Schema for Model Context Protocol tools: derivation, validation, bounds.
//!
//! ```
//! use mcp_jsonrpc::RawJson;
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct WordCount {
//!     text: String,
//! }
//!
//! let derived = mcp_schema::derive::<WordCount>()?;
//! assert_eq!(
//!     derived.json.as_str(),
//!     r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#
//! );
//! assert!(derived.enforced);
//!
//! let error = mcp_schema::parse_args::<WordCount>(&RawJson::empty_object()).err();
//! assert_eq!(error.map(|e| e.to_string()).as_deref(), Some("Missing argument: text"));
//! # Ok::<(), mcp_schema::SchemaError>(())
//! ```
//!
//! # Derived and raw schemas
//!
//! A schema made from a Rust type comes from [`derive()`], with its members in the order of the type. Where serde
//! alone refuses everything that the schema refuses, [`Derived::enforced`] says so and no validator is needed.
//! A schema written by hand or received from a peer stays [`RawJson`](mcp_jsonrpc::RawJson), byte for byte, and
//! is checked by a [`Validator`].
//!
//! # Limits
//!
//! A schema may come from a hostile peer. [`SchemaLimits`] bounds its bytes, depth, count of subschemas and
//! chains of references before anything compiles it. Nothing here ever opens a file or a connection.
//!
//! # Features
//!
//! | Feature | Adds |
//! |---|---|
//! | `validate` (default) | [`Validator`], and with it the `jsonschema` crate |

mod args;
mod bounds;
mod derive;
mod enforce;
mod error;
mod header;
mod members;
mod probe;
mod text;
mod tool;
#[cfg(feature = "validate")]
mod validate;

pub use args::parse_args;
pub use bounds::{SchemaLimits, check_bounds};
pub use derive::{Derived, derive, derive_output};
pub use error::{ArgumentError, SchemaError};
pub use header::{HeaderParam, HeaderParamType, header_params};
pub use tool::{check_tool_input_schema, complete_for_model};
#[cfg(feature = "validate")]
pub use validate::Validator;
