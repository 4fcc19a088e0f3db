//! Schemas made from types, and arguments read into them.

use std::collections::HashMap;

use mcp_jsonrpc::RawJson;
use mcp_schema::{derive, derive_output, parse_args};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

fn text<T: JsonSchema + DeserializeOwned>() -> String {
    derive::<T>().unwrap().json.to_string()
}

fn enforced<T: JsonSchema + DeserializeOwned>() -> bool {
    derive::<T>().unwrap().enforced
}

fn refusal<T: DeserializeOwned>(arguments: &str) -> String {
    let raw = RawJson::from_text(arguments).unwrap();
    parse_args::<T>(&raw)
        .err()
        .map(|e| e.to_string())
        .unwrap_or_default()
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Plain {
    z: i32,
    a: Option<String>,
    m: bool,
}

/// P130, P118
#[test]
fn properties_come_as_declared_and_the_root_is_an_object() {
    assert_eq!(
        text::<Plain>(),
        concat!(
            r#"{"type":"object","properties":{"z":{"type":"integer","format":"int32"},"#,
            r#""a":{"type":["string","null"]},"m":{"type":"boolean"}},"required":["z","m"]}"#
        )
    );
}

/// P124
#[test]
fn an_optional_value_is_a_union_and_not_required() {
    let text = text::<Plain>();
    assert!(!text.contains("nullable"), "{text}");
    assert!(parse_args::<Plain>(&RawJson::from_text(r#"{"z":1,"m":true}"#).unwrap()).is_ok());
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct Closed {
    path: String,
    filter: Option<Filter>,
}

/// What to show.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Filter {
    tags: Vec<String>,
    /// How many.
    limit: u8,
    by: HashMap<String, f64>,
    order: Order,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code)]
enum Order {
    Up,
    Down,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing;

/// P131
#[test]
fn the_schema_is_closed_exactly_when_extra_arguments_are_refused() {
    assert!(text::<Closed>().contains(r#""additionalProperties":false"#));
    assert_eq!(
        refusal::<Closed>(r#"{"path":"x","extra":1}"#),
        "Unknown argument: extra"
    );
    assert!(!text::<Plain>().contains("additionalProperties"));
    assert_eq!(refusal::<Plain>(r#"{"z":1,"m":true,"extra":1}"#), "");
}

#[test]
fn a_type_without_arguments_takes_the_empty_object_only() {
    let none = r#"{"type":"object","additionalProperties":false}"#;
    assert_eq!(text::<()>(), none);
    assert_eq!(text::<Nothing>(), none);
    assert!(enforced::<()>());
    assert_eq!(refusal::<()>("{}"), "");
    assert_eq!(refusal::<Nothing>(r#"{"x":1}"#), "Unknown argument: x");
}

#[test]
fn nested_types_keep_their_order_too() {
    let text = text::<Closed>();
    let places: Vec<usize> = ["\"tags\":", "\"limit\":", "\"by\":", "\"order\":"]
        .iter()
        .map(|name| text.find(name).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
    assert!(!text.contains("$defs"), "{text}");
    assert!(text.contains(r#""description":"How many.""#), "{text}");
}

#[test]
fn a_recursive_type_refers_to_itself_in_order() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Node {
        name: String,
        children: Vec<Node>,
        about: Option<String>,
    }
    let derived = derive::<Node>().unwrap();
    let text = derived.json.as_str();
    assert!(
        text.starts_with(r#"{"type":"object","properties":{"name":"#),
        "{text}"
    );
    assert!(text.contains(r##""$ref":"#"##), "{text}");
    assert!(!derived.enforced);
}

#[test]
fn what_is_not_read_from_an_object_cannot_be_arguments() {
    assert!(derive::<String>().unwrap_err().is_not_object());
    assert!(derive::<Vec<u8>>().unwrap_err().is_not_object());
}

#[test]
fn a_choice_of_structs_is_an_object_at_the_root() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[allow(dead_code)]
    enum Choice {
        One { a: u8 },
        Two { b: u8 },
    }
    let derived = derive::<Choice>().unwrap();
    assert!(
        derived.json.as_str().starts_with(r#"{"type":"object","oneOf":["#),
        "{}",
        derived.json
    );
    assert!(!derived.enforced);
}

#[test]
fn serde_enforces_plain_types_alone() {
    assert!(enforced::<Plain>());
    assert!(enforced::<Closed>(), "{}", text::<Closed>());
    assert!(enforced::<Filter>());
}

#[test]
fn described_variants_and_defaults_are_enforced() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    enum Level {
        /// Quiet.
        Low,
        /// Loud.
        High,
    }
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Args {
        level: Level,
        maybe: Option<Level>,
        #[serde(default)]
        count: u64,
        letter: char,
        any: serde_json::Value,
    }
    assert!(enforced::<Args>(), "{}", text::<Args>());
}

#[test]
fn keywords_that_serde_does_not_know_need_a_validator() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Short {
        #[schemars(length(max = 3))]
        name: String,
    }
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Small {
        #[schemars(range(max = 10))]
        n: u32,
    }
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Unique {
        set: std::collections::BTreeSet<String>,
    }
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Positive {
        n: std::num::NonZeroU8,
    }
    assert!(!enforced::<Short>());
    assert!(!enforced::<Small>());
    assert!(!enforced::<Unique>());
    assert!(!enforced::<Positive>());
}

#[test]
fn a_schema_that_differs_from_the_type_is_not_taken_on_trust() {
    // Says integer, reads a string.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Other {
        #[schemars(with = "u8")]
        n: String,
    }
    // Says required, has a default.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Lax {
        #[serde(default)]
        #[schemars(required)]
        n: Option<u8>,
    }
    // Says closed, takes anything.
    #[derive(Deserialize, JsonSchema)]
    #[schemars(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Open {
        n: u8,
    }
    // Takes a name that the schema does not list.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Alias {
        #[serde(alias = "number")]
        n: u8,
    }
    assert!(!enforced::<Other>());
    assert!(!enforced::<Lax>(), "{}", text::<Lax>());
    assert!(!enforced::<Open>(), "{}", text::<Open>());
    assert!(!enforced::<Alias>());
}

#[test]
fn the_text_of_a_refusal_names_the_argument() {
    let full = |filter: &str| format!(r#"{{"path":"p","filter":{filter}}}"#);
    assert_eq!(refusal::<Closed>("{}"), "Missing argument: path");
    assert_eq!(
        refusal::<Closed>(&full(r#"{"tags":[]}"#)),
        "Missing argument: filter.limit"
    );
    assert_eq!(
        refusal::<Closed>(&full(r#"{"tags":["a",1]}"#)),
        "Invalid argument filter.tags[1]: invalid type: integer `1`, expected a string"
    );
    assert_eq!(
        refusal::<Closed>(&full(r#"{"tags":[],"limit":256}"#)),
        "Invalid argument filter.limit: invalid value: integer `256`, expected u8"
    );
    assert_eq!(
        refusal::<Closed>(r#"{"path":null}"#),
        "Invalid argument path: invalid type: null, expected a string"
    );
    assert_eq!(
        refusal::<Closed>(r#"{"path":"a","path":"b"}"#),
        "Invalid arguments: duplicate field `path`"
    );
    assert_eq!(refusal::<Closed>("[]"), "Invalid arguments: expected an object");
}

/// P149
#[test]
fn a_long_value_is_cut_in_the_text() {
    let arguments = format!(r#"{{"z":"{}","m":true}}"#, "é".repeat(5000));
    let refusal = refusal::<Plain>(&arguments);
    assert!(
        refusal.starts_with("Invalid argument z: invalid type: string"),
        "{refusal}"
    );
    assert!(
        refusal.chars().count() < 400 && refusal.contains("(cut, "),
        "{refusal}"
    );
}

#[test]
fn an_output_schema_says_what_is_written() {
    #[derive(Serialize, JsonSchema)]
    #[allow(dead_code)]
    struct Count {
        words: u32,
        lines: u32,
    }
    assert_eq!(
        derive_output::<Count>().unwrap().as_str(),
        concat!(
            r#"{"type":"object","properties":{"words":{"type":"integer","format":"uint32","minimum":0},"#,
            r#""lines":{"type":"integer","format":"uint32","minimum":0}},"required":["words","lines"]}"#
        )
    );
}
