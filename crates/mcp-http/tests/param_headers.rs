//! Arguments that are repeated in headers (2026-07-28: basic/transports).
#![cfg(all(feature = "server", feature = "client"))]

mod common;

use std::sync::{Arc, Mutex};

use common::modern;
use mcp_client::Client;
use mcp_http::client::Http;
use mcp_http::server::{Endpoint, serve};
use mcp_server::{Cx, Server, Tool};
use mcp_types::{Revision, Revisions};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
    #[schemars(extend("x-mcp-header" = "Page"))]
    page: Option<i32>,
}

async fn place(_: Cx<()>, place: Place) -> String {
    format!("{:?} {:?}", place.region, place.page)
}

async fn running() -> (Server<()>, mcp_http::server::Listening) {
    let server = Server::builder("places", "1")
        .tool(Tool::new("place", place))
        .dynamic()
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listening = serve(listener, Endpoint::new(server.clone())).unwrap();
    (server, listening)
}

async fn post(address: std::net::SocketAddr, more: &[(&str, &str)], arguments: &str) -> common::Answer {
    let params = format!(r#""name":"place","arguments":{arguments},"#);
    let (headers, body) = modern("tools/call", Some("place"), &params);
    let mut text = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in &headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    for (name, value) in more {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(format!("{text}\r\n{body}").as_bytes())
        .await
        .unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    common::parse(&bytes)
}

#[tokio::test]
async fn headers_and_arguments_must_agree() {
    let (_server, listening) = running().await;
    let address = listening.address();
    for (headers, arguments) in [
        (&[("Mcp-Param-Region", "eu")][..], r#"{"region":"eu"}"#),
        (&[("mcp-param-REGION", "  eu ")], r#"{"region":"eu"}"#),
        (
            &[("Mcp-Param-Region", "=?base64?w6k=?=")],
            "{\"region\":\"\u{e9}\"}",
        ),
        (&[("Mcp-Param-Page", "42.0")], r#"{"page":42}"#),
        (&[], r#"{"region":null}"#),
        (&[("Mcp-Param-Unknown", "x")], "{}"),
    ] {
        let answer = post(address, headers, arguments).await;
        assert_eq!(answer.status, 200, "{headers:?} {arguments}: {answer:?}");
    }
    for (headers, arguments) in [
        (&[][..], r#"{"region":"eu"}"#),
        (&[("Mcp-Param-Region", "us")], r#"{"region":"eu"}"#),
        (
            &[("Mcp-Param-Region", "eu"), ("Mcp-Param-Region", "eu")],
            r#"{"region":"eu"}"#,
        ),
        (
            &[("Mcp-Param-Region", "=?base64?w6k?=")],
            "{\"region\":\"\u{e9}\"}",
        ),
        (&[("Mcp-Param-Page", "43")], r#"{"page":42}"#),
        (&[("Mcp-Param-Page", "43")], "{}"),
    ] {
        let answer = post(address, headers, arguments).await;
        assert_eq!(answer.status, 400, "{headers:?} {arguments}: {answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["code"], -32020, "{answer:?}");
        assert!(
            error["message"].as_str().unwrap().contains("Mcp-Param-"),
            "{answer:?}"
        );
    }
}

fn text_of(result: &mcp_types::CallToolResult) -> String {
    let value = serde_json::to_value(result).unwrap();
    value["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn our_client_sends_them_and_learns_what_it_missed() {
    let (_server, listening) = running().await;
    let url = format!("http://{}/mcp", listening.address());
    let client = Client::builder("params", "1")
        .connect(Http::new(&url).unwrap())
        .await
        .unwrap();
    assert_eq!(client.revision(), Revision::V2026_07_28);
    // Never listed: the refusal is a reason to list.
    let arguments = json!({"region": "\u{e9}u\n", "page": -7});
    let said = client.tool("place").args(&arguments).await.unwrap();
    assert_eq!(text_of(&said), r#"Some("éu\n") Some(-7)"#);
    // Now it is known.
    let said = client.tool("place").args(&json!({"region": null})).await.unwrap();
    assert_eq!(text_of(&said), "None None");
    // In sessions there are no such headers.
    let client = Client::builder("params", "1")
        .revisions(Revisions::STATEFUL)
        .connect(Http::new(&url).unwrap())
        .await
        .unwrap();
    let said = client.tool("place").args(&arguments).await.unwrap();
    assert_eq!(text_of(&said), r#"Some("éu\n") Some(-7)"#);
}

/// A server that refuses every call, and lists one good tool and one whose annotations break the rules.
async fn stubborn() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let notes = Arc::clone(&notes);
            tokio::spawn(async move {
                let mut bytes = vec![0; 65536];
                let mut len = 0;
                loop {
                    let count = stream.read(&mut bytes[len..]).await.unwrap_or(0);
                    len += count;
                    let text = String::from_utf8_lossy(&bytes[..len]).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else {
                        if count == 0 {
                            return;
                        }
                        continue;
                    };
                    let Ok(request) = serde_json::from_str::<serde_json::Value>(body) else {
                        continue;
                    };
                    let id = &request["id"];
                    notes.lock().unwrap().push(head.to_ascii_lowercase());
                    let (status, answer) = match request["method"].as_str().unwrap() {
                        "server/discover" => (
                            "200 OK",
                            json!({"jsonrpc":"2.0","id":id,"result":{
                            "resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},
                            "ttlMs":0,"cacheScope":"private"}}),
                        ),
                        "tools/list" => (
                            "200 OK",
                            json!({"jsonrpc":"2.0","id":id,"result":{
                            "resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[
                            {"name":"good","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}},
                            {"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}}]}}),
                        ),
                        _ => (
                            "400 Bad Request",
                            json!({"jsonrpc":"2.0","id":id,"error":{"code":-32020,"message":"no"}}),
                        ),
                    };
                    let answer = answer.to_string();
                    let _ = stream
                        .write_all(format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{answer}", answer.len()).as_bytes())
                        .await;
                    return;
                }
            });
        }
    });
    (url, seen)
}

#[tokio::test]
async fn a_call_is_tried_twice_at_most_and_bad_tools_are_left_out() {
    let (url, seen) = stubborn().await;
    let client = Client::builder("params", "1")
        .connect(Http::new(&url).unwrap())
        .await
        .unwrap();
    let error = client.tool("good").args(&json!({"a": "x"})).await.unwrap_err();
    assert_eq!(error.error_object().unwrap().code, -32020);
    let calls: Vec<String> = seen
        .lock()
        .unwrap()
        .iter()
        .filter(|head| head.contains("mcp-method: tools/call"))
        .cloned()
        .collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(
        !calls[0].contains("mcp-param-a") && calls[1].contains("mcp-param-a: x"),
        "{calls:?}"
    );
    let names: Vec<String> = client
        .list_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["good"]);
}

#[tokio::test]
async fn a_page_may_send_them() {
    let running = common::start(mcp_http::server::Options::default()).await;
    let headers = [
        ("Origin", "http://localhost:5173"),
        ("Access-Control-Request-Method", "POST"),
        (
            "Access-Control-Request-Headers",
            "content-type, mcp-param-region, x-evil",
        ),
    ];
    let answer = running.send("OPTIONS", &headers, "").await;
    let allowed = answer.header("access-control-allow-headers").unwrap();
    assert_eq!(answer.status, 204);
    assert!(
        allowed.contains("Mcp-Name") && allowed.ends_with(", mcp-param-region"),
        "{allowed}"
    );
}
