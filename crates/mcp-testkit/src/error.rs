use std::fmt;

/// Why a test failed, as text for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TestError(String);

impl TestError {
    /// A failure.
    pub fn new(why: impl fmt::Display) -> Self {
        Self(why.to_string())
    }
}
