//! Many Model Context Protocol servers as one registry of tools for a model.
//!
//! ```
//! use mcp_bridge::name::Naming;
//! use mcp_types::CallToolResult;
//!
//! let names = Naming::default().assign([("tracker", "issues.create"), ("tracker", "issues_create")]);
//! assert_eq!(names.name_of("tracker", "issues.create"), Some("mcp__tracker__issues_create"));
//! assert_eq!(names.name_of("tracker", "issues_create"), Some("mcp__tracker__issues_create_2"));
//!
//! let text = mcp_bridge::text::for_model(&CallToolResult::error("database is locked"));
//! assert_eq!(text, "Error: database is locked");
//! ```
//!
//! # Parts
//!
//! - [`name`]: names that every model API takes, unique over all servers, independent of who answers first.
//! - [`text`]: what a model that reads only text gets to see of a result.
//! - [`Registry`]: the tools of many servers in one snapshot, with calls routed by table under the original name.
//!   It works over [`ToolSource`], so that tools may come from anywhere; an `mcp_client::Client` is one, and
//!   [`Registry::attach_client`] follows the changes of its list.
//!
//! # Cancel safety
//!
//! Every future here may be dropped at any point. A dropped refresh leaves the snapshot as it was.
//!
//! # Limits
//!
//! [`Limits`] bounds the tools of a server and what is shown of a description;
//! [`text::for_model_within`] bounds the text of a result.

mod client_source;
pub mod name;
mod registry;
pub mod text;

pub use client_source::Follow;
pub use registry::{
    BridgeError, BridgedTool, ChatTool, Gate, Limits, Problem, Registry, RegistryBuilder, SourceError,
    SourceFuture, ToolSource, Tools,
};
