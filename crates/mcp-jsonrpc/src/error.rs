use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::codes;
use crate::id::RequestId;
use crate::raw::RawJson;

/// The error of a JSON-RPC response (JSON-RPC 2.0 section 5.1). What a peer said, or what we say to it; a local
/// failure such as a timeout is never one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// What kind of error; see [`codes`].
    pub code: i64,
    /// One sentence for people.
    #[serde(default)]
    pub message: Cow<'static, str>,
    /// Anything more, as the sender likes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds data. A value that cannot be encoded is left out.
    #[must_use]
    pub fn with_data<T: Serialize + ?Sized>(mut self, data: &T) -> Self {
        self.data = RawJson::encode(data).ok();
        self
    }

    /// -32601 in the words `Method not found: METHOD`.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(codes::METHOD_NOT_FOUND, format!("Method not found: {method}"))
    }

    /// -32602.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(codes::INVALID_PARAMS, message)
    }

    /// -32600.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(codes::INVALID_REQUEST, message)
    }

    /// -32603.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(codes::INTERNAL_ERROR, message)
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP error {}: {}", self.code, self.message)
    }
}

impl std::error::Error for ErrorObject {}

/// A value that has not the shape its reader needs, or cannot be encoded.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ParseError(serde_json::Error);

impl ParseError {
    pub(crate) fn new(source: serde_json::Error) -> Self {
        Self(source)
    }

    /// Where in the value's text, as a 1-based line and column; zeros where unknown.
    pub fn position(&self) -> (usize, usize) {
        (self.0.line(), self.0.column())
    }
}

/// Which side of a conversation a message that failed belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peerhood {
    /// It has a method: a request or notification.
    Call,
    /// It has a result or an error and no method: an answer. It is never answered.
    Answer,
    /// It cannot be told.
    Unknown,
}

/// What is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanErrorKind {
    /// Not JSON, or not UTF-8.
    Syntax,
    /// Nested deeper than [`Limits::max_depth`](crate::Limits::max_depth).
    TooDeep,
    /// Longer than [`Limits::max_bytes`](crate::Limits::max_bytes).
    TooLong,
    /// An empty batch, or more messages than [`Limits::max_batch`](crate::Limits::max_batch).
    BadBatch,
    /// JSON, but not a message: `jsonrpc` is not `"2.0"`, the id is null or fractional, a member is there twice,
    /// `method` is no string, or there is neither method nor result nor error, or both of these.
    Envelope,
    /// `params` is neither object nor array nor null.
    Params,
}

/// A message that could not be read. Knows the id where that was readable, so that only this message fails.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{what} at byte {offset}")]
pub struct ScanError {
    pub(crate) kind: ScanErrorKind,
    pub(crate) what: Cow<'static, str>,
    pub(crate) offset: usize,
    pub(crate) id: Option<RequestId>,
    pub(crate) peerhood: Peerhood,
}

impl ScanError {
    /// What is wrong.
    pub fn kind(&self) -> ScanErrorKind {
        self.kind
    }

    /// Where, in bytes from the start of the frame.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The message's id, where it was readable.
    pub fn id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }

    /// Whether the message is a call or an answer.
    pub fn peerhood(&self) -> Peerhood {
        self.peerhood
    }

    /// Whether the bytes were no JSON at all.
    pub fn is_syntax(&self) -> bool {
        self.kind == ScanErrorKind::Syntax
    }

    /// The error to answer a request with: `Parse error` (-32700), or what was wrong (-32600, -32602).
    pub fn to_error_object(&self) -> ErrorObject {
        match self.kind {
            ScanErrorKind::Syntax => ErrorObject::new(codes::PARSE_ERROR, "Parse error"),
            ScanErrorKind::Params => ErrorObject::invalid_params(format!("Invalid params: {}", self.what)),
            _ => ErrorObject::invalid_request(format!("Invalid request: {}", self.what)),
        }
    }
}
