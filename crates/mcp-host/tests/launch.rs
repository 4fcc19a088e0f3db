//! Real child processes from real configurations. The servers are scripts of `sh`.

#![cfg(unix)]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_bridge::text::for_model;
use mcp_host::config::{HostConfig, Surroundings};
use mcp_host::launch::{Host, Launcher, State};
use mcp_jsonrpc::RawJson;

/// The lesson's echo server: no `capabilities`, log lines on standard error.
const ECHO: &str = r#"
echo "echo-server: started, prefix=[$ECHO_PREFIX]" >&2
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id";;
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","instructions":"Echo tools.","serverInfo":{"name":"echo-server","version":"1.0.0"}}}\n' "$id";;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"delete","inputSchema":{"type":"object"}}]}}\n' "$id";;
    *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%shello from a child process"}]}}\n' "$id" "$ECHO_PREFIX";;
  esac
done
echo "echo-server: stdin closed, exiting" >&2
"#;

fn entry(script: &str, more: serde_json::Value) -> serde_json::Value {
    let mut entry = serde_json::json!({ "command": "sh", "args": ["-c", script] });
    for (name, value) in more.as_object().unwrap() {
        entry[name] = value.clone();
    }
    entry
}

fn config(servers: &[(&str, serde_json::Value)]) -> HostConfig {
    // Not through a map: the order of the file matters.
    let entries: Vec<String> = servers
        .iter()
        .map(|(name, entry)| format!("{name:?}:{entry}"))
        .collect();
    let text = format!("{{\"mcpServers\":{{{}}}}}", entries.join(","));
    HostConfig::parse(&text, std::env::temp_dir().join("servers.json")).unwrap()
}

fn around(config: &HostConfig) -> Surroundings {
    Surroundings::new(&config.workspace).with_variables([("HOME", "/nowhere")])
}

async fn start(launcher: Launcher, servers: &[(&str, serde_json::Value)]) -> Host {
    let config = config(servers);
    launcher.start(&config, &around(&config)).await
}

fn launcher() -> Launcher {
    Launcher::new("loop", "0.1.0")
}

#[tokio::test]
async fn the_lessons_example_13() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let copy = Arc::clone(&heard);
    let launcher = launcher().on_stderr(move |server, line| {
        copy.lock().unwrap().push(format!("{server} stderr: {line}"));
    });
    let echo = entry(ECHO, serde_json::json!({"env": {"ECHO_PREFIX": "echo: "}}));
    let off = serde_json::json!({"type": "http", "url": "https://mcp.example.com/mcp", "disabled": true});
    let host = start(launcher, &[("echo", echo), ("issue-tracker", off)]).await;
    let result = host
        .registry()
        .call("mcp__echo__echo", RawJson::null())
        .await
        .unwrap();
    assert_eq!(for_model(&result), "echo: hello from a child process");
    assert!(matches!(host.servers()[1].state(), State::Disabled));

    let endings = host.close().await;
    assert_eq!(endings[0].name, "echo");
    assert_eq!(endings[0].closed.as_ref().unwrap().exit_code, Some(0));
    let lines = [
        "echo-server: started, prefix=[echo: ]",
        "echo-server: stdin closed, exiting",
    ];
    assert_eq!(endings[0].stderr, lines);
    assert_eq!(endings[1].name, "issue-tracker");
    assert!(endings[1].closed.is_none());
    assert_eq!(
        *heard.lock().unwrap(),
        lines.map(|line| format!("echo stderr: {line}"))
    );
}

#[tokio::test]
async fn one_that_fails_leaves_the_others_alone_and_the_order_is_that_of_the_file() {
    let host = start(
        launcher(),
        &[
            (
                "z-dies",
                entry("echo 'no \u{9b}luck' >&2; exit 3", serde_json::json!({})),
            ),
            (
                "y-missing",
                serde_json::json!({"command": "mcp-test-no-such-program"}),
            ),
            (
                "x-gap",
                serde_json::json!({"command": "x", "args": ["${MCP_TEST_NOT_SET}"]}),
            ),
            (
                "w-remote",
                serde_json::json!({"type": "sse", "url": "http://localhost:9"}),
            ),
            ("v-nothing", serde_json::json!({})),
            ("u-good", entry(ECHO, serde_json::json!({}))),
        ],
    )
    .await;
    let names: Vec<&str> = host.servers().iter().map(|server| server.name()).collect();
    assert_eq!(
        names,
        ["z-dies", "y-missing", "x-gap", "w-remote", "v-nothing", "u-good"]
    );
    let why = |at: usize| host.servers()[at].failure().unwrap();
    assert!(
        why(0)
            .to_string()
            .contains("exit code 3\n  stderr: no ⟦U+009B⟧luck"),
        "{}",
        why(0)
    );
    assert!(why(1).as_client_error().unwrap().is_start());
    assert!(
        why(2).is_config() && why(2).to_string().contains("MCP_TEST_NOT_SET"),
        "{}",
        why(2)
    );
    assert!(
        why(3).to_string().contains("localhost:9 cannot be reached"),
        "{}",
        why(3)
    );
    assert!(why(4).is_config());
    assert_eq!(
        host.clients().map(|(name, _)| name).collect::<Vec<_>>(),
        ["u-good"]
    );
    assert_eq!(host.registry().snapshot().len(), 2);
    assert_eq!(host.close().await.len(), 6);
}

