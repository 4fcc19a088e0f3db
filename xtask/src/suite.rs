//! `cargo xtask test`: every crate by itself, then what crosses them, then other implementations where they can run.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Crates whose features that are off by default have tests of their own.
const FEATURES: [(&str, &str); 3] = [
    ("mcp-codec", "tokio"),
    ("mcp-http", "client,server"),
    ("mcp-stdio", "process"),
];

/// Crates that must also work without their default features.
const LEAN: [&str; 3] = ["mcp-schema", "mcp-server", "mcp-client"];

/// Crates without IO and without a runtime: of tokio they may use `sync` and nothing more.
const WITHOUT_IO: [&str; 6] = [
    "mcp-jsonrpc",
    "mcp-types",
    "mcp-codec",
    "mcp-exchange",
    "mcp-session",
    "mcp-schema",
];

/// Runs all tests. True where nothing failed.
pub fn test() -> bool {
    let mut plan: Vec<(String, Vec<String>)> = Vec::new();
    for name in crates() {
        let mut args = words(&["test", "--quiet", "-p", &name]);
        if let Some((_, feature)) = FEATURES.iter().find(|(with, _)| *with == name) {
            args.extend(words(&["--features", feature]));
        }
        plan.push((name, args));
    }
    for name in LEAN {
        plan.push((
            format!("{name}, lean"),
            words(&["test", "--quiet", "-p", name, "--no-default-features"]),
        ));
    }
    plan.push(("xtask".into(), words(&["test", "--quiet", "-p", "xtask"])));

    let mut failed = Vec::new();
    let count = plan.len();
    for (name, args) in plan {
        let start = Instant::now();
        let good = cargo(&args);
        println!(
            "{} {name} ({:.0} s)",
            if good { "ok    " } else { "FAILED" },
            start.elapsed().as_secs_f64()
        );
        if !good {
            failed.push(name);
        }
    }
    let mut peers = true;
    match (found("node"), found("python3")) {
        (false, false) => println!("skipped: other implementations (neither Node.js nor Python was found)"),
        (node, python) => {
            for (there, name) in [(node, "Node.js"), (python, "Python")] {
                if !there {
                    println!("skipped: implementations in {name} ({name} was not found)");
                }
            }
            println!("other implementations, over stdio:");
            peers = cargo(&words(&["run", "--quiet", "-p", "xtask", "--", "interop"]));
        }
    }
    if !peers {
        failed.push("other implementations".into());
    }
    for name in &failed {
        println!("FAILED {name}");
    }
    println!(
        "{} of {} crates passed their tests",
        count
            - failed
                .iter()
                .filter(|name| *name != "other implementations")
                .count(),
        count
    );
    failed.is_empty()
}

/// Checks that the crates without IO stay without it. True where they do.
pub fn dependencies() -> bool {
    let mut good = true;
    for name in WITHOUT_IO {
        let output = Command::new(env!("CARGO"))
            .args([
                "tree",
                "--offline",
                "-p",
                name,
                "-e",
                "normal,features",
                "--prefix",
                "none",
                "--no-dedupe",
            ])
            .output();
        let tree = match output {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
            _ => {
                println!("FAILED {name}: cargo tree cannot be read");
                good = false;
                continue;
            }
        };
        let beyond: Vec<&str> = tree
            .lines()
            .filter_map(|line| line.strip_prefix("tokio feature \""))
            .filter_map(|rest| rest.split('"').next())
            .filter(|feature| !matches!(*feature, "sync" | "default"))
            .collect();
        if beyond.is_empty() {
            println!("ok     {name}: nothing of tokio beyond its feature sync");
        } else {
            println!("FAILED {name}: pulls tokio with {}", beyond.join(", "));
            good = false;
        }
    }
    good
}

/// The folders below `crates`, lowest crates first where it matters to a reader: by name.
fn crates() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut names: Vec<String> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn cargo(args: &[String]) -> bool {
    Command::new(env!("CARGO"))
        .args(args)
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether a program can be run.
pub fn found(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
