use bytes::{BufMut, BytesMut};
use mcp_jsonrpc::{ErrorObject, RawJson, RequestId, encode};
use mcp_types::Revision;
use mcp_types::wire::{self, Wire};

/// The answer of an exchange, encoded once, ready to be written.
///
/// Built by [`Scope::complete`](crate::Scope::complete) and its siblings, so it always carries the right id.
#[derive(Debug)]
pub struct Reply {
    frame: BytesMut,
    hint: StatusHint,
}

/// What an answer is, for transports that have statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusHint {
    /// A result.
    Result,
    /// An error with this code.
    Error(i64),
}

impl Reply {
    /// The whole message, without a line end.
    pub fn into_frame(self) -> BytesMut {
        self.frame
    }

    /// What it is.
    pub fn hint(&self) -> StatusHint {
        self.hint
    }
}

/// Room for the envelope and a small result, so that those take one allocation.
const HEAD: usize = 256;

pub(crate) fn complete<T: Wire + ?Sized>(id: &RequestId, revision: Revision, value: &T) -> Reply {
    let mut out = BytesMut::with_capacity(HEAD);
    encode::result_head(&mut out, id);
    match wire::encode(&mut out, value, revision) {
        Ok(()) => finish(out),
        Err(error) => fail(id, &ErrorObject::internal(format!("Internal error: {error}"))),
    }
}

pub(crate) fn complete_raw(id: &RequestId, value: &RawJson) -> Reply {
    let value = value.as_bytes();
    // The id, the envelope, and a line end.
    let mut out = BytesMut::with_capacity(96 + value.len());
    encode::result_head(&mut out, id);
    out.put_slice(value);
    finish(out)
}

fn finish(mut out: BytesMut) -> Reply {
    encode::result_tail(&mut out);
    Reply {
        frame: out,
        hint: StatusHint::Result,
    }
}

pub(crate) fn fail(id: &RequestId, error: &ErrorObject) -> Reply {
    let mut out = BytesMut::with_capacity(HEAD);
    encode::error(&mut out, Ok(id), error);
    Reply {
        frame: out,
        hint: StatusHint::Error(error.code),
    }
}
