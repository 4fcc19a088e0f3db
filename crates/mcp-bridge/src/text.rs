//! Results as text, for models that read nothing else.

use mcp_types::{CallToolResult, ContentBlock, ResourceContents};
use serde::Deserialize;

/// The text of a result: blocks joined by a newline, with a placeholder where a block is no text, and `Error: ` in
/// front if the tool failed.
///
/// | Block | Text |
/// |---|---|
/// | text, embedded text resource | the text |
/// | image, audio | `[image image/png, 12 base64 chars]` |
/// | link | `[resource URI]` |
/// | embedded bytes | `[resource URI, application/pdf, 12 base64 chars]` |
/// | anything else | `[unsupported content TYPE]` |
///
/// `structuredContent` is for programs and stays out of it, unless there is no content at all: then its JSON is
/// what the model gets.
pub fn for_model(result: &CallToolResult) -> String {
    let mut parts: Vec<String> = result.content.iter().map(block).collect();
    if let (true, Some(structured)) = (parts.is_empty(), &result.structured_content) {
        parts.push(structured.as_str().to_owned());
    }
    let text = parts.join("\n");
    match result.is_error {
        true => format!("Error: {text}"),
        false => text,
    }
}

/// As [`for_model`], cut to at most `max_bytes` of UTF-8. A cut is made between characters and named in a last
/// line, which comes on top.
pub fn for_model_within(result: &CallToolResult, max_bytes: usize) -> String {
    within(for_model(result), max_bytes)
}

/// Cuts between characters and says so.
pub(crate) fn within(mut text: String, max_bytes: usize) -> String {
    let all = text.len();
    if all > max_bytes {
        // Zero is a boundary.
        let end = (0..=max_bytes)
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(0);
        text.truncate(end);
        text.push_str(&format!("\n[cut: {end} of {all} bytes shown]"));
    }
    text
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => media("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => media("audio", &audio.mime_type, &audio.data),
        ContentBlock::ResourceLink(link) => format!("[resource {}]", link.uri),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        ContentBlock::Unknown(raw) => {
            #[derive(Deserialize)]
            struct Tagged {
                r#type: String,
            }
            let kind = raw.parse::<Tagged>().map(|tagged| tagged.r#type);
            unsupported(kind.as_deref().unwrap_or("without a type"))
        }
        // A kind that a later revision adds.
        _ => unsupported("of a later revision"),
    }
}

fn media(kind: &str, mime_type: &str, base64: &str) -> String {
    format!("[{kind} {mime_type}, {} base64 chars]", base64.len())
}

fn unsupported(kind: &str) -> String {
    format!("[unsupported content {kind}]")
}

fn resource(contents: &ResourceContents) -> String {
    if let Some(text) = &contents.text {
        return text.clone();
    }
    let uri = &contents.uri;
    let mime_type = contents
        .mime_type
        .as_deref()
        .unwrap_or("application/octet-stream");
    match &contents.blob {
        Some(blob) => format!("[resource {uri}, {mime_type}, {} base64 chars]", blob.len()),
        None => format!("[resource {uri}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> String {
        for_model(&serde_json::from_str::<CallToolResult>(json).unwrap())
    }

    /// The four results of the lesson's Example 4.
    #[test]
    fn each_kind_of_block_has_its_text() {
        assert_eq!(
            text(r#"{"content":[{"type":"text","text":"12"}],"structuredContent":{"words":12}}"#),
            "12"
        );
        assert_eq!(
            text(
                r#"{"content":[{"type":"text","text":"Chart attached."},
                {"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},
                {"type":"resource_link","uri":"file:///notes/todo.md","name":"todo.md"}]}"#
            ),
            "Chart attached.\n[image image/png, 12 base64 chars]\n[resource file:///notes/todo.md]"
        );
        assert_eq!(
            text(
                r#"{"content":[{"type":"resource","resource":{"uri":"file:///notes/todo.md",
                "mimeType":"text/markdown","text":"- fix the parser"}}]}"#
            ),
            "- fix the parser"
        );
        assert_eq!(
            text(r#"{"content":[{"type":"text","text":"Note 'plan' does not exist."}],"isError":true}"#),
            "Error: Note 'plan' does not exist."
        );
    }

    #[test]
    fn other_blocks_have_a_placeholder() {
        assert_eq!(
            text(
                r#"{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav"},{"type":"hologram"}]}"#
            ),
            "[audio audio/wav, 4 base64 chars]\n[unsupported content hologram]"
        );
        assert_eq!(
            text(
                r#"{"content":[{"type":"resource","resource":{"uri":"a:b","mimeType":"application/pdf","blob":"AAAA"}}]}"#
            ),
            "[resource a:b, application/pdf, 4 base64 chars]"
        );
    }

    /// P129
    #[test]
    fn a_result_of_structure_alone_shows_it() {
        assert_eq!(text(r#"{"structuredContent":{"a":1.0}}"#), r#"{"a":1.0}"#);
        assert_eq!(text("{}"), "");
    }

    /// P149
    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        let result = CallToolResult::text("ab😀cd");
        assert_eq!(for_model_within(&result, 8), "ab😀cd");
        assert_eq!(for_model_within(&result, 7), "ab😀c\n[cut: 7 of 8 bytes shown]");
        assert_eq!(for_model_within(&result, 4), "ab\n[cut: 2 of 8 bytes shown]");
    }
}
