use super::common::cacheable;
use super::{Annotations, CacheScope, Icon};
use crate::entity::entity;
use crate::value::{JsonObject, Meta, Millis};

entity! {
    /// Something a server lets be read.
    Resource {
        /// Where it is.
        required uri: String = "uri",
        /// Programmatic name.
        required name: String = "name",
        /// Name for people.
        optional title/with_title: String = "title",
        /// What it is, for the model.
        optional description/with_description: String = "description",
        /// Media type.
        optional mime_type/with_mime_type: String = "mimeType",
        /// Size in bytes, before any encoding.
        optional size/with_size: u64 = "size",
        /// Hints for the client.
        optional annotations/with_annotations: Annotations = "annotations",
        /// Pictures of it.
        list icons/with_icons: Icon = "icons",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Many resources under one pattern.
    ResourceTemplate {
        /// An RFC 6570 template of their URIs.
        required uri_template: String = "uriTemplate",
        /// Programmatic name.
        required name: String = "name",
        /// Name for people.
        optional title/with_title: String = "title",
        /// What they are, for the model.
        optional description/with_description: String = "description",
        /// Media type, when all have the same.
        optional mime_type/with_mime_type: String = "mimeType",
        /// Hints for the client.
        optional annotations/with_annotations: Annotations = "annotations",
        /// Pictures of it.
        list icons/with_icons: Icon = "icons",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// What a resource holds: `text` or `blob`, exactly one of them.
    ResourceContents {
        /// Which resource, or which part of it.
        required uri: String = "uri",
        /// Media type.
        optional mime_type/with_mime_type: String = "mimeType",
        /// The text, when it is text.
        optional text: String = "text",
        /// The bytes in Base64, when it is not.
        optional blob: String = "blob",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

impl ResourceContents {
    /// Contents that are text.
    pub fn from_text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::new(uri)
        }
    }

    /// Contents that are bytes, given in Base64.
    pub fn from_blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self {
            blob: Some(base64.into()),
            ..Self::new(uri)
        }
    }
}

entity! {
    /// Parameters of `resources/subscribe`, `resources/unsubscribe` and `notifications/resources/updated`.
    ResourceParams {
        /// Which resource.
        required uri: String = "uri",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Parameters of `resources/read`.
    ReadResourceParams {
        /// Which resource.
        required uri: String = "uri",
        /// Answers to what the server asked, by its keys (2026-07-28).
        object input_responses/with_input_responses: JsonObject = "inputResponses",
        /// What the server wants back (2026-07-28).
        optional request_state/with_request_state: String = "requestState",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Result of `resources/read`.
    ReadResourceResult [result] {
        /// One or more contents.
        required contents: Vec<ResourceContents> = "contents",
        /// Fresh for so many milliseconds.
        cached ttl_ms: Millis = "ttlMs",
        /// Who may share it.
        cached cache_scope: CacheScope = "cacheScope",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Result of `resources/list`.
    ListResourcesResult [result] {
        /// A page of resources.
        required resources: Vec<Resource> = "resources",
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

entity! {
    /// Result of `resources/templates/list`.
    ListResourceTemplatesResult [result] {
        /// A page of templates.
        required resource_templates: Vec<ResourceTemplate> = "resourceTemplates",
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

cacheable!(
    ReadResourceResult,
    ListResourcesResult,
    ListResourceTemplatesResult
);
