//! A raw handler that does what it is asked, and the other end of its pipe.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_exchange::{BoxLink, Closed, Connect, Exchange, Handler, Notice, Outgoing, Reply};
use mcp_jsonrpc::{ErrorObject, ParamKey, RawJson};
use mcp_stdio::{Options, serve_on, streams};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// What happened at a handler, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn has(&self, what: &str) -> bool {
        self.all().iter().any(|seen| seen == what)
    }

    pub(crate) async fn until(&self, what: &str) {
        let seen = async {
            while !self.has(what) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let all = || self.all();
        assert!(
            timeout(Duration::from_secs(60), seen).await.is_ok(),
            "never saw {what:?} in {:?}",
            all()
        );
    }
}

/// Writes a line into the log when it goes.
struct Mark(Log, String);

impl Drop for Mark {
    fn drop(&mut self) {
        self.0.add(std::mem::take(&mut self.1));
    }
}

/// Panics when it goes.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a bomb in a drop");
        }
    }
}

/// Does what the method says; the methods are those of no revision, so that none is refused.
#[derive(Clone, Default)]
pub(crate) struct Script {
    pub(crate) log: Log,
    pub(crate) release: Arc<Notify>,
}

impl Handler for Script {
    async fn call(&self, exchange: Exchange) -> Reply {
        let scope = exchange.scope.clone();
        let call = &exchange.request.call;
        let params = || call.params().cloned().unwrap_or(RawJson::empty_object());
        let number = || -> u64 {
            let arguments = call.param(ParamKey::Arguments);
            arguments.and_then(|n| n.parse().ok()).unwrap_or_default()
        };
        self.log.add(format!("call {} {}", call.method(), scope.id()));
        match call.method() {
            "initialize" if call.param(ParamKey::Name).is_some() => {
                tokio::task::yield_now().await;
                scope.fail(&ErrorObject::new(-32001, "not you"))
            }
            "initialize" => {
                let version = scope.revision().name();
                let text = format!(r#"{{"protocolVersion":"{version}","capabilities":{{}}}}"#);
                scope.complete_raw(&RawJson::from_text(text).unwrap())
            }
            "tools/list" | "x/echo" => scope.complete_raw(&params()),
            // Waits until it is released or cancelled.
            "x/wait" => {
                let _mark = Mark(self.log.clone(), format!("dropped {}", scope.id()));
                self.release.notified().await;
                scope.complete_raw(&params())
            }
            "x/sleep" => {
                tokio::time::sleep(Duration::from_millis(number())).await;
                scope.complete_raw(&params())
            }
            "x/big" => {
                let text = format!("\"{}\"", "x".repeat(usize::try_from(number()).unwrap()));
                scope.complete_raw(&RawJson::from_text(text).unwrap())
            }
            "x/later" => {
                tokio::task::yield_now().await;
                scope.complete_raw(&params())
            }
            "x/progress" => {
                for step in 1..=number() {
                    scope.progress(step as f64 / 2.0, None, Some("half")).await;
                }
                scope.notify("notifications/x", b"{}").await;
                scope.complete_raw(&RawJson::empty_object())
            }
            "x/late-progress" => {
                let late = scope.clone();
                let log = self.log.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    log.add(format!("late {}", late.progress(9.0, None, None).await));
                });
                scope.complete_raw(&RawJson::empty_object())
            }
            "x/ask" => {
                let Some(asker) = scope.asker() else {
                    return scope.fail(&ErrorObject::new(-1, "nobody to ask"));
                };
                let question = Outgoing::new("roots/list", Some(params().into_bytes()));
                match asker.open(asker.next_id(), question).await {
                    Err(error) => scope.fail(&ErrorObject::new(-2, error.to_string())),
                    Ok(answer) => match answer.answer().await {
                        Ok(Ok(value)) => scope.complete_raw(&value),
                        Ok(Err(error)) => scope.fail(&error),
                        Err(error) => scope.fail(&ErrorObject::new(-3, error.to_string())),
                    },
                }
            }
            "x/panic" => panic!("at once"),
            "x/panic-later" => {
                tokio::task::yield_now().await;
                panic!("later")
            }
            "x/panic-in-drop" => {
                let _bomb = Bomb;
                scope.complete_raw(&params())
            }
            "x/panic-in-drop-later" => {
                let _bomb = Bomb;
                tokio::task::yield_now().await;
                scope.complete_raw(&params())
            }
            "x/panic-when-cancelled" => {
                let _mark = Mark(self.log.clone(), "defused".into());
                let _bomb = Bomb;
                std::future::pending::<Reply>().await
            }
            other => scope.fail(&ErrorObject::method_not_found(other)),
        }
    }

    async fn notify(&self, notice: Notice) {
        let method = notice.call.method().to_owned();
        self.log.add(format!("note {method}"));
        match method.as_str() {
            "notifications/x/panic" => panic!("in a notice"),
            "notifications/x/wait" => {
                let _mark = Mark(self.log.clone(), "note dropped".into());
                self.log.add("note waits");
                std::future::pending::<()>().await;
            }
            _ => {}
        }
    }

    async fn attend(&self, session: mcp_exchange::Session) {
        let _mark = Mark(self.log.clone(), "attend dropped".into());
        self.log.add(format!("attend {}", session.peer().revision.name()));
        std::future::pending::<()>().await;
    }
}

