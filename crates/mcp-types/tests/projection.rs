//! What each revision sees of an entity. One test for each row of the table of revisions.

use bytes::BytesMut;
use mcp_jsonrpc::RawJson;
use mcp_types::*;
use serde_json::{Value, json};

const R0: Revision = Revision::V2024_10_07;
const R1: Revision = Revision::V2024_11_05;
const R2: Revision = Revision::V2025_03_26;
const R3: Revision = Revision::V2025_06_18;
const R4: Revision = Revision::V2025_11_25;
const R5: Revision = Revision::V2026_07_28;

fn text<T: wire::Wire>(value: &T, revision: Revision) -> String {
    let mut out = BytesMut::new();
    wire::encode(&mut out, value, revision).unwrap();
    String::from_utf8(out.to_vec()).unwrap()
}

fn json<T: wire::Wire>(value: &T, revision: Revision) -> Value {
    serde_json::from_str(&text(value, revision)).unwrap()
}

fn raw(value: Value) -> RawJson {
    RawJson::encode(&value).unwrap()
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    raw(value).parse().unwrap()
}

/// The revisions in which `member` is written.
#[track_caller]
fn assert_written<T: wire::Wire>(value: &T, member: &str, revisions: &[Revision]) {
    let seen: Vec<Revision> = Revision::ALL
        .into_iter()
        .filter(|revision| json(value, *revision).pointer(member).is_some())
        .collect();
    assert_eq!(seen, revisions, "{member}");
}

#[test]
fn instructions_of_initialize() {
    let result = InitializeResult::new("x", ServerCapabilities::new(), Implementation::new("a", "1"))
        .with_instructions("read me");
    assert_written(&result, "/instructions", &[R1, R2, R3, R4, R5]);
    assert_eq!(
        text(&result, R4),
        r#"{"protocolVersion":"x","capabilities":{},"serverInfo":{"name":"a","version":"1"},"instructions":"read me"}"#
    );
}

#[test]
fn tool_result_structure() {
    let object = CallToolResult::text("a").with_structured_content(raw(json!({"a": 1})));
    assert_written(&object, "/structuredContent", &[R3, R4, R5]);
    let list = CallToolResult::text("a").with_structured_content(raw(json!([1])));
    assert_written(&list, "/structuredContent", &[R5]);
    let null: CallToolResult = read(json!({"content": [], "structuredContent": null}));
    assert_written(&null, "/structuredContent", &[R5]);
    assert_eq!(
        text(&object, R5),
        r#"{"resultType":"complete","content":[{"type":"text","text":"a"}],"structuredContent":{"a":1}}"#
    );
    assert_eq!(
        text(&CallToolResult::error("no"), R1),
        r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#
    );
}

