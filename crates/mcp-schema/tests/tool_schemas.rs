//! Schemas of tools as servers send them.

use mcp_jsonrpc::RawJson;
use mcp_schema::{
    HeaderParamType, SchemaLimits, check_bounds, check_tool_input_schema, complete_for_model, header_params,
};

fn raw(text: &str) -> RawJson {
    RawJson::from_text(text).unwrap()
}

/// P118, P120
#[test]
fn the_copy_for_a_model_is_completed_and_else_unchanged() {
    for (schema, completed) in [
        ("{}", r#"{"type":"object","properties":{}}"#),
        (r#"{"type":"object"}"#, r#"{"type":"object","properties":{}}"#),
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#,
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{}}"#,
        ),
        (
            r#"{ "properties" : {"z":{"maximum":12345678901234567890123, "a":1.0}} , "x-own":[1] }"#,
            r#"{ "properties" : {"z":{"maximum":12345678901234567890123, "a":1.0}} , "x-own":[1] ,"type":"object"}"#,
        ),
        ("true", r#"{"type":"object","properties":{}}"#),
    ] {
        assert_eq!(complete_for_model(&raw(schema)).as_str(), completed);
    }
    let whole = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"anyOf":[{},{}]}},"additionalProperties":false}"##;
    assert_eq!(complete_for_model(&raw(whole)).as_str(), whole);
}

/// P119
#[test]
fn the_input_schema_of_a_tool_has_an_object_at_its_root() {
    for good in [
        r#"{"type":"object"}"#,
        r#"{"required":["a"],"type":"object","properties":{"a":{}}}"#,
        r#"{"type":"object","unknown":true}"#,
    ] {
        assert_eq!(check_tool_input_schema(&raw(good)), Ok(()), "{good}");
    }
    for bad in [
        r#"{"type":"string"}"#,
        "{}",
        "null",
        "true",
        "[]",
        r#"{"type":["object","null"]}"#,
    ] {
        assert!(
            check_tool_input_schema(&raw(bad)).unwrap_err().is_not_object(),
            "{bad}"
        );
    }
    for bad in [
        r#"{"type":"object","required":null}"#,
        r#"{"type":"object","required":[1]}"#,
        r#"{"type":"object","properties":[]}"#,
    ] {
        assert!(check_tool_input_schema(&raw(bad)).is_err(), "{bad}");
    }
}

fn nested(levels: usize) -> RawJson {
    let open = r#"{"properties":{"a":"#.repeat(levels);
    raw(&format!("{open}{{}}{}", "}}".repeat(levels)))
}

fn check(text: &str) -> Result<(), mcp_schema::SchemaError> {
    check_bounds(&raw(text), &SchemaLimits::default())
}

