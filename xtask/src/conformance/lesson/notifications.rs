//! Example 8: progress, cancelling, and a list that changes.

use std::sync::Arc;

use bytes::Bytes;
use mcp_client::Client;
use mcp_exchange::{Event, Outgoing};
use mcp_jsonrpc::{Frame, Limits, Message, RawJson, scan};
use mcp_server::{BuildError, Cx, Failure, Server, Tool};
use mcp_types::{CancelledParams, ProgressParams, ProgressToken, Revision, method};
use serde_json::json;
use tokio::sync::{Notify, Semaphore};

use super::wire::{Log, after, join, json_text};
use super::{Input, Lines, Trouble};

/// How many steps the long call has.
const STEPS: u32 = 5;

/// What the long call waits for and says.
#[derive(Clone)]
struct Work {
    /// One for each step that may be done.
    permits: Arc<Semaphore>,
    stopped: Arc<Notify>,
    log: Log,
}

/// Says so when the call ends early: its future is dropped.
struct Watch<'a> {
    work: &'a Work,
    next: u32,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.next <= STEPS {
            let line = format!("server: stopped before step {}, sends no response", self.next);
            self.work.log.add(line);
            self.work.stopped.notify_one();
        }
    }
}

async fn index_notes(cx: Cx, work: Work) -> Result<String, Failure> {
    let mut watch = Watch { work: &work, next: 1 };
    while watch.next <= STEPS {
        work.permits.acquire().await?.forget();
        let (step, total) = (f64::from(watch.next), f64::from(STEPS));
        let text = format!("indexed file {}", watch.next);
        cx.progress_text(step, Some(total), &text).await;
        watch.next += 1;
    }
    Ok(format!("indexed {STEPS} files"))
}

fn note_tool(name: &str) -> Result<Tool, Trouble> {
    let schema = json_text(r#"{"type":"object"}"#)?;
    Ok(Tool::raw(name, schema, |_: Cx, _| async { "a note" }))
}

fn notes_server(work: Work) -> Result<Server, Trouble> {
    let schema = json_text(r#"{"type":"object"}"#)?;
    let index = Tool::raw("index_notes", schema, move |cx, _| index_notes(cx, work.clone()));
    let server: Result<Server, BuildError> = Server::builder("notes-server", "1.0.0")
        .dynamic_tools()
        .tool(index)
        .tool(note_tool("read_note")?)
        .build();
    Ok(server?)
}

pub(super) async fn notifications(input: Input, revision: Revision) -> Lines {
    let [cancelling] = input[..] else {
        return Err("one line is wanted".into());
    };
    let (cancel_after, reason) = after("cancel after", cancelling)?
        .split_once(", saying ")
        .ok_or("no reason")?;
    let work = Work {
        permits: Arc::new(Semaphore::new(0)),
        stopped: Arc::default(),
        log: Log::default(),
    };
    let log = work.log.clone();
    let server = notes_server(work.clone())?;
    let (at_server, at_client) = (Log::default(), Log::default());
    let serving = at_server
        .watching()
        .with_trace(hears_cancelling(&log, &at_server));
    let (client, ended) = join(server.clone(), revision, serving, at_client.watching()).await?;

    log.add("== call that finishes");
    work.permits.add_permits(STEPS as usize);
    let hears = log.clone();
    client
        .tool("index_notes")
        .on_progress(move |progress| hears.add(progress_line(&progress)))
        .await?;
    log.add(response_line(&at_client)?);

    log.add(format!("== call cancelled after progress {cancel_after}"));
    let cancel_after: u32 = cancel_after.parse()?;
    work.permits.add_permits(cancel_after as usize);
    call_and_cancel(&client, &log, cancel_after, reason).await?;
    work.stopped.notified().await;

    log.add("== server gains a tool");
    server.add_tool(note_tool("search_notes")?)?;
    client.tools_changed().await;
    log.add("client: tool list changed, listing again");
    client.tools().await?;
    log.add(response_line(&at_client)?);

    client.close().await;
    ended.await?;
    let sent = at_server.all();
    let answers = |line: &&String| matches!(read(line.as_bytes()), Some(Message::Response(said)) if said.id == Some(2.into()));
    if let Some(late) = sent.iter().find(answers) {
        return Err(format!("the cancelled call was answered: {late}").into());
    }
    let listings = sent
        .iter()
        .filter(|line| line.contains(r#""tools/list""#))
        .count();
    if listings != 1 {
        return Err(format!("one change led to {listings} listings").into());
    }
    Ok(log.all())
}

/// Keeps all that the server hears and says in `all`, and tells of cancelling in `log`.
fn hears_cancelling(log: &Log, all: &Log) -> mcp_stdio::Trace {
    let (log, all) = (log.clone(), all.clone());
    mcp_stdio::Trace::new(move |_, line| {
        all.add(String::from_utf8_lossy(line));
        if let Some(Message::Notification(call)) = read(line)
            && call.method() == method::CANCELLED
            && let Ok(CancelledParams {
                request_id: Some(id),
                reason,
                ..
            }) = call.parse()
        {
            let reason = reason.unwrap_or_default();
            log.add(format!("server: request {id} cancelled ({reason})"));
        }
    })
}

fn read(line: &[u8]) -> Option<Message> {
    match scan(Bytes::copy_from_slice(line), &Limits::default()) {
        Ok(Frame::One(message)) => Some(message),
        _ => None,
    }
}

fn progress_line(said: &ProgressParams) -> String {
    let token = match &said.progress_token {
        ProgressToken::Number(number) => number.to_string(),
        ProgressToken::String(text) => text.to_string(),
    };
    let total = said.total.map(|total| total.to_string()).unwrap_or_default();
    let message = said.message.as_deref().unwrap_or_default();
    format!("client: progress {}/{total} {token} {message}", said.progress)
}

/// The last response that the client got.
fn response_line(at_client: &Log) -> Result<String, Trouble> {
    let all = at_client.all();
    let received = all.iter().rev().filter_map(|line| line.strip_prefix("<- "));
    let mut responses = received.filter_map(|line| match read(line.as_bytes()) {
        Some(Message::Response(response)) => Some((response.id?, response.outcome.ok()?)),
        _ => None,
    });
    let (id, result) = responses.next().ok_or("there was no response")?;
    Ok(format!("client: response {id} {result}"))
}

/// A call through the link below the client: cancelling with words of one's own is done there.
async fn call_and_cancel(client: &Client, log: &Log, after: u32, reason: &str) -> Result<(), Trouble> {
    let link = client.link();
    let id = link.next_id();
    let params = json!({"name": "index_notes", "arguments": {}, "_meta": {"progressToken": id}});
    let params = RawJson::encode(&params)?.into_bytes();
    let mut call = link
        .open(id, Outgoing::new(method::TOOLS_CALL, Some(params)))
        .await?;
    loop {
        match call.next().await {
            Event::Notice(notice) => {
                let progress: ProgressParams = notice.parse()?;
                log.add(progress_line(&progress));
                if progress.progress.as_f64() >= f64::from(after) {
                    call.cancel(reason);
                    return Ok(());
                }
            }
            other => return Err(format!("it ended before: {other:?}").into()),
        }
    }
}
