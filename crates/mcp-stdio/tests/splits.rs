//! How the bytes are cut never matters (pitfall P007).

mod common;

use common::{Script, call, cancel, initialize, modern};
use mcp_stdio::{Options, serve_on};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A bit of everything. Cancelled requests never answer by themselves.
fn input() -> Vec<u8> {
    let lines = [
        modern(1, "x/echo", 1),
        "garbage é—🙂".to_owned(),
        initialize("i", "2025-03-26"),
        "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\r".to_owned(),
        String::new(),
        call(2, "x/progress", 3),
        call(3, "x/later", 3),
        format!("[{},{}]", call(4, "x/echo", 4), call(5, "x/later", 5)),
        r#"{"id":6,"method":"ping"}"#.to_owned(),
        call(7, "x/wait", 7),
        call(7, "x/echo", 7),
        cancel(7),
        modern(8, "x/big", 9000),
        "\"é—🙂\"".to_owned(),
        r#"{"jsonrpc":"2.0","id":"é—🙂","method":"ping"}"#.to_owned(),
    ];
    lines.join("\n").into_bytes()
}

/// All that comes back, sorted: what runs concurrently may finish in any order.
fn output(chunks: &[&[u8]], capacity: usize) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(capacity);
        let (reader, writer) = tokio::io::split(theirs);
        let server = tokio::spawn(serve_on(reader, writer, Script::default(), Options::default()));
        let (mut reader, mut writer) = tokio::io::split(ours);
        let reading = tokio::spawn(async move {
            let mut text = String::new();
            reader.read_to_string(&mut text).await.unwrap();
            text
        });
        for chunk in chunks {
            writer.write_all(chunk).await.unwrap();
            tokio::task::yield_now().await;
        }
        writer.shutdown().await.unwrap();
        assert!(server.await.unwrap().orderly);
        let text = reading.await.unwrap();
        let mut lines: Vec<String> = text.lines().map(sorted_batch).collect();
        lines.sort();
        lines
    })
}

/// The answers in a batch may stand in any order, too.
fn sorted_batch(line: &str) -> String {
    match serde_json::from_str(line).unwrap() {
        serde_json::Value::Array(answers) => {
            let mut answers: Vec<String> = answers.iter().map(ToString::to_string).collect();
            answers.sort();
            answers.join(",")
        }
        _ => line.to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn p007_a_dialogue_has_the_same_answers_however_its_bytes_are_cut(
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..40),
        capacity in 1usize..200,
    ) {
        let input = input();
        let whole = output(&[&input], 64 * 1024);
        prop_assert_eq!(whole.len(), 15);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len())).collect();
        at.sort_unstable();
        let mut chunks = Vec::new();
        let mut begin = 0;
        for end in at.into_iter().chain([input.len()]) {
            chunks.push(&input[begin..end]);
            begin = end;
        }
        prop_assert_eq!(output(&chunks, capacity), whole);
    }
}

#[test]
fn p007_a_dialogue_has_the_same_answers_byte_by_byte() {
    let input = input();
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(output(&bytes, 7), output(&[&input], 64 * 1024));
}
