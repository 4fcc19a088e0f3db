//! Floods, and peers that do not read.

mod common;

use std::time::Duration;

use common::{Script, call, connect_with, serve_with};
use mcp_exchange::{BoxHandler, Connect, Outgoing};
use mcp_stdio::{Options, pair, serve_on, streams};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Writes as much as the server takes, and says how much that was.
async fn stuff(served: &mut common::Served, lines: impl Iterator<Item = String>) -> usize {
    let mut sent = 0;
    for line in lines {
        let line = format!("{line}\n");
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            let writer = served.wire.writer.as_mut().unwrap();
            match timeout(Duration::from_secs(5), writer.write(rest)).await {
                Ok(written) => {
                    let written = written.unwrap();
                    sent += written;
                    rest = &rest[written..];
                }
                Err(_) => return sent,
            }
        }
    }
    panic!("the server read everything and never minded");
}

#[tokio::test(start_paused = true)]
async fn a_flood_from_a_peer_that_never_reads_is_not_read_to_the_end() {
    const UNSENT: usize = 64 * 1024;
    let options = || Options::default().with_max_unsent(UNSENT);
    let ping = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let mut served = serve_with(options(), 4096);
    let sent = stuff(&mut served, (0..100_000).map(ping)).await;
    // Twice the bound in answers, one read, and what the pipes hold.
    assert!(sent < 4 * UNSENT, "{sent}");

    // Answers that are much larger than their requests.
    let mut served = serve_with(options(), 4096);
    served.wire.initialize("2025-11-25").await;
    stuff(&mut served, (0..10_000).map(|id| call(id, "x/big", 100_000))).await;
    let calls = served.script.log.all().len();
    assert!(calls < 10, "{calls} answers of 100 kB wait");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_gets_an_answer_to_each_of_ten_thousand_messages() {
    let options = Options::default()
        .with_max_unsent(16 * 1024)
        .with_max_in_flight(10_000);
    let mut served = serve_with(options, 1024);
    served.wire.initialize("2025-11-25").await;
    let mut writer = served.wire.writer.take().unwrap();
    tokio::spawn(async move {
        for id in 0..10_000 {
            let line = match id % 3 {
                0 => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#),
                1 => call(id, "x/echo", 7),
                _ => call(id, "x/later", 7),
            };
            writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }
        writer.shutdown().await.unwrap();
    });
    let mut seen = vec![false; 10_000];
    for round in 0..10_000 {
        if round % 100 == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let answer = served.wire.next().await;
        assert!(answer["result"].is_object(), "{answer}");
        let id = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
        assert!(!std::mem::replace(&mut seen[id], true), "{id} twice");
    }
    assert_eq!(served.wire.line().await, None);
}

#[tokio::test(start_paused = true)]
async fn events_wait_for_a_peer_that_does_not_read_and_all_of_them_come() {
    let mut served = serve_with(Options::default().with_max_unsent(1024), 256);
    served.wire.initialize("2025-11-25").await;
    served.wire.send(&call(1, "x/progress", 1000)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    for step in 1..=1000 {
        let event = served.wire.next().await;
        assert_eq!(event["params"]["progress"].as_f64(), Some(f64::from(step) / 2.0));
    }
    served.wire.next().await;
    assert_eq!(served.wire.next().await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_comes_through_while_the_handler_waits_for_room() {
    let mut served = serve_with(Options::default().with_max_unsent(256), 256);
    served.wire.initialize("2025-11-25").await;
    served.wire.send(&call(1, "x/progress", 1_000_000)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    served.wire.send(&common::cancel(1)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    // What was sent before comes; then nothing for this id.
    let mut events = 0;
    served
        .wire
        .send(r#"{"jsonrpc":"2.0","id":"alive","method":"ping"}"#)
        .await;
    loop {
        let line = served.wire.next().await;
        if line["id"] == "alive" {
            break;
        }
        assert_eq!(line["method"], "notifications/progress");
        events += 1;
    }
    assert!(events < 20, "{events}");
    served.wire.silence().await;
}

/// Both ends are ours, and neither has room for what it has to say: a thousand large calls, echoed.
#[tokio::test(start_paused = true)]
async fn two_full_directions_do_not_wait_for_each_other_for_ever() {
    let options = || {
        Options::default()
            .with_max_unsent(4096)
            .with_max_in_flight(100_000)
    };
    let ((reader, writer), (client_reader, client_writer)) = pair(1024);
    tokio::spawn(serve_on(reader, writer, Script::default(), options()));
    let transport = streams(client_reader, client_writer).with_options(options());
    let link = transport
        .connect(BoxHandler::new(Script::default()))
        .await
        .unwrap();
    let text = format!(
        r#"{{"x":"{}","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}"#,
        "y".repeat(3000)
    );
    let params = bytes::Bytes::from(text);
    let mut calls = tokio::task::JoinSet::new();
    for round in 0..1000 {
        let (link, params) = (link.clone(), params.clone());
        let method = if round % 2 == 0 { "x/echo" } else { "x/later" };
        calls.spawn(async move {
            let call = link
                .open(link.next_id(), Outgoing::new(method, Some(params)))
                .await
                .unwrap();
            call.answer().await.unwrap().unwrap().as_bytes().len()
        });
    }
    let all = async {
        let mut count = 0;
        while let Some(length) = calls.join_next().await {
            assert!(length.unwrap() > 3000);
            count += 1;
        }
        count
    };
    let count = timeout(Duration::from_secs(600), all).await.expect("no deadlock");
    assert_eq!(count, 1000);
}

#[tokio::test(start_paused = true)]
async fn a_client_gives_up_on_a_server_that_asks_and_never_reads() {
    let mut peer = connect_with(Options::default().with_max_unsent(1024), 256).await;
    let mut writer = peer.wire.writer.take().unwrap();
    let flood = async {
        for id in 0..1_000_000 {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            if writer.write_all(line.as_bytes()).await.is_err() {
                return id;
            }
        }
        panic!("it went on for ever");
    };
    let pings = flood.await;
    assert!(pings < 2000, "{pings}");
    let closed = peer.link.closed().await;
    assert!(
        !closed.orderly && closed.reason.contains("does not read"),
        "{closed:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn notifications_whose_handlers_wait_are_bounded() {
    let mut served = serve_with(Options::default().with_max_in_flight(10), 4096);
    served.wire.initialize("2025-11-25").await;
    for _ in 0..1000 {
        served
            .wire
            .send(r#"{"jsonrpc":"2.0","method":"notifications/x/wait"}"#)
            .await;
    }
    served.wire.lives().await;
    let waiting = |served: &common::Served| {
        let log = served.script.log.all();
        log.iter().filter(|line| *line == "note waits").count()
    };
    assert_eq!(waiting(&served), 10);
    served.wire.finish().await;
    served.task.await.unwrap();
    served.script.log.until("note dropped").await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_room_can_be_dropped_and_leaves_nothing() {
    let mut peer = connect_with(Options::default().with_max_unsent(64), 64).await;
    for _ in 0..10 {
        let open = peer.link.open(peer.link.next_id(), Outgoing::new("x/fill", None));
        let _ = timeout(Duration::from_millis(10), open).await;
    }
    let open = peer.link.open(77.into(), Outgoing::new("x/never", None));
    assert!(timeout(Duration::from_millis(10), open).await.is_err());
    // Everything that was let in comes, then the cancellations of what was dropped, and not that call.
    let mut text = String::new();
    let rest = async {
        loop {
            let mut bytes = [0; 64];
            let read = peer.wire.reader.read(&mut bytes).await.unwrap();
            text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
        }
    };
    let _ = timeout(Duration::from_secs(1), rest).await;
    assert!(text.contains("x/fill"));
    assert!(!text.contains("77"), "{text}");
    // The id is free.
    assert!(peer.link.open(77.into(), Outgoing::new("x", None)).await.is_ok());
}

/// Many threads, everything at once: calls that are answered at once and later, calls that are given up, pings, and
/// in the end a client that goes in the middle of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_and_cancellations_from_many_threads_all_end() {
    for round in 0..20 {
        let options = || {
            Options::default()
                .with_max_unsent(4096)
                .with_max_in_flight(100_000)
        };
        let ((reader, writer), (client_reader, client_writer)) = pair(512);
        let served = tokio::spawn(serve_on(reader, writer, Script::default(), options()));
        let transport = streams(client_reader, client_writer).with_options(options());
        let link = transport
            .connect(BoxHandler::new(Script::default()))
            .await
            .unwrap();
        const META: &str = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..500 {
            let link = link.clone();
            calls.spawn(async move {
                let method = ["x/echo", "x/later", "x/wait", "x/sleep"][number % 4];
                let params = bytes::Bytes::from_static(META.as_bytes());
                let Ok(call) = link
                    .open(link.next_id(), Outgoing::new(method, Some(params)))
                    .await
                else {
                    return false;
                };
                if method == "x/wait" {
                    // Given up, before it was sent or after.
                    for _ in 0..number % 7 {
                        tokio::task::yield_now().await;
                    }
                    return true;
                }
                call.answer().await.is_ok_and(|answer| answer.is_ok())
            });
        }
        if round % 2 == 1 {
            link.close().await;
        }
        let all = async {
            let mut answered = 0;
            while let Some(call) = calls.join_next().await {
                answered += usize::from(call.unwrap());
            }
            answered
        };
        let answered = timeout(Duration::from_secs(60), all)
            .await
            .expect("every call ends");
        if round % 2 == 0 {
            assert_eq!(answered, 500);
        }
        drop(link);
        let closed = timeout(Duration::from_secs(30), served)
            .await
            .expect("the server ends");
        assert!(closed.unwrap().orderly);
    }
}
