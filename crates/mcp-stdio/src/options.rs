use std::time::Duration;

use mcp_jsonrpc::Limits;

use crate::trace::Trace;

/// Bounds of one connection. Every one has a default and can be set.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Bounds of one message: bytes, depth, batch length. A message over them fails alone.
    pub limits: Limits,
    /// Requests of the peer that may be under way at once; one more is refused with -32603. As many notifications may
    /// wait in their handlers; one more is dropped. Default 256.
    pub max_in_flight: usize,
    /// Bytes that may wait to be written. Beyond, events and calls wait for room, and a server whose answers alone
    /// come to that reads nothing more until the peer has taken some; a client reads on, and closes the connection at
    /// 16 times as much. Default 1 MiB.
    pub max_unsent: usize,
    /// How long accepted requests may run on after the end of input. Default 10 s.
    pub drain: Duration,
    /// Sees every message. Default none.
    pub trace: Option<Trace>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            max_in_flight: 256,
            max_unsent: 1024 * 1024,
            drain: Duration::from_secs(10),
            trace: None,
        }
    }
}

impl Options {
    /// Sets [`Options::limits`].
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets [`Options::max_in_flight`].
    #[must_use]
    pub fn with_max_in_flight(mut self, requests: usize) -> Self {
        self.max_in_flight = requests;
        self
    }

    /// Sets [`Options::max_unsent`].
    #[must_use]
    pub fn with_max_unsent(mut self, bytes: usize) -> Self {
        self.max_unsent = bytes;
        self
    }

    /// Sets [`Options::drain`].
    #[must_use]
    pub fn with_drain(mut self, time: Duration) -> Self {
        self.drain = time;
        self
    }

    /// Sets [`Options::trace`].
    #[must_use]
    pub fn with_trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }
}
