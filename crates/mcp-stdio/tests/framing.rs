//! Lines: what one is, and what becomes of those that are no message (pitfalls P001 to P014).

mod common;

use std::time::Duration;

use common::{call, connect, serve, serve_with};
use mcp_exchange::Outgoing;
use mcp_jsonrpc::Limits;
use mcp_stdio::Options;
use serde_json::{Value, json};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test(start_paused = true)]
async fn p001_a_server_skips_a_line_that_is_no_message_and_reads_on() {
    let mut served = serve();
    assert_eq!(served.wire.code("server v1.2 ready").await, (-32700, Value::Null));
    assert_eq!(served.wire.ask(PING).await["result"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn p001_a_client_skips_a_line_that_is_no_message_and_reads_on() {
    let mut peer = connect().await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    let sent = peer.wire.next().await;
    peer.wire.send("server v1.2 ready").await;
    peer.wire
        .send(r#"{"jsonrpc":"2.0","id":0,"result":{"a":1}}"#)
        .await;
    assert_eq!(sent["id"], 0);
    assert_eq!(call.answer().await.unwrap().unwrap().as_str(), r#"{"a":1}"#);
    peer.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn p002_traffic_stops_with_a_peer_that_answers_bad_lines_with_bad_lines() {
    let mut served = serve();
    assert_eq!(served.wire.code("{bad").await.0, -32700);
    for _ in 0..100 {
        served.wire.send("{bad").await;
    }
    served.wire.silence().await;
    // A valid message ends the silence.
    served.wire.lives().await;
    assert_eq!(served.wire.code("{bad").await.0, -32700);
}

#[tokio::test(start_paused = true)]
async fn p002_errors_and_answers_are_never_answered() {
    let mut served = serve();
    for line in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":9,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"id":9,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":9,"error":"x"}"#,
        r#"[{"jsonrpc":"2.0","id":9,"result":{}}]"#,
    ] {
        served.wire.send(line).await;
    }
    served.wire.silence().await;
    served.wire.lives().await;
}

#[tokio::test(start_paused = true)]
async fn p003_a_bad_envelope_with_an_id_is_refused_under_that_id() {
    let mut served = serve();
    for (line, code, id) in [
        (r#"{"id":7,"method":"ping"}"#, -32600, json!(7)),
        (
            r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#,
            -32600,
            json!("a"),
        ),
        (r#"{"jsonrpc":"2.0","id":8,"method":5}"#, -32600, json!(8)),
        (r#"{"jsonrpc":"2.0","id":9}"#, -32600, json!(9)),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":"x"}"#,
            -32602,
            json!(3),
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"ping","method":"x"}"#,
            -32600,
            json!(4),
        ),
    ] {
        assert_eq!(served.wire.code(line).await, (code, id), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn p004_p005_p006_byte_order_marks_crlf_and_blank_lines_do_not_matter() {
    let mut served = serve();
    let bytes = format!("\u{feff}{PING}\r\n\n\r\n   \n\t\r\n{}\n", PING.replace('1', "2"));
    served.wire.bytes(bytes.as_bytes()).await;
    assert_eq!(
        served.wire.line().await.unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
    assert_eq!(served.wire.next().await["id"], 2);
    served.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn p007_bytes_may_come_one_at_a_time() {
    let mut peer = connect().await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    for byte in "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":\"é—🙂\"}\n".as_bytes() {
        peer.wire.bytes(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(call.answer().await.unwrap().unwrap().as_str(), "\"é—🙂\"");
}

#[tokio::test(start_paused = true)]
async fn p008_a_line_with_bad_utf8_fails_alone() {
    let mut served = serve();
    served
        .wire
        .bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n")
        .await;
    assert_eq!(served.wire.next().await["error"]["code"], -32700);
    served.wire.lives().await;
}

#[tokio::test(start_paused = true)]
async fn p009_p010_a_line_over_the_cap_is_dropped_and_reported_and_the_cap_is_for_each() {
    let limits = Limits::default().with_max_bytes(1000);
    let mut served = serve_with(Options::default().with_limits(limits), 64 * 1024);
    served.wire.bytes(&[b'x'; 5000]).await;
    served.wire.silence().await;
    served.wire.send("").await;
    let report = served.wire.next().await;
    assert_eq!(report["error"]["code"], -32600);
    assert_eq!(report["id"], Value::Null);
    assert_eq!(
        report["error"]["message"],
        "Invalid request: buffer exceeded 1000 bytes"
    );
    served.wire.lives().await;
    let padded = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","x":"{}"}}"#,
            "y".repeat(600)
        )
    };
    served
        .wire
        .bytes(format!("{}\n{}\n", padded(1), padded(2)).as_bytes())
        .await;
    assert_eq!(served.wire.next().await["id"], 1);
    assert_eq!(served.wire.next().await["id"], 2);
}

#[tokio::test]
async fn p011_a_long_line_takes_time_in_proportion() {
    let limits = Limits::default().with_max_bytes(64 << 20);
    let mut served = serve_with(Options::default().with_limits(limits), 4096);
    let begun = std::time::Instant::now();
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","x":"{}"}}"#,
        "y".repeat(32 << 20)
    );
    served.wire.send(&line).await;
    assert_eq!(served.wire.next().await["id"], 1);
    // A debug build on a busy machine; a quadratic reader would take hours.
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn p012_nothing_of_a_line_with_trailing_data_is_done() {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    let (code, id) = served.wire.code(&format!("{} xyz", call(1, "x/echo", 0))).await;
    assert_eq!((code, id), (-32700, Value::Null));
    assert!(!served.script.log.has("call x/echo 1"));
}

#[tokio::test(start_paused = true)]
async fn p013_line_breaks_in_payloads_never_reach_the_wire() {
    let mut peer = connect().await;
    let params = bytes::Bytes::from_static(b"{\n  \"text\": \"a\\nb\",\r\n  \"n\": [1,\n2]\n}");
    let note = Outgoing::new("notifications/x", Some(params.clone()));
    peer.link.notify(note).await.unwrap();
    let line = peer.wire.line().await.unwrap();
    assert_eq!(
        line,
        r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"text":"a\nb","n":[1,2]}}"#
    );
    let _call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", Some(params)))
        .await
        .unwrap();
    assert_eq!(peer.wire.next().await["params"]["n"], json!([1, 2]));
    let broken = Outgoing::new("x", Some(bytes::Bytes::from_static(b"{\n}}")));
    let refused = peer
        .link
        .open(peer.link.next_id(), broken.clone())
        .await
        .unwrap_err();
    assert!(!refused.is_closed(), "{refused}");
    assert!(peer.link.notify(broken).await.is_err());
    peer.wire.silence().await;
}

#[tokio::test(start_paused = true)]
async fn p014_an_answer_is_flushed_while_the_input_stays_open() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, BufWriter};
    // A writer that keeps everything until it is flushed.
    let (ours, theirs) = tokio::io::duplex(4096);
    let (reader, writer) = tokio::io::split(theirs);
    let writer = BufWriter::with_capacity(1 << 20, writer);
    tokio::spawn(mcp_stdio::serve_on(
        reader,
        writer,
        common::Script::default(),
        Options::default(),
    ));
    let (reader, mut writer) = tokio::io::split(ours);
    writer
        .write_all(format!("{}\n", common::initialize("i", "2025-11-25")).as_bytes())
        .await
        .unwrap();
    let mut line = String::new();
    let mut reader = BufReader::new(reader);
    tokio::time::timeout(Duration::from_secs(1), reader.read_line(&mut line))
        .await
        .expect("at once")
        .unwrap();
    assert!(line.contains("2025-11-25"));
}
