//! How connections end (pitfalls P018 to P020, P022, P024).

mod common;

use std::pin::pin;
use std::time::Duration;

use common::{Script, call, connect, connect_with, serve, serve_with};
use mcp_exchange::{BoxHandler, Connect, Outgoing};
use mcp_stdio::{Options, pair, serve_on, streams};
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, timeout};

#[tokio::test(start_paused = true)]
async fn p018_the_end_of_input_ends_an_idle_server_at_once() {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    served.script.log.until("attend 2025-11-25").await;
    let begun = Instant::now();
    served.wire.finish().await;
    let closed = served.task.await.unwrap();
    assert_eq!((&*closed.reason, closed.orderly), ("end of input", true));
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(served.wire.line().await, None, "our output ends, too");
    served.script.log.until("attend dropped").await;
}

#[tokio::test(start_paused = true)]
async fn p020_accepted_requests_are_answered_after_the_end_of_input() {
    let mut served = serve();
    let mut input = format!(
        "{}\n{}\n",
        common::initialize("i", "2025-11-25"),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
    );
    for id in 0..10 {
        input += &call(id, "x/sleep", 100 * (10 - id as u64));
        input += "\n";
    }
    // The last line has no line end.
    served.wire.bytes(input.trim_end().as_bytes()).await;
    served.wire.finish().await;
    let mut ids = Vec::new();
    while let Some(line) = served.wire.line().await {
        ids.push(serde_json::from_str::<serde_json::Value>(&line).unwrap()["id"].clone());
    }
    assert_eq!(ids.len(), 11);
    assert_eq!(ids[0], "i");
    assert_eq!(ids[10], 0, "the slowest");
    assert!(served.task.await.unwrap().orderly);
}

#[tokio::test(start_paused = true)]
async fn p020_the_wait_for_accepted_requests_is_bounded() {
    let mut served = serve_with(Options::default().with_drain(Duration::from_secs(3)), 4096);
    served.wire.initialize("2025-11-25").await;
    served.wire.send(&call(1, "x/wait", 0)).await;
    served.wire.lives().await;
    let begun = Instant::now();
    served.wire.finish().await;
    served.task.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 3);
    served.script.log.until("dropped 1").await;
    assert_eq!(served.wire.line().await, None);
}

#[tokio::test(start_paused = true)]
async fn p020_a_slow_reader_gets_every_answer_after_the_end_of_input() {
    use tokio::io::AsyncReadExt;
    let mut served = serve_with(Options::default().with_drain(Duration::from_secs(3)), 4096);
    served.wire.initialize("2025-11-25").await;
    served.wire.send(&call(1, "x/big", 100_000)).await;
    served.wire.finish().await;
    let mut got = 0;
    let mut buffer = [0; 1000];
    loop {
        // A hundred such waits are far more than the three seconds, but one of them is not.
        tokio::time::sleep(Duration::from_millis(250)).await;
        match served.wire.reader.read(&mut buffer).await.unwrap() {
            0 => break,
            read => got += read,
        }
    }
    assert!(got > 100_000, "{got}");
}

#[tokio::test(start_paused = true)]
async fn a_question_after_the_end_of_input_fails_at_once() {
    let mut served = serve();
    served.wire.initialize("2025-11-25").await;
    // One is asked already, one will be.
    served.wire.send(&call(1, "x/ask", 0)).await;
    assert_eq!(served.wire.next().await["method"], "roots/list");
    served.wire.finish().await;
    let answer = served.wire.next().await;
    assert_eq!(answer["error"]["code"], -3);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("end of input")
    );
    assert!(served.task.await.unwrap().orderly);
}

#[tokio::test(start_paused = true)]
async fn p024_a_peer_that_is_gone_is_a_normal_end() {
    let served = serve();
    let mut wire = served.wire;
    wire.initialize("2025-11-25").await;
    wire.send(&call(1, "x/wait", 0)).await;
    wire.send(&call(2, "x/sleep", 10)).await;
    wire.lives().await;
    drop(wire);
    let closed = served.task.await.unwrap();
    assert!(closed.orderly, "{closed:?}");
    served.script.log.until("dropped 1").await;
}

#[tokio::test(start_paused = true)]
async fn dropping_the_serve_future_cancels_every_request_under_way() {
    let (mut client, (reader, writer)) = pair(4096);
    let script = Script::default();
    {
        let mut serving = pin!(serve_on(reader, writer, script.clone(), Options::default()));
        let line = format!(
            "{}\n{}\n{}\n{}\n",
            common::initialize("i", "2025-11-25"),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            call(1, "x/wait", 0),
            r#"{"jsonrpc":"2.0","method":"notifications/x/wait"}"#,
        );
        client.1.write_all(line.as_bytes()).await.unwrap();
        assert!(
            timeout(Duration::from_millis(50), serving.as_mut())
                .await
                .is_err()
        );
        assert!(script.log.has("call x/wait 1") && script.log.has("note waits"));
    }
    script.log.until("dropped 1").await;
    script.log.until("attend dropped").await;
    script.log.until("note dropped").await;
}

