//! Server and client over a Unix socket.

#![cfg(unix)]

mod common;

use common::Script;
use mcp_exchange::{BoxHandler, Connect, Outgoing};
use mcp_stdio::{Options, serve_on, streams};
use mcp_types::Revision;
use tokio::net::{UnixListener, UnixStream};

#[tokio::test]
async fn a_server_on_a_unix_socket_serves_each_client_on_its_own() {
    let path = std::env::temp_dir().join(format!("mcp-stdio-{}.socket", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    let script = Script::default();
    let handler = script.clone();
    let server = tokio::spawn(async move {
        let mut served = tokio::task::JoinSet::new();
        for _ in 0..3 {
            let (socket, _) = listener.accept().await.unwrap();
            let (reader, writer) = socket.into_split();
            served.spawn(serve_on(reader, writer, handler.clone(), Options::default()));
        }
        served.join_all().await
    });
    let mut links = Vec::new();
    for _ in 0..3 {
        let (reader, writer) = UnixStream::connect(&path).await.unwrap().into_split();
        let inbound = BoxHandler::new(Script::default());
        links.push(streams(reader, writer).connect(inbound).await.unwrap());
    }
    for (round, link) in links.iter().enumerate() {
        let params = format!(r#"{{"protocolVersion":"2025-11-25","x":{round}}}"#);
        let call = Outgoing::new("initialize", Some(params.into()));
        let call = link.open(link.next_id(), call).await.unwrap();
        call.answer().await.unwrap().unwrap();
        link.negotiated(Revision::V2025_11_25);
        link.notify(Outgoing::new("notifications/initialized", None))
            .await
            .unwrap();
        // A question comes back on the same socket; this client answers it with its parameters.
        let ask = Outgoing::new("x/ask", Some(format!(r#"{{"n":{round}}}"#).into()));
        let call = link.open(link.next_id(), ask).await.unwrap();
        let error = call.answer().await.unwrap().unwrap_err();
        assert_eq!(error.code, -32601, "the script does not know roots/list");
        let big = Outgoing::new(
            "x/echo",
            Some(format!(r#"{{"x":"{}"}}"#, "y".repeat(1 << 20)).into()),
        );
        let call = link.open(link.next_id(), big).await.unwrap();
        assert!(call.answer().await.unwrap().unwrap().as_bytes().len() > 1 << 20);
    }
    for link in &links {
        assert!(link.close().await.orderly);
    }
    assert!(server.await.unwrap().iter().all(|closed| closed.orderly));
    std::fs::remove_file(path).unwrap();
}