#[test]
fn tool_result_of_2024_10_07_is_written_beside_content_and_read_as_text() {
    assert_written(&CallToolResult::text("a"), "/toolResult", &[R0]);
    assert_eq!(
        json(&CallToolResult::text("a"), R0),
        json!({"content": [{"type": "text", "text": "a"}], "toolResult": "a"})
    );
    let image = CallToolResult::new([ContentBlock::image("AA==", "image/png")]);
    assert_eq!(
        json(&image, R0)["toolResult"],
        json!([{"type": "image", "data": "AA==", "mimeType": "image/png"}])
    );

    let old: CallToolResult = read(json!({"toolResult": "plain"}));
    assert_eq!(old, CallToolResult::text("plain"));
    let old: CallToolResult = read(json!({"toolResult": {"a": [1]}}));
    assert_eq!(old, CallToolResult::text(r#"{"a":[1]}"#));
    let both: CallToolResult = read(json!({"toolResult": "a", "content": [{"type": "text", "text": "a"}]}));
    assert_eq!(both, CallToolResult::text("a"));
}

#[test]
fn content_text_image_and_resource_are_in_all() {
    for block in [
        ContentBlock::text("a"),
        ContentBlock::image("AA==", "image/png"),
        ContentBlock::resource(ResourceContents::from_text("file:///a", "b")),
    ] {
        for revision in Revision::ALL {
            assert_eq!(json(&block, revision), serde_json::to_value(&block).unwrap());
        }
    }
}

#[test]
fn audio_becomes_a_text() {
    let block = ContentBlock::audio("AA==", "audio/wav");
    for (revision, kind) in [
        (R0, "text"),
        (R1, "text"),
        (R2, "audio"),
        (R3, "audio"),
        (R4, "audio"),
        (R5, "audio"),
    ] {
        assert_eq!(json(&block, revision)["type"], kind);
    }
    assert!(json(&block, R1)["text"].as_str().unwrap().contains("audio/wav"));
}

#[test]
fn a_resource_link_becomes_a_text() {
    let block = ContentBlock::resource_link(ResourceLink::new("file:///a", "a").with_size(3u64));
    for (revision, kind) in [
        (R1, "text"),
        (R2, "text"),
        (R3, "resource_link"),
        (R4, "resource_link"),
        (R5, "resource_link"),
    ] {
        assert_eq!(json(&block, revision)["type"], kind);
    }
    assert_eq!(json(&block, R2)["text"], "a: file:///a");
}

#[test]
fn annotations_of_content_and_resources() {
    let annotations = Annotations::new()
        .with_audience([Role::User])
        .with_priority(1.0)
        .with_last_modified("2025-01-01T00:00:00Z");
    let block = TextContent::new("a").with_annotations(annotations.clone());
    assert_written(&block, "/annotations/priority", &[R1, R2, R3, R4, R5]);
    assert_written(&block, "/annotations/lastModified", &[R3, R4, R5]);
    let resource = Resource::new("file:///a", "a").with_annotations(annotations.clone());
    assert_written(&resource, "/annotations", &[R1, R2, R3, R4, R5]);
    let template = ResourceTemplate::new("file:///{a}", "a").with_annotations(annotations);
    assert_written(&template, "/annotations", &[R1, R2, R3, R4, R5]);
    assert_eq!(
        text(&block, R2),
        r#"{"type":"text","text":"a","annotations":{"audience":["user"],"priority":1}}"#
    );
}

#[test]
fn tool_annotations_schema_and_execution() {
    let tool = Tool::new("t", raw(json!({"type": "object"})))
        .with_annotations(ToolAnnotations::new().with_read_only_hint(true))
        .with_output_schema(raw(json!({"type": "object"})))
        .with_execution(ToolExecution::new().with_task_support("optional"));
    assert_written(&tool, "/annotations/readOnlyHint", &[R2, R3, R4, R5]);
    assert_written(&tool, "/outputSchema", &[R3, R4, R5]);
    assert_written(&tool, "/execution", &[R4]);
    for schema in [
        json!({"type": "array"}),
        json!(true),
        json!({}),
        json!({"type": ["object"]}),
    ] {
        let tool = Tool::new("t", raw(json!({"type": "object"}))).with_output_schema(raw(schema));
        assert_written(&tool, "/outputSchema", &[R5]);
    }
}

#[test]
fn title_icons_and_metadata_of_entities() {
    let meta = Meta::from([("a/b", raw(json!(1)))]);
    let icon = Icon::new("https://example.com/i.png");
    let named = [R3, R4, R5];
    let pictured = [R4, R5];

    let tool = Tool::new("t", RawJson::empty_object())
        .with_title("T")
        .with_icons([icon.clone()])
        .with_meta(meta.clone());
    let prompt = Prompt::new("p")
        .with_title("P")
        .with_icons([icon.clone()])
        .with_meta(meta.clone())
        .with_arguments([PromptArgument::new("a").with_title("A")]);
    let resource = Resource::new("file:///a", "a")
        .with_title("A")
        .with_icons([icon.clone()])
        .with_meta(meta.clone());
    let template = ResourceTemplate::new("file:///{a}", "a")
        .with_title("A")
        .with_icons([icon.clone()])
        .with_meta(meta.clone());
    macro_rules! check {
        ($($entity:expr),*) => { $(
            assert_written($entity, "/title", &named);
            assert_written($entity, "/icons", &pictured);
            assert_written($entity, "/_meta", &named);
        )* };
    }
    check!(&tool, &prompt, &resource, &template);
    assert_written(&prompt, "/arguments/0/title", &named);

    let program = Implementation::new("a", "1")
        .with_title("A")
        .with_icons([icon])
        .with_description("d")
        .with_website_url("u");
    assert_written(&program, "/title", &named);
    for member in ["/icons", "/description", "/websiteUrl"] {
        assert_written(&program, member, &pictured);
    }
    assert_written(&PromptReference::new("p").with_title("P"), "/title", &named);
    assert_written(
        &ResourceContents::from_text("u", "t").with_meta(meta.clone()),
        "/_meta",
        &named,
    );
    assert_written(&TextContent::new("t").with_meta(meta.clone()), "/_meta", &named);
    assert_written(
        &ImageContent::new("", "").with_meta(meta.clone()),
        "/_meta",
        &named,
    );
    assert_written(
        &AudioContent::new("", "").with_meta(meta.clone()),
        "/_meta",
        &named,
    );
    assert_written(
        &EmbeddedResource::new(ResourceContents::new("u")).with_meta(meta.clone()),
        "/_meta",
        &named,
    );
    assert_written(&Root::new("file:///a").with_meta(meta.clone()), "/_meta", &named);
    // Messages have had it from the start.
    assert_written(
        &CallToolResult::text("a").with_meta(meta),
        "/_meta",
        &Revision::ALL,
    );
}

#[test]
fn size_of_a_resource() {
    assert_written(
        &Resource::new("file:///a", "a").with_size(3u64),
        "/size",
        &[R1, R2, R3, R4, R5],
    );
}

#[test]
fn log_levels_of_the_first_form() {
    for (level, old) in [
        (LoggingLevel::Debug, "debug"),
        (LoggingLevel::Notice, "info"),
        (LoggingLevel::Warning, "warning"),
        (LoggingLevel::Critical, "error"),
        (LoggingLevel::Emergency, "error"),
    ] {
        let params = LogMessageParams::new(level, RawJson::null());
        assert_eq!(json(&params, R0)["level"], old);
        assert_eq!(json(&params, R1)["level"], level.as_str());
    }
    assert!(LoggingLevel::Notice < LoggingLevel::Warning && LoggingLevel::Alert < LoggingLevel::Emergency);
}

#[test]
fn progress_message_and_completion_context() {
    let progress = ProgressParams::new("t", 1).with_total(2.5).with_message("m");
    assert_written(&progress, "/message", &[R2, R3, R4, R5]);
    assert_eq!(
        text(&progress, R1),
        r#"{"progressToken":"t","progress":1,"total":2.5}"#
    );
    let complete = CompleteParams::new(PromptReference::new("p"), CompletionArgument::new("a", "b"))
        .with_context(CompletionContext::new().with_arguments([("c", "d".to_owned())]));
    assert_written(&complete, "/context/arguments/c", &[R3, R4, R5]);
    assert_eq!(
        text(&complete, R1),
        r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}}"#
    );
}

