//! What a call of a typed tool allocates, from its line to its answer, when everything is warm.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};
use mcp_exchange::{BoxHandler, Exchange, Outbox, Peer, Scope, ScopeBuilder};
use mcp_jsonrpc::{Frame, Limits, Message, Request, scan};
use mcp_server::{Cx, Server, Tool};
use mcp_types::Revision;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

async fn echo(_cx: Cx, args: Text) -> String {
    args.text
}

/// Takes nothing and is always full.
struct Nowhere;

impl Outbox for Nowhere {
    fn try_send(&self, frame: BytesMut) -> Result<(), BytesMut> {
        Err(frame)
    }

    fn room(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(std::future::ready(false))
    }
}

fn request(line: &Bytes) -> Request {
    match scan(line.clone(), &Limits::default()) {
        Ok(Frame::One(Message::Request(request))) => request,
        other => panic!("{other:?}"),
    }
}

fn answer(handler: &BoxHandler, request: Request, scope: Scope) -> BytesMut {
    let mut future = handler.call_boxed(Exchange::new(request, scope));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(reply) => reply.into_frame(),
        Poll::Pending => panic!("an echo waits for nothing"),
    }
}

/// How often one call allocates: its scan, its exchange, its handler and its answer.
fn count(revision: Revision, meta: &str) -> u64 {
    let server = Server::builder("s", "1")
        .tool(Tool::new("echo", echo))
        .build()
        .unwrap();
    let handler = BoxHandler::new(server);
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello"}}{meta}}}}}"#
    );
    let (line, peer) = (Bytes::from(line), Arc::new(Peer::new(revision)));
    let outbox: Arc<dyn Outbox> = Arc::new(Nowhere);
    let run = || {
        let request = request(&line);
        let scope = ScopeBuilder::new(request.id.clone(), Arc::clone(&peer), Arc::clone(&outbox)).build();
        answer(&handler, request, scope)
    };
    let frame = run();
    let text = std::str::from_utf8(&frame).unwrap();
    assert!(
        text.contains(r#""content":[{"type":"text","text":"hello"}]"#),
        "{text}"
    );
    allocation_counter::measure(|| drop(run())).count_total
}

/// The argument's string, the content and its list, the scope, the round, the two futures and the frame share these.
/// Twelve and the argument's own are the most that may ever be allowed here.
#[test]
fn a_stateful_call_allocates_seven_times() {
    assert_eq!(count(Revision::V2025_11_25, ""), 7);
}

/// Two more: `_meta` says who made the result.
#[test]
fn a_stateless_call_allocates_nine_times() {
    let meta = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    assert_eq!(count(Revision::V2026_07_28, meta), 9);
}
