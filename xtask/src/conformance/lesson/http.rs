//! Example 9: seven requests over Streamable HTTP.

use std::sync::atomic::{AtomicU32, Ordering};

use mcp_http::server::{Endpoint, Options, serve};
use mcp_jsonrpc::RawJson;
use mcp_server::{Cx, Server, Tool};
use mcp_types::Revision;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Input, Lines, Trouble};

async fn read_note(_: Cx, _: RawJson) -> &'static str {
    "not reached"
}

/// What came back: the status, the type, the session that was opened, the body.
struct Answer {
    status: String,
    kind: Option<String>,
    session: Option<String>,
    body: String,
}

/// Plays the requests and prints each as the demo does.
pub(super) async fn requests(input: Input, _: Revision) -> Lines {
    let schema = RawJson::from_text(r#"{"type":"object"}"#)?;
    let server = Server::builder("http-notes", "1.0.0")
        .tool(Tool::raw("read_note", schema, read_note))
        .build()?;
    let next = AtomicU32::new(1);
    // A predictable id is for an example alone.
    let options =
        Options::default().session_ids(move || format!("session-{}", next.fetch_add(1, Ordering::Relaxed)));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let running = serve(listener, Endpoint::with_options(server, options))?;
    let address = running.address().to_string();

    let mut lines = Vec::new();
    let mut session: Option<String> = None;
    for step in input {
        let mut words = step.splitn(4, ' ');
        let (Some(verb), Some(accept), Some(with)) = (words.next(), words.next(), words.next()) else {
            return Err(format!("not a step: {step}").into());
        };
        let body = words.next().unwrap_or_default();
        let in_session = session.as_deref().filter(|_| with == "+session");
        let answer = send(&address, verb, accept, in_session, body).await?;
        session = session.or(answer.session);
        let what = match verb {
            "DELETE" => "DELETE".to_owned(),
            _ => {
                let message: serde_json::Value = serde_json::from_str(body)?;
                let method = message["method"].as_str().unwrap_or_default();
                if with == "+session" {
                    format!("{method} +session")
                } else {
                    method.to_owned()
                }
            }
        };
        let shown = match answer.body.trim() {
            "" => "(empty)".to_owned(),
            body => body.replace('\n', " | "),
        };
        lines.push(format!(
            "{what} -> {} {} {shown}",
            answer.status,
            answer.kind.as_deref().unwrap_or("-")
        ));
    }
    lines.push(format!(
        "session id from the server: {}",
        session.unwrap_or_default()
    ));
    running.close().await;
    Ok(lines)
}

async fn send(
    address: &str,
    verb: &str,
    accept: &str,
    session: Option<&str>,
    body: &str,
) -> Result<Answer, Trouble> {
    let mut text = format!("{verb} /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    if verb == "POST" {
        text.push_str(&format!("Content-Type: application/json\r\nAccept: {accept}\r\n"));
    }
    if let Some(session) = session {
        text.push_str(&format!(
            "Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n"
        ));
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(text.as_bytes()).await?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    let answer = String::from_utf8(bytes)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("an answer without a head")?;
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    if header("transfer-encoding").is_some() {
        return Err("an answer that was ready came in pieces".into());
    }
    Ok(Answer {
        status: head.split(' ').nth(1).unwrap_or_default().to_owned(),
        kind: header("content-type"),
        session: header("mcp-session-id"),
        body: body.to_owned(),
    })
}
