//! A handler that panics spoils its own request only (pitfall P147).

mod common;

use common::{call, cancel, serve};
use mcp_exchange::{Exchange, Handler, Reply};
use mcp_stdio::Options;
use serde_json::json;

/// Keeps the expected panics out of the test's output.
fn quiet() {
    std::panic::set_hook(Box::new(|_| {}));
}

#[tokio::test(start_paused = true)]
async fn p147_a_panic_is_an_internal_error_of_its_call_and_the_connection_lives() {
    quiet();
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    for method in [
        "x/panic",
        "x/panic-later",
        "x/panic-in-drop",
        "x/panic-in-drop-later",
    ] {
        let answer = served.wire.ask(&call(1, method, 0)).await;
        assert_eq!(
            answer,
            json!({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}),
            "{method}"
        );
        served.wire.lives().await;
    }
    // In a drop that a cancellation brought about: no answer is due.
    served.wire.send(&call(1, "x/panic-when-cancelled", 0)).await;
    served.wire.send(&cancel(1)).await;
    served.script.log.until("defused").await;
    served.wire.silence().await;
    assert!(served.wire.ask(&call(1, "x/echo", 0)).await["result"].is_object());
}

#[tokio::test(start_paused = true)]
async fn p147_a_panic_in_a_notification_harms_nothing() {
    quiet();
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    served
        .wire
        .send(r#"{"jsonrpc":"2.0","method":"notifications/x/panic"}"#)
        .await;
    served.wire.lives().await;
}

/// Panics where the future is made.
struct NotEvenAFuture;

impl Handler for NotEvenAFuture {
    #[allow(clippy::manual_async_fn, reason = "the panic comes before the future")]
    fn call(&self, _exchange: Exchange) -> impl Future<Output = Reply> + Send {
        if true {
            panic!("no future");
        }
        std::future::pending()
    }
}

#[tokio::test(start_paused = true)]
async fn p147_a_panic_before_there_is_a_future_counts_too_also_in_a_handshake() {
    quiet();
    let (mut wire, _task) = common::serve_handler(NotEvenAFuture, Options::default(), 4096);
    for id in ["a", "b"] {
        assert_eq!(
            wire.code(&common::initialize(id, "2025-11-25")).await,
            (-32603, json!(id)),
            "the second try is not refused"
        );
    }
    wire.lives().await;
}
