//! Names for the model side.

use std::collections::HashSet;

use mcp_bridge::name::{MAX_NAME, NameScheme, Naming, qualify};
use serde_json::Value;

const VECTORS: &str = include_str!("data/tool_names.json");

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap()
}

#[test]
fn the_vectors_hold_in_any_order_of_arrival() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let mut checked = 0;
    for case in vectors["tool_names"].as_array().unwrap() {
        let Some(listed) = case["in_order"].as_array() else {
            continue;
        };
        let generated: Vec<String> = match case.get("generate") {
            Some(_) => (0..120).map(|i| format!("{}{i}", "y".repeat(70))).collect(),
            None => Vec::new(),
        };
        let mut tools: Vec<(&str, &str)> = match generated.is_empty() {
            true => listed
                .iter()
                .map(|t| (text(t, "server"), text(t, "tool")))
                .collect(),
            false => generated.iter().map(|tool| ("s", tool.as_str())).collect(),
        };
        for _ in 0..2 {
            let names = Naming::default().assign(tools.iter().copied());
            for tool in listed {
                let name = names.name_of(text(tool, "server"), text(tool, "tool"));
                assert_eq!(name, Some(text(tool, "registered")), "{}", case["id"]);
                checked += 1;
            }
            tools.reverse();
        }
    }
    assert_eq!(checked, 2 * 23);
}

#[test]
fn approved_names_stay() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let cases = vectors["tool_names"].as_array().unwrap();
    let sticky = cases.iter().find(|case| case["id"] == "sticky").unwrap();
    let mut naming = Naming::default();
    for tool in sticky["approved"].as_array().unwrap() {
        naming = naming.with_kept(text(tool, "server"), text(tool, "tool"), text(tool, "registered"));
    }
    let later = sticky["listed_later"].as_array().unwrap();
    let names = naming.assign(later.iter().map(|tool| ("t", tool.as_str().unwrap())));
    for tool in sticky["approved"].as_array().unwrap() {
        assert_eq!(
            names.name_of("t", text(tool, "tool")),
            Some(text(tool, "registered"))
        );
    }
    // Even while the tool that has the name is away, and against the order.
    let names = naming.assign([("t", "issues+create")]);
    assert_eq!(
        names.name_of("t", "issues+create"),
        Some("mcp__t__issues_create_3")
    );
}

/// P132, P133, P134, P135
#[test]
fn names_are_legal_unique_and_within_the_limit() {
    let long: Vec<String> = ["create", "delete"]
        .iter()
        .flat_map(|middle| (0..150).map(move |i| format!("{}{middle}{}{i}", "a".repeat(40), "b".repeat(20))))
        .collect();
    let server = "s".repeat(60);
    let mut tools: Vec<(&str, &str)> = long.iter().map(|tool| (server.as_str(), tool.as_str())).collect();
    tools.extend([
        ("数据库", "q"),
        ("データ", "q"),
        ("s", "é"),
        ("s", "è"),
        ("", ""),
        ("r", "repo/get.file"),
        ("r", "repo:get file"),
    ]);
    for scheme in [NameScheme::Counter, NameScheme::Digest] {
        let names = Naming::default()
            .with_scheme(scheme)
            .assign(tools.iter().copied());
        let mut seen = HashSet::new();
        for (_, _, name) in names.iter() {
            assert!(name.len() <= MAX_NAME && !name.is_empty(), "{name}");
            assert!(
                name.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'),
                "{name}"
            );
            assert!(seen.insert(name.to_owned()), "{name}");
        }
        assert_eq!(seen.len(), tools.len());
    }
}

#[test]
fn a_number_that_is_another_tools_own_name_is_skipped() {
    let names = Naming::default().assign([("s", "a.b"), ("s", "a_b"), ("s", "a_b_2")]);
    assert_eq!(names.name_of("s", "a.b"), Some("mcp__s__a_b"));
    assert_eq!(names.name_of("s", "a_b"), Some("mcp__s__a_b_3"));
    assert_eq!(names.name_of("s", "a_b_2"), Some("mcp__s__a_b_2"));
    assert_eq!(
        names.clashes(),
        [vec![
            ("s".to_owned(), "a.b".to_owned()),
            ("s".to_owned(), "a_b".to_owned())
        ]]
    );
}

#[test]
fn a_digest_names_a_tool_whatever_the_others_are() {
    let naming = Naming::default().with_scheme(NameScheme::Digest);
    let names = naming.assign([("s", "a.b"), ("s", "a_b"), ("s", "a/b"), ("s", "alone.x")]);
    assert_eq!(names.name_of("s", "a_b"), Some("mcp__s__a_b"));
    assert_eq!(names.name_of("s", "alone.x"), Some("mcp__s__alone_x"));
    let digested = names.name_of("s", "a.b").unwrap().to_owned();
    // SHA-256 of `s`, NUL, `a.b`.
    assert_eq!(digested, "mcp__s__a_b_407e8e5c");
    let fewer = naming.assign([("s", "a.b"), ("s", "a/b")]);
    assert_eq!(fewer.name_of("s", "a.b"), Some(digested.as_str()));
    // Two servers that leave nothing but underscores.
    let names = naming.assign([("数据库", "q"), ("データ", "q")]);
    for server in ["数据库", "データ"] {
        let name = names.name_of(server, "q").unwrap();
        assert!(name.starts_with("mcp__x__q_"), "{name}");
    }
}

#[test]
fn a_single_tool_is_qualified_by_its_server() {
    assert_eq!(
        qualify("issue-tracker", "issues.create"),
        "mcp__issue-tracker__issues_create"
    );
    assert_eq!(qualify(&"s".repeat(60), &"t".repeat(40)).len(), MAX_NAME);
}
