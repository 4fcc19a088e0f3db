//! Dialogues as data.

mod parse;
mod play;

pub use parse::Transcript;
pub use play::{Play, Said, play};
