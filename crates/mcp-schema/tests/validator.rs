//! Values against raw schemas.
#![cfg(feature = "validate")]

use mcp_jsonrpc::RawJson;
use mcp_schema::{SchemaError, SchemaLimits, Validator};

fn raw(text: &str) -> RawJson {
    RawJson::from_text(text).unwrap()
}

fn compile(schema: &str) -> Result<Validator, SchemaError> {
    Validator::compile(&raw(schema), &SchemaLimits::default())
}

fn refusal(schema: &str, value: &str) -> String {
    let checked = compile(schema).unwrap().check(&raw(value));
    checked.err().map(|e| e.to_string()).unwrap_or_default()
}

/// P121
#[test]
fn five_dialects_are_known_and_others_are_reported() {
    for known in [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
    ] {
        let schema = format!(r#"{{"$schema":"{known}","type":"object","required":["a"]}}"#);
        assert_eq!(refusal(&schema, "{}"), "Missing argument: a", "{known}");
    }
    for unknown in [
        r#""https://example.com/mine""#,
        r#""http://json-schema.org/draft-99/schema#""#,
        "7",
        "null",
    ] {
        let error = compile(&format!(r#"{{"$schema":{unknown}}}"#)).unwrap_err();
        assert!(error.is_unknown_dialect(), "{error}");
    }
}

/// P121
#[test]
fn each_dialect_keeps_its_own_meaning() {
    let tuple =
        r##""items":[{"type":"string"},{"$ref":"#/definitions/n"}],"definitions":{"n":{"type":"integer"}}"##;
    let old = format!(r#"{{"$schema":"http://json-schema.org/draft-07/schema#",{tuple}}}"#);
    assert_eq!(refusal(&old, r#"["a",1]"#), "");
    assert!(refusal(&old, r#"["a","b"]"#).starts_with("Invalid argument [1]: "));
    let new = r#"{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}"#;
    assert_eq!(refusal(new, r#"["a",1]"#), "");
    assert_ne!(refusal(new, r#"["a",1,2]"#), "");
}

/// P122
#[test]
fn nothing_is_loaded_for_a_reference() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let uri = format!("http://{}/x.json", listener.local_addr().unwrap());
    for schema in [
        format!(r#"{{"$ref":"{uri}"}}"#),
        format!(r#"{{"$id":"{uri}","properties":{{"a":{{"$ref":"y.json"}}}}}}"#),
    ] {
        assert!(compile(&schema).unwrap_err().is_remote_reference());
    }
    assert_eq!(
        listener.accept().unwrap_err().kind(),
        std::io::ErrorKind::WouldBlock
    );
}

/// P123
#[test]
fn endless_schemas_are_refused_and_recursive_ones_work() {
    assert!(compile(r##"{"$ref":"#"}"##).unwrap_err().is_over_limit());
    let tree = r##"{"type":"object","properties":{"child":{"$ref":"#"}},"additionalProperties":false}"##;
    assert_eq!(refusal(tree, r#"{"child":{"child":{}}}"#), "");
    assert_eq!(refusal(tree, r#"{"child":{"x":1}}"#), "Unknown argument: child.x");
}

#[test]
fn the_text_names_the_arguments_missing_ones_first() {
    let schema = concat!(
        r#"{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer","maximum":9},"#,
        r#""page":{"type":"object","required":["size"]}},"required":["text"],"additionalProperties":false}"#
    );
    assert_eq!(refusal(schema, "{}"), "Missing argument: text");
    assert_eq!(
        refusal(schema, r#"{"n":10,"page":{}}"#),
        "Missing argument: text; Missing argument: page.size; Invalid argument n: 10 is greater than the maximum of 9"
    );
    assert_eq!(
        refusal(schema, r#"{"text":"a","x":1,"y":2}"#),
        "Unknown argument: x; Unknown argument: y"
    );
    assert_eq!(
        refusal(schema, r#"{"text":1}"#),
        r#"Invalid argument text: 1 is not of type "string""#
    );
    assert_eq!(
        refusal(schema, "[]"),
        r#"Invalid arguments: [] is not of type "object""#
    );
    let many = r#"{"items":{"type":"null"}}"#;
    assert!(refusal(many, "[1,2,3,4,5,6,7,8]").ends_with("; and more"));
}

/// P149
#[test]
fn a_long_value_is_not_quoted() {
    let value = format!(r#"{{"n":"{}"}}"#, "😀".repeat(3000));
    let refusal = refusal(r#"{"properties":{"n":{"type":"integer"}}}"#, &value);
    assert_eq!(refusal, r#"Invalid argument n: value is not of type "integer""#);
}

#[test]
fn large_numbers_are_told_apart_where_64_bits_allow() {
    let schema = r#"{"properties":{"n":{"maximum":9007199254740993}}}"#;
    assert_eq!(refusal(schema, r#"{"n":9007199254740993}"#), "");
    assert_ne!(refusal(schema, r#"{"n":9007199254740994}"#), "");
    assert_eq!(refusal(r#"{"type":"integer"}"#, "18446744073709551615"), "");
}

#[test]
fn patterns_take_linear_time_or_are_refused() {
    let schema = r#"{"type":"string","pattern":"^(a+)+$"}"#;
    assert_ne!(refusal(schema, &format!(r#""{}b""#, "a".repeat(10_000))), "");
    assert!(compile(r#"{"pattern":"(?=a)b"}"#).is_err());
}

#[test]
fn an_invalid_schema_is_refused() {
    for bad in [
        r#"{"type":"objekt"}"#,
        r#"{"required":null}"#,
        r#"{"properties":[]}"#,
        "1",
        "null",
    ] {
        assert!(compile(bad).is_err(), "{bad}");
    }
}

/// P126, P127
#[test]
fn a_structured_result_is_checked_as_it_is() {
    let schema =
        r#"{"type":"object","properties":{"words":{"type":"integer"}},"additionalProperties":false}"#;
    assert_eq!(refusal(schema, r#"{"words":12}"#), "");
    assert_eq!(refusal("{}", "[1,2]"), "");
    assert_eq!(refusal("true", "null"), "");
    assert_ne!(refusal("false", "null"), "");
}

/// Cases of the official test suite for draft 2020-12.
#[test]
fn official_vectors_hold() {
    for (schema, valid, invalid) in [
        // type.json: a float without a fraction is an integer.
        (r#"{"type":"integer"}"#, "1.0", "1.1"),
        // additionalProperties.json
        (
            r#"{"properties":{"foo":{}},"patternProperties":{"^v":{}},"additionalProperties":false}"#,
            r#"{"foo":1,"vroom":2}"#,
            r#"{"quux":1}"#,
        ),
        // const.json: false is not 0.
        (r#"{"const":false}"#, "false", "0"),
        // uniqueItems.json: numbers are equal by value.
        (r#"{"uniqueItems":true}"#, r#"[1,true]"#, "[1.0,1.00]"),
        // minLength.json: characters, not bytes.
        (r#"{"minLength":2}"#, r#""fo""#, r#""💩""#),
        // dependentRequired.json
        (
            r#"{"dependentRequired":{"bar":["foo"]}}"#,
            r#"{"foo":1,"bar":2}"#,
            r#"{"bar":2}"#,
        ),
        // ref.json: siblings of $ref count.
        (
            r##"{"$defs":{"a":{"type":"array"}},"properties":{"foo":{"$ref":"#/$defs/a","maxItems":2}}}"##,
            r#"{"foo":[]}"#,
            r#"{"foo":[1,2,3]}"#,
        ),
        // unevaluatedProperties.json
        (
            r#"{"allOf":[{"properties":{"foo":{}}}],"unevaluatedProperties":false}"#,
            r#"{"foo":1}"#,
            r#"{"bar":1}"#,
        ),
        // multipleOf.json
        (r#"{"multipleOf":0.0001}"#, "0.0075", "0.00751"),
    ] {
        assert_eq!(refusal(schema, valid), "", "{schema}");
        assert_ne!(refusal(schema, invalid), "", "{schema}");
    }
}
