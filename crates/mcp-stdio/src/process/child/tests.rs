//! Real processes. Conditions are polled for, never slept on.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::Child;
use crate::process::{Command, Ending, ExitStatus, Grace};

const SHORT: Grace = Grace {
    after_input: Duration::from_millis(150),
    after_terminate: Duration::from_millis(150),
    after_kill: Duration::from_secs(5),
};

fn sh(script: &str) -> Command {
    Command::new("sh").arg("-c").arg(script)
}

fn exists(pid: u32) -> bool {
    Pid::from_raw(pid as i32).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// Gone, or dead and waiting for a parent that is not us (an orphan's new parent reaps in its own time).
fn is_dead(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat
            .rsplit(')')
            .next()
            .is_some_and(|rest| rest.trim_start().starts_with('Z')),
        Err(_) => !exists(pid),
    }
}

async fn eventually(what: &str, mut check: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(20);
    while !check() {
        assert!(Instant::now() < limit, "not seen in time: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn read_line(child: &mut Child) -> String {
    let mut line = String::new();
    let mut stdout = child.take_stdout().unwrap();
    while !line.ends_with('\n') {
        line.push(char::from(stdout.read_u8().await.unwrap()));
    }
    child.stdout = Some(stdout);
    line.trim().to_owned()
}

async fn output_of(mut child: Child) -> String {
    let mut text = String::new();
    child
        .take_stdout()
        .unwrap()
        .read_to_string(&mut text)
        .await
        .unwrap();
    assert_eq!(child.close().await.status(), ExitStatus::Code(0));
    text
}

#[tokio::test]
async fn a_child_echoes_and_ends_with_its_input() {
    let mut child = Command::new("cat").spawn().unwrap();
    assert!(exists(child.pid()));
    let (mut stdin, mut stdout) = (child.take_stdin().unwrap(), child.take_stdout().unwrap());
    assert!(child.take_stdin().is_none());
    stdin.write_all(b"hello\n").await.unwrap();
    let mut answer = [0; 6];
    stdout.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"hello\n");
    drop(stdin);
    let report = child.close().await;
    assert_eq!(
        (report.status(), report.ending()),
        (ExitStatus::Code(0), Ending::ByItself)
    );
    assert!(!exists(child.pid()), "reaped");
    assert_eq!(child.close().await, report, "closing twice is the same as once");
}

#[tokio::test]
async fn p191_the_parents_other_variables_stay_invisible() {
    // Cargo gives every test process this one.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let bare = output_of(Command::new("env").spawn().unwrap()).await;
    let configured = output_of(
        Command::new("env")
            .env("NOTES_DIR", "/n")
            .env_remove("HOME")
            .spawn()
            .unwrap(),
    )
    .await;
    for text in [&bare, &configured] {
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name)
            .collect();
        let allowed = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "NOTES_DIR"];
        assert!(names.iter().all(|name| allowed.contains(name)), "{names:?}");
    }
    assert!(configured.contains("NOTES_DIR=/n") && !configured.contains("HOME="));
    let asked = output_of(Command::new("env").inherit("CARGO_MANIFEST_DIR").spawn().unwrap()).await;
    assert!(asked.contains("CARGO_MANIFEST_DIR="));
}

#[tokio::test]
async fn arguments_reach_the_program_without_a_shell() {
    let odd = "$(touch x); `id` \"q\" 'a' * \\";
    let text = output_of(
        Command::new("printf")
            .arg("%s|")
            .args([odd, "", "b c"])
            .cwd("/")
            .spawn()
            .unwrap(),
    )
    .await;
    assert_eq!(text, format!("{odd}||b c|"));
}

