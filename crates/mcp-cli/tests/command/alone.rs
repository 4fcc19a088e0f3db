//! The commands that need no configuration.

use crate::common::{Folder, mcp};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp");

#[test]
fn the_demo_needs_nothing() {
    let folder = Folder::new();
    let ran = mcp(folder.path(), "demo", &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("\nmcp__workspace__list_files"), "{}", ran.out);
    assert!(ran.out.contains("    # To do\n"), "{}", ran.out);
    assert_eq!(ran.err, "");
}

#[test]
fn inspect_shows_a_server_in_each_era() {
    let folder = Folder::new();
    folder.write("todo.md", "- buy milk\n");
    for revision in [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ] {
        let args = "inspect --protocol {} --call read_file {} -- {} serve";
        let ran = mcp(folder.path(), args, &[revision, r#"{"path":"todo.md"}"#, PROGRAM]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        for says in [
            "server: workspace ",
            &format!("protocol: {revision}\n"),
            "tools: 3\n  list_files",
            "call:\n  - buy milk\n",
        ] {
            assert!(ran.out.contains(says), "{says}: {}", ran.out);
        }
    }
    let document = mcp(folder.path(), "inspect --json -- {} serve", &[PROGRAM]).json();
    assert_eq!(document["protocolVersion"], "2026-07-28");
    assert_eq!(document["serverInfo"]["name"], "workspace");
    assert_eq!(document["tools"][1]["name"], "read_file");
}

#[test]
fn inspect_says_why_there_is_no_connection() {
    let folder = Folder::new();
    let ran = mcp(folder.path(), "inspect -- mcp-test-no-such-program", &[]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err
            .contains("cannot find \"mcp-test-no-such-program\" on PATH"),
        "{}",
        ran.err
    );
    let ran = mcp(folder.path(), "inspect --protocol 1999-01-01 -- {}", &[PROGRAM]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("known are 2024-10-07, "), "{}", ran.err);
    assert_eq!(mcp(folder.path(), "inspect", &[]).code, 2);
    let failed = mcp(
        folder.path(),
        "inspect --call nope {} -- {} serve",
        &["{}", PROGRAM],
    );
    assert_eq!(failed.code, 1);
    assert!(
        failed.out.contains("Error: Tool not available: nope"),
        "{}",
        failed.out
    );
}

#[test]
fn without_a_configuration_there_is_a_way_on() {
    let folder = Folder::new();
    let ran = mcp(folder.path(), "tools", &[]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("--config FILE") && ran.err.contains("mcp demo"),
        "{}",
        ran.err
    );
}
