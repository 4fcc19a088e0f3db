//! What one call costs on a warm connection, with a handler that answers at once.

mod common;

use std::pin::Pin;
use std::task::{Context, Poll};

use mcp_exchange::{Exchange, Handler, Reply};
use mcp_jsonrpc::RawJson;
use mcp_stdio::{Options, serve_on};
use tokio::io::{AsyncRead, ReadBuf};

struct Ready;

impl Handler for Ready {
    async fn call(&self, exchange: Exchange) -> Reply {
        exchange.scope.complete_raw(&RawJson::empty_object())
    }
}

/// Gives some lines, then one line again and again: one for each read.
struct Lines<'a> {
    first: &'a [&'a str],
    line: &'a str,
    times: usize,
}

impl AsyncRead for Lines<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if let Some((line, rest)) = self.first.split_first() {
            buffer.put_slice(line.as_bytes());
            self.first = rest;
        } else if self.times > 0 {
            buffer.put_slice(self.line.as_bytes());
            self.times -= 1;
        } else {
            return Poll::Ready(Ok(()));
        }
        buffer.put_slice(b"\n");
        Poll::Ready(Ok(()))
    }
}

fn allocations(first: &[&str], line: &str, times: usize) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let lines = Lines { first, line, times };
    let measured = allocation_counter::measure(|| {
        let served = serve_on(lines, tokio::io::sink(), Ready, Options::default());
        assert!(runtime.block_on(served).orderly);
    });
    measured.count_total
}

/// Allocations of each of a thousand calls, once a hundred came before. The read buffer is renewed now and then,
/// which is less than one for a hundred calls.
fn each(first: &[&str], line: &str) -> u64 {
    let (few, many) = (allocations(first, line, 100), allocations(first, line, 1100));
    let (each, rest) = ((many - few) / 1000, (many - few) % 1000);
    assert!(rest < 10, "{rest} more in a thousand calls");
    each
}

#[test]
fn a_ready_call_costs_three_allocations_and_a_stateless_one_four() {
    let initialize = common::initialize("i", "2025-11-25");
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let call =
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3}}}"#;
    let modern = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}"#;
    // The boxed future, the scope, the answer.
    assert_eq!(each(&[&initialize, ready], call), 3);
    // And serde_json's stack of brackets while it passes over the capabilities.
    assert_eq!(each(&[], modern), 4);
    // The answer; the boxed future.
    assert_eq!(each(&[], r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#), 1);
    assert_eq!(each(&[], r#"{"jsonrpc":"2.0","method":"notifications/x"}"#), 1);
}
