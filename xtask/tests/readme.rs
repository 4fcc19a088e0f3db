//! The commands of the README, run as they are printed.

use std::path::Path;
use std::process::Command;

fn commands(file: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let text = std::fs::read_to_string(path).expect("the document is there");
    let mut commands = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => commands.push(line.split("  #").next().unwrap_or(line).trim().to_owned()),
            _ => {}
        }
    }
    commands
}

#[test]
fn the_first_command_of_the_readme_lists_tools_and_calls_one() {
    let commands = commands("README.md");
    let words: Vec<&str> = commands[0].split_whitespace().collect();
    assert_eq!(words[0], "cargo", "{commands:?}");
    let output = Command::new(env!("CARGO"))
        .args(&words[1..])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        text.contains("mcp__workspace__read_file") && text.contains("buy milk"),
        "{text}"
    );
}

#[test]
fn every_task_that_the_documents_name_exists() {
    let help = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("help")
        .output()
        .expect("xtask runs");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let mut seen = 0;
    for file in ["README.md", "CONTRIBUTING.md", "docs/performance.md"] {
        for command in commands(file) {
            let Some(rest) = command.strip_prefix("cargo xtask ") else {
                continue;
            };
            let verb = rest.split_whitespace().next().unwrap_or_default();
            assert!(
                help.lines()
                    .any(|line| line.split_whitespace().next() == Some(verb)),
                "{file}: {command}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen} found");
}
