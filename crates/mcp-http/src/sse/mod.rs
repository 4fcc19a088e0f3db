//! Server-sent events: writing them, and reading them however they are cut.

mod decode;
mod encode;
