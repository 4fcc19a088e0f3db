//! The scan beside serde_json, as ratios: `cargo bench -p mcp-jsonrpc`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use mcp_jsonrpc::{Limits, encode, scan};
use serde::de::IgnoredAny;

/// The best of several rounds, in nanoseconds for one run.
fn time(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        let start = Instant::now();
        let mut runs = 0;
        while start.elapsed() < Duration::from_millis(20) {
            for _ in 0..8 {
                work();
            }
            runs += 8;
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(runs));
    }
    best
}

fn call(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap_or_default();
    format!(
        r#"{{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{{"_meta":{{"progressToken":"p-42","io.modelcontextprotocol/protocolVersion":"2026-07-28"}},"name":"search_documents","arguments":{{"query":{text},"limit":25,"offset":0,"filters":[{{"field":"language","equals":"en"}},{{"field":"year","atLeast":2019}}],"highlight":true}}}}}}"#
    )
}

#[allow(clippy::print_stdout, reason = "the report")]
fn main() {
    let limits = Limits::default();
    println!(
        "{:<22} {:>12} {:>14} {:>14}",
        "message", "scan", "serde_json skip", "serde_json tree"
    );
    for (name, text) in [
        ("call", "model context protocol".to_owned()),
        ("16 KiB text", "plain text ".repeat(1490)),
        ("16 KiB of line ends", "\n".repeat(8192)),
        ("16 KiB not ASCII", "é—🙂 ".repeat(1640)),
        ("1 MiB text", "plain text ".repeat(95_326)),
    ] {
        let text = call(&text);
        let mut buffer = BytesMut::from(text.as_str());
        buffer.extend_from_slice(b"\n");
        let frame: Bytes = buffer.split_to(text.len()).freeze();
        let ours = time(|| drop(black_box(scan(black_box(frame.clone()), &limits))));
        let skip = time(|| drop(black_box(serde_json::from_slice::<IgnoredAny>(black_box(&frame)))));
        let tree = time(|| {
            drop(black_box(serde_json::from_slice::<serde_json::Value>(black_box(
                &frame,
            ))))
        });
        println!(
            "{name:<15} {:>6} B {:>9.2} us {:>13.1}x {:>13.1}x",
            frame.len(),
            ours / 1000.0,
            skip / ours,
            tree / ours
        );
    }
    println!("\n{:<22} {:>12} {:>14}", "string", "encode", "serde_json");
    for (name, text) in [
        ("short", "search_documents".to_owned()),
        ("16 KiB text", "plain text ".repeat(1490)),
        (
            "16 KiB of lines",
            "a line of some forty characters or so..\n".repeat(410),
        ),
    ] {
        let mut out = BytesMut::with_capacity(64 * 1024);
        let mut other = Vec::with_capacity(64 * 1024);
        let ours = time(|| {
            out.clear();
            encode::string(&mut out, black_box(&text));
        });
        let theirs = time(|| {
            other.clear();
            drop(black_box(serde_json::to_writer(&mut other, black_box(&text))));
        });
        println!("{name:<22} {:>9.3} us {:>13.1}x", ours / 1000.0, theirs / ours);
    }
}
