//! Which revisions know a member of an entity.
//!
//! One row for each member that not all revisions know; everything absent here exists in all of them. The
//! sources are the published schemas; 2024-10-07, which has none, is read as in its repository history.
//! Look-ups happen while compiling.

use crate::{Revision, Revisions};

const SINCE_2024_11: Revisions = Revisions::since(Revision::V2024_11_05);
const SINCE_2025_03: Revisions = Revisions::since(Revision::V2025_03_26);
const SINCE_2025_06: Revisions = Revisions::since(Revision::V2025_06_18);
const SINCE_2025_11: Revisions = Revisions::since(Revision::V2025_11_25);
const ONLY_2025_11: Revisions = Revisions::only(Revision::V2025_11_25);
const SINCE_2026_07: Revisions = Revisions::STATELESS;
const UNTIL_2025_11: Revisions = Revisions::STATEFUL;

/// Entities, members, and the revisions that know each of these members in each of these entities.
type Row = (&'static [&'static str], &'static [&'static str], Revisions);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Naming and display.
    (&["Tool", "Prompt", "PromptArgument", "Resource", "ResourceTemplate", "ResourceLink", "Implementation",
       "PromptReference"], &["title"], SINCE_2025_06),
    (&["Tool", "Prompt", "Resource", "ResourceTemplate", "ResourceLink", "Implementation"], &["icons"], SINCE_2025_11),
    (&["Implementation"], &["description", "websiteUrl"], SINCE_2025_11),
    // `_meta` on entities; requests, notifications and results have had it from the start.
    (&["Tool", "Prompt", "Resource", "ResourceTemplate", "ResourceLink", "ResourceContents", "TextContent",
       "ImageContent", "AudioContent", "EmbeddedResource", "Root"], &["_meta"], SINCE_2025_06),
    (&["SamplingMessage"], &["_meta"], SINCE_2025_11),
    (&["CreateMessageParams", "ElicitFormParams", "ElicitUrlParams", "ElicitResult", "ListRootsResult"],
       &["_meta"], UNTIL_2025_11),
    // Lifecycle.
    (&["InitializeResult"], &["instructions"], SINCE_2024_11),
    (&["ClientCapabilities"], &["roots"], SINCE_2024_11),
    (&["ClientCapabilities"], &["elicitation"], SINCE_2025_06),
    (&["RootsCapability"], &["listChanged"], UNTIL_2025_11),
    (&["SamplingCapability"], &["context", "tools"], SINCE_2025_11),
    (&["ElicitationCapability"], &["form", "url"], SINCE_2025_11),
    (&["ServerCapabilities"], &["completions"], SINCE_2025_03),
    (&["ClientCapabilities", "ServerCapabilities"], &["tasks"], ONLY_2025_11),
    (&["ClientCapabilities", "ServerCapabilities"], &["extensions"], SINCE_2026_07),
    // Content and resources.
    (&["TextContent", "ImageContent", "AudioContent", "EmbeddedResource", "Resource", "ResourceTemplate",
       "ResourceLink"], &["annotations"], SINCE_2024_11),
    (&["Annotations"], &["lastModified"], SINCE_2025_06),
    (&["Resource", "ResourceLink"], &["size"], SINCE_2024_11),
    // Tools.
    (&["Tool"], &["annotations"], SINCE_2025_03),
    (&["Tool"], &["outputSchema"], SINCE_2025_06),
    (&["Tool"], &["execution"], ONLY_2025_11),
    (&["CallToolResult"], &["structuredContent"], SINCE_2025_06),
    (&["CallToolParams", "CreateMessageParams", "ElicitFormParams", "ElicitUrlParams"], &["task"], ONLY_2025_11),
    (&["CallToolParams", "GetPromptParams", "ReadResourceParams"], &["inputResponses", "requestState"], SINCE_2026_07),
    // Utilities.
    (&["ProgressParams"], &["message"], SINCE_2025_03),
    (&["CompleteParams"], &["context"], SINCE_2025_06),
    (&["DiscoverResult", "ListToolsResult", "ListPromptsResult", "ListResourcesResult",
       "ListResourceTemplatesResult", "ReadResourceResult"], &["ttlMs", "cacheScope"], SINCE_2026_07),
    // Sampling.
    (&["CreateMessageParams"], &["tools", "toolChoice"], SINCE_2025_11),
    // Elicitation.
    (&["ElicitFormParams"], &["mode"], SINCE_2025_11),
    (&["ElicitUrlParams"], &["elicitationId"], ONLY_2025_11),
    (&["ElicitSchema"], &["$schema"], SINCE_2025_11),
    (&["BooleanSchema"], &["default"], SINCE_2025_06),
    (&["StringSchema", "NumberSchema", "EnumSchema"], &["default"], SINCE_2025_11),
];

/// The revisions that know `member` in `entity`.
pub(crate) const fn known(entity: &str, member: &str) -> Revisions {
    let mut at = 0;
    while at < ROWS.len() {
        let (entities, members, revisions) = ROWS[at];
        if holds(entities, entity) && holds(members, member) {
            return revisions;
        }
        at += 1;
    }
    Revisions::ALL
}

const fn holds(words: &[&str], word: &str) -> bool {
    let mut at = 0;
    while at < words.len() {
        if same(words[at].as_bytes(), word.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}
