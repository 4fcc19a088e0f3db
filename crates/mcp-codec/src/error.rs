/// The report about a line that was dropped because it is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("buffer exceeded {limit} bytes")]
#[non_exhaustive]
pub struct BufferExceeded {
    /// How many bytes a message may have.
    pub limit: usize,
    /// How many bytes the line had, without its newline.
    pub bytes: u64,
}

/// A message that is not one line and would be read as several. The writer's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a raw line break in a message, at byte {at}")]
#[non_exhaustive]
pub struct RawLineBreak {
    /// Where, in bytes from the start of the message.
    pub at: usize,
}
