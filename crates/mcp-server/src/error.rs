use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use mcp_jsonrpc::{ErrorObject, RawJson, codes};
use mcp_types::{CallToolResult, ClientCapabilities, ContentBlock, Revision, wire};

/// A server that cannot be built, or a change of its lists that cannot be made. The programmer is at fault.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct BuildError {
    what: String,
    #[source]
    source: Option<mcp_schema::SchemaError>,
}

impl BuildError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            source: None,
        }
    }

    pub(crate) fn schema(tool: &str, which: &str, source: mcp_schema::SchemaError) -> Self {
        Self {
            what: format!("tool {tool:?}: its {which} schema cannot be used: {source}"),
            source: Some(source),
        }
    }

    /// Whether a tool's schema is at fault.
    pub fn is_schema(&self) -> bool {
        self.source.is_some()
    }
}

/// Why a handler has no result.
///
/// Any error becomes one by `?`. From a tool it reaches the model as an `isError` result with the error's text; from
/// a resource or a prompt it becomes a JSON-RPC error. What must be a JSON-RPC error everywhere is made by
/// [`Failure::protocol`] and its siblings, or is an [`ErrorObject`] itself. An [`AskError`] is found at any depth below
/// an error of your own, as long as that error names it as its source. It is no [`std::error::Error`] itself, or `?` could not take them all.
pub struct Failure(Box<Kind>);

pub(crate) enum Kind {
    /// The work failed; this is what to say.
    Work {
        content: Vec<ContentBlock>,
        text: String,
    },
    /// The request cannot be served.
    Protocol(ErrorObject),
    /// No such resource.
    NotFound(Option<String>),
    /// The answer to a question is not there yet; the call will come again.
    Interrupt,
}

impl Failure {
    /// The work failed, and this text says why: to the model, so write it for one.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self(Box::new(Kind::Work {
            content: vec![ContentBlock::text(text.clone())],
            text,
        }))
    }

    /// The work failed, and this says why.
    pub fn content(content: impl IntoIterator<Item = ContentBlock>) -> Self {
        Self(Box::new(Kind::Work {
            content: content.into_iter().collect(),
            text: "the work failed".into(),
        }))
    }

    /// A boxed error, or one that turns into a boxed one as `anyhow::Error` does, by its text with all causes. A
    /// question's interrupt below it is found as it is by `?`.
    pub fn boxed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let error: Box<dyn Error + Send + Sync> = error.into();
        if let Some(failure) = asked_below(&*error) {
            return failure;
        }
        if let Some(object) = error.downcast_ref::<ErrorObject>() {
            return Self::protocol(object.clone());
        }
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(one) = cause {
            let more = one.to_string();
            // Some errors repeat their cause in their own text.
            if !text.contains(&more) {
                text.push_str(": ");
                text.push_str(&more);
            }
            cause = one.source();
        }
        Self::text(text)
    }

    /// An error that is no `std::error::Error`, by its text alone. Never for one that may hold an [`AskError`]: the
    /// question in it would be lost.
    pub fn display(error: impl fmt::Display) -> Self {
        Self::text(format!("{error:#}"))
    }

    /// The request cannot be served at all.
    pub fn protocol(error: ErrorObject) -> Self {
        Self(Box::new(Kind::Protocol(error)))
    }

    /// The parameters are wrong (-32602).
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::protocol(ErrorObject::invalid_params(message))
    }

    /// There is no such resource: -32002 up to 2025-11-25, -32602 after. The text is made from its URI.
    pub fn not_found() -> Self {
        Self(Box::new(Kind::NotFound(None)))
    }

    /// There is no such resource, in these words.
    pub fn not_found_text(text: impl Into<String>) -> Self {
        Self(Box::new(Kind::NotFound(Some(text.into()))))
    }

    pub(crate) fn as_kind(&self) -> &Kind {
        &self.0
    }

    /// As a tool result, or as the error that the call gets.
    pub(crate) fn into_tool_result(self) -> Result<CallToolResult, Self> {
        match *self.0 {
            Kind::Work { content, .. } => Ok(CallToolResult::new(content).with_is_error(true)),
            Kind::NotFound(text) => Ok(CallToolResult::error(text.unwrap_or_else(|| "not found".into()))),
            other => Err(Self(Box::new(other))),
        }
    }

    /// As a JSON-RPC error. None for an interrupt.
    pub(crate) fn into_error_object(self, revision: Revision, uri: Option<&str>) -> Option<ErrorObject> {
        Some(match *self.0 {
            Kind::Work { text, .. } => ErrorObject::internal(text),
            Kind::Protocol(error) => known_in(revision, error),
            Kind::NotFound(text) => resource_not_found(revision, uri.unwrap_or_default(), text),
            Kind::Interrupt => return None,
        })
    }
}

/// Codes that a revision must not see become the nearest that it may (2026-07-28: schema, "Error codes"). They come
/// from handlers that pass on what another server said.
fn known_in(revision: Revision, mut error: ErrorObject) -> ErrorObject {
    error.code = match error.code {
        codes::RESOURCE_NOT_FOUND if revision.is_stateless() => codes::INVALID_PARAMS,
        codes::URL_ELICITATION_REQUIRED if revision != Revision::V2025_11_25 => codes::INTERNAL_ERROR,
        code => code,
    };
    error
}

