//! Servers that are programs of their own.
#![cfg(unix)]

use std::time::{Duration, Instant};

use mcp_client::Client;
use mcp_stdio::process::Command;
use mcp_types::Revision;

fn shell(script: &str) -> Command {
    Command::new("sh").args(["-c", script])
}

#[tokio::test]
async fn p025_a_program_that_ends_at_once_is_told_with_its_exit_code_and_last_words() {
    let started = Instant::now();
    let connecting = Client::builder("test", "0").connect(shell("echo boom >&2; exit 3"));
    let error = connecting.await.unwrap_err();
    assert!(error.is_closed(), "{error}");
    let text = error.to_string();
    assert!(text.contains('3') && text.contains("boom"), "{text}");
    assert!(started.elapsed() < Duration::from_secs(5));

    let missing = Client::builder("test", "0")
        .connect(Command::new("no-such-program-anywhere"))
        .await;
    assert!(missing.unwrap_err().is_start());
}

#[tokio::test]
async fn p065_a_program_that_dies_of_the_probe_is_started_again() {
    let script = r#"
        while read -r line; do
            case "$line" in
                *'"server/discover"'*) exit 1 ;;
                *'"initialize"'*)
                    echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}' ;;
            esac
        done
    "#;
    let client = Client::builder("test", "0").connect(shell(script)).await.unwrap();
    assert_eq!(client.revision(), Revision::V2025_06_18);
    let closed = client.close().await;
    assert_eq!(closed.exit_code, Some(0), "{closed:?}");
}
