//! Our client against servers that say exactly what a test wants.
#![cfg(feature = "client")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_client::Client;
use mcp_http::client::{Http, Options};
use mcp_types::{Revision, Revisions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Answers each request by what this makes of it, and notes what came.
async fn scripted(
    answer: impl Fn(&str) -> String + Send + Sync + 'static,
) -> (Http, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (notes, answer) = (Arc::clone(&seen), Arc::new(answer));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (notes, answer) = (Arc::clone(&notes), Arc::clone(&answer));
            tokio::spawn(async move {
                let mut text = String::new();
                let mut piece = [0; 8192];
                loop {
                    let count = stream.read(&mut piece).await.unwrap_or(0);
                    text.push_str(&String::from_utf8_lossy(&piece[..count]));
                    let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                        let length = head.lines().find_map(|line| {
                            line.to_ascii_lowercase()
                                .strip_prefix("content-length:")?
                                .trim()
                                .parse()
                                .ok()
                        });
                        body.len() >= length.unwrap_or(0)
                    });
                    if count == 0 || whole {
                        break;
                    }
                }
                notes.lock().unwrap().push(text.clone());
                let _ = stream.write_all(answer(&text).as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (Http::new(&format!("http://{address}/mcp")).unwrap(), seen)
}

fn http(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn json(body: &str) -> String {
    http(
        "200 OK",
        "Content-Type: application/json; charset=utf-8\r\n",
        body,
    )
}

fn events(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{body}")
}

/// The id of the request, as it stands in it.
fn id(request: &str) -> String {
    let (_, after) = request.split_once(r#""id":"#).unwrap_or(("", "0"));
    after.split([',', '}']).next().unwrap_or("0").to_owned()
}

fn hello(request: &str) -> String {
    let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    http(
        "200 OK",
        "Content-Type: application/json\r\nMcp-Session-Id: abc\r\n",
        &format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(request)),
    )
}

/// A server of 2025-11-25 that answers calls by this.
fn old(
    call: impl Fn(&str) -> String + Send + Sync + 'static,
) -> impl Fn(&str) -> String + Send + Sync + 'static {
    move |request| {
        let resumes = request.to_ascii_lowercase().contains("last-event-id");
        if request.starts_with("DELETE") || request.starts_with("GET") && !resumes {
            http("405 Method Not Allowed", "", "")
        } else if request.contains("server/discover") {
            http("400 Bad Request", "", "no session")
        } else if request.contains(r#""initialize""#) {
            hello(request)
        } else if request.contains("notifications/") {
            http("202 Accepted", "Content-Type: text/plain\r\n", "")
        } else {
            call(request)
        }
    }
}

async fn connect(server: Http) -> Client {
    Client::builder("host", "1").connect(server).await.unwrap()
}

fn fast(server: Http) -> Http {
    server.with_options(Options::default().resumes(3, Duration::from_millis(10)))
}

#[tokio::test]
async fn p080_required_headers_stay_and_configured_ones_are_added() {
    let (server, seen) = scripted(old(|request| {
        json(&format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[]}}}}"#,
            id(request)
        ))
    }))
    .await;
    let server = server
        .header("Accept", "text/plain")
        .unwrap()
        .header("X-A", "1")
        .unwrap();
    let client = connect(server).await;
    client.list_tools().await.unwrap();
    client.close().await;
    let seen = seen.lock().unwrap();
    let list = seen
        .iter()
        .find(|request| request.contains("tools/list"))
        .unwrap()
        .to_ascii_lowercase();
    assert!(
        list.contains("accept: application/json, text/event-stream") && list.contains("x-a: 1"),
        "{list}"
    );
    assert!(
        list.contains("mcp-session-id: abc") && list.contains("mcp-protocol-version: 2025-11-25"),
        "p058"
    );
    let hello = seen
        .iter()
        .find(|request| request.contains(r#""initialize""#))
        .unwrap()
        .to_ascii_lowercase();
    assert!(
        !hello.contains("mcp-session-id") && !hello.contains("mcp-protocol-version"),
        "{hello}"
    );
    assert!(seen.iter().any(|request| request.starts_with("DELETE")), "p104");
}

#[tokio::test]
async fn p084_what_is_no_answer_fails_the_call_with_status_and_excerpt() {
    let (server, _) = scripted(old(|request| match request {
        r if r.contains(r#""a""#) => http("502 Bad Gateway", "Content-Type: text/html\r\n", "<h1>down</h1>"),
        r if r.contains(r#""b""#) => http("500 Internal Server Error", "", ""),
        r => http(
            "400 Bad Request",
            "Content-Type: application/json\r\n",
            &format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32602,"message":"no"}}}}"#,
                id(r)
            ),
        ),
    }))
    .await;
    let client = connect(server).await;
    let html = client.tool("a").await.unwrap_err().to_string();
    assert!(html.contains("502") && html.contains("down"), "{html}");
    assert!(client.tool("b").await.unwrap_err().to_string().contains("500"));
    let error = client.tool("c").await.unwrap_err();
    assert_eq!(error.to_string(), "MCP error -32602: no");
}

#[tokio::test]
async fn p065_401_and_a_dead_server_are_no_sign_of_an_era() {
    let (server, seen) = scripted(|_| http("401 Unauthorized", "WWW-Authenticate: Bearer\r\n", "")).await;
    let error = Client::builder("host", "1").connect(server).await.unwrap_err();
    assert!(error.to_string().contains("authorization"), "{error}");
    assert_eq!(seen.lock().unwrap().len(), 1, "nothing else was tried");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let gone = Http::new(&format!("http://{address}/mcp")).unwrap();
    let error = Client::builder("host", "1").connect(gone).await.unwrap_err();
    assert!(error.to_string().contains("cannot be reached"), "{error}");
}