type Reader = BufReader<ReadHalf<DuplexStream>>;

/// The other end of a pipe: raw lines out and in.
pub(crate) struct Wire {
    pub(crate) reader: Reader,
    pub(crate) writer: Option<WriteHalf<DuplexStream>>,
}

impl Wire {
    fn new(end: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(end);
        Self {
            reader: BufReader::new(reader),
            writer: Some(writer),
        }
    }

    pub(crate) async fn bytes(&mut self, bytes: &[u8]) {
        self.writer.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes()).await;
    }

    /// The next line as text; none at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        let count = timeout(Duration::from_secs(60), read)
            .await
            .expect("a line in time")
            .unwrap();
        (count > 0).then(|| line.strip_suffix('\n').expect("whole lines only").to_owned())
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = self.line().await.expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Sends a line and reads one.
    pub(crate) async fn ask(&mut self, line: &str) -> Value {
        self.send(line).await;
        self.next().await
    }

    /// The error code of the answer to this line, and the id it has.
    pub(crate) async fn code(&mut self, line: &str) -> (i64, Value) {
        let answer = self.ask(line).await;
        (
            answer["error"]["code"].as_i64().expect("an error"),
            answer.get("id").cloned().unwrap_or("absent".into()),
        )
    }

    /// Nothing comes; on paused time.
    pub(crate) async fn silence(&mut self) {
        let mut byte = [0];
        let read = self.reader.read(&mut byte);
        if let Ok(read) = timeout(Duration::from_millis(200), read).await {
            panic!("{} bytes came: {:?}", read.unwrap(), char::from(byte[0]));
        }
    }

    /// A ping answers, and nothing comes before its answer.
    pub(crate) async fn lives(&mut self) {
        let pong = self
            .ask(r#"{"jsonrpc":"2.0","id":"alive","method":"ping"}"#)
            .await;
        assert_eq!(
            pong,
            serde_json::json!({"jsonrpc":"2.0","id":"alive","result":{}})
        );
    }

    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        let answer = self.ask(&initialize("init", version)).await;
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        answer
    }

    /// The end of our output.
    pub(crate) async fn finish(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            writer.shutdown().await.unwrap();
        }
    }
}

/// A server on one end.
pub(crate) struct Served {
    pub(crate) wire: Wire,
    pub(crate) script: Script,
    pub(crate) task: JoinHandle<Closed>,
}

pub(crate) fn serve() -> Served {
    serve_with(Options::default(), 64 * 1024)
}

pub(crate) fn serve_with(options: Options, capacity: usize) -> Served {
    let script = Script::default();
    let (wire, task) = serve_handler(script.clone(), options, capacity);
    Served { wire, script, task }
}

pub(crate) fn serve_handler(
    handler: impl Handler,
    options: Options,
    capacity: usize,
) -> (Wire, JoinHandle<Closed>) {
    let (ours, theirs) = tokio::io::duplex(capacity);
    let (reader, writer) = tokio::io::split(theirs);
    let task = tokio::spawn(serve_on(reader, writer, handler, options));
    (Wire::new(ours), task)
}

/// A client on one end; we play its server.
pub(crate) struct Connected {
    pub(crate) wire: Wire,
    pub(crate) script: Script,
    pub(crate) link: BoxLink,
}

pub(crate) async fn connect() -> Connected {
    connect_with(Options::default(), 64 * 1024).await
}

pub(crate) async fn connect_with(options: Options, capacity: usize) -> Connected {
    let (ours, theirs) = tokio::io::duplex(capacity);
    let (reader, writer) = tokio::io::split(theirs);
    let script = Script::default();
    let transport = streams(reader, writer).with_options(options);
    let link = transport
        .connect(mcp_exchange::BoxHandler::new(script.clone()))
        .await
        .unwrap();
    Connected {
        wire: Wire::new(ours),
        script,
        link,
    }
}

pub(crate) fn initialize(id: &str, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
    )
}

/// A request of no revision's method, with a number as its arguments.
pub(crate) fn call(id: i64, method: &str, arguments: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"arguments":{arguments},"_meta":{{"progressToken":{id}}}}}}}"#
    )
}

/// The same in the stateless era.
pub(crate) fn modern(id: i64, method: &str, arguments: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"progressToken":"t{id}"}}}}}}"#
    )
}

pub(crate) fn cancel(id: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}
