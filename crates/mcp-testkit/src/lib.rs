#![doc = include_str!("../README.md")]

mod drive;
mod drop_anywhere;
mod error;
mod pattern;
mod peer;
mod replay;
mod transcript;

pub use drive::{Answer, Driver};
pub use drop_anywhere::drop_anywhere;
pub use error::TestError;
pub use pattern::{Bindings, matches, pretty};
pub use peer::{ScriptedPeer, pair};
pub use replay::{Divergence, Replayed, replay_both_ways};
pub use transcript::{Play, Said, Transcript, play};
