//! The client's side of a pipe, line by line: what a server writes is judged as JSON, with no client in between.
#![allow(dead_code, reason = "each test file uses its part")]

use mcp_exchange::Handler;
use mcp_stdio::Options;
use mcp_types::Revision;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// One revision of each era: the newest with sessions, and the newest.
pub(crate) const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

pub(crate) struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    revision: Revision,
    capabilities: Value,
    /// More members of the `_meta` of each request.
    pub(crate) meta: Value,
    last_id: i64,
    /// What came before the answers that were waited for.
    pub(crate) notices: Vec<Value>,
    /// The result of `initialize`, or of `server/discover`.
    pub(crate) greeting: Value,
}

impl Peer {
    /// Talks to a server in this revision, declaring nothing.
    pub(crate) async fn new(server: impl Handler, revision: Revision) -> Self {
        Self::with(server, revision, json!({})).await
    }

    /// Talks to a server in this revision, with the capabilities declared.
    pub(crate) async fn with(server: impl Handler, revision: Revision, capabilities: Value) -> Self {
        let mut peer = Self::fresh(server, revision, capabilities);
        peer.greeting = if revision.is_stateless() {
            peer.result("server/discover", json!({})).await
        } else {
            let params = json!({"protocolVersion": revision.name(), "capabilities": peer.capabilities,
                "clientInfo": {"name": "test", "version": "0"}});
            let result = peer.result("initialize", params).await;
            peer.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
                .await;
            result
        };
        peer
    }

    /// As [`Peer::with`], before any message.
    pub(crate) fn fresh(server: impl Handler, revision: Revision, capabilities: Value) -> Self {
        let ((reader, writer), (server_reader, server_writer)) = mcp_stdio::pair(64 * 1024);
        tokio::spawn(mcp_stdio::serve_on(
            server_reader,
            server_writer,
            server,
            Options::default(),
        ));
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            revision,
            capabilities,
            meta: json!({}),
            last_id: 0,
            notices: Vec::new(),
            greeting: Value::Null,
        }
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.line(&message.to_string()).await;
    }

    pub(crate) async fn line(&mut self, line: &str) {
        self.writer
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    /// Sends a request and returns its id.
    pub(crate) async fn request(&mut self, method: &str, mut params: Value) -> i64 {
        self.last_id += 1;
        let mut meta = self.meta.clone();
        if self.revision.is_stateless() {
            meta["io.modelcontextprotocol/protocolVersion"] = self.revision.name().into();
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        if meta != json!({}) {
            params["_meta"] = meta;
        }
        self.send(json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}))
            .await;
        self.last_id
    }

    /// The next message of the server.
    pub(crate) async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().expect("the server ended");
        serde_json::from_str(&line).unwrap()
    }

    /// Waits for the answer to a request; what comes before is kept in [`Peer::notices`].
    pub(crate) async fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.notices.push(message);
        }
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.answer(id).await
    }

    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.call(method, params).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The error's code and message.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let answer = self.call(method, params).await;
        let error = answer
            .get("error")
            .unwrap_or_else(|| panic!("{method}: {answer}"));
        (
            error["code"].as_i64().unwrap(),
            error["message"].as_str().unwrap().to_owned(),
        )
    }

    pub(crate) async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments}))
            .await
    }

    /// Closes the server's input.
    pub(crate) async fn hang_up(&mut self) {
        self.writer.shutdown().await.unwrap();
    }
}

/// A result without what the stateless era puts on every one.
pub(crate) fn bare(mut result: Value) -> Value {
    for member in ["resultType", "_meta", "ttlMs", "cacheScope"] {
        result.as_object_mut().unwrap().remove(member);
    }
    result
}

/// The text of a tool result's first block.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
}

/// What a client declares that can be asked everything.
pub(crate) fn everything() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}})
}

/// An elicitation that was accepted.
pub(crate) fn accept(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

/// Calls a tool and answers what it asks, in either era, until it has a result. Returns the whole answer and how many
/// rounds there were.
pub(crate) async fn drive(
    peer: &mut Peer,
    name: &str,
    answer: impl Fn(&str, &Value) -> Value,
) -> (Value, u32) {
    let call = json!({"name": name, "arguments": {}});
    let (mut id, mut rounds) = (peer.request("tools/call", call.clone()).await, 0);
    loop {
        assert!(rounds < 10, "it asks without end");
        let message = peer.next().await;
        if let Some(method) = message.get("method") {
            rounds += 1;
            let result = answer(method.as_str().unwrap(), &message["params"]);
            peer.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
                .await;
            continue;
        }
        assert_eq!(message["id"], id);
        if message["result"]["resultType"] != "input_required" {
            return (message, rounds);
        }
        rounds += 1;
        let mut retry = call.clone();
        if let Some(state) = message["result"].get("requestState") {
            retry["requestState"] = state.clone();
        }
        for (key, asked) in message["result"]["inputRequests"].as_object().unwrap() {
            retry["inputResponses"][key] = answer(asked["method"].as_str().unwrap(), &asked["params"]);
        }
        id = peer.request("tools/call", retry).await;
    }
}
