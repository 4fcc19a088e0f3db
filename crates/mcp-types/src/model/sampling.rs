use std::fmt;

use mcp_jsonrpc::RawJson;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{AudioContent, ContentBlock, ImageContent, Role, TextContent, Tool};
use crate::entity::{FromMembers, entity, plain_words, tagged, words};
use crate::value::{JsonObject, Meta, Number};
use crate::wire::{Members, Wire, Writer};
use crate::{Revision, Revisions};

words! {
    /// Whose context to add to a prompt.
    IncludeContext {
        /// Nobody's.
        None = "none",
        /// That of the server that asks.
        ThisServer = "thisServer",
        /// That of all servers.
        AllServers = "allServers",
    }
}

words! {
    /// Whether the model may or must use tools.
    ToolChoiceMode {
        /// It may.
        Auto = "auto",
        /// It must.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

plain_words!(IncludeContext, ToolChoiceMode);

entity! {
    /// Whether the model may or must use tools.
    #[derive(Default)]
    ToolChoice {
        /// Unset means auto.
        optional mode/with_mode: ToolChoiceMode = "mode",
    }
}

entity! {
    /// What sort of model is wanted; priorities go from 0 to 1.
    #[derive(Default)]
    ModelPreferences {
        /// Names of models, best first; a part of a name will do.
        list hints/with_hints: ModelHint = "hints",
        /// How much cost matters.
        optional cost_priority/with_cost_priority: Number = "costPriority",
        /// How much speed matters.
        optional speed_priority/with_speed_priority: Number = "speedPriority",
        /// How much ability matters.
        optional intelligence_priority/with_intelligence_priority: Number = "intelligencePriority",
    }
}

entity! {
    /// A model, by a part of its name.
    #[derive(Default)]
    ModelHint {
        /// The part.
        optional name/with_name: String = "name",
    }
}

tagged! {
    /// A piece of what a model hears or says.
    SamplingContent by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// A picture.
        Image(ImageContent) = "image",
        /// Sound. Before 2025-03-26 written as a text that says so.
        Audio(AudioContent) = "audio",
        /// The model calls a tool; since 2025-11-25.
        ToolUse(ToolUseContent) = "tool_use",
        /// What the tool answered; since 2025-11-25.
        ToolResult(ToolResultContent) = "tool_result",
    }
}

impl SamplingContent {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }
}

impl Wire for SamplingContent {
    fn write(&self, out: &mut Writer<'_>) {
        match self {
            SamplingContent::Audio(audio) if out.is_before(Revision::V2025_03_26) => audio.note().write(out),
            SamplingContent::ToolUse(_) | SamplingContent::ToolResult(_)
                if out.is_before(Revision::V2025_11_25) =>
            {
                out.refuse("tool use in sampling");
                self.write_plain(out);
            }
            other => other.write_plain(out),
        }
    }
}

