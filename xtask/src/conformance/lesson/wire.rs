//! Servers and clients of the examples, joined by pipes in memory.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_client::Client;
use mcp_exchange::{Closed, Handler};
use mcp_jsonrpc::RawJson;
use mcp_stdio::{Direction, Options, Trace};
use mcp_testkit::ScriptedPeer;
use mcp_types::Revisions;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::Trouble;

/// Bytes that a pipe holds before its writer waits; what the demos give their pipes.
const PIPE: usize = 65_536;

/// The lines of a log, in the order in which they came. A clone is the same log.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(super) fn add(&self, line: impl Into<String>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line.into());
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Options of a connection that keep each message here, as `-> ` or `<- ` and its text.
    pub(super) fn watching(&self) -> Options {
        let log = self.clone();
        Options::default().with_trace(Trace::new(move |direction, line| {
            let arrow = match direction {
                Direction::Sent => "->",
                Direction::Received => "<-",
            };
            log.add(format!("{arrow} {}", String::from_utf8_lossy(line)));
        }))
    }
}

/// A server that is told lines as they are.
pub(super) struct Spoken {
    peer: ScriptedPeer,
    pings: usize,
    server: JoinHandle<Closed>,
}

impl Spoken {
    pub(super) fn to(server: impl Handler) -> Self {
        let (peer, (reader, writer)) = mcp_testkit::pair();
        let server = tokio::spawn(mcp_stdio::serve_on(reader, writer, server, Options::default()));
        Self {
            peer,
            pings: 0,
            server,
        }
    }

    /// Sends a line, and gives back what the server says to it, if anything.
    ///
    /// A ping goes after it: the server reads in order, so what has not come before the ping's answer does not come;
    /// but for the answer to a request, which may take its time.
    pub(super) async fn say(&mut self, line: &str) -> Result<Option<String>, Trouble> {
        self.pings += 1;
        let ping = json!(format!("ping {}", self.pings));
        self.peer.send(line).await?;
        self.peer
            .send_json(&json!({"jsonrpc": "2.0", "id": ping, "method": "ping"}))
            .await?;
        let said: Value = serde_json::from_str(line).unwrap_or_default();
        let mut waits = said.get("id").is_some() && said.get("method").is_some();
        let mut ponged = false;
        let mut answer = None;
        while waits || !ponged {
            let line = self.peer.next_line().await?.ok_or("the server ended")?;
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == ping {
                ponged = true;
            } else if let Some(first) = answer.replace(line) {
                return Err(format!("two answers to one line: {first} and {answer:?}").into());
            } else {
                waits = false;
            }
        }
        Ok(answer)
    }

    /// Ends the input; the server must end by that.
    pub(super) async fn end(mut self) -> Result<(), Trouble> {
        self.peer.hang_up().await?;
        self.server.await?;
        Ok(())
    }
}

/// The demos' client, in one of these revisions, joined with a server. The second is done when the server is.
pub(super) async fn join(
    server: impl Handler,
    revisions: impl Into<Revisions>,
    server_options: Options,
    client_options: Options,
) -> Result<(Client, JoinHandle<Closed>), Trouble> {
    let ((reader, writer), (from_server, to_server)) = mcp_stdio::pair(PIPE);
    let serving = tokio::spawn(mcp_stdio::serve_on(reader, writer, server, server_options));
    let streams = mcp_stdio::streams(from_server, to_server).with_options(client_options);
    let client = Client::builder("loop", "0.1.0")
        .revisions(revisions)
        .connect(streams)
        .await?;
    Ok((client, serving))
}

/// A schema or arguments, from text of ours.
pub(super) fn json_text(text: &str) -> Result<RawJson, Trouble> {
    Ok(RawJson::from_text(text)?)
}

/// The rest of an input line after its first word, which must be this.
pub(super) fn after<'a>(word: &str, line: &'a str) -> Result<&'a str, Trouble> {
    line.strip_prefix(word)
        .and_then(|rest| rest.strip_prefix(' '))
        .ok_or_else(|| format!("the input says {line:?} where {word} should be").into())
}
