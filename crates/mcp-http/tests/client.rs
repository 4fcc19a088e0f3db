//! Our client against our server, in every revision that HTTP has.
#![cfg(all(feature = "client", feature = "server"))]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Running, eventually, start};
use mcp_client::Client;
use mcp_http::client::Http;
use mcp_http::server::Options;
use mcp_types::{ElicitResult, JsonObject, Revision, Revisions, SubscriptionFilter};

fn url(running: &Running) -> Http {
    Http::new(&format!("http://{}/mcp", running.listening.address())).unwrap()
}

const REVISIONS: [Revision; 4] = [
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

async fn connect(running: &Running, revisions: impl Into<Revisions>) -> Client {
    Client::builder("host", "1.0.0")
        .revisions(revisions)
        .on_elicit(|_| async { ElicitResult::accept(JsonObject::new()) })
        .connect(url(running))
        .await
        .unwrap()
}

#[derive(serde::Serialize)]
struct Text {
    text: &'static str,
}

#[tokio::test]
async fn each_revision_lists_calls_reads_and_closes() {
    for json in [false, true] {
        let running = start(Options::default().json(json)).await;
        for revision in REVISIONS {
            let client = connect(&running, revision).await;
            assert_eq!(client.revision(), revision);
            assert_eq!(client.server_info().name, "http-notes");
            assert_eq!(client.list_tools().await.unwrap().len(), 5);
            let result = client
                .tool("echo")
                .args(&Text { text: "h\u{e9}llo\n" })
                .await
                .unwrap();
            assert_eq!(
                serde_json::to_value(&result).unwrap()["content"][0]["text"],
                "h\u{e9}llo\n"
            );
            let read = client.read_resource("x://a").await.unwrap();
            assert_eq!(read.contents[0].text.as_deref(), Some("text"));
            let missing = client.read_resource("x://none").await.unwrap_err();
            let code = if revision.is_stateless() { -32602 } else { -32002 };
            assert_eq!(missing.error_object().unwrap().code, code);
            client.close().await;
            assert_eq!(running.endpoint.sessions(), 0, "p104: {revision}");
        }
    }
}

#[tokio::test]
async fn a_client_of_all_revisions_finds_the_newest_and_an_old_server_its_handshake() {
    let running = start(Options::default()).await;
    assert_eq!(
        connect(&running, Revisions::ALL).await.revision(),
        Revision::V2026_07_28
    );
    assert_eq!(running.endpoint.sessions(), 0);
    let old = mcp_server::Server::builder("old", "1")
        .revisions(Revision::V2025_06_18)
        .build()
        .unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listening = mcp_http::server::serve(listener, mcp_http::server::Endpoint::new(old)).unwrap();
    let server = Http::new(&format!("http://{}/mcp", listening.address())).unwrap();
    let client = Client::builder("host", "1").connect(server).await.unwrap();
    assert_eq!(client.revision(), Revision::V2025_06_18);
}

#[tokio::test]
async fn progress_reaches_its_call_in_both_eras() {
    let running = start(Options::default()).await;
    for revision in REVISIONS {
        let client = connect(&running, revision).await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let hear = Arc::clone(&seen);
        let call = client.tool("steps").on_progress(move |progress| {
            hear.lock()
                .unwrap()
                .push(serde_json::to_value(&progress).unwrap()["progress"].as_f64());
        });
        call.await.unwrap();
        assert_eq!(
            *seen.lock().unwrap(),
            [Some(1.0), Some(2.0), Some(3.0)],
            "{revision}"
        );
    }
}

#[tokio::test]
async fn a_question_of_the_server_is_answered_in_both_eras() {
    let running = start(Options::default()).await;
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let client = connect(&running, revision).await;
        let result = client.tool("ask").await.unwrap();
        assert_eq!(
            serde_json::to_value(&result).unwrap()["content"][0]["text"],
            "true",
            "{revision}"
        );
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_in_both_eras() {
    let running = start(Options::default()).await;
    for (at, revision) in [Revision::V2025_11_25, Revision::V2026_07_28]
        .into_iter()
        .enumerate()
    {
        let client = connect(&running, revision).await;
        let call = tokio::spawn({
            let client = client.clone();
            async move { client.tool("slow").await }
        });
        eventually("started", || {
            running.state.started.load(Ordering::SeqCst) == at + 1
        })
        .await;
        call.abort();
        eventually("cancelled", || {
            running.state.cancelled.load(Ordering::SeqCst) == at + 1
        })
        .await;
        assert!(
            client.tool("echo").args(&Text { text: "x" }).await.is_ok(),
            "p076: {revision}"
        );
    }
}

#[tokio::test]
async fn changes_are_heard_in_both_eras() {
    let running = start(Options::default()).await;
    for (revision, tool) in [(Revision::V2025_11_25, "steps"), (Revision::V2026_07_28, "boom")] {
        let client = connect(&running, revision).await;
        let mut changes = client
            .listen(SubscriptionFilter::new().with_tools_list_changed(true))
            .await
            .unwrap();
        assert!(running.server.remove_tool(tool).unwrap());
        let change = tokio::time::timeout(Duration::from_secs(20), changes.next()).await;
        assert!(change.expect("a change").unwrap().is_some(), "{revision}");
    }
}

#[tokio::test]
async fn p085_a_forgotten_session_is_opened_anew_once_for_all_who_call() {
    let running = start(Options::default()).await;
    let client = connect(&running, Revision::V2025_11_25).await;
    client.tool("echo").args(&Text { text: "x" }).await.unwrap();
    // Every session goes, but the server takes new ones.
    let opened = AtomicUsize::new(0);
    running.endpoint.forget_sessions();
    let calls = (0..5).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.tool("echo").args(&Text { text: "again" }).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().unwrap();
        opened.fetch_add(1, Ordering::SeqCst);
    }
    assert_eq!((opened.into_inner(), running.endpoint.sessions()), (5, 1));
}