#[tokio::test]
async fn p181_a_program_only_on_the_configured_path_is_found() {
    let folder = std::env::temp_dir().join(format!("mcp-stdio-path-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.join("only-here")).ok();
    let error = Command::new("only-here").spawn().unwrap_err();
    assert!(
        error.is_not_found() && error.to_string().contains("only-here"),
        "{error}"
    );
    let command = Command::new("only-here")
        .env("PATH", &folder)
        .arg("-c")
        .arg("echo found");
    assert_eq!(command.resolve().unwrap(), folder.join("only-here"));
    assert_eq!(output_of(command.spawn().unwrap()).await, "found\n");
    let error = Command::new("sh").env("PATH", &folder).spawn().unwrap_err();
    assert!(error.to_string().contains(&*folder.to_string_lossy()), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn p025_an_early_exit_is_reported_with_code_and_stderr() {
    let child = sh("echo boom >&2; exit 3").spawn().unwrap();
    let report = tokio::time::timeout(Duration::from_secs(10), child.exit_report())
        .await
        .unwrap();
    assert_eq!(report.status(), ExitStatus::Code(3));
    let text = report.to_string();
    assert!(
        text.contains("\"sh\"") && text.contains("exit code 3") && text.contains("boom"),
        "{text}"
    );
    assert!(!format!("{report:?} {child:?}").contains("boom"));
}

#[tokio::test]
async fn a_start_that_fails_says_why() {
    let error = Command::new("sh").cwd("/no/such/folder").spawn().unwrap_err();
    assert!(error.to_string().contains("/no/such/folder"), "{error}");
    let error = Command::new("/etc").spawn().unwrap_err();
    assert!(error.is_not_executable(), "{error}");
    let error = sh("true").arg("nul\0inside").spawn().unwrap_err();
    assert!(error.is_system(), "{error}");
}

#[test]
fn outside_a_runtime_spawn_is_an_error() {
    assert!(sh("true").spawn().unwrap_err().to_string().contains("runtime"));
}

#[tokio::test]
async fn p015_a_flood_on_stderr_does_not_hold_the_child_back() {
    let script = "i=0; while read -r line; do head -c 262144 /dev/zero | tr '\\0' e >&2; echo \"$line\"; done; echo end >&2";
    let mut child = sh(script).stderr_tail(1000).spawn().unwrap();
    let mut stdin = child.take_stdin().unwrap();
    for n in 0..5 {
        stdin.write_all(format!("{n}\n").as_bytes()).await.unwrap();
        assert_eq!(read_line(&mut child).await, n.to_string());
    }
    drop(stdin);
    let report = child.close().await;
    assert_eq!(report.stderr_tail().len(), 1000);
    assert!(report.stderr_tail().ends_with("eeend\n"));
}

#[tokio::test]
async fn p016_ten_megabytes_without_newline_come_in_bounded_pieces() {
    let longest = Arc::new(Mutex::new((0, 0)));
    let seen = longest.clone();
    let mut child = sh("head -c 10485760 /dev/zero | tr '\\0' '\\r' >&2; head -c 100000 /dev/zero >&2")
        .stderr_tail(4096)
        .on_stderr(move |line| {
            let mut seen = seen.lock().unwrap();
            *seen = (seen.0.max(line.as_bytes().len()), seen.1 + 1);
        })
        .spawn()
        .unwrap();
    assert_eq!(child.exit_report().await.status(), ExitStatus::Code(0));
    let report = child.close().await;
    assert!(report.stderr_tail().len() <= 4096);
    let (longest, pieces) = *longest.lock().unwrap();
    assert_eq!(longest, 8 * 1024);
    assert!(pieces > 10_000_000, "{pieces}");
}

#[tokio::test]
async fn p017_a_closed_stderr_leaves_a_living_child_and_no_reader() {
    let mut child = sh("exec 2>&-; echo ready; read x").spawn().unwrap();
    assert_eq!(read_line(&mut child).await, "ready");
    let progress = child.progress.clone();
    eventually("the end of the stderr task", || progress.borrow().stderr_done).await;
    assert!(exists(child.pid()) && progress.borrow().exited.is_none());
    child.close().await;
}

#[tokio::test]
async fn lines_are_shown_without_terminal_commands() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = lines.clone();
    let mut child = sh("printf '\\033[31mred\\nplain' >&2")
        .on_stderr(move |line| seen.lock().unwrap().push(line.to_string()))
        .spawn()
        .unwrap();
    child.close().await;
    assert_eq!(*lines.lock().unwrap(), ["⟦U+001B⟧[31mred", "plain"]);
}

#[tokio::test]
async fn p021_neither_wrapper_nor_grandchild_outlives_a_close() {
    let mut child = sh("sleep 1000 & echo $!; wait").grace(SHORT).spawn().unwrap();
    let grandchild: u32 = read_line(&mut child).await.parse().unwrap();
    assert!(exists(grandchild));
    let report = child.close().await;
    assert_eq!(report.ending(), Ending::Terminated);
    assert!(!exists(child.pid()));
    eventually("the end of the grandchild", || is_dead(grandchild)).await;
}

#[tokio::test]
async fn a_grandchild_that_outlives_its_program_is_ended_too() {
    let mut child = sh("sleep 1000 >/dev/null 2>&1 & echo $!")
        .grace(SHORT)
        .spawn()
        .unwrap();
    let grandchild: u32 = read_line(&mut child).await.parse().unwrap();
    assert_eq!(child.exit_report().await.status(), ExitStatus::Code(0));
    eventually("the end of the grandchild", || is_dead(grandchild)).await;
    assert_eq!(child.close().await.status(), ExitStatus::Code(0));
}

#[tokio::test]
async fn p022_a_child_that_ignores_everything_is_killed_in_time() {
    let mut child = sh("trap '' TERM; echo ready; while :; do sleep 1000; done")
        .grace(SHORT)
        .spawn()
        .unwrap();
    assert_eq!(read_line(&mut child).await, "ready");
    let start = Instant::now();
    let report = child.close().await;
    assert_eq!(
        (report.status(), report.ending()),
        (ExitStatus::Signal(9), Ending::Killed)
    );
    let took = start.elapsed();
    assert!(
        took >= SHORT.after_input + SHORT.after_terminate,
        "each step had its time: {took:?}"
    );
    assert!(
        took < SHORT.after_input + SHORT.after_terminate + SHORT.after_kill,
        "{took:?}"
    );
}

#[tokio::test]
async fn p021_a_dropped_child_ends_with_its_group_without_blocking() {
    // Hours of grace: an end within the test's patience shows that neither the drop nor the child waited for them.
    let hour = Duration::from_secs(3600);
    let grace = Grace {
        after_input: hour,
        after_terminate: hour,
        after_kill: hour,
    };
    let mut child = sh("sleep 1000 & echo $!; wait").grace(grace).spawn().unwrap();
    let grandchild: u32 = read_line(&mut child).await.parse().unwrap();
    let pid = child.pid();
    drop(child);
    eventually("the end of both", || !exists(pid) && is_dead(grandchild)).await;
}

#[tokio::test]
async fn a_drop_during_a_close_cuts_the_first_wait_short() {
    let grace = Grace {
        after_input: Duration::from_secs(3600),
        ..SHORT
    };
    let mut child = sh("echo ready; sleep 1000").grace(grace).spawn().unwrap();
    assert_eq!(read_line(&mut child).await, "ready");
    let pid = child.pid();
    assert!(
        tokio::time::timeout(Duration::from_millis(20), child.close())
            .await
            .is_err()
    );
    drop(child);
    eventually("the end", || !exists(pid)).await;
}

#[test]
fn p021_the_end_of_the_runtime_is_the_end_of_the_group() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (child, pid, grandchild) = runtime.block_on(async {
        let mut child = sh("trap '' TERM; sleep 1000 & echo $!; wait").spawn().unwrap();
        let grandchild: u32 = read_line(&mut child).await.parse().unwrap();
        let pid = child.pid();
        (child, pid, grandchild)
    });
    drop(runtime);
    let limit = Instant::now() + Duration::from_secs(20);
    while exists(pid) || !is_dead(grandchild) {
        assert!(Instant::now() < limit, "still there");
        std::thread::yield_now();
    }
    drop(child);
}

#[tokio::test]
async fn p023_a_hundred_servers_that_exit_at_once_leave_no_zombie() {
    let children: Vec<Child> = (0..100)
        .map(|n| sh(&format!("exit {}", n % 7)).spawn().unwrap())
        .collect();
    let pids: Vec<u32> = children.iter().map(Child::pid).collect();
    for (n, child) in children.iter().enumerate() {
        assert_eq!(child.exit_report().await.status(), ExitStatus::Code(n as i32 % 7));
    }
    drop(children);
    let dropped: Vec<u32> = (0..100).map(|_| sh("exit 1").spawn().unwrap().pid()).collect();
    eventually("no zombie", || {
        !pids.iter().chain(&dropped).any(|pid| exists(*pid))
    })
    .await;
}

#[tokio::test]
async fn a_child_has_no_descriptors_but_its_three() {
    if !Path::new("/proc/self/fd").exists() {
        return;
    }
    let _open = std::fs::File::open("/etc/passwd").unwrap();
    let text = output_of(sh("ls /proc/$$/fd").spawn().unwrap()).await;
    let numbers: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert!(numbers.iter().all(|fd| *fd <= 2 || *fd >= 10), "{numbers:?}");
}
