//! `mcp serve --http`: a server that others can reach.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

struct Serving {
    child: Child,
    address: String,
}

fn serve(more: &[&str]) -> Serving {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp"))
        .args([
            "serve",
            "--http",
            "127.0.0.1:0",
            "--root",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/workspace"),
        ])
        .args(more)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line
        .trim()
        .strip_prefix("http://")
        .and_then(|rest| rest.strip_suffix("/mcp"));
    let address = address.unwrap_or_else(|| panic!("no URL: {line:?}")).to_owned();
    Serving { child, address }
}

impl Serving {
    fn post(&self, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = if headers.contains("Host:") {
            String::new()
        } else {
            format!("Host: {}\r\n", self.address)
        };
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\n{host}Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             {headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"../../etc/passwd"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const MODERN: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read_file\r\n";

#[test]
fn it_prints_its_url_and_serves_both_eras() {
    let serving = serve(&[]);
    let refused = serving.post(MODERN, CALL);
    assert!(
        refused.contains("path escapes the workspace") && refused.contains(r#""isError":true"#),
        "{refused}"
    );
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let opened = serving.post("", hello);
    assert!(
        opened.contains("mcp-session-id: ") && opened.contains(r#""protocolVersion":"2025-06-18""#),
        "{opened}"
    );
}

#[test]
fn other_hosts_are_taken_when_told_so() {
    let strict = serve(&[]);
    assert!(
        strict
            .post(&format!("Host: box.example\r\n{MODERN}"), CALL)
            .starts_with("HTTP/1.1 403")
    );
    let open = serve(&["--allow-host", "box.example"]);
    assert!(
        open.post(&format!("Host: box.example\r\n{MODERN}"), CALL)
            .starts_with("HTTP/1.1 200")
    );
}

#[test]
fn it_ends_when_told_to() {
    let mut serving = serve(&[]);
    let killed = Command::new("kill")
        .args(["-TERM", &serving.child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    assert_eq!(serving.child.wait().unwrap().code(), Some(143));
    assert!(TcpStream::connect(&serving.address).is_err());
}

#[test]
fn requests_finish_when_it_is_told_to_end_and_the_oldest_transport_is_there_when_asked_for() {
    let mut serving = serve(&["--sse"]);
    let mut stream = TcpStream::connect(&serving.address).unwrap();
    write!(
        stream,
        "GET /sse HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n\r\n",
        serving.address
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let path = lines.find_map(|line| Some(line.strip_prefix("data: ")?.to_owned()));
    assert!(path.unwrap().starts_with("/messages?sessionId="));
    let killed = Command::new("kill")
        .args(["-TERM", &serving.child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    // The stream comes to its proper end: the last chunk has no bytes.
    assert_eq!(lines.filter(|line| !line.is_empty()).last().as_deref(), Some("0"));
    assert_eq!(serving.child.wait().unwrap().code(), Some(143));
}

#[test]
fn inspect_shows_a_server_at_a_url_in_each_revision() {
    let serving = serve(&[]);
    let url = format!("http://{}/mcp", serving.address);
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let ran = Command::new(env!("CARGO_BIN_EXE_mcp"))
            .args([
                "inspect",
                &url,
                "--protocol",
                revision,
                "--call",
                "read_file",
                r#"{"path":"todo.md"}"#,
            ])
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert!(
            shown.contains(&format!("protocol: {revision}")) && shown.contains("buy milk"),
            "{shown}"
        );
    }
}
