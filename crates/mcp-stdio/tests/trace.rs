//! Watching the lines of a connection.

mod common;

use std::sync::{Arc, Mutex};

use common::serve_with;
use mcp_stdio::{Direction, Options, Trace};

#[tokio::test(start_paused = true)]
async fn a_trace_sees_each_line_as_it_is_in_order() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&seen);
    let trace = Trace::new(move |direction, line| {
        let arrow = match direction {
            Direction::Sent => "->",
            Direction::Received => "<-",
        };
        to.lock()
            .unwrap()
            .push(format!("{arrow} {}", String::from_utf8_lossy(line)));
    });
    let mut served = serve_with(Options::default().with_trace(trace), 4096);
    served.wire.code("garbage").await;
    served.wire.lives().await;
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "<- garbage",
            r#"-> {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            r#"<- {"jsonrpc":"2.0","id":"alive","method":"ping"}"#,
            r#"-> {"jsonrpc":"2.0","id":"alive","result":{}}"#,
        ]
    );
}
