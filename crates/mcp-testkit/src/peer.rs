use std::fmt;
use std::pin::Pin;

use mcp_stdio::PairEnd;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};

use crate::error::TestError;
use crate::pattern::{Bindings, matches};

/// One end of a connection that says what a test tells it to say, and holds no rules of its own: a client or a server.
pub struct ScriptedPeer {
    lines: Pin<Box<dyn AsyncBufRead>>,
    out: Option<Pin<Box<dyn AsyncWrite + Send>>>,
}

trait AsyncBufRead: tokio::io::AsyncBufRead + Send {}
impl<T: tokio::io::AsyncBufRead + Send> AsyncBufRead for T {}

/// Bytes that an in-memory connection holds in each direction before its writer waits.
const CAPACITY: usize = 64 * 1024;

/// A scripted peer, and the other end of its in-memory connection for whatever is tested: hand that to
/// [`mcp_stdio::serve_on`] or [`mcp_stdio::streams`].
pub fn pair() -> (ScriptedPeer, PairEnd) {
    let ((reader, writer), other) = mcp_stdio::pair(CAPACITY);
    (ScriptedPeer::new(reader, writer), other)
}

impl ScriptedPeer {
    /// A peer over any pair of byte streams.
    pub fn new(reader: impl AsyncRead + Send + 'static, writer: impl AsyncWrite + Send + 'static) -> Self {
        Self {
            lines: Box::pin(BufReader::new(reader)),
            out: Some(Box::pin(writer)),
        }
    }

    /// Writes a line.
    ///
    /// # Errors
    /// When the way out is closed.
    pub async fn send(&mut self, line: &str) -> Result<(), TestError> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.send_bytes(&bytes).await
    }

    /// Writes a message.
    ///
    /// # Errors
    /// As [`ScriptedPeer::send`].
    pub async fn send_json(&mut self, message: &Value) -> Result<(), TestError> {
        self.send(&message.to_string()).await
    }

    /// Writes bytes as they are.
    ///
    /// # Errors
    /// As [`ScriptedPeer::send`].
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), TestError> {
        let out = self
            .out
            .as_mut()
            .ok_or_else(|| TestError::new("this peer has hung up"))?;
        let written = async {
            out.write_all(bytes).await?;
            out.flush().await
        };
        written
            .await
            .map_err(|error| TestError::new(format!("writing failed: {error}")))
    }

    /// The next line; none at the end.
    ///
    /// # Errors
    /// When reading fails, or the line is not UTF-8.
    pub async fn next_line(&mut self) -> Result<Option<String>, TestError> {
        let mut line = String::new();
        match self.lines.read_line(&mut line).await {
            Ok(0) => Ok(None),
            Ok(_) => {
                if line.ends_with('\n') {
                    line.pop();
                }
                Ok(Some(line))
            }
            Err(error) => Err(TestError::new(format!("reading failed: {error}"))),
        }
    }

    /// The next message.
    ///
    /// # Errors
    /// When the other side has ended, or its line is no JSON.
    pub async fn next(&mut self) -> Result<Value, TestError> {
        match self.next_line().await? {
            Some(line) => serde_json::from_str(&line)
                .map_err(|error| TestError::new(format!("no JSON ({error}): {line}"))),
            None => Err(TestError::new("the other side has ended")),
        }
    }

    /// The next message, which must look like this; see [`matches()`].
    ///
    /// # Errors
    /// As [`ScriptedPeer::next`], and when it looks otherwise.
    pub async fn expect(&mut self, pattern: &Value) -> Result<Value, TestError> {
        let message = self.next().await?;
        matches(pattern, &message, &mut Bindings::default())?;
        Ok(message)
    }

    /// Answers a request with a result.
    ///
    /// # Errors
    /// As [`ScriptedPeer::send`].
    pub async fn answer(&mut self, request: &Value, result: Value) -> Result<(), TestError> {
        self.send_json(&serde_json::json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// As [`ScriptedPeer::send`].
    pub async fn refuse(&mut self, request: &Value, code: i64, message: &str) -> Result<(), TestError> {
        let error = serde_json::json!({"code": code, "message": message});
        self.send_json(&serde_json::json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
            .await
    }

    /// Closes its way out; it can still read.
    ///
    /// # Errors
    /// When the way out could not be closed in good order.
    pub async fn hang_up(&mut self) -> Result<(), TestError> {
        let Some(mut out) = self.out.take() else {
            return Ok(());
        };
        match out.shutdown().await {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(TestError::new(format!("closing failed: {error}")))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for ScriptedPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptedPeer")
    }
}
