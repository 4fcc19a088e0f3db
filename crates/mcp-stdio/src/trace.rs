use std::fmt;
use std::sync::Arc;

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// We queued it to be written.
    Sent,
    /// It was read.
    Received,
}

/// Sees every line of a connection as it is, for somebody who wants to watch: what was read before it was
/// understood, and what is written, in the order of the wire.
///
/// It is called on the connection's own task and where messages are queued, so it must be quick and may not send
/// anything through the connection that it watches.
#[derive(Clone)]
pub struct Trace(Arc<See>);

type See = dyn Fn(Direction, &[u8]) + Send + Sync;

impl Trace {
    /// A trace that calls `see` with each line, without its line end.
    pub fn new(see: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    pub(crate) fn see(&self, direction: Direction, line: &[u8]) {
        (self.0)(direction, line);
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trace")
    }
}
