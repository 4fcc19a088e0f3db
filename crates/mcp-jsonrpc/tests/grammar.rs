//! The scan takes exactly the JSON that serde_json takes.

use bytes::Bytes;
use mcp_jsonrpc::{Frame, Limits, RawJson, ScanErrorKind, scan};
use proptest::prelude::*;
use serde::de::IgnoredAny;

/// serde_json's own verdict. Skipping a value checks its grammar and neither ranges of numbers, nor halves of
/// surrogate pairs, nor depth, and so does the scan.
fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

fn check(bytes: &[u8]) {
    let limits = Limits::default().with_max_depth(usize::MAX);
    let valid = is_json(bytes);
    let shown = String::from_utf8_lossy(bytes);
    match RawJson::from_bytes(Bytes::copy_from_slice(bytes), &limits) {
        Ok(value) => {
            assert!(valid, "taken as a value, but no JSON: {shown}");
            assert_eq!(value.as_bytes(), bytes.trim_ascii(), "the value of {shown}");
        }
        Err(error) => assert!(!valid, "{error}, but JSON: {shown}"),
    }
    let syntax_error = match scan(Bytes::copy_from_slice(bytes), &limits) {
        Ok(_) => false,
        Err(error) => error.kind() == ScanErrorKind::Syntax,
    };
    assert_eq!(syntax_error, !valid, "scanned as a frame: {shown}");
    // The walk over the members of a message and of its params is another code path.
    let inside = [
        br#"{"jsonrpc":"2.0","method":"x","params":{"name":"#,
        bytes,
        b"}}",
    ]
    .concat();
    let accepted = matches!(scan(inside.clone().into(), &limits), Ok(Frame::One(_)));
    assert_eq!(accepted, is_json(&inside), "as a member of params: {shown}");
}

#[test]
fn odd_values_are_judged_as_serde_json_judges_them() {
    for text in [
        "",
        " ",
        "0",
        "-0",
        "00",
        "01",
        "-",
        "-01",
        "+1",
        "1.",
        ".5",
        "1.5",
        "1.5e",
        "1e5",
        "1E+05",
        "1e-",
        "-1.0e+9",
        "1e999",
        "123456789012345678901234567890",
        "0x1",
        "1_0",
        "Infinity",
        "NaN",
        "true",
        "tru",
        "truex",
        "True",
        "false",
        "null",
        "nul",
        "nulll",
        "\"",
        "\"\"",
        "\"a",
        "\"\\\"",
        "\"\\\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\uD83D\"",
        "\"\\ud83d\\ude00\"",
        "\"\\u0000\"",
        "\"\t\"",
        "\"\n\"",
        "\"\u{7f}\"",
        "\"\u{2028}\"",
        "'a'",
        "[",
        "]",
        "[]",
        "[ ]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1}",
        "{",
        "}",
        "{}",
        "{ }",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1]",
        "{1:2}",
        "{\"a\" : 1 , \"b\":[ ] }",
        "{\"a\":1 \"b\":2}",
        "[[[]]]",
        "[{}]",
        "{\"a\":{}}",
        "{\"\":0}",
        "\u{feff}1",
        "1 2",
        "1,",
        "{}{}",
        "[]]",
        "\u{a0}1",
        "1\u{0}",
        "\u{c}1",
        "/**/1",
        "[1]//",
    ] {
        check(text.as_bytes());
    }
}

/// Pieces of JSON that make something nearly valid when put in a row.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\\", " ", "\n", "0", "-", "1", ".", "e", "E+", "true", "null", "\"a\"",
            "\"a\":", "\\u", "\\ud83d", "\"\\n\"", "\"method\":", "\"params\":{", "\"name\":",
            "\"a long string, so that it is skipped in blocks of bytes: 0123456789 0123456789 0123456789 0123456789\"",
            "é", "\u{1}",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Any JSON value, with white space in places.
fn valid() -> impl Strategy<Value = String> {
    let space = || prop::sample::select(vec!["", "", " ", "\n\t"]);
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has finite numbers only", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(80, 256, 6, move |inner| {
        let key = any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap());
        let member =
            (key, space(), inner.clone(), space()).prop_map(|(k, a, v, b)| format!("{b}{k}{a}:{b}{v}{a}"));
        prop_oneof![
            prop::collection::vec((inner, space()), 0..6).prop_map(|list| {
                let list: Vec<_> = list
                    .into_iter()
                    .map(|(value, space)| format!("{space}{value}{space}"))
                    .collect();
                format!("[{}]", list.join(","))
            }),
            prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn rows_of_pieces_are_judged_as_serde_json_judges_them(bytes in pieces()) {
        check(&bytes);
    }

    #[test]
    fn valid_json_is_taken(text in valid()) {
        prop_assert!(is_json(text.as_bytes()), "the generator made {text}");
        check(text.as_bytes());
    }

    #[test]
    fn changed_json_is_judged_as_serde_json_judges_it(
        text in valid(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..4),
    ) {
        let mut bytes = text.into_bytes();
        for (place, byte, change) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"{}[]\",:\\0-e. "[usize::from(byte) % 13]),
                _ => drop(bytes.remove(at)),
            }
        }
        check(&bytes);
    }
}
