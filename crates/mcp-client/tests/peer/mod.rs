//! A scripted server on the other end of an in-memory connection: it says what a test tells it to say.
#![allow(dead_code, unreachable_pub)]

use mcp_client::{Client, ClientBuilder, ClientError};
use mcp_stdio::{PairEnd, pair, streams};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

pub struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    out: WriteHalf<DuplexStream>,
}

pub fn peer() -> (
    Peer,
    mcp_stdio::Streams<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>,
) {
    let ((read, write), (reader, writer)): (PairEnd, PairEnd) = pair(64 * 1024);
    let peer = Peer {
        lines: BufReader::new(reader).lines(),
        out: writer,
    };
    (peer, streams(read, write))
}

impl Peer {
    /// The next message of the client.
    pub async fn next(&mut self) -> Value {
        self.try_next().await.expect("the client closed its output")
    }

    pub async fn try_next(&mut self) -> Option<Value> {
        let line = self.next_line().await?;
        Some(serde_json::from_str(&line).unwrap())
    }

    pub async fn next_line(&mut self) -> Option<String> {
        self.lines.next_line().await.unwrap()
    }

    /// The next message, which must be this request or notification.
    pub async fn expect(&mut self, method: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        message
    }

    pub async fn send(&mut self, message: Value) {
        self.line(&message.to_string()).await;
    }

    pub async fn line(&mut self, line: &str) {
        self.out.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        self.out.flush().await.unwrap();
    }

    pub async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await;
    }

    pub async fn refuse(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
            .await;
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Waits for the next request of this method and answers it. Returns it.
    pub async fn serve(&mut self, method: &str, result: Value) -> Value {
        let request = self.expect(method).await;
        self.answer(&request, result).await;
        request
    }

    /// Plays an old server's part of the handshake; refuses the probe before it, if there is one.
    pub async fn shake_hands(&mut self, revision: &str, capabilities: Value) -> Value {
        let mut first = self.next().await;
        if first["method"] == "server/discover" {
            self.refuse(&first, -32601, "Method not found: server/discover")
                .await;
            first = self.next().await;
        }
        assert_eq!(first["method"], "initialize", "{first}");
        let result = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "serverInfo": {"name": "scripted", "version": "1"},
        });
        self.answer(&first, result).await;
        self.expect("notifications/initialized").await;
        first
    }

    /// Plays a modern server's part.
    pub async fn be_discovered(&mut self, capabilities: Value) -> Value {
        let result = json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": capabilities,
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1"}},
        });
        self.serve("server/discover", result).await
    }

    /// Closes its output, as a server that ends.
    pub async fn hang_up(mut self) {
        self.out.shutdown().await.unwrap();
    }
}

pub fn builder() -> ClientBuilder {
    Client::builder("test", "0.1")
}

/// A connected pair in the newest revision with a handshake.
pub async fn stateful(builder: ClientBuilder, capabilities: Value) -> (Client, Peer) {
    let (mut peer, transport) = peer();
    let (client, _) = tokio::join!(
        builder.connect(transport),
        peer.shake_hands("2025-11-25", capabilities)
    );
    (client.unwrap(), peer)
}

/// A connected pair in the stateless revision.
pub async fn stateless(builder: ClientBuilder, capabilities: Value) -> (Client, Peer) {
    let (mut peer, transport) = peer();
    let (client, _) = tokio::join!(builder.connect(transport), peer.be_discovered(capabilities));
    (client.unwrap(), peer)
}

/// A connection that fails, while the peer does this.
pub async fn failed(builder: ClientBuilder, script: impl AsyncFnOnce(Peer)) -> ClientError {
    let (peer, transport) = peer();
    let (client, ()) = tokio::join!(builder.connect(transport), script(peer));
    client.unwrap_err()
}
