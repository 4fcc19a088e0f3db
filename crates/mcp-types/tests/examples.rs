//! The published examples of 2026-07-28 pass through our types unchanged, when they are at hand.

use std::fs;
use std::path::Path;

use mcp_jsonrpc::RawJson;
use mcp_types::wire::Wire;
use mcp_types::*;
use serde::de::DeserializeOwned;
use serde_json::Value;

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/schema/examples-2026-07-28"
);

/// Reads a value as `T` and writes it again.
fn pass<T: DeserializeOwned + Wire>(value: &Value) -> Value {
    let parsed: T = RawJson::encode(value).unwrap().parse().unwrap();
    wire::to_raw(&parsed, Revision::V2026_07_28)
        .unwrap()
        .parse()
        .unwrap()
}

/// The value of an example, passed through our type for `definition`. Messages keep their envelope.
fn pass_definition(definition: &str, value: &Value) -> Option<Value> {
    let (definition, inner) = match definition {
        "SubscriptionsListenRequest" | "SubscriptionsAcknowledgedNotification" => {
            ("SubscriptionParams", "params")
        }
        "CancelledNotification" | "ProgressNotification" => (definition, "params"),
        "LoggingMessageNotification" | "ResourceUpdatedNotification" => (definition, "params"),
        other => match other.strip_suffix("Response") {
            Some(result) if result.ends_with("Result") => (result, "result"),
            _ if other.ends_with("Request") || other.ends_with("Notification") => (other, "params"),
            _ => (other, ""),
        },
    };
    if inner.is_empty() {
        return pass_named(definition, value);
    }
    let mut value = value.clone();
    if let Some(slot) = value.get_mut(inner) {
        *slot = pass_named(definition, slot)?;
    }
    Some(value)
}

fn pass_named(definition: &str, value: &Value) -> Option<Value> {
    let name = definition
        .strip_suffix("RequestParams")
        .or_else(|| definition.strip_suffix("NotificationParams"))
        .or_else(|| definition.strip_suffix("Request"))
        .or_else(|| definition.strip_suffix("Notification"))
        .unwrap_or(definition);
    Some(match name {
        "AudioContent" | "ImageContent" | "TextContent" | "EmbeddedResource" | "ResourceLink" => {
            pass::<ContentBlock>(value)
        }
        "ToolUseContent" | "ToolResultContent" => pass::<SamplingContent>(value),
        "BooleanSchema"
        | "NumberSchema"
        | "StringSchema"
        | "TitledMultiSelectEnumSchema"
        | "TitledSingleSelectEnumSchema"
        | "UntitledMultiSelectEnumSchema"
        | "UntitledSingleSelectEnumSchema" => pass::<PropertySchema>(value),
        "BlobResourceContents" | "TextResourceContents" => pass::<ResourceContents>(value),
        "CallTool" => pass::<CallToolParams>(value),
        "CallToolResult" => pass::<CallToolResult>(value),
        "Cancelled" => pass::<CancelledParams>(value),
        "ClientCapabilities" => pass::<ClientCapabilities>(value),
        "ServerCapabilities" => pass::<ServerCapabilities>(value),
        "Complete" => pass::<CompleteParams>(value),
        "CompleteResult" => pass::<CompleteResult>(value),
        "CreateMessage" => pass::<CreateMessageParams>(value),
        "CreateMessageResult" => pass::<CreateMessageResult>(value),
        "Discover" | "ToolListChanged" | "PromptListChanged" | "ResourceListChanged" | "ListRoots" => {
            pass::<EmptyParams>(value)
        }
        "DiscoverResult" => pass::<DiscoverResult>(value),
        "Elicit" | "ElicitRequestForm" | "ElicitRequestFormParams" | "ElicitRequestURLParams" => {
            pass::<ElicitParams>(value)
        }
        "ElicitResult" => pass::<ElicitResult>(value),
        "GetPrompt" => pass::<GetPromptParams>(value),
        "GetPromptResult" => pass::<GetPromptResult>(value),
        "InputRequests" => pass::<Map<InputRequest>>(value),
        "InputRequiredResult" => pass::<InputRequiredResult>(value),
        "InputResponses" => pass::<InputResponses>(value),
        "ListPrompts" | "ListResourceTemplates" | "ListResources" | "ListTools" | "Paginated" => {
            pass::<ListParams>(value)
        }
        "ListPromptsResult" => pass::<ListPromptsResult>(value),
        "ListResourceTemplatesResult" => pass::<ListResourceTemplatesResult>(value),
        "ListResourcesResult" => pass::<ListResourcesResult>(value),
        "ListRootsResult" => pass::<ListRootsResult>(value),
        "ListToolsResult" => pass::<ListToolsResult>(value),
        "LoggingMessage" => pass::<LogMessageParams>(value),
        "ModelPreferences" => pass::<ModelPreferences>(value),
        "Progress" => pass::<ProgressParams>(value),
        "ReadResource" => pass::<ReadResourceParams>(value),
        "ReadResourceResult" => pass::<ReadResourceResult>(value),
        "Resource" => pass::<Resource>(value),
        "ResourceUpdated" => pass::<ResourceParams>(value),
        "Root" => pass::<Root>(value),
        "SamplingMessage" => pass::<SamplingMessage>(value),
        "SubscriptionParams" => pass::<SubscriptionParams>(value),
        "SubscriptionsListenResult" => pass::<SubscriptionsListenResult>(value),
        "Tool" => pass::<Tool>(value),
        _ => return None,
    })
}

/// One example lacks the cache hints that its schema demands; we write them.
fn drop_added_hints(published: &Value, ours: &mut Value) {
    for hint in ["ttlMs", "cacheScope"] {
        if let (Some(published), Some(Value::Object(ours))) =
            (published.get("result"), ours.get_mut("result"))
            && published.get(hint).is_none()
        {
            ours.remove(hint);
        }
    }
}

/// `isError: false` says what its absence says; we leave it out.
fn drop_false(published: &mut Value) {
    let published = match published.get("result") {
        Some(_) => &mut published["result"],
        None => published,
    };
    if published.get("isError") == Some(&Value::Bool(false))
        && let Value::Object(members) = published
    {
        members.remove("isError");
    }
}

#[test]
fn published_examples_pass_through_unchanged() {
    let Ok(folders) = fs::read_dir(Path::new(FOLDER)) else {
        eprintln!("skipped: no published examples at {FOLDER}");
        return;
    };
    let (mut passed, mut unknown, mut changed) = (0, Vec::new(), Vec::new());
    for folder in folders {
        let folder = folder.unwrap();
        let definition = folder.file_name().into_string().unwrap();
        for file in fs::read_dir(folder.path()).unwrap() {
            let path = file.unwrap().path();
            let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            match pass_definition(&definition, &value) {
                Some(mut again) => {
                    drop_added_hints(&value, &mut again);
                    drop_false(&mut value);
                    if again != value {
                        changed.push(format!("{}\n  is    {again}\n  not   {value}", path.display()));
                    }
                    passed += 1;
                }
                None => unknown.push(definition.clone()),
            }
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
    // Errors are values of mcp-jsonrpc.
    unknown.retain(|definition| !definition.ends_with("Error"));
    assert!(unknown.is_empty(), "no type for {unknown:?}");
    assert!(passed > 100, "only {passed} examples found");
}
