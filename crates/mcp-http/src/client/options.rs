use std::time::Duration;

/// Bounds of a client's connection. Every one has a default and can be set.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Bytes of one answer, and of one event. Default 10 MiB.
    pub max_answer: usize,
    /// How long a server may take to begin its response to a notification or an answer of ours. Default 10 s.
    pub send_timeout: Duration,
    /// How often a broken stream is taken up again before its call is given up; 0 means never. Default 5.
    pub max_resumes: u32,
    /// The first wait before a stream is taken up again, where the server named none; it doubles up to 30 s.
    /// Default 500 ms.
    pub first_wait: Duration,
    /// How many redirects of one request are followed. Default 3.
    pub max_redirects: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_answer: 10 * 1024 * 1024,
            send_timeout: Duration::from_secs(10),
            max_resumes: 5,
            first_wait: Duration::from_millis(500),
            max_redirects: 3,
        }
    }
}

impl Options {
    /// Sets [`Options::max_answer`].
    #[must_use]
    pub fn max_answer(mut self, bytes: usize) -> Self {
        self.max_answer = bytes;
        self
    }

    /// Sets [`Options::send_timeout`].
    #[must_use]
    pub fn send_timeout(mut self, time: Duration) -> Self {
        self.send_timeout = time;
        self
    }

    /// Sets [`Options::max_resumes`] and [`Options::first_wait`].
    #[must_use]
    pub fn resumes(mut self, count: u32, first_wait: Duration) -> Self {
        (self.max_resumes, self.first_wait) = (count, first_wait);
        self
    }
}

/// The longest wait before a stream is taken up again.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(30);
