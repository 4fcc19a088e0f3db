//! Placeholder docs.

#[cfg(feature = "process")]
pub mod process;
