use mcp_jsonrpc::{JsonKind, RawJson};
use serde::Deserialize;

use super::common::cacheable;
use super::{CacheScope, ContentBlock, Icon};
use crate::Revision;
use crate::Revisions;
use crate::entity::entity;
use crate::value::{JsonObject, Meta, Millis};
use crate::wire::{Members, Writer};

entity! {
    /// A tool: what a model may call. Everything in it is untrusted unless the server is trusted.
    Tool {
        /// Programmatic name, unique in the server.
        required name: String = "name",
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it does, for the model.
        optional description/with_description: String = "description",
        /// JSON Schema of the arguments; its root has `type: object`.
        required input_schema: RawJson = "inputSchema",
        /// JSON Schema of `structuredContent`. Before 2026-07-28 left out unless its root has `type: object`.
        raw output_schema/with_output_schema: RawJson = "outputSchema" if output_schema_is_expressible,
        /// Hints on what it does to the world.
        optional annotations/with_annotations: ToolAnnotations = "annotations",
        /// Pictures of it.
        list icons/with_icons: Icon = "icons",
        /// Whether it can be run as a task (2025-11-25).
        optional execution/with_execution: ToolExecution = "execution",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

impl Tool {
    /// The name for people: `title`, else the one in the annotations, else the programmatic one.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }
}

fn output_schema_is_expressible(tool: &Tool, out: &Writer<'_>) -> bool {
    #[derive(Deserialize)]
    struct Root {
        r#type: RawJson,
    }
    if !out.is_before(Revision::V2026_07_28) {
        return true;
    }
    let root = tool.output_schema.as_ref().map(RawJson::parse::<Root>);
    matches!(root, Some(Ok(root)) if root.r#type.as_bytes() == br#""object""#)
}

entity! {
    /// Hints on what a tool does to the world; untrusted.
    #[derive(Default)]
    ToolAnnotations {
        /// Name for people.
        optional title/with_title: String = "title",
        /// Changes nothing. Unset means false.
        optional read_only_hint/with_read_only_hint: bool = "readOnlyHint",
        /// May destroy, not only add. Unset means true.
        optional destructive_hint/with_destructive_hint: bool = "destructiveHint",
        /// A second call with the same arguments does nothing more. Unset means false.
        optional idempotent_hint/with_idempotent_hint: bool = "idempotentHint",
        /// Reaches into an open world. Unset means true.
        optional open_world_hint/with_open_world_hint: bool = "openWorldHint",
    }
}

entity! {
    /// How a tool can be run (2025-11-25).
    #[derive(Default)]
    ToolExecution {
        /// `forbidden` (unset means that), `optional` or `required`.
        optional task_support/with_task_support: String = "taskSupport",
    }
}

entity! {
    /// Result of `tools/list`.
    ListToolsResult [result] {
        /// A page of tools.
        required tools: Vec<Tool> = "tools",
        /// Where the next page begins; absent on the last.
        optional next_cursor/with_next_cursor: String = "nextCursor",
        /// Fresh for so many milliseconds.
        cached ttl_ms: Millis = "ttlMs",
        /// Who may share it.
        cached cache_scope: CacheScope = "cacheScope",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

cacheable!(ListToolsResult);

entity! {
    /// Parameters of `tools/call`.
    CallToolParams {
        /// Which tool.
        required name: String = "name",
        /// The arguments, an object.
        raw arguments/with_arguments: RawJson = "arguments",
        /// Asks for a task (2025-11-25).
        raw task/with_task: RawJson = "task",
        /// Answers to what the server asked, by its keys (2026-07-28).
        object input_responses/with_input_responses: JsonObject = "inputResponses",
        /// What the server wants back (2026-07-28).
        optional request_state/with_request_state: String = "requestState",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Result of `tools/call`.
    ///
    /// Reads the `toolResult` of 2024-10-07 as one text block, and writes it there beside `content`.
    #[derive(Default)]
    CallToolResult [result] {
        /// What the tool says.
        expected content: Vec<ContentBlock> = "content",
        /// The same for programs. Before 2026-07-28 left out unless it is an object.
        raw structured_content/with_structured_content: RawJson = "structuredContent" if structure_is_expressible,
        /// The tool failed; the text says why.
        flag is_error/with_is_error: bool = "isError",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
    settle take_tool_result;
    tail write_tool_result;
}

impl CallToolResult {
    /// A result of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([ContentBlock::text(text)])
    }

    /// A failure, with a text that says why.
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(text).with_is_error(true)
    }
}

fn structure_is_expressible(result: &CallToolResult, out: &Writer<'_>) -> bool {
    let is_object = result.structured_content.as_ref().is_some_and(RawJson::is_object);
    is_object || !out.is_before(Revision::V2026_07_28)
}

fn take_tool_result(result: &mut CallToolResult) {
    if !result.content.is_empty() {
        // A peer that writes both means the same by both.
        result.extra.remove("toolResult");
    } else if let Some(old) = result.extra.remove("toolResult") {
        let text = match old.kind() {
            JsonKind::String => old.parse().unwrap_or_default(),
            _ => old.as_str().to_owned(),
        };
        result.content.push(ContentBlock::text(text));
    }
}

fn write_tool_result(result: &CallToolResult, members: &mut Members<'_, '_>) {
    if members.writer().revision() != Some(Revision::V2024_10_07) {
        return;
    }
    match result.content.as_slice() {
        [ContentBlock::Text(block)] => members.member("toolResult", Revisions::ALL, &block.text),
        blocks => members.member("toolResult", Revisions::ALL, blocks),
    }
}
