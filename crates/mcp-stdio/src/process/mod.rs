//! Child servers: start, watch, stop (cargo feature `process`).
//!
//! There is one way to start a program here, [`Command::spawn`], and it always does the same things: it clears the
//! environment and passes the short list of [`environment::inherited`] plus what was configured, it finds the program
//! through the *child's* `PATH`, it runs no shell, it puts the child into its own process group, and it starts to
//! drain standard error at once.
//!
//! Stopping follows the shutdown steps of the specification (2025-11-25: basic/lifecycle, stdio): close the input,
//! wait, ask the group to end, wait, kill the group ([`Grace`]). A [`Child`] that is dropped skips the first step.
//! Every child is reaped.
//!
//! On Windows the child itself is ended, without its descendants; process groups are a Unix notion and job objects
//! need code this crate does not have.

pub mod environment;
pub mod resolve;
pub mod windows;

mod child;
mod command;
mod error;
mod group;
mod report;
mod shown;
mod stderr;
mod supervise;

pub use child::{Child, Stdin, Stdout};
pub use command::Command;
pub use error::SpawnError;
pub use report::{Ending, ExitReport, ExitStatus};
pub use shown::shown;
pub use stderr::StderrLine;
pub use supervise::Grace;
