//! Runs the real program.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder for one test, removed with the value.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "mcp-cli-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let root = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&root).unwrap();
        Self(root)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A configuration with these servers, each as JSON text.
    pub(crate) fn config(&self, name: &str, servers: &[(&str, String)]) -> PathBuf {
        let entries: Vec<String> = servers
            .iter()
            .map(|(name, entry)| format!("{name:?}:{entry}"))
            .collect();
        self.write(name, &format!("{{\"mcpServers\":{{{}}}}}", entries.join(",")))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An entry that starts `mcp serve` for a folder.
pub(crate) fn workspace(root: &Path) -> String {
    serde_json::json!({ "command": env!("CARGO_BIN_EXE_mcp"), "args": ["serve", "--root", root] }).to_string()
}

/// An entry that starts a shell script.
pub(crate) fn script(text: &str) -> String {
    serde_json::json!({ "command": "sh", "args": ["-c", text] }).to_string()
}

/// What one run gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Standard output as the one JSON document that it must be.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

/// Runs `mcp` in a folder. Arguments are split at spaces; `{}` stands for the next of `values`.
pub(crate) fn mcp(folder: &Path, args: &str, values: &[&str]) -> Ran {
    mcp_with(folder, args, values, "", &[])
}

pub(crate) fn mcp_with(folder: &Path, args: &str, values: &[&str], input: &str, env: &[(&str, &str)]) -> Ran {
    let mut values = values.iter();
    let args = args.split_whitespace().map(|arg| match arg {
        "{}" => (*values.next().unwrap()).to_owned(),
        arg => arg.to_owned(),
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp"))
        .args(args)
        .envs(env.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input closes it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    Ran {
        code: status.code().unwrap(),
        out: String::from_utf8(stdout).unwrap(),
        err: String::from_utf8(stderr).unwrap(),
    }
}
