#![doc = include_str!("../README.md")]

mod decoder;
mod encode;
mod error;
#[cfg(feature = "tokio")]
mod tokio;

pub use decoder::{Line, LineDecoder};
pub use encode::encode_line;
pub use error::{BufferExceeded, RawLineBreak};
#[cfg(feature = "tokio")]
pub use tokio::LineCodec;
