use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Lines kept of one server's standard error.
const KEPT: usize = 200;
/// Lines shown with a failure.
const SHOWN: usize = 20;

/// The last lines of a server's standard error, already safe to show. A clone is the same list.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines(Arc<Mutex<VecDeque<String>>>);

impl Lines {
    pub(super) fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub(super) fn all(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }

    pub(super) fn last(&self) -> Vec<String> {
        let mut all = self.all();
        all.drain(..all.len().saturating_sub(SHOWN));
        all
    }
}
