//! `mcp serve`, as an editor sees it.

use crate::common::{Folder, mcp_with};
use serde_json::{Value, json};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"editor","version":"9"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

fn call(id: i32, name: &str, arguments: Value) -> String {
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string() + "\n"
}

/// The answers by id; those without one last.
fn answers(out: &str) -> Vec<Value> {
    let mut all: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    all.sort_by_key(|answer| answer["id"].as_i64().unwrap_or(i64::MAX));
    all
}

#[test]
fn every_request_is_answered_and_noise_is_survived() {
    let folder = Folder::new();
    folder.write("src/Util.java", "class Util {}\n");
    folder.write("Main.java", "class Main {}\n");
    let input = [
        INITIALIZE,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "\nServer started\n",
        &call(3, "list_files", json!({})),
        &call(4, "read_file", json!({"path": "../../etc/passwd"})),
        &call(5, "bash", json!({"command": "true"})),
        &call(6, "write_file", json!({"path": "new", "content": "x"})),
        "{not json\n",
    ]
    .concat();
    let root = folder.path().to_str().unwrap();
    let ran = mcp_with(folder.path(), "serve --root {}", &[root], &input, &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let answers = answers(&ran.out);
    assert_eq!(answers.len(), 8, "{}", ran.out);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "workspace");
    assert_eq!(answers[0]["result"]["capabilities"], json!({"tools": {}}));
    let tools = answers[1]["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["list_files", "read_file", "search_files"]);
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    assert_eq!(
        answers[2]["result"],
        json!({"content": text("Main.java\nsrc/Util.java")})
    );
    let failed = |said: &str| json!({"content": text(said), "isError": true});
    assert_eq!(answers[3]["result"], failed("path escapes the workspace"));
    assert_eq!(answers[4]["result"], failed("Tool not available: bash"));
    assert_eq!(answers[5]["result"], failed("Tool not available: write_file"));
    // Once for each stretch of noise.
    for noise in &answers[6..] {
        assert_eq!(noise["error"]["code"], -32700);
        assert!(noise["id"].is_null());
    }
    assert!(!folder.path().join("new").exists());
    assert!(
        ran.err.lines().all(|line| line.starts_with("mcp: warn: ")),
        "{}",
        ran.err
    );
}

#[test]
fn writing_has_to_be_allowed() {
    let folder = Folder::new();
    folder.write("a.txt", "one two\n");
    let input = [
        INITIALIZE,
        &call(2, "write_file", json!({"path": "deep/new", "content": "x"})),
        &call(
            3,
            "edit_file",
            json!({"path": "a.txt", "old": "two", "new": "three"}),
        ),
        &call(4, "write_file", json!({"path": "../new", "content": "x"})),
    ]
    .concat();
    let ran = mcp_with(folder.path(), "serve --allow-write", &[], &input, &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let answers = answers(&ran.out);
    assert_eq!(
        answers[1]["result"]["content"][0]["text"],
        "created deep/new (1 bytes)"
    );
    assert_eq!(
        answers[2]["result"]["content"][0]["text"],
        "edited a.txt at line 1"
    );
    assert_eq!(
        answers[3]["result"]["content"][0]["text"],
        "path escapes the workspace"
    );
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        (read("deep/new"), read("a.txt")),
        ("x".to_owned(), "one three\n".to_owned())
    );
}

#[test]
fn a_folder_that_is_none_is_wrong_usage() {
    let folder = Folder::new();
    let ran = mcp_with(folder.path(), "serve --root nowhere", &[], "", &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.is_empty());
    assert!(ran.err.starts_with("mcp: cannot serve nowhere: "), "{}", ran.err);
}