#[tokio::test]
async fn tools_that_the_file_keeps_back_are_neither_listed_nor_called() {
    let echo = entry(ECHO, serde_json::json!({"disabled_tools": ["del*"]}));
    let host = start(launcher(), &[("echo", echo)]).await;
    let tools = host.registry().snapshot();
    assert_eq!(
        tools.iter().map(|tool| tool.name()).collect::<Vec<_>>(),
        ["mcp__echo__echo"]
    );
    // It is as the user wants it, so there is nothing to report.
    assert!(tools.problems().is_empty());
    let error = host
        .registry()
        .call("mcp__echo__delete", RawJson::null())
        .await
        .unwrap_err();
    assert!(error.is_unknown_tool());
    host.close().await;
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up_in_time_and_ended() {
    let silent = "echo waiting >&2; while read -r line; do :; done; sleep 600 & wait";
    let silent = entry(silent, serde_json::json!({"startup_timeout": 1}));
    let begun = Instant::now();
    let host = start(
        launcher(),
        &[("silent", silent), ("echo", entry(ECHO, serde_json::json!({})))],
    )
    .await;
    assert!(begun.elapsed() < Duration::from_secs(8));
    let why = host.servers()[0].failure().unwrap();
    assert!(why.is_timeout(), "{why}");
    assert!(
        why.to_string().contains("startup_timeout") && why.to_string().contains("stderr: waiting"),
        "{why}"
    );
    assert_eq!(host.registry().snapshot().len(), 2);
    host.close().await;
}

/// Each server is ready only once all have started, and ends by itself only once all were told to end.
#[tokio::test]
async fn servers_start_at_the_same_time_and_end_at_the_same_time() {
    let meeting = std::env::temp_dir().join(format!("mcp-host-meeting-{}", std::process::id()));
    std::fs::create_dir_all(&meeting).unwrap();
    let meet = |what: &str| {
        let at = meeting.join(what).display().to_string();
        format!("touch {at}.$$; while [ $(ls {at}.* | wc -l) -lt 5 ]; do sleep 0.02; done")
    };
    let script = format!("{}; {ECHO}\n{}", meet("start"), meet("end"));
    let names = ["a", "b", "c", "d", "e"];
    let servers: Vec<_> = names
        .map(|name| (name, entry(&script, serde_json::json!({}))))
        .into();
    let host = start(launcher(), &servers).await;
    assert_eq!(host.clients().count(), 5);
    let endings = host.close().await;
    std::fs::remove_dir_all(&meeting).unwrap();
    let codes: Vec<_> = endings
        .iter()
        .map(|ending| ending.closed.as_ref().unwrap().exit_code)
        .collect();
    assert_eq!(codes, [Some(0); 5]);
}

#[tokio::test]
async fn a_server_that_does_not_end_is_ended() {
    let stubborn = format!("trap '' TERM; {ECHO}\nwhile :; do sleep 1; done");
    let launcher = launcher().command(|_, command| {
        let short = Duration::from_millis(50);
        command.grace(mcp_stdio::process::Grace {
            after_input: short,
            after_terminate: short,
            ..Default::default()
        })
    });
    let host = start(launcher, &[("stubborn", entry(&stubborn, serde_json::json!({})))]).await;
    let endings = host.close().await;
    let closed = endings[0].closed.as_ref().unwrap();
    assert!(!closed.orderly && closed.exit_code.is_none(), "{closed:?}");
}

/// P015, P191
#[tokio::test]
async fn a_child_sees_only_its_own_variables_and_may_flood_its_standard_error() {
    let script = format!(
        "i=0; while [ $i -lt 3000 ]; do echo \"line $i of a flood of noise, long enough to fill a pipe\" >&2; i=$((i+1)); done; env >&2; {ECHO}"
    );
    let entry = entry(&script, serde_json::json!({"env": {"GIVEN": "yes"}}));
    let host = start(launcher(), &[("echo", entry)]).await;
    assert_eq!(host.registry().snapshot().len(), 2);
    let endings = host.close().await;
    let lines = &endings[0].stderr;
    assert_eq!(lines.len(), 200);
    assert!(lines.iter().any(|line| line == "GIVEN=yes"));
    // Set for every test by cargo, and none of a server's business.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!lines.iter().any(|line| line.starts_with("CARGO_")));
}

/// P065
#[tokio::test]
async fn an_old_server_that_ignores_what_it_does_not_know_still_has_time_to_start() {
    let deaf = ECHO.replace(
        r#"*'"server/discover"'*) printf"#,
        r#"*'"server/discover"'*) :;; *'"never"'*) printf"#,
    );
    let deaf = entry(&deaf, serde_json::json!({"startup_timeout": 3}));
    let host = start(launcher(), &[("deaf", deaf)]).await;
    assert_eq!(host.clients().count(), 1, "{:?}", host.servers()[0].failure());
    host.close().await;
}

#[tokio::test]
async fn a_server_at_a_url_joins_the_others_and_one_that_is_not_there_is_told() {
    use mcp_http::server::{Endpoint, Options, serve};
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/workspace");
    let server = mcp_host::serve::workspace_server(folder, mcp_host::serve::WorkspaceOptions::new()).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let running = serve(listener, Endpoint::with_options(server, Options::default())).unwrap();
    let url = format!("http://{}/mcp", running.address());
    let host = start(
        launcher(),
        &[
            (
                "far",
                serde_json::json!({"type": "http", "url": url, "headers": {"X-Team": "notes"}}),
            ),
            (
                "gone",
                serde_json::json!({"type": "http", "url": "http://127.0.0.1:9/mcp"}),
            ),
        ],
    )
    .await;
    assert_eq!(host.registry().snapshot().len(), 3);
    let why = host.servers()[1].failure().unwrap().to_string();
    assert!(why.contains("cannot be reached"), "{why}");
    let list = host
        .registry()
        .call("mcp__far__list_files", RawJson::empty_object())
        .await
        .unwrap();
    assert!(!list.is_error);
    host.close().await;
}
