use mcp_jsonrpc::{Call, ErrorObject, ParamKey, RawJson};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The members of a request's `_meta` that the session rules read, as they stand in the message.
///
/// 2026-07-28: basic/index, "_meta"; `progressToken` in every revision.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct MetaKeys<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientInfo")]
    pub(crate) info: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    pub(crate) log_level: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
}

impl<'a> MetaKeys<'a> {
    /// Reads `_meta`; absent and null are empty.
    pub(crate) fn read(meta: Option<&'a RawJson>) -> Result<Self, ErrorObject> {
        match meta {
            None => Ok(Self::default()),
            Some(meta) if meta.is_null() => Ok(Self::default()),
            Some(meta) if !meta.is_object() => Err(ErrorObject::invalid_params(
                "Invalid params: _meta is not an object",
            )),
            Some(meta) => meta
                .parse()
                .map_err(|error| ErrorObject::invalid_params(format!("Invalid params: _meta: {error}"))),
        }
    }

    /// The progress token, which must be a string or an integer, exactly as it came.
    pub(crate) fn progress_token(&self) -> Result<Option<RawJson>, ErrorObject> {
        let Some(token) = self
            .progress_token
            .map(RawValue::get)
            .filter(|token| *token != "null")
        else {
            return Ok(None);
        };
        let integer = token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok();
        if token.starts_with('"') || integer {
            return Ok(RawJson::from_text(token).ok());
        }
        Err(ErrorObject::invalid_params(
            "Invalid params: progressToken is neither a string nor an integer",
        ))
    }
}

/// The raw `_meta` of a call.
pub(crate) fn of(call: &Call) -> Option<RawJson> {
    call.param(ParamKey::Meta)
}
