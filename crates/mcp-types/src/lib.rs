//! The types of the Model Context Protocol in every revision.

mod revision;

pub use revision::{Era, Revision, Revisions};
