//! Real programs as servers of a client (pitfalls P001, P015, P021, P022, P025).

#![cfg(all(unix, feature = "process"))]

mod common;
#[path = "common/echo.rs"]
mod echo;

use std::time::{Duration, Instant};

use common::{Log, Script};
use mcp_exchange::{BoxHandler, BoxLink, Connect, LinkError, Outgoing};
use mcp_jsonrpc::{ErrorObject, RawJson};
use mcp_stdio::process::{Command, Grace};
use tokio::time::timeout;

const SHORT: Grace = Grace {
    after_input: Duration::from_millis(200),
    after_terminate: Duration::from_millis(200),
    after_kill: Duration::from_secs(5),
};

async fn start(command: Command) -> (BoxLink, Log) {
    let script = Script::default();
    let log = script.log.clone();
    (command.connect(BoxHandler::new(script)).await.unwrap(), log)
}

async fn sh(script: &str) -> (BoxLink, Log) {
    start(Command::new("sh").arg("-c").arg(script).grace(SHORT)).await
}

async fn ask(link: &BoxLink, method: &'static str) -> Result<Result<RawJson, ErrorObject>, LinkError> {
    let params = bytes::Bytes::from_static(br#"{"protocolVersion":"2025-11-25"}"#);
    let call = link
        .open(link.next_id(), Outgoing::new(method, Some(params)))
        .await?;
    timeout(Duration::from_secs(20), call.answer())
        .await
        .expect("an end in time")
}

/// Gone, or dead and waiting for its new parent.
fn is_dead(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| {
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with('Z'))
    })
}

