//! How many calls a second the client can make: `bench-client --stdio CMD [--protocol V] [--conc N] [--size N]
//! [--ms N] [--warmup-ms N]`. Tasks share one client; each calls `echo`, checks the text, and calls again.

use std::error::Error;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mcp_client::Client;
use mcp_stdio::process::Command;
use mcp_types::{ContentBlock, Revision};

#[derive(serde::Serialize)]
struct Text<'a> {
    text: &'a str,
}

fn arg(name: &str) -> Option<String> {
    std::env::args().skip_while(|known| known != name).nth(1)
}

fn number(name: &str, default: u64) -> u64 {
    arg(name).and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// User and system time of this process in microseconds, in ticks of 10 ms.
fn cpu_us() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let ticks: u64 = after
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    ticks * 10_000
}

fn peak_rss_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|line| line.split_whitespace().next())
        .and_then(|kib| kib.parse().ok())
        .unwrap_or(0)
}

fn filler(size: usize) -> String {
    let line = "The quick brown fox said \"jump\", and the café's lazy dog\tjumped over line 42.\n";
    let mut text = String::new();
    for c in line.chars().cycle() {
        if text.len() + 16 + c.len_utf8() > size.max(16) {
            break;
        }
        text.push(c);
    }
    text
}

const WARM: u8 = 0;
const MEASURE: u8 = 1;
const STOP: u8 = 2;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let revision = arg("--protocol")
        .as_deref()
        .and_then(Revision::from_name)
        .unwrap_or(Revision::V2025_11_25);
    let (conc, size) = (number("--conc", 1).clamp(1, 1024), number("--size", 32));
    let (ms, warm) = (number("--ms", 1000), number("--warmup-ms", 300));
    let command = arg("--stdio").ok_or("--stdio is missing")?;
    let mut words = command.split_whitespace();
    let command = Command::new(words.next().ok_or("--stdio is empty")?).args(words);
    let client = Client::builder("bench", "1.0.0")
        .revisions(revision)
        .connect(command)
        .await?;

    let phase = Arc::new(AtomicU8::new(WARM));
    let next = Arc::new(AtomicU64::new(1));
    let errors = Arc::new(AtomicU64::new(0));
    let latencies = Arc::new(Mutex::new(Vec::new()));
    let filler: Arc<str> = filler(usize::try_from(size)?).into();
    let mut tasks = Vec::new();
    for _ in 0..conc {
        let (client, phase, next) = (client.clone(), phase.clone(), next.clone());
        let (errors, latencies, filler) = (errors.clone(), latencies.clone(), filler.clone());
        tasks.push(tokio::spawn(async move {
            let mut mine: Vec<u32> = Vec::new();
            while phase.load(Relaxed) != STOP && errors.load(Relaxed) < 100 {
                let text = format!("{:016x}{filler}", next.fetch_add(1, Relaxed));
                let sent = Instant::now();
                let reply = client.tool("echo").args(&Text { text: &text }).await;
                let right = matches!(reply.as_ref().map(|reply| reply.content.as_slice()),
                    Ok([ContentBlock::Text(block)]) if block.text == text);
                if !right {
                    errors.fetch_add(1, Relaxed);
                } else if phase.load(Relaxed) == MEASURE {
                    mine.push(u32::try_from(sent.elapsed().as_nanos() / 10).unwrap_or(u32::MAX));
                }
            }
            latencies
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .append(&mut mine);
        }));
    }
    tokio::time::sleep(Duration::from_millis(warm)).await;
    let (cpu, start) = (cpu_us(), Instant::now());
    phase.store(MEASURE, Relaxed);
    tokio::time::sleep(Duration::from_millis(ms)).await;
    phase.store(STOP, Relaxed);
    let (cpu, seconds) = (cpu_us() - cpu, start.elapsed().as_secs_f64());
    for task in tasks {
        task.await?;
    }
    let mut all = std::mem::take(&mut *latencies.lock().unwrap_or_else(PoisonError::into_inner));
    all.sort_unstable();
    let at = |share: f64| {
        let place = (all.len() as f64 * share).ceil() as usize;
        f64::from(all.get(place.max(1) - 1).copied().unwrap_or(0)) / 100.0
    };
    let line = serde_json::json!({
        "conc": conc, "size": size, "seconds": seconds, "calls": all.len(),
        "per_s": all.len() as f64 / seconds,
        "p50_us": at(0.5), "p99_us": at(0.99), "max_us": at(1.0),
        "cpu_us_per_call": cpu as f64 / all.len().max(1) as f64,
        "rss_peak_kib": peak_rss_kib(), "errors": errors.load(Relaxed),
    });
    use std::io::Write;
    writeln!(std::io::stdout(), "{line}")?;
    client.close().await;
    Ok(())
}
