#![doc = include_str!("../README.md")]

mod error;
mod inbound;
mod negotiate;
mod seal;
mod slots;

pub use error::SessionError;
pub use inbound::{Admission, ClientInbound, NoteVerdict, ServerInbound, Verdict, batch_refused};
pub use negotiate::{Probe, Step, answer_version, unsupported_version};
pub use seal::{Binding, HmacSealer, RoundState, StateSealer, open_round, seal_round};
pub use slots::Slots;
