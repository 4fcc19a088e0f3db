use super::common::cacheable;
use super::{CacheScope, ContentBlock, Icon, Role};
use crate::entity::entity;
use crate::value::{JsonObject, Map, Meta, Millis};

entity! {
    /// A prompt template that a user can choose.
    Prompt {
        /// Programmatic name, unique in the server.
        required name: String = "name",
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it is for.
        optional description/with_description: String = "description",
        /// What can be filled in.
        list arguments/with_arguments: PromptArgument = "arguments",
        /// Pictures of it.
        list icons/with_icons: Icon = "icons",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Something to fill into a prompt; its value is a string.
    PromptArgument {
        /// Programmatic name.
        required name: String = "name",
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it is for.
        optional description/with_description: String = "description",
        /// Whether it must be given. Unset means false.
        optional required/with_required: bool = "required",
    }
}

entity! {
    /// One message of a prompt.
    PromptMessage {
        /// Who says it.
        required role: Role = "role",
        /// What is said.
        required content: ContentBlock = "content",
    }
}

impl PromptMessage {
    /// A text that the user says.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, ContentBlock::text(text))
    }

    /// A text that the assistant says.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, ContentBlock::text(text))
    }
}

entity! {
    /// Result of `prompts/list`.
    ListPromptsResult [result] {
        /// A page of prompts.
        required prompts: Vec<Prompt> = "prompts",
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

cacheable!(ListPromptsResult);

entity! {
    /// Parameters of `prompts/get`.
    GetPromptParams {
        /// Which prompt.
        required name: String = "name",
        /// What to fill in; strings only.
        object arguments/with_arguments: Map<String> = "arguments",
        /// Answers to what the server asked, by its keys (2026-07-28).
        object input_responses/with_input_responses: JsonObject = "inputResponses",
        /// What the server wants back (2026-07-28).
        optional request_state/with_request_state: String = "requestState",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Result of `prompts/get`.
    GetPromptResult [result] {
        /// What it is for.
        optional description/with_description: String = "description",
        /// The filled in messages.
        required messages: Vec<PromptMessage> = "messages",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}
