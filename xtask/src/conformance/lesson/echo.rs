//! The server of Example 13: a program of its own, which breaks the schema where the demo does.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

/// Serves on stdin and stdout until the input ends; logs go to stderr.
pub fn echo_server() -> ExitCode {
    let prefix = std::env::var("ECHO_PREFIX").unwrap_or_default();
    eprintln!("echo-server: started, prefix=[{prefix}]");
    match serve(&prefix) {
        Ok(()) => {
            eprintln!("echo-server: stdin closed, exiting");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("echo-server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(prefix: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "instructions": "Echo tools.",
                "serverInfo": {"name": "echo-server", "version": "1.0.0"},
            }),
            "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
            _ => {
                let text = message["params"]["arguments"]["text"]
                    .as_str()
                    .unwrap_or_default();
                json!({"content": [{"type": "text", "text": format!("{prefix}{text}")}]})
            }
        };
        writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
        out.flush()?;
    }
    Ok(())
}
