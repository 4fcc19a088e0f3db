//! Placeholder docs.
