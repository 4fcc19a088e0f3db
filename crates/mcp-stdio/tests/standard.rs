//! A real process on its own standard streams, whatever they are (pitfalls P014, P018, P020, P024).

#![cfg(unix)]

#[path = "common/echo.rs"]
mod echo;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

fn call(id: u32, milliseconds: u32) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"x/sleep\",\"params\":{{\"arguments\":{milliseconds}}}}}\n"
    )
}

/// A process that does not outlive its test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    fn start(stdin: impl Into<Stdio>, stdout: impl Into<Stdio>, stderr: impl Into<Stdio>) -> Self {
        let mut command = Command::new(echo::program());
        Self(
            command
                .stdin(stdin)
                .stdout(stdout)
                .stderr(stderr)
                .spawn()
                .unwrap(),
        )
    }

    /// Waits for its end, which must come soon.
    fn ends(&mut self) -> ExitStatus {
        let limit = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < limit, "it runs on");
            std::thread::yield_now();
        }
    }
}

fn temporary(content: &str) -> File {
    let path = std::env::temp_dir().join(format!(
        "mcp-stdio-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let mut file = File::options()
        .create(true)
        .truncate(true)
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    // The file lives as long as it is open.
    std::fs::remove_file(path).unwrap();
    file.write_all(content.as_bytes()).unwrap();
    file.rewind().unwrap();
    file
}

/// A whole dialogue over whatever this is: an answer while the input stays open, ten calls, the end.
fn dialogue(mut input: impl Write, output: impl Read, end: impl FnOnce()) {
    let mut lines = BufReader::new(output).lines().map(Result::unwrap);
    let mut next = move || {
        // Log lines may share the stream.
        loop {
            let line = lines.next()?;
            if line.starts_with('{') {
                return Some(line);
            }
            assert!(line.starts_with("call "), "{line}");
        }
    };
    input.write_all(INITIALIZE.as_bytes()).unwrap();
    assert!(next().unwrap().contains("2025-11-25"), "at once (P014)");
    input.write_all(INITIALIZED.as_bytes()).unwrap();
    for id in 0..10 {
        input.write_all(call(id, 20).as_bytes()).unwrap();
    }
    drop(input);
    end();
    let mut ids: Vec<u32> = std::iter::from_fn(next)
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(value["result"]["arguments"], 20);
            u32::try_from(value["id"].as_u64().unwrap()).unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..10).collect::<Vec<_>>());
}

#[test]
fn p014_p020_pipes_carry_a_whole_dialogue() {
    let mut server = Server::start(Stdio::piped(), Stdio::piped(), Stdio::null());
    let (input, output) = (server.0.stdin.take().unwrap(), server.0.stdout.take().unwrap());
    dialogue(input, output, || {});
    assert_eq!(server.ends().code(), Some(0));
}

#[test]
fn p018_an_empty_file_as_input_ends_the_server_within_two_seconds() {
    for stdin in [Stdio::from(temporary("")), Stdio::null()] {
        echo::program();
        let begun = Instant::now();
        let mut server = Server::start(stdin, Stdio::piped(), Stdio::null());
        assert_eq!(server.ends().code(), Some(0));
        assert!(begun.elapsed() < Duration::from_secs(2));
    }
}

#[test]
fn p020_a_file_of_eleven_requests_gets_eleven_answers() {
    let mut text = format!("{INITIALIZE}{INITIALIZED}");
    for id in 0..10 {
        text += &call(id, 20);
    }
    let mut server = Server::start(temporary(&text), Stdio::piped(), Stdio::null());
    let mut answers = String::new();
    server
        .0
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut answers)
        .unwrap();
    assert_eq!(answers.lines().count(), 11, "{answers}");
    assert_eq!(server.ends().code(), Some(0));

    let mut output = temporary("");
    let mut server = Server::start(temporary(&text), output.try_clone().unwrap(), Stdio::null());
    assert_eq!(server.ends().code(), Some(0));
    answers.clear();
    output.rewind().unwrap();
    output.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.lines().count(), 11, "into a file as well");
}

#[test]
fn p024_a_host_that_closes_our_output_early_ends_us_without_a_failure() {
    let mut server = Server::start(Stdio::piped(), Stdio::piped(), Stdio::piped());
    drop(server.0.stdout.take());
    let mut input = server.0.stdin.take().unwrap();
    // The input stays open.
    let _ = input.write_all(format!("{INITIALIZE}{}", call(1, 0)).as_bytes());
    assert_eq!(server.ends().code(), Some(0));
    let mut log = String::new();
    server.0.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(!log.contains("panic"), "{log}");
}

#[test]
fn sockets_work_as_standard_streams_as_some_hosts_give_them() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (theirs, also) = (OwnedFd::from(theirs.try_clone().unwrap()), OwnedFd::from(theirs));
    let mut server = Server::start(theirs, also, Stdio::null());
    let writer = ours.try_clone().unwrap();
    dialogue(writer, &ours, || {
        ours.shutdown(std::net::Shutdown::Write).unwrap();
    });
    assert_eq!(server.ends().code(), Some(0));

    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut server = Server::start(OwnedFd::from(theirs), Stdio::piped(), Stdio::null());
    let output = server.0.stdout.take().unwrap();
    dialogue(ours, output, || {});
    assert_eq!(server.ends().code(), Some(0));
}

#[test]
fn output_and_log_may_be_the_same_pipe() {
    let (output, theirs) = std::io::pipe().unwrap();
    let mut server = Server::start(Stdio::piped(), theirs.try_clone().unwrap(), theirs);
    let input = server.0.stdin.take().unwrap();
    dialogue(input, output, || {});
    assert_eq!(server.ends().code(), Some(0));
}

#[test]
fn all_three_may_be_the_same_socket() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let copy = |socket: &UnixStream| OwnedFd::from(socket.try_clone().unwrap());
    let mut server = Server::start(copy(&theirs), copy(&theirs), OwnedFd::from(theirs));
    let writer = ours.try_clone().unwrap();
    dialogue(writer, &ours, || {
        ours.shutdown(std::net::Shutdown::Write).unwrap();
    });
    assert_eq!(server.ends().code(), Some(0));
}
