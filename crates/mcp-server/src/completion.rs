use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcp_types::Map;

use crate::cx::{Base, Cx};

/// What is to be completed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Completion {
    /// What was typed so far.
    pub value: String,
    /// The other arguments that are known (from 2025-06-18).
    pub known: Map<String>,
}

impl Completion {
    pub(crate) fn new(value: String, known: Map<String>) -> Self {
        Self { value, known }
    }
}

type Found = Pin<Box<dyn Future<Output = Vec<String>> + Send>>;

/// Finds the values for one argument. Longer answers are cut at 100 values, and say so.
pub(crate) type Completer = Box<dyn Fn(Base, Completion) -> Found + Send + Sync>;

/// A completer that waits for the application's state.
pub(crate) type CompleterWith<S> = Box<dyn FnOnce(Arc<S>) -> Completer + Send>;

pub(crate) fn erase_completer<S, F, Fut>(complete: F) -> CompleterWith<S>
where
    S: Send + Sync + 'static,
    F: Fn(Cx<S>, Completion) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Vec<String>> + Send + 'static,
{
    Box::new(move |state| {
        Box::new(move |base, what| Box::pin(complete(Cx::new(base, Arc::clone(&state)), what)))
    })
}
