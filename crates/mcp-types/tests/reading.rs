//! Lenient reading, and what survives a pass through our types.

use mcp_jsonrpc::RawJson;
use mcp_types::*;
use serde_json::{Value, json};

fn read<T: serde::de::DeserializeOwned>(text: &str) -> T {
    RawJson::from_text(text).unwrap().parse().unwrap()
}

#[test]
fn only_an_object_declares_a_capability_p060() {
    let caps: ServerCapabilities = read(
        r#"{"tools":[],"prompts":null,"logging":false,"completions":true,"resources":{"subscribe":1,"listChanged":true},"x":1}"#,
    );
    assert!(
        caps.tools.is_none()
            && caps.prompts.is_none()
            && caps.logging.is_none()
            && caps.completions.is_none()
    );
    let resources = caps.resources.unwrap();
    assert!(resources.list_changed && !resources.subscribe);
    assert_eq!(caps.extra.get("x").unwrap().as_str(), "1");
}

#[test]
fn an_initialize_result_may_lack_all_but_the_version_p062() {
    let result: InitializeResult =
        read(r#"{"protocolVersion":"2025-11-25","serverInfo":{"name":""},"capabilities":null}"#);
    assert_eq!(result.server_info, Implementation::new("", ""));
    assert!(
        RawJson::from_text(r#"{"capabilities":{}}"#)
            .unwrap()
            .parse::<InitializeResult>()
            .is_err()
    );
}

#[test]
fn unknown_members_and_kinds_survive() {
    for text in [
        r#"{"name":"t","inputSchema":{"b":1,"a":2},"x-vendor":{"k":[1, 2]},"y":null}"#,
        r#"{"type":"text","text":"a","future":1}"#,
        r#"{"uri":"file:///a","name":"a","x":"y"}"#,
    ] {
        let mut value: Value = serde_json::from_str(text).unwrap();
        if value.get("type").is_some() {
            assert_eq!(serde_json::to_value(read::<ContentBlock>(text)).unwrap(), value);
        } else if value.get("uri").is_some() {
            assert_eq!(serde_json::to_value(read::<Resource>(text)).unwrap(), value);
            value["uriTemplate"] = value["uri"].take();
            value.as_object_mut().unwrap().remove("uri");
            assert_eq!(
                serde_json::to_value(read::<ResourceTemplate>(&value.to_string())).unwrap(),
                value
            );
        } else {
            assert_eq!(serde_json::to_string(&read::<Tool>(text)).unwrap(), text);
        }
    }
    let unknown = r#"{"type":"hologram","frames":[1,2.50],"text":5}"#;
    let block: ContentBlock = read(unknown);
    assert!(matches!(block, ContentBlock::Unknown(_)));
    assert_eq!(serde_json::to_string(&block).unwrap(), unknown);
    let result: CallToolResult = read(r#"{"content":[],"hint":true}"#);
    assert_eq!(
        serde_json::to_value(&result).unwrap(),
        json!({"content": [], "hint": true})
    );
}

#[test]
fn the_kind_may_come_after_the_rest() {
    let last: ContentBlock = read(r#"{"text":"a","annotations":{"priority":0.5},"x":1,"type":"text"}"#);
    let first: ContentBlock = read(r#"{"type":"text","text":"a","annotations":{"priority":0.5},"x":1}"#);
    assert_eq!(last, first);
    assert_eq!(last.as_text(), Some("a"));
    let lone: ContentBlock = read(r#"{"text":"a"}"#);
    assert!(matches!(lone, ContentBlock::Unknown(_)));
    // A peer cannot smuggle in a second kind.
    let twice: ContentBlock = read(r#"{"type":"text","text":"a","type":"image"}"#);
    assert_eq!(
        serde_json::to_string(&twice).unwrap(),
        r#"{"type":"text","text":"a"}"#
    );
}

#[test]
fn content_that_lacks_a_needed_member_is_an_error() {
    for text in [
        r#"{"type":"text"}"#,
        r#"{"type":"image","data":"AA=="}"#,
        r#"{"type":"text","text":7}"#,
        "[]",
        "7",
    ] {
        assert!(
            RawJson::from_text(text).unwrap().parse::<ContentBlock>().is_err(),
            "{text}"
        );
    }
}

#[test]
fn a_tool_result_may_lack_content_and_have_nulls() {
    let result: CallToolResult = read(r#"{"structuredContent":{"a":1},"isError":null,"_meta":null}"#);
    assert!(result.content.is_empty() && !result.is_error);
    assert_eq!(result.structured_content.unwrap().as_str(), r#"{"a":1}"#);
}

#[test]
fn hints_without_sense_mean_do_not_keep() {
    let list: ListToolsResult = read(r#"{"tools":[],"ttlMs":-1}"#);
    assert_eq!(list.cache_hints(), CacheHints::default());
}

#[test]
fn sampling_content_reads_as_one_or_many() {
    let one: SamplingMessage = read(r#"{"role":"user","content":{"type":"text","text":"a"}}"#);
    let many: SamplingMessage = read(r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#);
    assert_eq!(one.content.blocks(), many.content.blocks());
    assert_eq!(
        serde_json::to_value(&many).unwrap()["content"],
        json!([{"type": "text", "text": "a"}])
    );
    assert_eq!(
        serde_json::to_value(&one).unwrap()["content"],
        json!({"type": "text", "text": "a"})
    );
}

#[test]
fn forms_are_checked() {
    let schema = ElicitSchema::new()
        .required(
            "name",
            StringSchema::new().with_min_length(2u64).with_max_length(4u64),
        )
        .optional("mail", StringSchema::new().with_format("email"))
        .optional("day", StringSchema::new().with_format("date"))
        .optional("when", StringSchema::new().with_format("date-time"))
        .optional("link", StringSchema::new().with_format("uri"))
        .optional("age", IntegerSchema::new().with_minimum(0).with_maximum(150))
        .optional("share", NumberSchema::new().with_maximum(1))
        .optional("ok", BooleanSchema::new())
        .optional("color", PropertySchema::choice(["red", "blue"]))
        .optional(
            "size",
            PropertySchema::titled_choice([TitledValue::new("s", "Small")]),
        )
        .optional("tags", PropertySchema::choices(["a", "b"]).with_max_items(1u64));
    let check = |mut members: Value| {
        if members.get("name").is_none() {
            members["name"] = json!("\u{fc}\u{fc}\u{fc}");
        }
        schema.check(&RawJson::encode(&members).unwrap())
    };
    for good in [
        json!({}),
        json!({"mail": "a@b", "day": "2024-02-29", "when": "2024-02-29T23:59:60.5+01:00", "link": "https://a"}),
        json!({"age": 7.0, "share": 0.5, "ok": false, "color": "red", "size": "s", "tags": ["b"], "more": 1}),
    ] {
        assert_eq!(check(good.clone()), Ok(()), "{good}");
    }
    for (field, bad) in [
        ("name", json!("a")),
        ("name", json!("abcde")),
        ("name", json!(null)),
        ("mail", json!("nobody")),
        ("day", json!("2023-02-29")),
        ("when", json!("2024-02-29T23:59")),
        ("when", json!("2024-02-29T24:00:00Z")),
        ("when", json!("2024-02-29T10:00:00.Z")),
        ("when", json!("2024-02-29T10:00:00+\u{e9}")),
        ("link", json!("no link")),
        ("age", json!(7.5)),
        ("age", json!(-1)),
        ("age", json!("7")),
        ("share", json!(1.5)),
        ("ok", json!("yes")),
        ("color", json!("green")),
        ("size", json!("m")),
        ("tags", json!(["a", "b"])),
        ("tags", json!(["c"])),
    ] {
        assert_eq!(check(json!({field: bad})).unwrap_err().field(), field, "{bad}");
    }
    assert_eq!(
        schema.check(&RawJson::empty_object()).unwrap_err().field(),
        "name"
    );
    assert_eq!(schema.check(&RawJson::null()).unwrap_err().field(), "");
}
