//! The commands over the servers of a configuration.

use crate::common::{Folder, mcp, mcp_with, script, workspace};

/// A server of the stateful era with a resource, a template and a prompt, whose words try to act on the terminal.
const LIBRARY: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id";;
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"library","version":"1"}}}\n' "$id";;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"wipe","description":"Shows \\u001b[2J nothing.","inputSchema":{"type":"object"}}]}}\n' "$id";;
    *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"a\\u009b31mb\\u202e"}]}}\n' "$id";;
    *'"resources/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"resources":[{"uri":"book:1","name":"One","mimeType":"text/plain"}]}}\n' "$id";;
    *'"resources/templates/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"resourceTemplates":[{"uriTemplate":"book:{n}","name":"Any"}]}}\n' "$id";;
    *'"resources/read"'*'"book:1"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"contents":[{"uri":"book:1","text":"Once upon a time"}]}}\n' "$id";;
    *'"resources/read"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"Resource not found"}}\n' "$id";;
    *'"prompts/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"prompts":[{"name":"review","description":"Asks for a review.","arguments":[{"name":"of","required":true},{"name":"tone"}]}]}}\n' "$id";;
    *'"prompts/get"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"messages":[{"role":"user","content":{"type":"text","text":"Review it."}}]}}\n' "$id";;
  esac
done
"#;

#[test]
fn tools_of_all_servers_and_a_report_of_those_that_fail() {
    let folder = Folder::new();
    folder.write("todo.md", "- buy milk\n");
    let config = folder.config(
        "servers.json",
        &[
            ("bad", script("echo no luck >&2; exit 7")),
            ("files", workspace(folder.path())),
            (
                "keyless",
                r#"{"command":"x","env":{"KEY":"${MCP_TEST_NOT_SET}"}}"#.to_owned(),
            ),
            ("off", r#"{"command":"x","disabled":true}"#.to_owned()),
            (
                "remote",
                r#"{"type":"sse","url":"http://localhost:9/mcp"}"#.to_owned(),
            ),
        ],
    );
    let config = config.to_str().unwrap();
    let ran = mcp(folder.path(), "tools --config {}", &[config]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let names: Vec<&str> = ran
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("mcp__"))
        .collect();
    assert_eq!(names.len(), 3, "{}", ran.out);
    assert!(ran.out.contains("    [files] Reads a text file"), "{}", ran.out);
    // In the order of the file.
    let told: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("mcp: ")).collect();
    assert!(
        told[0].starts_with("mcp: bad: ") && told[0].ends_with("exit code 7"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("\n  stderr: no luck\n"), "{}", ran.err);
    assert!(
        told[1].starts_with("mcp: keyless: needs MCP_TEST_NOT_SET (env.KEY)"),
        "{}",
        ran.err
    );
    assert!(
        told[2].starts_with("mcp: remote: http://localhost:9 cannot be reached"),
        "{}",
        ran.err
    );

    let document = mcp(folder.path(), "tools --json --config {}", &[config]).json();
    assert_eq!(document["tools"][1]["name"], "mcp__files__read_file");
    assert_eq!(document["tools"][1]["definition"]["name"], "read_file");
    let states: Vec<&str> = document["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| server["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["failed", "running", "failed", "disabled", "failed"]);

    // One good server is enough; none, or not the one that was asked for, is not.
    assert_eq!(
        mcp(folder.path(), "tools --server bad --config {}", &[config]).code,
        1
    );
    assert_eq!(
        mcp(folder.path(), "tools --server off --config {}", &[config]).code,
        2
    );
    let unknown = mcp(folder.path(), "tools --server nope --config {}", &[config]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.err.contains("it has: bad, files, keyless, off, remote"),
        "{}",
        unknown.err
    );
}

#[test]
fn a_required_server_that_fails_is_a_failure() {
    let folder = Folder::new();
    let required = r#"{"command":"mcp-test-no-such-program","required":true}"#.to_owned();
    let config = folder.config(
        "c.json",
        &[("files", workspace(folder.path())), ("must", required)],
    );
    let ran = mcp(folder.path(), "tools --config {}", &[config.to_str().unwrap()]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("mcp__files__read_file"), "{}", ran.out);
    assert!(
        ran.err
            .contains("must: cannot find \"mcp-test-no-such-program\" on PATH"),
        "{}",
        ran.err
    );
}

#[test]
fn a_call_gives_the_text_for_models_and_the_exit_code() {
    let folder = Folder::new();
    folder.write("todo.md", "- buy milk\n");
    folder.write("args.json", r#"{"path":"todo.md"}"#);
    let config = folder.config("c.json", &[("files", workspace(folder.path()))]);
    let config = config.to_str().unwrap();
    let call = |given: &str, input: &str| {
        let args = "call mcp__files__read_file {} --config {}";
        mcp_with(folder.path(), args, &[given, config], input, &[])
    };
    for (given, input) in [
        (r#"{"path":"todo.md"}"#, ""),
        ("@args.json", ""),
        ("-", " {\"path\":\"todo.md\"}\n"),
    ] {
        let ran = call(given, input);
        assert_eq!((ran.code, ran.out.as_str()), (0, "- buy milk\n"), "{}", ran.err);
    }
    let escape = call(r#"{"path":"../x"}"#, "");
    assert_eq!(
        (escape.code, escape.out.as_str()),
        (1, "Error: path escapes the workspace\n")
    );
    let missing = call("{}", "");
    assert_eq!(
        (missing.code, missing.out.as_str()),
        (1, "Error: Missing argument: path\n")
    );
    for (given, says) in [
        ("{", "the arguments from the command line are not JSON"),
        ("[1]", "must be a JSON object"),
        ("@nope.json", "cannot read the arguments from nope.json"),
    ] {
        let ran = call(given, "");
        assert_eq!(ran.code, 2);
        assert!(ran.out.is_empty() && ran.err.contains(says), "{}", ran.err);
    }
    let whole = mcp(
        folder.path(),
        "call mcp__files__read_file {} --json --config {}",
        &[r#"{"path":"todo.md"}"#, config],
    );
    assert_eq!(whole.json()["content"][0]["text"], "- buy milk\n");
    let typo = mcp(folder.path(), "call read_file --config {}", &[config]);
    assert_eq!(typo.code, 1);
    assert!(
        typo.err.contains("did you mean mcp__files__read_file?"),
        "{}",
        typo.err
    );
}

#[test]
fn resources_and_prompts() {
    let folder = Folder::new();
    let config = folder.config(
        "c.json",
        &[("files", workspace(folder.path())), ("library", script(LIBRARY))],
    );
    let config = config.to_str().unwrap();
    let run = |args: &str| mcp(folder.path(), &format!("{args} --config {{}}"), &[config]);
    let ran = run("resources");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        ran.out,
        "book:1  (One, text/plain)\n    [library]\nbook:{n}  (Any)\n    [library]\n"
    );
    assert_eq!(
        run("resources --json").json()["resources"][1]["resources"][0]["uri"],
        "book:1"
    );
    let ran = run("read book:1");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "Once upon a time\n"),
        "{}",
        ran.err
    );
    let ran = run("read book:2");
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains("library: MCP error -32002: Resource not found"),
        "{}",
        ran.err
    );
    let ran = run("prompts");
    assert_eq!(
        ran.out, "review of= [tone=]\n    [library] Asks for a review.\n",
        "{}",
        ran.err
    );
    let ran = run("prompt review of=this");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "user: Review it.\n"),
        "{}",
        ran.err
    );
    assert_eq!(run("prompt review nonsense").code, 2);
    assert_eq!(run("prompt other").code, 1);
}

