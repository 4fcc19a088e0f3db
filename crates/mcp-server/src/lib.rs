//! Servers of the Model Context Protocol from plain async functions, in every revision at once.
//!
//! ```
//! use mcp_server::{Cx, Server, Tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Greet {
//!     /// Whom to greet.
//!     name: String,
//! }
//!
//! async fn greet(_cx: Cx, args: Greet) -> String {
//!     format!("Hello, {}!", args.name)
//! }
//!
//! let server = Server::builder("greeter", "1.0.0")
//!     .tool(Tool::new("greet", greet).description("Greets someone.").read_only())
//!     .build()?;
//! // mcp_stdio::serve(server).await?;
//! # let _ = server;
//! # Ok::<(), mcp_server::BuildError>(())
//! ```
//!
//! # Concepts
//!
//! A tool, resource or prompt is a definition and a handler. A handler gets a [`Cx`]: the application's state, who
//! asks, and the ways to report progress, to log, to ask the client and to notice cancellation. What it returns is a
//! plain value; what fails becomes a [`Failure`] by `?`.
//!
//! Arguments are checked before a handler runs. For a derived schema that serde enforces fully, parsing is that
//! check; any other schema is compiled into a validator (feature `validate`).
//!
//! # Cancel safety
//!
//! A cancelled call is a dropped handler future. Code between two awaits always runs whole.
//!
//! # Features
//!
//! `validate` (on by default): raw schemas, and derived ones that say more than serde checks. Without it, such tools
//! are refused when the server is built.

mod answer;
mod ask;
mod builder;
mod completion;
mod cx;
mod error;
mod form;
mod hub;
mod lists;
mod output;
mod prompt;
mod questions;
mod resource;
mod round;
mod server;
mod settings;
mod template;
mod tool;

pub use ask::Question;
pub use builder::Builder;
pub use completion::Completion;
pub use cx::Cx;
pub use error::{AskError, BuildError, Failure};
pub use output::{Json, ToolOutput};
pub use prompt::{Prompt, PromptOutput};
pub use questions::{Elicit, Elicited, ListRoots, Sample};
pub use resource::{Resource, ResourceOutput, Template};
pub use server::Server;
pub use settings::UnknownTool;
pub use template::{TemplateError, UriTemplate};
pub use tool::{NoArgs, Tool, ToolHandler};