#[test]
fn stop_reason_is_closed_and_needed_at_first() {
    let result = CreateMessageResult::new(Role::Assistant, "hi", "m");
    assert_written(&result, "/stopReason", &[R0]);
    let result = result.with_stop_reason("toolUse");
    assert_eq!(json(&result, R0)["stopReason"], "endTurn");
    assert_eq!(json(&result, R4)["stopReason"], "toolUse");
}

#[test]
fn sampling_content_is_one_block_before_2025_11_25() {
    let many = vec![SamplingContent::text("a"), SamplingContent::text("b")];
    let params = CreateMessageParams::new([SamplingMessage::new(Role::User, many.clone())], 9u64)
        .with_tools([Tool::new("t", RawJson::empty_object())])
        .with_tool_choice(ToolChoice::new().with_mode(ToolChoiceMode::Auto));
    assert_written(&params, "/tools", &[R4, R5]);
    assert_written(&params, "/toolChoice", &[R4, R5]);
    assert_eq!(
        json(&params, R4)["messages"][0]["content"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        json(&params, R3),
        json!({"maxTokens": 9, "messages": [
            {"role": "user", "content": {"type": "text", "text": "a"}},
            {"role": "user", "content": {"type": "text", "text": "b"}},
        ]})
    );
    let result = CreateMessageResult::new(Role::Assistant, many, "m");
    assert_eq!(
        json(&result, R2)["content"],
        json!({"type": "text", "text": "a\nb"})
    );

    let use_tool = SamplingContent::from(ToolUseContent::new("1", "t", RawJson::empty_object()));
    let result = CreateMessageResult::new(Role::Assistant, use_tool, "m");
    assert!(wire::to_raw(&result, R3).is_err());
    assert_eq!(json(&result, R4)["content"]["type"], "tool_use");
    let audio = CreateMessageResult::new(
        Role::Assistant,
        SamplingContent::from(AudioContent::new("", "audio/wav")),
        "m",
    );
    assert_eq!(
        (
            &json(&audio, R1)["content"]["type"],
            &json(&audio, R2)["content"]["type"]
        ),
        (&json!("text"), &json!("audio"))
    );
}

#[test]
fn elicitation_modes() {
    let form = ElicitParams::form("who?", ElicitSchema::new().required("a", StringSchema::new()));
    for revision in [R0, R1, R2] {
        assert!(
            wire::to_raw(&form, revision)
                .unwrap_err()
                .to_string()
                .contains("elicitation")
        );
    }
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    assert_eq!(
        json(&form, R3),
        json!({"message": "who?", "requestedSchema": schema})
    );
    assert_eq!(
        json(&form, R4),
        json!({"mode": "form", "message": "who?", "requestedSchema": schema})
    );

    let url = ElicitUrlParams::new("go", "https://example.com");
    assert!(wire::to_raw(&ElicitParams::from(url.clone()), R3).is_err());
    assert!(
        wire::to_raw(&ElicitParams::from(url.clone()), R4).is_err(),
        "2025-11-25 needs an id"
    );
    let url = ElicitParams::from(url.with_elicitation_id("7"));
    assert_eq!(json(&url, R4)["elicitationId"], "7");
    assert_eq!(
        text(&url, R5),
        r#"{"mode":"url","message":"go","url":"https://example.com"}"#
    );
    let read: ElicitParams = read(json!({"message": "who?", "requestedSchema": schema}));
    assert_eq!(read, form);
}

#[test]
fn elicitation_defaults_and_enums() {
    let schema = ElicitSchema::new()
        .with_dialect("https://json-schema.org/draft/2020-12/schema")
        .optional("text", StringSchema::new().with_default("a"))
        .optional("number", NumberSchema::new().with_default(1))
        .optional("yes", BooleanSchema::new().with_default(true))
        .optional(
            "one",
            PropertySchema::titled_choice([TitledValue::new("r", "Red")]),
        );
    assert_eq!(
        json(&schema, R3),
        json!({"type": "object", "properties": {
            "text": {"type": "string"},
            "number": {"type": "number"},
            "yes": {"type": "boolean", "default": true},
            "one": {"type": "string", "enum": ["r"], "enumNames": ["Red"]},
        }})
    );
    let new = json(&schema, R4);
    assert_eq!(new["properties"]["text"]["default"], "a");
    assert_eq!(new["properties"]["number"]["default"], 1);
    assert_eq!(
        new["properties"]["one"]["oneOf"],
        json!([{"const": "r", "title": "Red"}])
    );
    let many = schema.optional("many", PropertySchema::choices(["a", "b"]));
    assert!(wire::to_raw(&many, R3).is_err());
    assert_eq!(
        json(&many, R5)["properties"]["many"]["items"],
        json!({"type": "string", "enum": ["a", "b"]})
    );
}

#[test]
fn input_required_exists_only_since_2026_07_28() {
    let result = InputRequiredResult::new()
        .with_input_requests([("a", InputRequest::new("roots/list"))])
        .with_request_state("s");
    for revision in [R0, R1, R2, R3, R4] {
        let mut out = BytesMut::from(&b"before"[..]);
        let error = wire::encode(&mut out, &result, revision).unwrap_err();
        assert_eq!((error.revision(), &out[..]), (Some(revision), &b"before"[..]));
    }
    let written = json!({"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}, "requestState": "s"});
    assert_eq!(json(&result, R5), written);
    assert_eq!(read::<InputRequiredResult>(written), result);
}

#[test]
fn answers_and_state_of_a_retry() {
    let call = CallToolParams::new("t")
        .with_task(raw(json!({"ttl": 1})))
        .with_input_responses([("a", raw(json!({"action": "cancel"})))])
        .with_request_state("s");
    assert_written(&call, "/inputResponses/a", &[R5]);
    assert_written(&call, "/requestState", &[R5]);
    assert_written(&call, "/task", &[R4]);
}

#[test]
fn result_type_and_cache_hints() {
    let list = ListToolsResult::new([]);
    assert_written(&list, "/resultType", &[R5]);
    assert_written(&list, "/ttlMs", &[R5]);
    assert_eq!(text(&list, R4), r#"{"tools":[]}"#);
    assert_eq!(
        text(&list, R5),
        r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}"#
    );
    let list = list
        .with_next_cursor("")
        .with_cache_hints(CacheHints::new(5, CacheScope::Public));
    assert_written(&list, "/cacheScope", &[R5]);
    assert_eq!(text(&list, R4), r#"{"tools":[],"nextCursor":""}"#);
    assert_eq!(
        text(&list, R5),
        r#"{"resultType":"complete","tools":[],"nextCursor":"","ttlMs":5,"cacheScope":"public"}"#
    );
    // Answers inside inputResponses are bare.
    assert_eq!(text(&ElicitResult::decline(), R5), r#"{"action":"decline"}"#);
    assert_eq!(text(&ListRootsResult::new([]), R5), r#"{"roots":[]}"#);
}

#[test]
fn capabilities() {
    let client = ClientCapabilities::new()
        .with_experimental([("x", RawJson::empty_object())])
        .with_roots(RootsCapability::new().with_list_changed(true))
        .with_sampling(SamplingCapability::new().with_tools([] as [(&str, RawJson); 0]))
        .with_elicitation(ElicitationCapability::new().with_form([] as [(&str, RawJson); 0]))
        .with_tasks([("list", RawJson::empty_object())])
        .with_extensions([("a/b", RawJson::empty_object())]);
    assert_written(&client, "/experimental/x", &Revision::ALL);
    assert_written(&client, "/roots", &[R1, R2, R3, R4, R5]);
    assert_written(&client, "/roots/listChanged", &[R1, R2, R3, R4]);
    assert_written(&client, "/sampling", &Revision::ALL);
    assert_written(&client, "/sampling/tools", &[R4, R5]);
    assert_written(&client, "/elicitation", &[R3, R4, R5]);
    assert_written(&client, "/elicitation/form", &[R4, R5]);
    assert_written(&client, "/tasks", &[R4]);
    assert_written(&client, "/extensions", &[R5]);
    let url = ElicitationCapability::new().with_url([] as [(&str, RawJson); 0]);
    assert_written(
        &ClientCapabilities::new().with_elicitation(url),
        "/elicitation",
        &[R4, R5],
    );

    let server: ServerCapabilities = read(json!({
        "experimental": {}, "logging": {}, "completions": {}, "tools": {"listChanged": true},
        "prompts": {"listChanged": true}, "resources": {"listChanged": true, "subscribe": true}, "tasks": {},
        "extensions": {}, "vendor": {"a": 1},
    }));
    for member in [
        "/experimental",
        "/logging",
        "/tools/listChanged",
        "/prompts/listChanged",
        "/resources/subscribe",
        "/vendor/a",
    ] {
        assert_written(&server, member, &Revision::ALL);
    }
    assert_written(&server, "/completions", &[R2, R3, R4, R5]);
    assert_written(&server, "/tasks", &[R4]);
    assert_written(&server, "/extensions", &[R5]);
}

#[test]
fn raw_values_pass_byte_for_byte() {
    let schema = "{ \"type\":\"object\", \"z\":1.50, \"a\":1e2 }";
    let tool = Tool::new("t", RawJson::from_text(schema).unwrap());
    for revision in Revision::ALL {
        assert_eq!(
            text(&tool, revision),
            format!(r#"{{"name":"t","inputSchema":{schema}}}"#)
        );
    }
}