#[test]
fn p190_words_of_servers_cannot_act_on_the_terminal() {
    let folder = Folder::new();
    let config = folder.config("c.json", &[("library", script(LIBRARY))]);
    let config = config.to_str().unwrap();
    let listed = mcp(folder.path(), "tools --config {}", &[config]);
    assert!(
        listed.out.contains("Shows ⟦U+001B⟧[2J nothing."),
        "{}",
        listed.out
    );
    let called = mcp(folder.path(), "call mcp__library__wipe --config {}", &[config]);
    assert_eq!(called.out, "a⟦U+009B⟧31mb⟦U+202E⟧\n");
    let json = mcp(
        folder.path(),
        "call mcp__library__wipe --json --config {}",
        &[config],
    );
    assert!(json.out.is_ascii(), "{}", json.out);
    assert_eq!(json.json()["content"][0]["text"], "a\u{9b}31mb\u{202e}");
    let traced = mcp(
        folder.path(),
        "call mcp__library__wipe --trace --config {}",
        &[config],
    );
    assert!(
        !traced.err.contains(['\u{9b}', '\u{1b}', '\u{202e}']),
        "{}",
        traced.err
    );
}

#[test]
fn a_trace_shows_every_message_and_no_secret() {
    let folder = Folder::new();
    let entry = serde_json::json!({
        "command": "sh",
        "args": ["-c", r#"echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"$KEY\"}}"; exec "$0" serve"#, env!("CARGO_BIN_EXE_mcp")],
        "env": { "KEY": "${MCP_TEST_SECRET}" },
    });
    let config = folder.config("c.json", &[("files", entry.to_string())]);
    let secret = [("MCP_TEST_SECRET", "s3cret-of-the-test")];
    let ran = mcp_with(
        folder.path(),
        "call mcp__files__list_files --trace --config {}",
        &[config.to_str().unwrap()],
        "",
        &secret,
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let sent = ran
        .err
        .lines()
        .filter(|line| line.starts_with("-> [files] {"))
        .count();
    let received = ran
        .err
        .lines()
        .filter(|line| line.starts_with("<- [files] {"))
        .count();
    assert!(sent >= 3 && received >= 4, "{}", ran.err);
    assert!(ran.err.contains(r#"{"data":"***"}"#), "{}", ran.err);
    assert!(!ran.err.contains("s3cret"), "{}", ran.err);
}

#[test]
fn p183_a_configuration_that_was_found_starts_nothing_before_consent() {
    let folder = Folder::new();
    let mark = folder.path().join("started");
    let entry = serde_json::json!({
        "command": "sh",
        "args": ["-c", format!("touch {}; exit 1", mark.display())],
        "env": { "KEY": "${HOME}" },
    });
    folder.config("mcp-host.json", &[("eager", entry.to_string())]);
    let inner = folder.path().join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    for args in [
        "tools",
        "call mcp__eager__x",
        "resources",
        "read a:b",
        "prompts",
        "prompt x",
    ] {
        let ran = mcp(&inner, args, &[]);
        assert_eq!(ran.code, 2, "{args}: {}", ran.err);
        assert!(
            ran.err.contains("was found, not named") && ran.err.contains("--yes"),
            "{}",
            ran.err
        );
        assert!(ran.err.contains("eager: sh -c "), "{}", ran.err);
    }
    assert!(!mark.exists());
    let shown = mcp(&inner, "config", &[]);
    assert_eq!(shown.code, 0);
    assert!(
        shown.out.contains("variable HOME: not looked at"),
        "{}",
        shown.out
    );
    assert_eq!(mcp(&inner, "tools --yes", &[]).code, 1);
    assert!(mark.exists());
}

#[test]
fn a_configuration_is_shown_without_values() {
    let folder = Folder::new();
    let entry = r#"{"command":"notes","args":["${MCP_TEST_A}"],"env":{"KEY":"literal-secret"},"comand":"x"}"#;
    let remote = r#"{"url":"https://example.com/mcp","headers":{"Authorization":"Bearer ${MCP_TEST_B}"}}"#;
    let config = folder.config(
        "c.json",
        &[("notes", entry.to_owned()), ("remote", remote.to_owned())],
    );
    let config = config.to_str().unwrap();
    let env = [("MCP_TEST_A", "value-of-a")];
    let ran = mcp_with(folder.path(), "config --config {}", &[config], "", &env);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for says in [
        "(format native)",
        "notes ${MCP_TEST_A} (sets KEY)",
        "env KEY: ***",
        "variable MCP_TEST_A: set",
        "header Authorization: ***${MCP_TEST_B}",
        "variable MCP_TEST_B: not set",
        "did you mean \"command\"",
    ] {
        assert!(ran.out.contains(says), "{says}: {}", ran.out);
    }
    assert!(
        !ran.out.contains("literal-secret") && !ran.out.contains("value-of-a"),
        "{}",
        ran.out
    );
    let ran = mcp_with(folder.path(), "config --json --config {}", &[config], "", &env);
    let document = ran.json();
    assert_eq!(document["servers"][0]["variables"][0]["set"], true);
    assert_eq!(document["servers"][1]["transport"], "http");
    assert!(
        !ran.out.contains("literal-secret") && !ran.out.contains("value-of-a"),
        "{}",
        ran.out
    );
}

#[test]
fn a_configuration_that_cannot_be_read_is_wrong_usage() {
    let folder = Folder::new();
    folder.write("broken.json", "{\n  \"mcpServers\": {,\n}");
    let ran = mcp(folder.path(), "tools --config broken.json", &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("broken.json:2:"), "{}", ran.err);
    assert_eq!(mcp(folder.path(), "config --config nope.json", &[]).code, 2);
    assert_eq!(mcp(folder.path(), "frobnicate", &[]).code, 2);
    assert_eq!(mcp(folder.path(), "--help", &[]).code, 0);
}

/// P021: a server in a group of its own does not hear the terminal's interrupt, and this one ignores the end of input.
#[test]
fn an_interrupted_command_leaves_no_server_behind() {
    let folder = Folder::new();
    let script = script("echo $$ > pid; while :; do sleep 0.1; done");
    let config = folder.config("c.json", &[("deaf", script)]);
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_mcp"))
            .args(["tools", "--config"])
            .arg(&config)
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        let kill = |signal: &str, pid: &str| {
            let kill = std::process::Command::new("kill").args([signal, pid]).output();
            kill.unwrap().status.success()
        };
        let limit = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let pid = loop {
            assert!(std::time::Instant::now() < limit, "the server did not start");
            match std::fs::read_to_string(folder.path().join("pid")) {
                Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
                _ => std::thread::yield_now(),
            }
        };
        assert!(kill(signal, &child.id().to_string()));
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(!kill("-0", &pid), "the server is still there");
        std::fs::remove_file(folder.path().join("pid")).unwrap();
    }
}