entity! {
    /// The model calls a tool.
    ToolUseContent [tag "type" "tool_use"] {
        /// Id of the call, to be answered by a [`ToolResultContent`].
        required id: String = "id",
        /// Which tool.
        required name: String = "name",
        /// The arguments, an object.
        required input: RawJson = "input",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// What a tool answered.
    ToolResultContent [tag "type" "tool_result"] {
        /// Id of the call.
        required tool_use_id: String = "toolUseId",
        /// What the tool says.
        expected content: Vec<ContentBlock> = "content",
        /// The same for programs. Before 2026-07-28 left out unless it is an object.
        raw structured_content/with_structured_content: RawJson = "structuredContent" if structure_is_expressible,
        /// The tool failed.
        flag is_error/with_is_error: bool = "isError",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

fn structure_is_expressible(result: &ToolResultContent, out: &Writer<'_>) -> bool {
    let is_object = result.structured_content.as_ref().is_some_and(RawJson::is_object);
    is_object || !out.is_before(Revision::V2026_07_28)
}

/// One piece of content or, since 2025-11-25, a list of them.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingContents {
    blocks: Vec<SamplingContent>,
    listed: bool,
}

impl SamplingContents {
    /// The pieces.
    pub fn blocks(&self) -> &[SamplingContent] {
        &self.blocks
    }

    /// The pieces, owned.
    pub fn into_blocks(self) -> Vec<SamplingContent> {
        self.blocks
    }

    /// All texts, joined by line ends.
    pub fn to_text(&self) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match block {
                SamplingContent::Text(text) => Some(text.text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }
}

impl From<SamplingContent> for SamplingContents {
    fn from(block: SamplingContent) -> Self {
        Self {
            blocks: vec![block],
            listed: false,
        }
    }
}

impl From<Vec<SamplingContent>> for SamplingContents {
    fn from(blocks: Vec<SamplingContent>) -> Self {
        Self { blocks, listed: true }
    }
}

impl From<&str> for SamplingContents {
    fn from(text: &str) -> Self {
        SamplingContent::text(text).into()
    }
}

impl From<String> for SamplingContents {
    fn from(text: String) -> Self {
        SamplingContent::text(text).into()
    }
}

impl Wire for SamplingContents {
    fn write(&self, out: &mut Writer<'_>) {
        match self.blocks.as_slice() {
            [one] if !self.listed || out.is_before(Revision::V2025_11_25) => one.write(out),
            many if !out.is_before(Revision::V2025_11_25) => many.write(out),
            many if many.iter().all(|block| matches!(block, SamplingContent::Text(_))) => {
                TextContent::new(self.to_text()).write(out);
            }
            many => {
                out.refuse("several pieces of sampling content");
                many.write(out);
            }
        }
    }
}

impl Serialize for SamplingContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::wire::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for SamplingContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = SamplingContents;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block or a list of them")
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<SamplingContents, A::Error> {
                SamplingContent::from_members(map).map(Into::into)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<SamplingContents, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = list.next_element()? {
                    blocks.push(block);
                }
                Ok(blocks.into())
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

entity! {
    /// One message of a conversation with a model.
    SamplingMessage {
        /// Who says it.
        required role: Role = "role",
        /// What is said.
        required content: SamplingContents = "content",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

impl SamplingMessage {
    /// A text that the user says.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, text.into())
    }

    /// A text that the assistant says.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, text.into())
    }
}

entity! {
    /// Parameters of `sampling/createMessage`. Before 2025-11-25 a message of several pieces is written as several
    /// messages.
    CreateMessageParams {
        /// The conversation so far.
        required messages: Vec<SamplingMessage> = "messages" if messages_have_one_piece,
        /// What sort of model is wanted.
        optional model_preferences/with_model_preferences: ModelPreferences = "modelPreferences",
        /// System prompt; the client may change it or leave it out.
        optional system_prompt/with_system_prompt: String = "systemPrompt",
        /// Whose context to add.
        optional include_context/with_include_context: IncludeContext = "includeContext",
        /// Temperature.
        optional temperature/with_temperature: Number = "temperature",
        /// At most so many tokens.
        required max_tokens: u64 = "maxTokens",
        /// Where to stop.
        list stop_sequences/with_stop_sequences: String = "stopSequences",
        /// For the provider of the model.
        raw metadata/with_metadata: RawJson = "metadata",
        /// Tools that the model may call.
        list tools/with_tools: Tool = "tools",
        /// Whether it may or must.
        optional tool_choice/with_tool_choice: ToolChoice = "toolChoice",
        /// Asks for a task (2025-11-25).
        raw task/with_task: RawJson = "task",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
    tail write_split_messages;
}

fn messages_have_one_piece(params: &CreateMessageParams, out: &Writer<'_>) -> bool {
    !out.is_before(Revision::V2025_11_25)
        || params
            .messages
            .iter()
            .all(|message| message.content.blocks.len() == 1)
}

fn write_split_messages(params: &CreateMessageParams, members: &mut Members<'_, '_>) {
    if messages_have_one_piece(params, members.writer()) {
        return;
    }
    let split: Vec<SamplingMessage> = params
        .messages
        .iter()
        .flat_map(|message| {
            let pieces = message.content.blocks.iter().cloned();
            pieces.map(|piece| SamplingMessage::new(message.role, piece))
        })
        .collect();
    members.member("messages", Revisions::ALL, &split);
}

entity! {
    /// Result of `sampling/createMessage`.
    CreateMessageResult {
        /// Who says it.
        required role: Role = "role",
        /// What is said. Before 2025-11-25 several texts are written as one.
        required content: SamplingContents = "content",
        /// Which model it was.
        required model: String = "model",
        /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or another word.
        optional stop_reason/with_stop_reason: String = "stopReason" if stop_reason_is_open,
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
    tail write_closed_stop_reason;
}

fn stop_reason_is_open(_: &CreateMessageResult, out: &Writer<'_>) -> bool {
    !out.is_before(Revision::V2024_11_05)
}

/// 2024-10-07 demands a stop reason, and has three.
fn write_closed_stop_reason(result: &CreateMessageResult, members: &mut Members<'_, '_>) {
    if !stop_reason_is_open(result, members.writer()) {
        let reason = result.stop_reason.as_deref();
        let known = reason.filter(|reason| matches!(*reason, "stopSequence" | "maxTokens"));
        let reason = known.unwrap_or("endTurn");
        members.member("stopReason", Revisions::ALL, reason);
    }
}

impl CreateMessageParams {
    /// [`metadata`](Self::metadata), member by member; empty when it is no object.
    pub fn metadata_members(&self) -> JsonObject {
        self.metadata
            .as_ref()
            .and_then(|metadata| metadata.parse().ok())
            .unwrap_or_default()
    }
}