/// -32002 up to 2025-11-25, -32602 from 2026-07-28 (P157), with the URI as data.
pub(crate) fn resource_not_found(revision: Revision, uri: &str, text: Option<String>) -> ErrorObject {
    #[derive(serde::Serialize)]
    struct Data<'a> {
        uri: &'a str,
    }
    let code = if revision.is_stateless() {
        codes::INVALID_PARAMS
    } else {
        codes::RESOURCE_NOT_FOUND
    };
    ErrorObject::new(code, text.unwrap_or_else(|| format!("Resource {uri} not found")))
        .with_data(&Data { uri })
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        if let Some(failure) = asked_below(&error) {
            return failure;
        }
        match (&error as &dyn Error).downcast_ref::<ErrorObject>() {
            Some(object) => Self::protocol(object.clone()),
            None => Self::text(error.to_string()),
        }
    }
}

/// What a question that has no answer makes of the call; it may sit below errors of the author's own.
fn asked_below(error: &(dyn Error + 'static)) -> Option<Failure> {
    let mut cause = Some(error);
    while let Some(one) = cause {
        // Not the error around it: wrappers that forward everything (`#[error(transparent)]`) hide that one.
        if let Some(kind) = one.downcast_ref::<AskKind>() {
            return kind.as_failure();
        }
        cause = one.source();
    }
    None
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Work { text, .. } => write!(f, "Failure({text:?})"),
            Kind::Protocol(error) => write!(f, "Failure({error})"),
            Kind::NotFound(_) => f.write_str("Failure(not found)"),
            Kind::Interrupt => f.write_str("Failure(interrupted by a question)"),
        }
    }
}

/// Why a question has no answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{text}")]
pub struct AskError {
    #[source]
    kind: AskKind,
    text: Cow<'static, str>,
}

#[derive(Debug, Clone, thiserror::Error)]
enum AskKind {
    #[error("a question waits for its answer")]
    Interrupt,
    #[error("the client cannot be asked")]
    Unsupported { required: Option<RawJson> },
    #[error("{0}")]
    Refused(ErrorObject),
    /// The text is there where the answer came with the call, which is what is wrong then.
    #[error("malformed answer")]
    Malformed { in_call: Option<String> },
    #[error("no answer")]
    Lost,
}

impl AskError {
    /// The call ends here and comes again with the answer. Pass it on by `?`.
    pub(crate) fn interrupt() -> Self {
        Self {
            kind: AskKind::Interrupt,
            text: "the answer is not there yet; the call will come again".into(),
        }
    }

    /// The client cannot be asked this. `stateless` tells whether the protocol has an error for it.
    pub(crate) fn unsupported(what: &str, required: &ClientCapabilities, stateless: bool) -> Self {
        let required = if stateless {
            RawJson::encode(required).ok()
        } else {
            None
        };
        Self {
            kind: AskKind::Unsupported { required },
            text: format!("the client does not support {what}").into(),
        }
    }

    /// The revision has no words for it.
    pub(crate) fn inexpressible(error: wire::EncodeError) -> Self {
        Self {
            kind: AskKind::Unsupported { required: None },
            text: error.to_string().into(),
        }
    }

    pub(crate) fn refused(error: ErrorObject) -> Self {
        Self {
            text: format!("the client refused: {}", error.message).into(),
            kind: AskKind::Refused(error),
        }
    }

    pub(crate) fn malformed(why: impl fmt::Display, by_call: bool) -> Self {
        let text = format!("the client's answer is malformed: {why}");
        Self {
            kind: AskKind::Malformed {
                in_call: by_call.then(|| text.clone()),
            },
            text: text.into(),
        }
    }

    pub(crate) fn lost(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind: AskKind::Lost,
            text: text.into(),
        }
    }

    /// Whether the call is over for now and will come again with the answer. Pass it on.
    pub fn is_interrupt(&self) -> bool {
        matches!(self.kind, AskKind::Interrupt)
    }

    /// Whether the client did not declare what the question needs, or its revision cannot say it.
    pub fn is_unsupported(&self) -> bool {
        matches!(self.kind, AskKind::Unsupported { .. })
    }

    /// What the client said, where it answered with an error.
    pub fn error_object(&self) -> Option<&ErrorObject> {
        match &self.kind {
            AskKind::Refused(error) => Some(error),
            _ => None,
        }
    }
}

impl AskKind {
    /// What it makes of the call. None where it is a failure of the work like any other.
    fn as_failure(&self) -> Option<Failure> {
        #[derive(serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Data<'a> {
            required_capabilities: &'a RawJson,
        }
        match self {
            AskKind::Interrupt => Some(Failure(Box::new(Kind::Interrupt))),
            AskKind::Unsupported {
                required: Some(required),
            } => {
                let text = "Missing required client capability";
                let error =
                    ErrorObject::new(codes::MISSING_REQUIRED_CLIENT_CAPABILITY, text).with_data(&Data {
                        required_capabilities: required,
                    });
                Some(Failure::protocol(error))
            }
            AskKind::Malformed { in_call: Some(text) } => {
                Some(Failure::invalid_params(format!("Invalid params: {text}")))
            }
            _ => None,
        }
    }
}