#[tokio::test]
async fn p088_a_path_that_does_not_exist_is_said_to_be_wrong() {
    let (server, _) =
        scripted(|_| http("404 Not Found", "Content-Type: text/plain\r\n", "nothing here")).await;
    let error = Client::builder("host", "1")
        .revisions(Revision::V2025_11_25)
        .connect(server)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("no endpoint at this URL"), "{error}");
}

#[tokio::test]
async fn p096_a_stream_that_ends_without_an_answer_fails_the_call_at_once() {
    let (server, _) = scripted(old(|_| {
        events("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n")
    }))
    .await;
    let client = connect(fast(server)).await;
    let error = client.tool("x").await.unwrap_err();
    assert!(error.to_string().contains("without an answer"), "{error}");
}

#[tokio::test]
async fn a_broken_stream_is_taken_up_again_after_the_time_it_named_and_only_there() {
    let (server, seen) = scripted(old(|request| {
        if request.starts_with("GET") {
            return events(
                "id: 7-2\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[]}}\n\n"
                    .replace("ID", "2")
                    .as_str(),
            );
        }
        events("id: 7-1\nretry: 30\ndata:\n\n")
    }))
    .await;
    let client = connect(fast(server)).await;
    client.tool("x").await.unwrap();
    let seen = seen.lock().unwrap();
    let resumed: Vec<&String> = seen
        .iter()
        .filter(|request| request.contains("last-event-id: 7-1"))
        .collect();
    assert_eq!(resumed.len(), 1, "{seen:#?}");
    assert_eq!(
        seen.iter()
            .filter(|request| request.contains("tools/call"))
            .count(),
        1,
        "p070: never sent again"
    );
}

#[tokio::test]
async fn p090_a_stream_that_ends_at_once_is_not_asked_for_for_ever() {
    let (server, seen) = scripted(old(|request| {
        if request.starts_with("GET") {
            events("")
        } else {
            events("id: 1-1\ndata:\n\n")
        }
    }))
    .await;
    let client = connect(fast(server)).await;
    assert!(
        client
            .tool("x")
            .await
            .unwrap_err()
            .to_string()
            .contains("taken up again")
    );
    let gets = seen
        .lock()
        .unwrap()
        .iter()
        .filter(|request| request.contains("last-event-id"))
        .count();
    assert_eq!(gets, 3);
}

#[tokio::test]
async fn p109_a_redirect_is_followed_on_its_origin_with_the_body_and_else_named() {
    let (server, seen) = scripted(old(|request| {
        if request.starts_with("POST /mcp/ ") {
            json(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#,
                id(request)
            ))
        } else if request.contains("elsewhere") {
            http(
                "307 Temporary Redirect",
                "Location: http://127.0.0.1:1/steal\r\n",
                "",
            )
        } else if request.contains("moved") {
            http("301 Moved Permanently", "Location: /other\r\n", "")
        } else {
            http("308 Permanent Redirect", "Location: /mcp/\r\n", "")
        }
    }))
    .await;
    let client = connect(server.header("Authorization", "Bearer secret").unwrap()).await;
    client.tool("x").await.unwrap();
    assert!(seen.lock().unwrap().last().unwrap().contains(r#""name":"x""#));
    for (tool, place) in [("elsewhere", "http://127.0.0.1:1/steal"), ("moved", "/other")] {
        let error = client.tool(tool).await.unwrap_err().to_string();
        assert!(error.contains(place), "{error}");
    }
}

#[tokio::test]
async fn stateless_headers_say_what_the_body_says() {
    let (server, seen) = scripted(|request| {
        let result = if request.contains("server/discover") {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{}},"ttlMs":0,"cacheScope":"private"}"#
        } else {
            r#"{"resultType":"complete","content":[],"contents":[],"ttlMs":0,"cacheScope":"private"}"#
        };
        json(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(request)))
    })
    .await;
    let client = Client::builder("host", "1")
        .revisions(Revisions::STATELESS)
        .connect(server)
        .await
        .unwrap();
    client.tool("caf\u{e9}").await.unwrap();
    client.read_resource("x://a%20b?c").await.unwrap();
    let seen = seen.lock().unwrap();
    let has = |method: &str, line: &str| {
        let request = seen
            .iter()
            .find(|request| request.contains(&format!("\"{method}\"")))
            .unwrap();
        let head = request.split("\r\n\r\n").next().unwrap_or_default();
        assert!(head.lines().any(|known| known == line), "{line} in {head}");
    };
    has("server/discover", "mcp-method: server/discover");
    has("server/discover", "mcp-protocol-version: 2026-07-28");
    has("tools/call", "mcp-name: =?base64?Y2Fmw6k=?=");
    has("resources/read", "mcp-name: x://a%20b?c");
    assert!(
        seen.iter()
            .all(|request| !request.to_ascii_lowercase().contains("mcp-session-id"))
    );
}

#[tokio::test]
async fn urls_and_headers_that_cannot_be_used_are_refused_without_showing_values() {
    for bad in ["ftp://a/", "nonsense", "https://a.example/mcp"] {
        if bad.starts_with("https") && cfg!(feature = "rustls") {
            continue;
        }
        assert!(Http::new(bad).is_err(), "{bad}");
    }
    let server = Http::new("http://a.example/mcp?key=hidden").unwrap();
    let error = server.clone().header("X", "secret\n").unwrap_err().to_string();
    assert!(!error.contains("secret"), "p173: {error}");
    let shown = format!("{:?}", server.header("Authorization", "Bearer secret").unwrap());
    assert!(
        shown.contains("authorization") && !shown.contains("secret") && !shown.contains("hidden"),
        "{shown}"
    );
}
