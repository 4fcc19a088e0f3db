/// Bounds on what [`scan`](crate::scan) accepts. Every bound has a default that suits stdio and HTTP alike.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one frame. Default 10 MiB; never more than `u32::MAX`.
    pub max_bytes: usize,
    /// Nesting of objects and arrays, the message's own object included. Default 128.
    pub max_depth: usize,
    /// Messages in one batch. Default 64.
    pub max_batch: usize,
    /// Bytes of a string request id. Default 1024.
    pub max_id_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 10 * 1024 * 1024,
            max_depth: 128,
            max_batch: 64,
            max_id_bytes: 1024,
        }
    }
}

impl Limits {
    /// Sets [`Limits::max_bytes`].
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes.min(u32::MAX as usize);
        self
    }

    /// Sets [`Limits::max_depth`].
    #[must_use]
    pub fn with_max_depth(mut self, depth: usize) -> Self {
        self.max_depth = depth;
        self
    }

    /// Sets [`Limits::max_batch`].
    #[must_use]
    pub fn with_max_batch(mut self, messages: usize) -> Self {
        self.max_batch = messages;
        self
    }

    /// Sets [`Limits::max_id_bytes`].
    #[must_use]
    pub fn with_max_id_bytes(mut self, bytes: usize) -> Self {
        self.max_id_bytes = bytes;
        self
    }
}
