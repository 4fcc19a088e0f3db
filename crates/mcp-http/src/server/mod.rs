//! The server side: an endpoint for hyper and axum.
