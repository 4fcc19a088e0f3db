use std::collections::HashMap;
use std::time::Duration;

use mcp_types::Revision;
use mcp_types::meta::keys;
use mcp_types::method::{self, Side};
use serde_json::{Value, json};

use super::parse::{Act, Step, Transcript};
use crate::error::TestError;
use crate::pattern::{Bindings, matches, pretty};
use crate::peer::ScriptedPeer;

/// How long an expected message may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What came of playing a transcript.
#[derive(Debug)]
#[non_exhaustive]
pub struct Play {
    /// Every message that was said, in order, also where it failed.
    pub said: Vec<Said>,
    /// How it ended.
    pub outcome: Result<(), TestError>,
}

impl Play {
    /// A play that could not begin.
    pub fn failed(why: impl std::fmt::Display) -> Self {
        Self {
            said: Vec::new(),
            outcome: Err(TestError::new(why)),
        }
    }
}

/// A message that was said.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Said {
    /// By whom.
    pub from: Side,
    /// The message.
    pub message: Value,
    /// The method of the request that it answers, where it is an answer to a known one.
    pub answers: Option<String>,
    /// The revision that it is said in.
    pub revision: Revision,
}

/// Plays the client's part of a transcript in one revision, and closes the client's way out at the end.
///
/// # Cancel safety
/// Dropping it leaves the connection as it is.
pub async fn play(transcript: &Transcript, revision: Revision, peer: &mut ScriptedPeer) -> Play {
    let mut player = Player {
        peer,
        revision,
        capabilities: Value::Null,
        cut: None,
        bindings: Bindings::default(),
        requests: HashMap::new(),
        said: Vec::new(),
    };
    let outcome = player.play(transcript).await;
    // Also after a failure, or whoever serves the other end would wait for more.
    let _ = player.peer.hang_up().await;
    Play {
        said: player.said,
        outcome,
    }
}

struct Player<'a> {
    peer: &'a mut ScriptedPeer,
    revision: Revision,
    capabilities: Value,
    cut: Option<usize>,
    bindings: Bindings,
    /// Our requests by id: method and revision.
    requests: HashMap<String, (String, Revision)>,
    said: Vec<Said>,
}

