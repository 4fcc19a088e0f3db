use mcp_jsonrpc::RawJson;

use crate::Revision;
use crate::entity::entity;
use crate::value::JsonObject;
use crate::wire::Writer;

entity! {
    /// What a client can do. Unknown capabilities are kept in `extra`.
    ///
    /// A capability is there when its member is an object. Absent, null, false and anything else mean that it is
    /// not.
    #[derive(Default)]
    ClientCapabilities {
        /// Not in the specification.
        capability experimental/with_experimental: JsonObject = "experimental",
        /// Answers `roots/list`.
        capability roots/with_roots: RootsCapability = "roots",
        /// Answers `sampling/createMessage`.
        capability sampling/with_sampling: SamplingCapability = "sampling",
        /// Answers `elicitation/create`.
        capability elicitation/with_elicitation: ElicitationCapability = "elicitation" if elicitation_is_expressible,
        /// Tasks of 2025-11-25.
        capability tasks/with_tasks: JsonObject = "tasks",
        /// Extensions by id, each with its settings (2026-07-28).
        capability extensions/with_extensions: JsonObject = "extensions",
    }
}

/// 2025-06-18 has forms only and no member to say otherwise.
fn elicitation_is_expressible(capabilities: &ClientCapabilities, out: &Writer<'_>) -> bool {
    !out.is_before(Revision::V2025_11_25)
        || capabilities
            .elicitation
            .as_ref()
            .is_some_and(ElicitationCapability::has_form)
}

entity! {
    /// What a server can do. Unknown capabilities are kept in `extra`. Read as [`ClientCapabilities`] is.
    #[derive(Default)]
    ServerCapabilities {
        /// Not in the specification.
        capability experimental/with_experimental: JsonObject = "experimental",
        /// Sends log messages.
        capability logging/with_logging: JsonObject = "logging",
        /// Completes arguments.
        capability completions/with_completions: JsonObject = "completions",
        /// Has prompts.
        capability prompts/with_prompts: PromptsCapability = "prompts",
        /// Has resources.
        capability resources/with_resources: ResourcesCapability = "resources",
        /// Has tools.
        capability tools/with_tools: ToolsCapability = "tools",
        /// Tasks of 2025-11-25.
        capability tasks/with_tasks: JsonObject = "tasks",
        /// Extensions by id, each with its settings (2026-07-28).
        capability extensions/with_extensions: JsonObject = "extensions",
    }
}

entity! {
    /// The client has roots.
    #[derive(Default)]
    RootsCapability {
        /// It tells when they change.
        switch list_changed/with_list_changed: bool = "listChanged",
    }
}

entity! {
    /// The client has a model.
    #[derive(Default)]
    SamplingCapability {
        /// It understands `includeContext`.
        capability context/with_context: JsonObject = "context",
        /// It lets the model use tools.
        capability tools/with_tools: JsonObject = "tools",
    }
}

entity! {
    /// The client can ask its user. Without members: by form only.
    #[derive(Default)]
    ElicitationCapability {
        /// By form.
        capability form/with_form: JsonObject = "form",
        /// By opening a URL.
        capability url/with_url: JsonObject = "url",
    }
}

impl ElicitationCapability {
    /// Whether the client shows forms.
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    /// Whether the client opens URLs.
    pub fn has_url(&self) -> bool {
        self.url.is_some()
    }
}

entity! {
    /// The server has prompts.
    #[derive(Default)]
    PromptsCapability {
        /// It tells when the list changes.
        switch list_changed/with_list_changed: bool = "listChanged",
    }
}

entity! {
    /// The server has resources.
    #[derive(Default)]
    ResourcesCapability {
        /// It tells when a single one changes.
        switch subscribe/with_subscribe: bool = "subscribe",
        /// It tells when the list changes.
        switch list_changed/with_list_changed: bool = "listChanged",
    }
}

entity! {
    /// The server has tools.
    #[derive(Default)]
    ToolsCapability {
        /// It tells when the list changes.
        switch list_changed/with_list_changed: bool = "listChanged",
    }
}

impl ClientCapabilities {
    /// The settings of an extension that was declared.
    pub fn extension(&self, id: &str) -> Option<&RawJson> {
        self.extensions
            .as_ref()?
            .get(id)
            .filter(|settings| settings.is_object())
    }
}

impl ServerCapabilities {
    /// The settings of an extension that was declared.
    pub fn extension(&self, id: &str) -> Option<&RawJson> {
        self.extensions
            .as_ref()?
            .get(id)
            .filter(|settings| settings.is_object())
    }
}
