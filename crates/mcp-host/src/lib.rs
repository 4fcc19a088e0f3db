//! What a host of Model Context Protocol servers needs around the protocol itself.
//!
//! - [`config`] reads the files in which people list their servers.
//! - [`workspace`] is a set of file tools that stay inside one folder.
//!
//! The two modules know nothing of each other, nor of connections.

pub mod config;
pub mod workspace;