impl Player<'_> {
    async fn play(&mut self, transcript: &Transcript) -> Result<(), TestError> {
        if !transcript.revisions().contains(self.revision) {
            return Err(TestError::new("it is not for this revision"));
        }
        let capabilities = transcript.header("Client").unwrap_or("{}");
        self.capabilities = serde_json::from_str(capabilities)
            .map_err(|error| TestError::new(format!("the header Client is no JSON: {error}")))?;
        self.cut = transcript.header("Cut").and_then(|bytes| bytes.parse().ok());
        if transcript.header("Prelude") != Some("none") && !self.revision.is_stateless() {
            self.shake_hands()
                .await
                .map_err(|error| TestError::new(format!("the handshake: {error}")))?;
        }
        let revision = self.revision;
        let mut steps: &[Step] = &transcript.steps;
        while let Some((step, mut rest)) = steps.split_first() {
            if step.revisions.contains(revision) {
                let mut group = vec![step];
                if is_unordered(step) {
                    let more = rest.iter().take_while(|next| is_unordered(next)).count();
                    let (unordered, after) = rest.split_at(more);
                    group.extend(unordered.iter().filter(|next| next.revisions.contains(revision)));
                    rest = after;
                }
                let failed = |error: TestError| TestError::new(format!("line {}: {error}", step.line));
                self.step(step, &group).await.map_err(failed)?;
            }
            steps = rest;
        }
        self.peer.hang_up().await?;
        match self.next().await? {
            None => Ok(()),
            Some(more) => Err(TestError::new(format!(
                "at the end: the server said more than expected: {}",
                pretty(&more)
            ))),
        }
    }

    async fn step(&mut self, step: &Step, group: &[&Step]) -> Result<(), TestError> {
        match &step.act {
            Act::Send(text) => {
                let mut message = self.parse(text)?;
                self.bindings.fill(&mut message);
                self.add_meta(&mut message);
                self.write(message).await
            }
            Act::SendRaw(bytes) => {
                let bytes = replace(bytes, self.revision.name());
                if let Ok(message) = serde_json::from_slice::<Value>(&bytes) {
                    self.note(&message);
                }
                self.write_bytes(&bytes).await
            }
            Act::Close => self.peer.hang_up().await,
            Act::Expect { .. } => {
                let mut patterns = Vec::new();
                for step in group {
                    if let Act::Expect { pattern, .. } = &step.act {
                        patterns.push(self.parse(pattern)?);
                    }
                }
                while !patterns.is_empty() {
                    let Some(message) = self.next().await? else {
                        let missing: Vec<String> = patterns.iter().map(Value::to_string).collect();
                        return Err(TestError::new(format!(
                            "the server ended; still expected:\n  {}",
                            missing.join("\n  ")
                        )));
                    };
                    let at = self.take_one(&patterns, message)?;
                    patterns.remove(at);
                }
                Ok(())
            }
        }
    }

    /// Which of the patterns a message is.
    fn take_one(&mut self, patterns: &[Value], message: Value) -> Result<usize, TestError> {
        let mut first_error = None;
        for (at, pattern) in patterns.iter().enumerate() {
            let mut message = message.clone();
            let outcome = self
                .take_additions(pattern, &mut message)
                .and_then(|()| matches(pattern, &message, &mut self.bindings));
            match outcome {
                Ok(()) => return Ok(at),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or_else(|| TestError::new("nothing was expected")))
    }

    /// Demands, and takes away, what the stateless era adds to every result, where the pattern does not name it.
    fn take_additions(&self, pattern: &Value, message: &mut Value) -> Result<(), TestError> {
        let Some((method, revision)) = self.requests.get(&message["id"].to_string()) else {
            return Ok(());
        };
        let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) else {
            return Ok(());
        };
        if !revision.is_stateless() {
            return Ok(());
        }
        let named = |key: &str| pattern["result"].get(key).is_some();
        let complete = result.get("resultType") == Some(&json!("complete"));
        if !named("resultType") {
            if !complete {
                return Err(TestError::new(format!(
                    "resultType is not complete: {}",
                    json!(result)
                )));
            }
            result.remove("resultType");
        }
        let meta = result.get_mut("_meta").and_then(Value::as_object_mut);
        let info = meta.and_then(|meta| meta.remove(keys::SERVER_INFO));
        if !info.is_some_and(|info| info.is_object()) {
            return Err(TestError::new(format!(
                "a result without the server's name: {}",
                json!(result)
            )));
        }
        if result.get("_meta") == Some(&json!({})) {
            result.remove("_meta");
        }
        let cacheable = matches!(
            method.as_str(),
            method::SERVER_DISCOVER
                | method::TOOLS_LIST
                | method::PROMPTS_LIST
                | method::RESOURCES_LIST
                | method::RESOURCES_TEMPLATES_LIST
                | method::RESOURCES_READ
        );
        if cacheable && complete && !named("ttlMs") {
            let (time, scope) = (result.remove("ttlMs"), result.remove("cacheScope"));
            if !time.is_some_and(|time| time.is_u64()) || !scope.is_some_and(|scope| scope.is_string()) {
                return Err(TestError::new(format!("{method}: a result without cache hints")));
            }
        }
        Ok(())
    }

    async fn shake_hands(&mut self) -> Result<(), TestError> {
        let params = json!({
            "protocolVersion": self.revision.name(),
            "capabilities": self.capabilities,
            "clientInfo": {"name": "transcript", "version": "1.0.0"},
        });
        self.write(json!({"jsonrpc": "2.0", "id": "handshake", "method": "initialize", "params": params}))
            .await?;
        let answer = self.next().await?.unwrap_or_default();
        let pattern = json!({
            "jsonrpc": "2.0",
            "id": "handshake",
            "result": {"protocolVersion": self.revision.name(), "...": 0},
        });
        matches(&pattern, &answer, &mut self.bindings)?;
        self.write(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await
    }

    fn parse(&self, text: &str) -> Result<Value, TestError> {
        let text = text.replace("{revision}", self.revision.name());
        let mut message: Value = serde_json::from_str(&text).map_err(TestError::new)?;
        let messages = match &mut message {
            Value::Array(batch) => &mut batch[..],
            one => std::slice::from_mut(one),
        };
        for members in messages.iter_mut().filter_map(Value::as_object_mut) {
            members.entry("jsonrpc").or_insert_with(|| json!("2.0"));
        }
        Ok(message)
    }

    /// Adds what a stateless request says about its client, where it does not say so itself.
    fn add_meta(&self, message: &mut Value) {
        let is_request = message.get("method").is_some() && message.get("id").is_some();
        if !self.revision.is_stateless() || !is_request {
            return;
        }
        let Some(members) = message.as_object_mut() else {
            return;
        };
        let params = members.entry("params").or_insert_with(|| json!({}));
        let Some(params) = params.as_object_mut() else {
            return;
        };
        let meta = params.entry("_meta").or_insert_with(|| json!({}));
        let Some(meta) = meta.as_object_mut() else { return };
        if meta.contains_key(keys::PROTOCOL_VERSION) {
            return;
        }
        meta.insert(keys::PROTOCOL_VERSION.into(), json!(self.revision.name()));
        meta.insert(keys::CLIENT_CAPABILITIES.into(), self.capabilities.clone());
        let info = json!({"name": "transcript", "version": "1.0.0"});
        meta.insert(keys::CLIENT_INFO.into(), info);
    }

    async fn write(&mut self, message: Value) -> Result<(), TestError> {
        self.note(&message);
        self.write_bytes(format!("{message}\n").as_bytes()).await
    }

    /// Remembers our requests, so that their answers are known for what they are.
    fn note(&mut self, message: &Value) {
        if let Value::Array(batch) = message {
            batch.iter().for_each(|one| self.note(one));
            return;
        }
        let named = message["params"]["_meta"][keys::PROTOCOL_VERSION].as_str();
        let revision = match named {
            None => self.revision,
            // Whoever names a revision there speaks the stateless way, whatever the name.
            Some(name) => Revision::from_name(name)
                .filter(|revision| revision.is_stateless())
                .unwrap_or(Revision::LATEST),
        };
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            self.requests
                .insert(id.to_string(), (method.to_owned(), revision));
        }
        self.said.push(Said {
            from: Side::Client,
            message: message.clone(),
            answers: None,
            revision,
        });
    }

    async fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), TestError> {
        for piece in bytes.chunks(self.cut.unwrap_or(usize::MAX).max(1)) {
            self.peer.send_bytes(piece).await?;
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<Value>, TestError> {
        let line = tokio::time::timeout(PATIENCE, self.peer.next_line())
            .await
            .map_err(|_| TestError::new("the server said nothing in time"))??;
        let Some(line) = line else { return Ok(None) };
        let message: Value = serde_json::from_str(&line)
            .map_err(|error| TestError::new(format!("the server's line is no JSON ({error}): {line}")))?;
        if let Value::Array(batch) = &message {
            for one in batch {
                self.heard(one);
            }
        } else {
            self.heard(&message);
        }
        Ok(Some(message))
    }

    fn heard(&mut self, message: &Value) {
        let known = message.get("method").is_none().then(|| message["id"].to_string());
        let known = known.and_then(|id| self.requests.get(&id).cloned());
        let tagged = message["params"]["_meta"].get(keys::SUBSCRIPTION_ID).is_some();
        let revision = match &known {
            Some((_, revision)) => *revision,
            None if tagged => Revision::LATEST,
            None => self.revision,
        };
        self.said.push(Said {
            from: Side::Server,
            message: message.clone(),
            answers: known.map(|(method, _)| method),
            revision,
        });
    }
}

fn is_unordered(step: &Step) -> bool {
    matches!(step.act, Act::Expect { any_order: true, .. })
}

fn replace(bytes: &[u8], revision: &str) -> Vec<u8> {
    const HOLE: &[u8] = b"{revision}";
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(HOLE.len()).position(|window| window == HOLE) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(revision.as_bytes());
        rest = &rest[at + HOLE.len()..];
    }
    out.extend_from_slice(rest);
    out
}
