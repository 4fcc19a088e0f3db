#![doc = include_str!("../README.md")]

mod builder;
mod calls;
mod catalogue;
mod client;
mod connect;
mod drive;
mod error;
mod inbound;
mod listen;
mod listeners;
mod lists;
mod params;
mod questions;
mod repeats;
mod request;
mod rounds;

pub use builder::ClientBuilder;
pub use client::Client;
pub use error::ClientError;
pub use listen::{Change, Subscription};
pub use request::Request;
