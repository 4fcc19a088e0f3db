//! The server side: an endpoint for hyper and axum.

mod answer;
mod body;
mod endpoint;
mod guard;
mod lane;
mod listen;
mod options;
mod pair;
mod post;
mod session;
mod stateless;
mod stream;
mod table;

pub use body::Body;
pub use endpoint::Endpoint;
pub use listen::{Listening, serve};
pub use options::Options;