/// P123
#[test]
fn depth_and_count_and_size_are_bounded() {
    let limits = SchemaLimits::default();
    // Two levels each, and the innermost.
    assert_eq!(check_bounds(&nested(31), &limits), Ok(()));
    assert!(check_bounds(&nested(32), &limits).unwrap_err().is_over_limit());
    assert!(check(&format!(r#"{{"allOf":[{}true]}}"#, "true,".repeat(1998))).is_ok());
    assert!(
        check(&format!(r#"{{"allOf":[{}true]}}"#, "true,".repeat(1999)))
            .unwrap_err()
            .is_over_limit()
    );
    let long = format!(r#"{{"description":"{}"}}"#, "x".repeat(256 * 1024));
    assert!(check(&long).unwrap_err().is_over_limit());
}

/// P123
#[test]
fn a_reference_to_itself_without_a_step_into_the_value_is_refused() {
    for endless in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"anyOf":[{"$ref":"#"}]}]}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}}"##,
        r##"{"properties":{"x":{"$anchor":"x","if":{"$ref":"#x"}}}}"##,
        r##"{"$defs":{"unused":{"$ref":"#/$defs/unused"}}}"##,
        r##"{"x":{"y":{"$ref":"#/x/y"}},"$ref":"#/x/y"}"##,
    ] {
        assert!(check(endless).unwrap_err().is_over_limit(), "{endless}");
    }
    assert_eq!(check(r##"{"properties":{"child":{"$ref":"#"}}}"##), Ok(()));
    assert_eq!(
        check(r##"{"items":{"$ref":"#"},"additionalProperties":{"$ref":"#/items"}}"##),
        Ok(())
    );
}

/// P123
#[test]
fn chains_and_doublings_of_references_are_bounded() {
    let chain = |n: usize| {
        let defs: Vec<String> = (0..n)
            .map(|i| format!(r##""d{i}":{{"$ref":"#/$defs/d{}"}}"##, i + 1))
            .collect();
        format!(r##"{{"$defs":{{{},"d{n}":true}}}}"##, defs.join(","))
    };
    assert_eq!(check(&chain(32)), Ok(()));
    assert!(check(&chain(33)).unwrap_err().is_over_limit());
    let doubling: Vec<String> = (0..20)
        .map(|i| {
            format!(
                r##""d{i}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##,
                i + 1
            )
        })
        .collect();
    let doubling = format!(r##"{{"$defs":{{{},"d20":true}}}}"##, doubling.join(","));
    assert!(check(&doubling).unwrap_err().is_over_limit());
}

/// P122
#[test]
fn a_reference_to_another_document_is_refused() {
    for remote in [
        r#"{"$ref":"http://127.0.0.1:1/x.json"}"#,
        r#"{"properties":{"a":{"items":{"$ref":"file:///etc/passwd"}}}}"#,
        r##"{"$dynamicRef":"other.json#x"}"##,
        r##"{"$ref":"#/a","a":{"$ref":"https://example.com/a"}}"##,
    ] {
        assert!(check(remote).unwrap_err().is_remote_reference(), "{remote}");
    }
    assert_eq!(
        check(r#"{"$ref":"https://json-schema.org/draft/2020-12/schema"}"#),
        Ok(())
    );
    assert_eq!(
        check(r#"{"$ref":"https://example.com/item","$defs":{"i":{"$id":"https://example.com/item"}}}"#),
        Ok(())
    );
    // Only data.
    assert_eq!(check(r#"{"const":{"$ref":"http://127.0.0.1:1/x.json"}}"#), Ok(()));
    assert!(check(r##"{"$ref":"#/$defs/nothing"}"##).is_err());
    assert_eq!(
        check(r##"{"$ref":"#/$defs/a%25b~1c","$defs":{"a%b/c":{}}}"##),
        Ok(())
    );
}

#[test]
fn header_params_are_found_by_their_path() {
    let schema = raw(concat!(
        r#"{"type":"object","properties":{"tenant":{"type":"string","x-mcp-header":"Tenant"},"#,
        r#""page":{"type":"object","properties":{"size":{"type":["integer","null"],"x-mcp-header":"Size"}}},"#,
        r#""x-mcp-header":{"type":"boolean","x-mcp-header":"Method"}}}"#
    ));
    let params = header_params(&schema).unwrap();
    let mut found: Vec<_> = params
        .iter()
        .map(|p| (p.path.join("/"), p.name.as_str(), p.kind))
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        found,
        [
            ("page/size".to_owned(), "Size", HeaderParamType::Integer),
            ("tenant".to_owned(), "Tenant", HeaderParamType::String),
            ("x-mcp-header".to_owned(), "Method", HeaderParamType::Boolean),
        ]
    );
    assert_eq!(header_params(&raw(r#"{"type":"object"}"#)), Ok(Vec::new()));
}

#[test]
fn bad_header_annotations_are_refused() {
    for bad in [
        r#"{"type":"object","x-mcp-header":"Root"}"#,
        r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#,
        r#"{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}"#,
        r#"{"properties":{"a":{"x-mcp-header":"A"}}}"#,
        r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#,
        r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#,
        r#"{"properties":{"a":{"type":"string","x-mcp-header":"a\r\nb"}}}"#,
        r#"{"properties":{"a":{"type":"string","x-mcp-header":"é"}}}"#,
        r#"{"properties":{"a":{"type":"string","x-mcp-header":1}}}"#,
        r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}"#,
        r#"{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}"#,
        r#"{"oneOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}"#,
        r#"{"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}"#,
    ] {
        assert!(header_params(&raw(bad)).unwrap_err().is_header(), "{bad}");
    }
}
