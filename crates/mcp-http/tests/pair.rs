//! HTTP+SSE, the transport of 2024-11-05, from both ends.
#![cfg(all(feature = "server", feature = "client"))]

mod common;

use std::convert::Infallible;
use std::sync::atomic::Ordering;

use common::{Running, call, eventually, initialize, start, until};
use http::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_client::Client;
use mcp_http::client::Http;
use mcp_http::server::{Body, Endpoint, Options};
use mcp_types::{CallToolResult, Revision};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;

fn pair() -> Options {
    Options::default().http_sse("/sse", "/messages")
}

fn text_of(result: &CallToolResult) -> String {
    serde_json::to_value(result).unwrap()["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

const EVENTS: (&str, &str) = ("Accept", "text/event-stream");

/// Opens the stream; what comes on it, and the path to post to.
async fn open(running: &Running) -> (TcpStream, String) {
    let mut stream = running.open_at("GET", "/sse", &[EVENTS], "").await;
    let text = until(&mut stream, "\n\n\r\n").await;
    let path = text
        .split("event: endpoint\ndata: ")
        .nth(1)
        .expect("an endpoint event");
    (stream, path.lines().next().unwrap().to_owned())
}

#[tokio::test]
async fn a_session_of_2024_11_05_by_hand() {
    let running = start(pair()).await;
    let (mut stream, path) = open(&running).await;
    assert!(path.starts_with("/messages?sessionId="), "{path}");
    let answer = running.post_at(&path, &[], &initialize("2024-11-05", "{}")).await;
    assert_eq!((answer.status, answer.body.as_str()), (202, "Accepted"));
    let text = until(&mut stream, "protocolVersion").await;
    assert!(
        text.contains("event: message\ndata: {") && text.contains("2024-11-05"),
        "{text}"
    );
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(running.post_at(&path, &[], ready).await.status, 202);
    let progress = r#","arguments":{},"_meta":{"progressToken":"p"}"#;
    assert_eq!(
        running
            .post_at(&path, &[], &call(1, "steps", progress))
            .await
            .status,
        202
    );
    let text = until(&mut stream, r#""id":1"#).await;
    assert_eq!(text.matches("notifications/progress").count(), 3, "{text}");

    // A cancelled call costs the call alone.
    running.post_at(&path, &[], &call(2, "slow", "")).await;
    eventually("the call runs", || {
        running.state.started.load(Ordering::SeqCst) == 1
    })
    .await;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    running.post_at(&path, &[], cancel).await;
    eventually("the call ends", || {
        running.state.cancelled.load(Ordering::SeqCst) == 1
    })
    .await;
    running
        .post_at(
            &path,
            &[],
            &call(3, "echo", r#","arguments":{"text":"still here"}"#),
        )
        .await;
    until(&mut stream, "still here").await;

    // The session ends with its stream.
    assert_eq!(running.endpoint.sessions(), 1);
    drop(stream);
    eventually("the session ends", || running.endpoint.sessions() == 0).await;
    assert_eq!(running.post_at(&path, &[], ready).await.status, 404);
}

#[tokio::test]
async fn what_is_refused() {
    let running = start(pair()).await;
    let (mut stream, path) = open(&running).await;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for (path, headers, body, status) in [
        ("/messages", &[][..], ready, 400),
        ("/messages?sessionId=0", &[], ready, 404),
        (&path, &[], "{", 400),
        (&path, &[], "[]", 400),
        (&path, &[("Origin", "http://evil.example")], ready, 403),
        (&path, &[("Host", "evil.example")], ready, 403),
    ] {
        let answer = running.post_at(path, headers, body).await;
        assert_eq!(answer.status, status, "{path} {headers:?} {body}: {answer:?}");
    }
    let form = [("Content-Type", "text/plain")];
    let answer = running.parse_at("POST", &path, &form, ready).await;
    assert_eq!(answer.status, 415);
    let answer = running
        .parse_at("GET", "/sse", &[("Accept", "application/json")], "")
        .await;
    assert_eq!(answer.status, 406);
    // A session of one transport is none of the other.
    let id = path.split('=').nth(1).unwrap();
    let answer = running.post(&[("Mcp-Session-Id", id)], ready).await;
    assert_eq!(answer.status, 404);
    let id = running.session("2025-03-26", "{}").await;
    let answer = running
        .post_at(&format!("/messages?sessionId={id}"), &[], ready)
        .await;
    assert_eq!(answer.status, 404);
    // None of that cost the session.
    running.post_at(&path, &[], &initialize("2024-11-05", "{}")).await;
    until(&mut stream, "protocolVersion").await;
}

#[tokio::test]
async fn it_is_off_unless_asked_for_and_bounded_when_on() {
    let running = start(Options::default()).await;
    let answer = running.parse_at("GET", "/sse", &[EVENTS], "").await;
    assert_eq!(answer.status, 400, "a GET without a session");
    let running = start(pair().sessions(1, std::time::Duration::from_secs(60))).await;
    let _first = open(&running).await;
    let answer = running.parse_at("GET", "/sse", &[EVENTS], "").await;
    assert_eq!(answer.status, 503, "{answer:?}");
}

#[tokio::test]
async fn our_client_where_it_is_told() {
    let running = start(pair()).await;
    let url = format!("http://{}/sse", running.listening.address());
    let client = Client::builder("pair", "1")
        .connect(Http::new(&url).unwrap().http_sse())
        .await
        .unwrap();
    assert_eq!(client.revision(), Revision::V2025_11_25);
    let said = client.tool("echo").args(&json!({"text": "hello"})).await.unwrap();
    assert_eq!(text_of(&said), "hello");
    client.close().await;
    eventually("the session ends", || running.endpoint.sessions() == 0).await;
}

/// A server that knows HTTP+SSE alone: `/sse` takes GET, and everything else is not found.
async fn old_server(endpoint: Endpoint, events: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let endpoint = endpoint.clone();
            let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
                let mut endpoint = endpoint.clone();
                async move {
                    match (request.method(), request.uri().path()) {
                        (&Method::GET, path) if path == events => endpoint.call(request).await,
                        (&Method::POST, "/messages") => endpoint.call(request).await,
                        (_, path) => {
                            let mut response = Response::new(Body::empty());
                            *response.status_mut() = if path == events {
                                StatusCode::METHOD_NOT_ALLOWED
                            } else {
                                StatusCode::NOT_FOUND
                            };
                            Ok::<_, Infallible>(response)
                        }
                    }
                }
            });
            tokio::spawn(
                hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), service)
                    .into_owned(),
            );
        }
    });
    format!("http://{address}")
}

