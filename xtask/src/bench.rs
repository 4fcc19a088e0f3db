//! `cargo xtask bench`: measures the bench server and client against other implementations.
//!
//! The load generator and the peers live outside this repository, in `../shared/bench` or where `MCP_BENCH_DIR` says;
//! where they are absent, only the programs are built.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The rows of docs/performance.md.
const ROWS: &str = "stdio-32-1,stdio-32-16,stdio-32-64,stdio-256k-1,stdio26-32-16,stdio-list-1,stdio-progress-1,stdio-startup";

/// Builds, then measures: the server's rows, the client's rows, and with `--footprint` what the server weighs. Further
/// arguments go to the bench's own script in place of the default rows. True where all of it ran.
pub fn run(args: &[String]) -> bool {
    let footprint = args.iter().any(|arg| arg == "--footprint");
    let further: Vec<&String> = args.iter().filter(|arg| *arg != "--footprint").collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    for package in ["bench-server", "bench-client"] {
        if !cargo(&root, &["build", "--release", "--locked", "-p", package]) {
            return false;
        }
    }
    if footprint && !weigh(&root, &target) {
        return false;
    }
    let folder =
        std::env::var_os("MCP_BENCH_DIR").map_or_else(|| root.join("../shared/bench"), PathBuf::from);
    if !folder.join("bench.py").is_file() {
        println!("skipped: no bench in {} (set MCP_BENCH_DIR)", folder.display());
        return true;
    }
    let work = target.join("bench");
    let servers = work.join("servers.json");
    let written =
        std::fs::create_dir_all(&work).and_then(|()| std::fs::write(&servers, list(&target).to_string()));
    if let Err(error) = written {
        println!("FAILED {} cannot be written: {error}", servers.display());
        return false;
    }
    let script = |args: &[&str]| {
        Command::new("python3")
            .arg(folder.join("bench.py"))
            .args(args)
            .env("BENCH_SERVERS", &servers)
            .env("BENCH_WORK", &work)
            .env("CARGO_TARGET_DIR", work.join("peers"))
            .status()
            .is_ok_and(|status| status.success())
    };
    if !work.join("peers/release/mcp-load").is_file() && !script(&["build"]) {
        return false;
    }
    if !further.is_empty() {
        let args: Vec<&str> = further.iter().map(|arg| arg.as_str()).collect();
        return script(&args);
    }
    script(&[
        "full",
        "--only",
        "mine,rmcp,floor,floor-async",
        "--rows",
        ROWS,
        "--budget",
        "150",
    ]) && script(&["clients", "--only", "mine,rmcp,floor", "--budget", "60"])
        && (!footprint || script(&["footprint", "--only", "rmcp-stdio"]))
}

/// Who is measured.
fn list(target: &Path) -> serde_json::Value {
    let ours = |name: &str| target.join("release").join(name).display().to_string();
    serde_json::json!({
        "bases": ["rmcp", "floor"],
        "servers": [
            {"name": "floor", "stdio": "{bin}/floor stdio"},
            {"name": "floor-async", "stdio": "{bin}/floor stdio-async"},
            {"name": "rmcp", "stdio": "{bin}/rmcp-stdio"},
            {"name": "mine", "stdio": ours("bench-server")},
        ],
        "clients": [
            {"name": "floor", "raw": true},
            {"name": "rmcp", "cmd": "{bin}/rmcp-client"},
            {"name": "mine", "transports": ["stdio"], "cmd": ours("bench-client")},
        ],
    })
}

/// A cold build of the bench server, the packages it needs, and its size without symbols: lean, and with validators.
fn weigh(root: &Path, target: &Path) -> bool {
    println!(
        "| bench-server | cold build s | packages in cargo tree | stripped KiB |\n| --- | --- | --- | --- |"
    );
    for (name, features) in [
        ("lean", &[][..]),
        ("with validate", &["--features", "validate"][..]),
    ] {
        let cold = target.join("bench/cold");
        let _ = std::fs::remove_dir_all(&cold);
        let start = std::time::Instant::now();
        let built = Command::new(env!("CARGO"))
            .current_dir(root)
            .args(["build", "--release", "--locked", "--quiet", "-p", "bench-server"])
            .args(features)
            .env("CARGO_TARGET_DIR", &cold)
            .status();
        let seconds = start.elapsed().as_secs_f64();
        let tree = Command::new(env!("CARGO"))
            .current_dir(root)
            .args([
                "tree",
                "--locked",
                "-e",
                "normal,build",
                "--prefix",
                "none",
                "--no-dedupe",
                "-p",
                "bench-server",
            ])
            .args(features)
            .output();
        let (Ok(true), Ok(tree)) = (built.map(|status| status.success()), tree) else {
            return false;
        };
        let tree = String::from_utf8_lossy(&tree.stdout).into_owned();
        let packages: std::collections::BTreeSet<String> = tree
            .lines()
            .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
            .filter(|line| !line.is_empty())
            .collect();
        let stripped = cold.join("stripped");
        let _ = Command::new("strip")
            .arg("-o")
            .arg(&stripped)
            .arg(cold.join("release/bench-server"))
            .status();
        let size = std::fs::metadata(&stripped).map_or(0, |file| file.len()) / 1024;
        println!("| {name} | {seconds:.0} | {} | {size} |", packages.len() - 1);
        let _ = std::fs::remove_dir_all(&cold);
    }
    true
}

fn cargo(root: &Path, args: &[&str]) -> bool {
    Command::new(env!("CARGO"))
        .current_dir(root)
        .args(args)
        .status()
        .is_ok_and(|status| status.success())
}
