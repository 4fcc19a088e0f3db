//! The example server as a program.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Where it is. Built here, as a run of one test file alone builds no examples.
pub(crate) fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "mcp-stdio", "--example", "echo"]);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success());
        let test = std::env::current_exe().unwrap();
        let folder = test.parent().unwrap().parent().unwrap();
        folder
            .join("examples")
            .join(format!("echo{}", std::env::consts::EXE_SUFFIX))
    })
}
