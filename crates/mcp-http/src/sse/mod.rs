//! Server-sent events: writing them, and reading them however they are cut.

mod decode;
mod encode;

pub use decode::{DecodeError, Decoder, Event};
pub use encode::{comment, event, priming, retry};
