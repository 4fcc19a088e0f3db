#![doc = include_str!("../README.md")]

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
mod param_headers;
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