async fn noted_pid(log: &Log) -> String {
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        let all = log.all();
        if let Some(pid) = all
            .iter()
            .find_map(|line| line.strip_prefix("note notifications/pid/"))
        {
            return pid.to_owned();
        }
        assert!(Instant::now() < limit);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn dies(pid: &str) {
    let limit = Instant::now() + Duration::from_secs(20);
    while !is_dead(pid) {
        assert!(Instant::now() < limit, "{pid} lives on");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Tells its pid and that of a child of its own, then does the rest.
fn with_grandchild(rest: &str) -> String {
    let tell = r#"echo "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/pid/$!\"}""#;
    format!("sleep 1000 & {tell}; {rest}")
}

#[tokio::test]
async fn a_program_answers_and_ends_in_order() {
    let (link, _log) = start(Command::new(echo::program())).await;
    let answer = ask(&link, "initialize").await.unwrap().unwrap();
    assert!(answer.as_str().contains("echo"));
    let closed = link.close().await;
    assert_eq!(
        (&*closed.reason, closed.orderly, closed.exit_code),
        ("closed by us", true, Some(0))
    );
}

#[tokio::test]
async fn p025_a_program_that_exits_at_once_fails_the_call_with_its_code_and_last_words() {
    let begun = Instant::now();
    let (link, _log) = sh("echo boom >&2; exit 3").await;
    let lost = ask(&link, "initialize").await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(lost.is_closed());
    let text = lost.to_string();
    for part in ["sh", "exit code 3", "boom"] {
        assert!(text.contains(part), "{text}");
    }
    let closed = link.closed().await;
    assert_eq!((closed.exit_code, closed.orderly), (Some(3), false));
    assert!(closed.reason.contains("boom"));
    // Whoever comes late reads the same.
    assert!(
        ask(&link, "x")
            .await
            .unwrap_err()
            .to_string()
            .contains("exit code 3")
    );
}

#[tokio::test]
async fn p025_a_child_of_the_program_that_keeps_the_pipe_does_not_delay_the_news() {
    let begun = Instant::now();
    let command = Command::new("sh")
        .arg("-c")
        .arg(with_grandchild("read line; echo boom >&2; exit 3"))
        .grace(Grace {
            after_input: Duration::from_secs(3),
            ..SHORT
        });
    let (link, log) = start(command).await;
    let lost = ask(&link, "initialize").await.unwrap_err().to_string();
    assert!(
        begun.elapsed() < Duration::from_millis(2500),
        "{:?}",
        begun.elapsed()
    );
    assert!(lost.contains("exit code 3") && lost.contains("boom"), "{lost}");
    let pid = noted_pid(&log).await;
    drop(link);
    dies(&pid).await;
}

#[tokio::test]
async fn p025_a_program_that_cannot_start_says_so() {
    let failed = Command::new("no-such-program-anywhere")
        .connect(BoxHandler::new(Script::default()))
        .await
        .unwrap_err();
    assert!(failed.is_start());
    assert!(
        failed.to_string().contains("no-such-program-anywhere"),
        "{failed}"
    );
}

#[tokio::test]
async fn an_answer_written_just_before_the_end_is_not_lost() {
    for _ in 0..20 {
        let (link, _log) = sh(r#"read line; echo '{"jsonrpc":"2.0","id":0,"result":"bye"}'; exit 0"#).await;
        assert_eq!(ask(&link, "x").await.unwrap().unwrap().as_str(), "\"bye\"");
        let closed = link.closed().await;
        assert_eq!((closed.exit_code, closed.orderly), (Some(0), true));
    }
}

#[tokio::test]
async fn p001_p015_noise_on_both_outputs_harms_nothing() {
    let (link, _log) = sh(
        r#"echo 'server v1.2 ready'; read line; head -c 300000 /dev/zero | tr '\0' 'x' >&2; echo '{"jsonrpc":"2.0","id":0,"result":"here"}'; cat >/dev/null"#,
    )
    .await;
    assert_eq!(ask(&link, "x").await.unwrap().unwrap().as_str(), "\"here\"");
    assert!(link.close().await.orderly);
}

#[tokio::test]
async fn p021_closing_ends_the_whole_tree() {
    let (link, log) = sh(&with_grandchild("wait")).await;
    let pid = noted_pid(&log).await;
    assert!(!is_dead(&pid));
    link.close().await;
    assert!(is_dead(&pid));
}

#[tokio::test]
async fn p021_dropping_the_link_ends_the_whole_tree() {
    let (link, log) = sh(&with_grandchild("wait")).await;
    let pid = noted_pid(&log).await;
    drop(link);
    dies(&pid).await;
}

#[tokio::test]
async fn p022_closing_a_program_that_ignores_everything_returns_in_time() {
    let (link, log) = sh(&with_grandchild("trap '' TERM; while :; do sleep 1; done")).await;
    noted_pid(&log).await;
    let call = link.open(link.next_id(), Outgoing::new("x", None)).await.unwrap();
    let begun = Instant::now();
    let closing = tokio::spawn({
        let link = link.clone();
        async move { link.close().await }
    });
    // The call is told at once, not when the program is dead.
    assert!(
        call.answer()
            .await
            .unwrap_err()
            .to_string()
            .contains("closed by us")
    );
    assert!(begun.elapsed() < SHORT.after_input);
    let closed = closing.await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!((closed.exit_code, closed.orderly), (None, false));
}

#[tokio::test]
async fn p022_closing_does_not_wait_for_a_program_to_read_what_is_left() {
    let (link, log) = sh(&with_grandchild("sleep 1000")).await;
    noted_pid(&log).await;
    let large = bytes::Bytes::from(format!(r#"{{"x":"{}"}}"#, "y".repeat(500_000)));
    let call = link
        .open(link.next_id(), Outgoing::new("x", Some(large)))
        .await
        .unwrap();
    let begun = Instant::now();
    link.close().await;
    assert!(begun.elapsed() < Duration::from_secs(8));
    assert!(call.answer().await.unwrap_err().is_closed());
}

#[tokio::test]
async fn a_program_that_closes_its_output_and_lives_on_fails_its_calls_soon() {
    let command = Command::new("sh")
        .arg("-c")
        .arg("read line; exec >&-; sleep 1000")
        .grace(Grace {
            after_input: Duration::from_secs(3),
            ..SHORT
        });
    let (link, _log) = start(command).await;
    let begun = Instant::now();
    let lost = ask(&link, "x").await.unwrap_err();
    assert!(lost.is_closed(), "{lost}");
    assert!(begun.elapsed() < Duration::from_millis(2500));
    assert!(lost.to_string().contains("closed its output"), "{lost}");
}

#[tokio::test]
async fn a_program_ended_by_a_signal_is_reported_so() {
    let (link, _log) = sh("read line; kill -9 $$").await;
    let lost = ask(&link, "x").await.unwrap_err().to_string();
    assert!(lost.contains("signal 9"), "{lost}");
    assert!(!link.closed().await.orderly);
}

#[tokio::test]
async fn each_connect_starts_the_program_anew() {
    let command = Command::new(echo::program());
    let (first, _log) = start(command.clone()).await;
    let (second, _log) = start(command).await;
    first.close().await;
    assert!(ask(&second, "initialize").await.unwrap().is_ok());
    second.close().await;
}
