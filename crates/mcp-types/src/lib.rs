//! The types of the Model Context Protocol in every revision.

mod entity;
pub mod meta;
mod model;
mod revision;
mod value;
pub mod wire;

pub use model::*;
pub use revision::{Era, Revision, Revisions};
pub use value::{JsonObject, Map, Meta, Millis, Number, ProgressToken};
