//! How many allocations a call makes on the client's side.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mcp_client::Client;
use mcp_exchange::{BoxHandler, BoxLink, Closed, Connect, Incoming, Link, LinkError, Outgoing, call_slot};
use mcp_jsonrpc::{RawJson, RequestId};
use mcp_types::Revision;

/// Answers at once, so that only the client's own work is counted.
struct Instant;

impl Connect for Instant {
    async fn connect(&self, _: BoxHandler) -> Result<BoxLink, LinkError> {
        Ok(BoxLink::new(Instant))
    }
}

fn raw(text: &'static str) -> RawJson {
    RawJson::from_bytes(bytes::Bytes::from_static(text.as_bytes()), &Default::default()).unwrap()
}

impl Link for Instant {
    fn next_id(&self) -> RequestId {
        1.into()
    }

    async fn open(&self, _: RequestId, call: Outgoing) -> Result<Incoming, LinkError> {
        let (slot, incoming) = call_slot();
        slot.done(Ok(match &*call.method {
            "server/discover" => raw(
                r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#,
            ),
            _ => raw(r#"{"resultType":"complete","content":[{"type":"text","text":"3"}]}"#),
        }));
        Ok(incoming)
    }

    async fn notify(&self, _: Outgoing) -> Result<(), LinkError> {
        Ok(())
    }

    async fn closed(&self) -> Closed {
        std::future::pending().await
    }

    async fn close(&self) -> Closed {
        Closed::new("closed by us", true)
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it had to wait"),
    }
}

#[tokio::test]
async fn a_tool_call_costs_few_allocations() {
    let client = Client::builder("test", "0")
        .revisions(Revision::LATEST)
        .connect(Instant)
        .await
        .unwrap();
    let args = std::collections::BTreeMap::from([("a", 1), ("b", 2)]);
    let call = || now(client.tool("add").args(&args).into_future()).unwrap();
    call();
    let count = allocation_counter::measure(|| drop(call())).count_total;
    // The parameters (2), the call's future, the link's future, its slot; the rest is the typed result.
    assert!(count <= 9, "{count} allocations");
    let raw = || now(client.tool("add").args(&args).raw().into_future()).unwrap();
    let count = allocation_counter::measure(|| drop(raw())).count_total;
    assert!(count <= 5, "{count} allocations");
}
