//! Sample files of several hosts against what they mean, as data.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_host::config::{Diagnostic, HostConfig, Launch, RemoteMode, Severity, Surroundings, Transport};
use serde_json::{Map, Value, json};

#[derive(serde::Deserialize)]
struct Expected {
    context: Context,
    defaults: Map<String, Value>,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Context {
    workspace: String,
    env: BTreeMap<String, String>,
    inputs: BTreeMap<String, String>,
}

#[derive(serde::Deserialize)]
struct Case {
    file: String,
    location: String,
    format: String,
    servers: BTreeMap<String, Map<String, Value>>,
    warnings: BTreeSet<(String, Option<String>)>,
}

#[test]
fn sample_files_mean_what_they_say() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/configs");
    let expected = std::fs::read_to_string(format!("{folder}/expected.json")).unwrap();
    let expected: Expected = serde_json::from_str(&expected).unwrap();
    assert_eq!(expected.cases.len(), 4);
    for case in &expected.cases {
        let text = std::fs::read_to_string(format!("{folder}/{}", case.file)).unwrap();
        let config = HostConfig::parse(&text, &case.location).unwrap();
        assert_eq!(config.format.as_str(), case.format, "{}", case.file);
        assert_eq!(
            config.workspace.to_str(),
            Some(expected.context.workspace.as_str())
        );
        let mut around = Surroundings::new(&config.workspace).with_variables(expected.context.env.clone());
        for (id, value) in &expected.context.inputs {
            around = around.with_input(id, value);
        }

        let mut warnings: Vec<Diagnostic> = config
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Warning)
            .cloned()
            .collect();
        let mut servers = BTreeMap::new();
        for spec in &config.servers {
            let resolved = spec.resolve(&around);
            let got = match &resolved {
                Err(problem) => json!({ "error": problem.code.as_str() }),
                Ok((launch, _)) => described(launch),
            };
            let mut got = as_object(got);
            got.insert("enabled".into(), json!(!spec.disabled));
            got.insert("allow".into(), json!(spec.tools.allow));
            got.insert("deny".into(), json!(spec.tools.deny));
            got.insert("startup_ms".into(), milliseconds(spec.timeouts.startup));
            got.insert("call_ms".into(), milliseconds(spec.timeouts.call));
            assert!(spec.transport.is_ok() || resolved.is_err());
            warnings.extend(resolved.into_iter().flat_map(|(_, warnings)| warnings));
            servers.insert(spec.name.clone(), got);
        }
        assert_eq!(
            servers.keys().collect::<Vec<_>>(),
            case.servers.keys().collect::<Vec<_>>(),
            "{}",
            case.file
        );
        for (name, want) in &case.servers {
            let got = &servers[name];
            if want.contains_key("error") {
                assert_eq!(got["error"], want["error"], "{} {name}", case.file);
                continue;
            }
            for (field, default) in &expected.defaults {
                let want = want.get(field).unwrap_or(default);
                assert_eq!(
                    got.get(field).unwrap_or(default),
                    want,
                    "{} {name} {field}",
                    case.file
                );
            }
            for field in ["transport", "command", "url"] {
                assert_eq!(got.get(field), want.get(field), "{} {name} {field}", case.file);
            }
        }
        let got: BTreeSet<_> = warnings
            .iter()
            .map(|w| (w.code.as_str().to_owned(), w.server.clone()))
            .collect();
        assert_eq!(got, case.warnings, "{}: {warnings:?}", case.file);

        // Nothing that can be printed holds a value of a variable.
        let printed = format!("{config:?} {warnings:?} {around:?}");
        for secret in ["tok-fake-123", "ghp-fake-000", "inp-fake-9"] {
            assert!(!printed.contains(secret), "{}", case.file);
        }
    }
}

fn as_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

fn milliseconds(time: Option<Duration>) -> Value {
    json!(time.map(|time| time.as_millis() as u64))
}

fn described(launch: &Launch) -> Value {
    assert!(
        !format!("{launch:?}").contains("fake"),
        "a launch prints no value"
    );
    match launch {
        Launch::Stdio(stdio) => json!({
            "transport": "stdio",
            "command": stdio.command.expose(),
            "args": stdio.args.iter().map(|arg| arg.expose()).collect::<Vec<_>>(),
            "env": stdio.env.iter().map(|(name, value)| (name.clone(), json!(value.expose()))).collect::<Map<_, _>>(),
            "env_unset": stdio.env_unset,
            "inherit": stdio.inherit,
            "env_file": stdio.env_file,
            "cwd": stdio.cwd,
        }),
        Launch::Http(http) => json!({
            "transport": match http.mode {
                RemoteMode::StreamableHttp => "http",
                RemoteMode::Sse => "sse",
                RemoteMode::Auto => "auto",
            },
            "url": http.url.expose(),
            "headers": http.headers.iter().map(|(name, value)| (name.clone(), json!(value.expose()))).collect::<Map<_, _>>(),
            "headers_helper": http.headers_helper,
        }),
        _ => panic!("a kind of launch the samples do not have"),
    }
}

#[test]
fn the_lesson_file_reads_in_file_order() {
    let text = r#"{"mcpServers":{"echo":{"command":"java","args":["--server"],"env":{"ECHO_PREFIX":"echo: "}},
        "issue-tracker":{"type":"http","url":"https://mcp.example.com/mcp","disabled":true}}}"#;
    let config = HostConfig::parse(text, "/w/mcp.json").unwrap();
    let names: Vec<_> = config
        .servers
        .iter()
        .map(|spec| (spec.name.as_str(), spec.disabled))
        .collect();
    assert_eq!(names, [("echo", false), ("issue-tracker", true)]);
    assert!(config.diagnostics.is_empty());
    assert!(matches!(config.servers[1].transport, Ok(Transport::Http(_))));
}
