#![doc = include_str!("../README.md")]

pub mod codes;
pub mod encode;
mod error;
mod id;
mod limits;
mod message;
mod raw;
mod scan;

pub use error::{ErrorObject, ParseError, Peerhood, ScanError, ScanErrorKind};
pub use id::RequestId;
pub use limits::Limits;
pub use message::{Call, Frame, Message, ParamKey, Request, Response};
pub use raw::{JsonKind, RawJson};
pub use scan::scan;