#[tokio::test(start_paused = true)]
async fn closing_a_client_sends_what_was_written_and_fails_what_waits() {
    let mut peer = connect().await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    let closed = peer.link.close().await;
    assert_eq!((&*closed.reason, closed.orderly), ("closed by us", true));
    assert_eq!(peer.wire.next().await["method"], "x");
    assert_eq!(peer.wire.line().await, None);
    let lost = call.answer().await.unwrap_err();
    assert!(
        lost.is_closed() && lost.to_string().contains("closed by us"),
        "{lost}"
    );
    let late = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap_err();
    assert!(late.is_closed());
    assert!(
        peer.link
            .notify(Outgoing::new("x", None))
            .await
            .unwrap_err()
            .is_closed()
    );
    assert_eq!(
        peer.link.close().await,
        closed,
        "closing twice is the same as once"
    );
    assert_eq!(peer.link.closed().await, closed);
}

#[tokio::test(start_paused = true)]
async fn p022_a_close_returns_in_bounded_time_even_if_the_peer_reads_nothing() {
    let peer = connect_with(Options::default(), 64).await;
    for _ in 0..100 {
        peer.link
            .notify(Outgoing::new("notifications/x", None))
            .await
            .unwrap();
    }
    // The writer is stuck by now, and the task sleeps.
    tokio::time::sleep(Duration::from_millis(10)).await;
    let begun = Instant::now();
    assert_eq!(peer.link.close().await.reason, "closed by us");
    assert!(begun.elapsed() <= Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_client_is_told_when_the_server_goes() {
    let mut peer = connect().await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    peer.wire.send(&common::call(1, "x/wait", 0)).await;
    peer.wire.next().await;
    drop(peer.wire);
    assert!(call.answer().await.unwrap_err().is_closed());
    assert_eq!(peer.link.closed().await.reason, "the server closed its output");
    peer.script.log.until("dropped 1").await;
}

#[tokio::test(start_paused = true)]
async fn the_last_words_of_a_server_that_stopped_reading_still_count() {
    // Two pipes, so that one direction can end alone.
    let (reader, mut their_writer) = tokio::io::duplex(4096);
    let (writer, their_reader) = tokio::io::duplex(4096);
    let transport = streams(reader, writer);
    let link = transport
        .connect(BoxHandler::new(Script::default()))
        .await
        .unwrap();
    let one = link.open(link.next_id(), Outgoing::new("x", None)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    drop(their_reader);
    let two = link.open(link.next_id(), Outgoing::new("x", None)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    their_writer
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":\"last\"}\n")
        .await
        .unwrap();
    assert_eq!(one.answer().await.unwrap().unwrap().as_str(), "\"last\"");
    let lost = two.answer().await.unwrap_err();
    assert!(lost.is_closed(), "{lost}");
    assert_eq!(link.closed().await.reason, "the server closed its input");
}

#[tokio::test(start_paused = true)]
async fn a_connection_whose_last_link_is_dropped_is_closed_but_not_under_a_call() {
    let mut peer = connect().await;
    let call = peer
        .link
        .open(peer.link.next_id(), Outgoing::new("x", None))
        .await
        .unwrap();
    peer.wire.next().await;
    drop(peer.link);
    peer.wire.silence().await;
    peer.wire.send(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).await;
    assert!(call.answer().await.unwrap().is_ok());
    assert_eq!(peer.wire.line().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_pair_of_streams_connects_once() {
    let ((reader, writer), _other) = pair(64);
    let transport = streams(reader, writer);
    let inbound = BoxHandler::new(Script::default());
    let _link = transport.connect(inbound.clone()).await.unwrap();
    let again = transport.connect(inbound).await.unwrap_err();
    assert!(again.is_start(), "{again}");
}

/// Counts how often it is read after its end.
struct Counted<R>(R, std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl<R: tokio::io::AsyncRead + Unpin> tokio::io::AsyncRead for Counted<R> {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = std::pin::Pin::new(&mut self.0).poll_read(cx, buffer);
        if read.is_ready() && buffer.filled().len() == before {
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        read
    }
}

#[tokio::test(start_paused = true)]
async fn p019_the_end_of_input_is_read_once_while_a_request_runs_on() {
    let ((mut client_reader, mut client_writer), (reader, writer)) = pair(4096);
    let ends = std::sync::Arc::default();
    let reader = Counted(reader, std::sync::Arc::clone(&ends));
    let serving = tokio::spawn(serve_on(reader, writer, Script::default(), Options::default()));
    let line = format!(
        "{}\n{}\n",
        common::initialize("i", "2025-11-25"),
        call(1, "x/sleep", 5000)
    );
    client_writer.write_all(line.as_bytes()).await.unwrap();
    client_writer.shutdown().await.unwrap();
    let mut text = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut client_reader, &mut text)
        .await
        .unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(serving.await.unwrap().orderly);
    assert_eq!(ends.load(std::sync::atomic::Ordering::Relaxed), 1);
}
