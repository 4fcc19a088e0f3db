//! A server with a few tools, and a client that says exactly what a test wants on the wire.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_http::server::{Endpoint, Listening, Options, serve};
use mcp_server::{Cx, Elicit, Elicited, Failure, Resource, Server, Tool};
use mcp_types::{ElicitSchema, JsonObject};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Text {
    pub text: String,
}

/// How many `slow` calls were dropped before their end.
#[derive(Default)]
pub struct State {
    pub started: AtomicUsize,
    pub cancelled: AtomicUsize,
}

struct Flag(Arc<State>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.cancelled.fetch_add(1, Ordering::SeqCst);
    }
}

async fn echo(_: Cx<Arc<State>>, args: Text) -> String {
    args.text
}

async fn steps(cx: Cx<Arc<State>>) -> &'static str {
    for step in 1..=3 {
        cx.progress(f64::from(step), Some(3.0)).await;
        tokio::task::yield_now().await;
    }
    "done"
}

async fn slow(cx: Cx<Arc<State>>) -> &'static str {
    let _flag = Flag(Arc::clone(cx.state()));
    cx.state().started.fetch_add(1, Ordering::SeqCst);
    cx.progress(1.0, None).await;
    std::future::pending::<()>().await;
    "never"
}

async fn ask(cx: Cx<Arc<State>>) -> Result<String, Failure> {
    let question = Elicit::fields("Who?", ElicitSchema::new());
    let answer: Elicited<JsonObject> = cx.ask("who", question).await?;
    Ok(format!("{}", matches!(answer, Elicited::Accept(_))))
}

async fn boom(_: Cx<Arc<State>>) -> String {
    panic!("on purpose")
}

pub struct Running {
    pub server: Server<Arc<State>>,
    pub endpoint: Endpoint,
    pub listening: Listening,
    pub state: Arc<State>,
}

pub async fn start(options: Options) -> Running {
    let state = Arc::new(State::default());
    let server = Server::builder("http-notes", "1.0.0")
        .state(Arc::clone(&state))
        .tool(Tool::new("echo", echo))
        .tool(Tool::new("steps", steps))
        .tool(Tool::new("slow", slow))
        .tool(Tool::new("ask", ask))
        .tool(Tool::new("boom", boom))
        .resource(Resource::new("x://a", "a", async |_: Cx<Arc<State>>| "text"))
        .subscriptions()
        .dynamic()
        .build()
        .unwrap();
    let endpoint = Endpoint::with_options(server.clone(), options);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listening = serve(listener, endpoint.clone()).unwrap();
    Running {
        server,
        endpoint,
        listening,
        state,
    }
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub fn json(&self) -> serde_json::Value {
        let text = self
            .body
            .strip_prefix("event: message\ndata: ")
            .unwrap_or(&self.body);
        serde_json::from_str(text.trim()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
pub const JSON: (&str, &str) = ("Content-Type", "application/json");

impl Running {
    /// Opens a connection and sends a request on it.
    pub async fn open(&self, verb: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        self.open_at(verb, "/mcp", headers, body).await
    }

    /// The same at another path.
    pub async fn open_at(&self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.listening.address()).await.unwrap();
        let mut text = format!("{verb} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text.push_str(&format!("Host: {}\r\n", self.listening.address()));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!(
            "Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ));
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    /// Sends a request and reads the answer to its end.
    pub async fn send(&self, verb: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.parse_at(verb, "/mcp", headers, body).await
    }

    /// The same at another path.
    pub async fn parse_at(&self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = self.open_at(verb, path, headers, body).await;
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await;
        read.expect("an end").unwrap();
        parse(&bytes)
    }

    pub async fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        let all: Vec<(&str, &str)> = [BOTH, JSON].iter().chain(headers).copied().collect();
        self.send("POST", &all, body).await
    }

    /// Posts at another path.
    pub async fn post_at(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let all: Vec<(&str, &str)> = [BOTH, JSON].iter().chain(headers).copied().collect();
        self.parse_at("POST", path, &all, body).await
    }

    /// A stateless call, with the headers that it needs.
    pub async fn modern(&self, method: &str, name: Option<&str>, params: &str) -> Answer {
        let (headers, body) = modern(method, name, params);
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        self.post(&headers, &body).await
    }

    /// Opens a session and returns its id.
    pub async fn session(&self, revision: &str, capabilities: &str) -> String {
        let answer = self.post(&[], &initialize(revision, capabilities)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.header("mcp-session-id").expect("a session id").to_owned();
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.post(&[("Mcp-Session-Id", &id)], ready).await.status, 202);
        id
    }
}

pub fn initialize(revision: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"loop","version":"0.1.0"}}}}}}"#
    )
}

pub fn call(id: u32, tool: &str, more: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"{more}}}}}"#)
}

/// Headers and body of a stateless request. `params` are members with a comma behind each.
pub fn modern(method: &str, name: Option<&str>, params: &str) -> (Vec<(&'static str, String)>, String) {
    let mut headers = vec![
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("Mcp-Method", method.to_owned()),
    ];
    if let Some(name) = name {
        headers.push(("Mcp-Name", name.to_owned()));
    }
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p"}"#;
    (
        headers,
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{meta}}}}}"#),
    )
}

/// Takes an answer apart, chunked or not.
pub fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, mut rest) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .unwrap_or_default();
    let mut body = String::new();
    if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        while let Some((size, after)) = rest.split_once("\r\n") {
            let size = usize::from_str_radix(size, 16).unwrap();
            if size == 0 || after.len() < size {
                break;
            }
            body.push_str(&after[..size]);
            rest = &after[size + 2..];
        }
    } else {
        body.push_str(rest);
    }
    Answer {
        status,
        head: head.to_owned(),
        body,
    }
}

/// Reads until this text has come.
pub async fn until(stream: &mut TcpStream, text: &str) -> String {
    let mut seen = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut piece)).await;
        let count = read
            .unwrap_or_else(|_| panic!("no {text:?} in {:?}", String::from_utf8_lossy(&seen)))
            .unwrap();
        assert!(
            count > 0,
            "the end before {text:?}: {:?}",
            String::from_utf8_lossy(&seen)
        );
        seen.extend_from_slice(&piece[..count]);
        if String::from_utf8_lossy(&seen).contains(text) {
            return String::from_utf8_lossy(&seen).into_owned();
        }
    }
}

/// Polls until something holds.
pub async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let limit = std::time::Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(std::time::Instant::now() < limit, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
