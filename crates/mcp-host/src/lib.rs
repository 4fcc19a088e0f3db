//! What a host of Model Context Protocol servers needs around the protocol itself.
//!
//! - [`config`] reads the files in which people list their servers.
//! - [`launch`] starts the servers of such a file, joins their tools in one registry, and ends them.
//! - [`workspace`] is a set of file tools that stay inside one folder.
//! - [`serve`] offers those tools, or a host's own, as a server.
//!
//! The modules `config` and `workspace` know nothing of each other, nor of connections.

pub mod config;
pub mod launch;
pub mod serve;
pub mod workspace;

/// The code of the project's README and of its documents, compiled.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/eras.md")]
    struct Eras;
}
