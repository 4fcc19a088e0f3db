use mcp_jsonrpc::RawJson;
use mcp_types::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Failure;

/// What a tool may return.
pub trait ToolOutput: Send {
    /// The schema of the structured part, where the type has one; it becomes the tool's `outputSchema`.
    ///
    /// # Errors
    /// When the type's schema cannot be used.
    fn schema() -> Option<Result<RawJson, mcp_schema::SchemaError>> {
        None
    }

    /// The result on the wire.
    ///
    /// # Errors
    /// When the tool failed, or its value cannot be encoded.
    fn into_result(self) -> Result<CallToolResult, Failure>;
}

/// A value for programs: it becomes `structuredContent`, its schema the tool's `outputSchema`, and its JSON text the
/// text for models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema + Send> ToolOutput for Json<T> {
    fn schema() -> Option<Result<RawJson, mcp_schema::SchemaError>> {
        Some(mcp_schema::derive_output::<T>())
    }

    fn into_result(self) -> Result<CallToolResult, Failure> {
        let value = RawJson::encode(&self.0)?;
        Ok(CallToolResult::text(value.as_str()).with_structured_content(value))
    }
}

impl ToolOutput for CallToolResult {
    fn into_result(self) -> Result<CallToolResult, Failure> {
        Ok(self)
    }
}

impl ToolOutput for String {
    fn into_result(self) -> Result<CallToolResult, Failure> {
        Ok(CallToolResult::text(self))
    }
}

impl ToolOutput for &'static str {
    fn into_result(self) -> Result<CallToolResult, Failure> {
        Ok(CallToolResult::text(self))
    }
}

/// No content.
impl ToolOutput for () {
    fn into_result(self) -> Result<CallToolResult, Failure> {
        Ok(CallToolResult::default())
    }
}

impl ToolOutput for ContentBlock {
    fn into_result(self) -> Result<CallToolResult, Failure> {
        Ok(CallToolResult::new([self]))
    }
}

impl ToolOutput for Vec<ContentBlock> {
    fn into_result(self) -> Result<CallToolResult, Failure> {
        Ok(CallToolResult::new(self))
    }
}

impl<T: ToolOutput, E: Into<Failure> + Send> ToolOutput for Result<T, E> {
    fn schema() -> Option<Result<RawJson, mcp_schema::SchemaError>> {
        T::schema()
    }

    fn into_result(self) -> Result<CallToolResult, Failure> {
        match self {
            Ok(value) => value.into_result(),
            Err(error) => Err(error.into()),
        }
    }
}
