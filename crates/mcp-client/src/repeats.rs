//! Arguments that HTTP repeats in headers, so that proxies can decide by them (2026-07-28: basic/transports, "Custom
//! Headers from Tool Parameters").

use std::sync::Arc;

use mcp_exchange::ParamHeaders;
use mcp_jsonrpc::{RawJson, codes};
use mcp_schema::HeaderParam;
use serde_json::Value;

use crate::client::Client;
use crate::error::ClientError;

/// What a call of one tool has to repeat.
pub(crate) struct Repeats {
    pub(crate) tool: String,
    /// None where the tool's schema was never seen, or has changed since.
    params: Option<Arc<[HeaderParam]>>,
    /// A refusal was a reason to list the tools again; the second one is final.
    relisted: bool,
}

impl Repeats {
    pub(crate) fn new(tool: &str, params: Option<Arc<[HeaderParam]>>) -> Self {
        Self {
            tool: tool.to_owned(),
            params,
            relisted: false,
        }
    }

    /// The headers for these parameters: an object that is not closed yet.
    pub(crate) fn headers(&self, members: &[u8]) -> Option<ParamHeaders> {
        #[derive(serde::Deserialize)]
        struct Params {
            arguments: Option<Value>,
        }
        let params = self.params.as_deref().filter(|params| !params.is_empty())?;
        let mut object = Vec::with_capacity(members.len() + 1);
        object.extend_from_slice(members);
        object.push(b'}');
        let arguments = serde_json::from_slice::<Params>(&object).ok()?.arguments?;
        let mut headers = ParamHeaders::new();
        for param in params {
            let steps = &mut param.path.iter();
            match steps.try_fold(&arguments, |value, step| value.get(step)) {
                Some(Value::String(text)) => headers.push(&param.name, Some(text)),
                Some(value @ (Value::Bool(_) | Value::Number(_))) => {
                    headers.push(&param.name, Some(&value.to_string()));
                }
                // Absent, null, or nothing that a header can say: the server judges the argument.
                _ => {}
            }
        }
        Some(headers)
    }

    /// Whether a call that failed like this is worth another attempt: the server missed headers, and a new listing says
    /// which. It ran nothing, so nothing runs twice.
    pub(crate) async fn learn(&mut self, client: &Client, error: &ClientError) -> bool {
        let refused = error
            .error_object()
            .is_some_and(|error| error.code == codes::HEADER_MISMATCH);
        if !refused || std::mem::replace(&mut self.relisted, true) {
            return false;
        }
        tracing::debug!(
            tool = self.tool,
            "the server missed headers; its tools are listed again"
        );
        if client.list_tools().await.is_err() {
            return false;
        }
        let params = client.0.header_params(&self.tool);
        let changed = params.is_some() && params != self.params;
        self.params = params;
        changed
    }
}

/// Whether the tool can be called over HTTP: one whose annotations break the rules is left out, with a warning.
pub(crate) fn is_usable(tool: &str, schema: &RawJson) -> bool {
    match mcp_schema::header_params(schema) {
        Ok(_) => true,
        Err(error) => {
            tracing::warn!(tool, %error, "a tool was left out: its x-mcp-header annotations break the rules");
            false
        }
    }
}
