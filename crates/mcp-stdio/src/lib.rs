#![doc = include_str!("../README.md")]

mod connect;
mod connection;
mod dispatch;
mod lane;
mod link;
mod options;
#[cfg(feature = "process")]
pub mod process;
mod serve;
mod shared;
mod standard;
mod trace;

pub use connect::{PairEnd, Streams, pair, streams};
pub use link::PipeLink;
pub use options::Options;
pub use serve::{serve, serve_on, serve_with};
pub use trace::{Direction, Trace};
