use std::borrow::Cow;

use bytes::Bytes;

use crate::error::{ErrorObject, ParseError, ScanError};
use crate::id::RequestId;
use crate::raw::RawJson;

/// What one frame holds.
#[derive(Debug, Clone)]
pub enum Frame {
    /// One message.
    One(Message),
    /// A batch; it exists in MCP 2025-03-26 only. Each element stands or falls alone.
    Batch(Vec<Result<Message, ScanError>>),
}

/// A message.
#[derive(Debug, Clone)]
pub enum Message {
    /// Has an id and wants one answer.
    Request(Request),
    /// Has no id and gets none.
    Notification(Call),
    /// Answers a request.
    Response(Response),
}

/// A call that wants an answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// Copied into the answer.
    pub id: RequestId,
    /// What is asked.
    pub call: Call,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Response {
    /// Which request it answers; none (absent or null) for a report about something unreadable.
    pub id: Option<RequestId>,
    /// What it says.
    pub outcome: Result<RawJson, ErrorObject>,
}

/// A method and its parameters: the body of a request or a notification.
#[derive(Debug, Clone)]
pub struct Call {
    pub(crate) method: Bytes,
    pub(crate) params: Option<RawJson>,
    /// For each [`ParamKey`] the range of its value in `params`; empty where absent.
    pub(crate) keys: [(u32, u32); ParamKey::COUNT],
}

/// The top-level members of `params` that the scan finds in passing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ParamKey {
    Name,
    Uri,
    Arguments,
    Meta,
    InputResponses,
    RequestState,
}

impl ParamKey {
    pub(crate) const COUNT: usize = 6;

    pub(crate) const ALL: [(ParamKey, &'static str); Self::COUNT] = [
        (ParamKey::Name, "name"),
        (ParamKey::Uri, "uri"),
        (ParamKey::Arguments, "arguments"),
        (ParamKey::Meta, "_meta"),
        (ParamKey::InputResponses, "inputResponses"),
        (ParamKey::RequestState, "requestState"),
    ];
}

impl Call {
    /// A call to send. `params` should be an object.
    pub fn new(method: impl Into<String>, params: Option<RawJson>) -> Self {
        let keys = params.as_ref().map(crate::scan::param_keys).unwrap_or_default();
        Self {
            method: Bytes::from(method.into()),
            params,
            keys,
        }
    }

    /// The method.
    pub fn method(&self) -> &str {
        std::str::from_utf8(&self.method).unwrap_or_default()
    }

    /// The parameters as they came; `null` counts as absent.
    pub fn params(&self) -> Option<&RawJson> {
        self.params.as_ref()
    }

    /// A top-level member of the parameters, without another walk.
    pub fn param(&self, key: ParamKey) -> Option<RawJson> {
        let (start, end) = self.keys[key as usize];
        let params = self.params.as_ref()?;
        (start < end)
            .then(|| RawJson::trusted(params.clone().into_bytes().slice(start as usize..end as usize)))
    }

    /// A top-level string member of the parameters. Borrows unless the string has escapes.
    ///
    /// # Errors
    /// When the member is there and not a string.
    pub fn param_str(&self, key: ParamKey) -> Result<Option<Cow<'_, str>>, ParseError> {
        let (start, end) = self.keys[key as usize];
        match &self.params {
            Some(params) if start < end => {
                let bytes = &params.as_bytes()[start as usize..end as usize];
                if bytes.first() == Some(&b'"')
                    && !bytes.contains(&b'\\')
                    && let Ok(text) = std::str::from_utf8(&bytes[1..bytes.len() - 1])
                {
                    return Ok(Some(Cow::Borrowed(text)));
                }
                serde_json::from_slice::<String>(bytes)
                    .map(|text| Some(Cow::Owned(text)))
                    .map_err(ParseError::new)
            }
            _ => Ok(None),
        }
    }

    /// Parses the parameters; absent ones as `{}`, and an empty array likewise.
    ///
    /// # Errors
    /// When they have not the shape of `T`, or are an array with elements: MCP has parameters by name only, and
    /// serde would fill a struct by position.
    pub fn parse<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, ParseError> {
        match &self.params {
            Some(params) if params.is_object() => params.parse(),
            Some(params) if !params.is_empty_array() => Err(ParseError::new(serde::de::Error::custom(
                "params are not an object",
            ))),
            _ => serde_json::from_slice(b"{}").map_err(ParseError::new),
        }
    }
}