#[tokio::test]
async fn our_client_falls_back_to_the_oldest_transport_by_itself() {
    let running = start(pair()).await;
    let base = old_server(running.endpoint.clone(), "/sse").await;
    let client = Client::builder("pair", "1")
        .connect(Http::new(&format!("{base}/sse")).unwrap())
        .await
        .unwrap();
    let steps = client.tool("steps");
    assert_eq!(text_of(&steps.await.unwrap()), "done");
    // Calls at once find their own answers.
    let calls = (0..20).map(|n| {
        let client = client.clone();
        async move {
            let text = n.to_string();
            let said = client.tool("echo").args(&json!({"text": &text})).await.unwrap();
            assert_eq!(text_of(&said), text);
        }
    });
    let mut set = tokio::task::JoinSet::new();
    for call in calls {
        set.spawn(call);
    }
    while let Some(done) = set.join_next().await {
        done.unwrap();
    }
    // When the stream ends, every call is settled.
    let lost = tokio::spawn({
        let client = client.clone();
        async move { client.tool("slow").await }
    });
    eventually("the call runs", || {
        running.state.started.load(Ordering::SeqCst) == 1
    })
    .await;
    running.endpoint.forget_sessions();
    assert!(lost.await.unwrap().unwrap_err().is_closed());
    assert!(
        client
            .tool("echo")
            .args(&json!({"text": "x"}))
            .await
            .unwrap_err()
            .is_closed()
    );
}

#[tokio::test]
async fn where_there_is_no_server_at_all_the_first_error_is_told() {
    let running = start(pair()).await;
    let base = old_server(running.endpoint.clone(), "/sse").await;
    let error = Client::builder("pair", "1")
        .connect(Http::new(&format!("{base}/mcp")).unwrap())
        .await
        .unwrap_err();
    let text = format!("{error:#} {:?}", std::error::Error::source(&error));
    assert!(text.contains("404"), "{text}");
}

#[tokio::test]
async fn messages_are_not_posted_to_another_origin() {
    let running = start(Options::default().http_sse("/sse", "http://127.0.0.1:1/messages")).await;
    let base = old_server(running.endpoint.clone(), "/sse").await;
    let error = Client::builder("pair", "1")
        .connect(Http::new(&format!("{base}/sse")).unwrap().http_sse())
        .await
        .unwrap_err();
    let text = format!("{error:#} {:?}", std::error::Error::source(&error));
    assert!(text.contains("not on its own origin"), "{text}");
}
