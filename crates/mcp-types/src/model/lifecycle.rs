use super::common::cacheable;
use super::{CacheScope, ClientCapabilities, Implementation, ServerCapabilities};
use crate::entity::entity;
use crate::value::{Meta, Millis};

entity! {
    /// Parameters of `initialize`.
    InitializeParams {
        /// The revision that the client wants to speak; a name, not to be read as a date.
        required protocol_version: String = "protocolVersion",
        /// What the client can do.
        expected capabilities: ClientCapabilities = "capabilities",
        /// Who it is.
        expected client_info: Implementation = "clientInfo",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Result of `initialize`. A missing `serverInfo` reads as an empty one.
    InitializeResult [result] {
        /// The revision that will be spoken.
        required protocol_version: String = "protocolVersion",
        /// What the server can do.
        expected capabilities: ServerCapabilities = "capabilities",
        /// Who it is.
        expected server_info: Implementation = "serverInfo",
        /// How to use the server, for the model.
        optional instructions/with_instructions: String = "instructions",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Result of `server/discover`.
    DiscoverResult [result] {
        /// The revisions that the server speaks.
        required supported_versions: Vec<String> = "supportedVersions",
        /// What it can do.
        expected capabilities: ServerCapabilities = "capabilities",
        /// How to use the server, for the model.
        optional instructions/with_instructions: String = "instructions",
        /// Fresh for so many milliseconds.
        cached ttl_ms: Millis = "ttlMs",
        /// Who may share it.
        cached cache_scope: CacheScope = "cacheScope",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

cacheable!(DiscoverResult);
