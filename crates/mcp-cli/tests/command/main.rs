//! Runs the real program, one command at a time.

// The scripts that stand for servers are of `sh`.
#![cfg(unix)]

mod alone;
mod common;
mod serve;
mod servers;
