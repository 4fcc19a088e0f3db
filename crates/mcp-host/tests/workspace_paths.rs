//! The shared policy vectors for paths: what may be read, written and listed, against a real folder with real links.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_host::workspace::{EditFile, Limits, ListFiles, ReadFile, Workspace, WorkspaceError, WriteFile};

#[derive(serde::Deserialize)]
struct Vectors {
    workspace: BTreeMap<String, String>,
    cases: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    id: String,
    setup: Vec<String>,
    path: String,
    allowed: bool,
}

struct Folder {
    outer: PathBuf,
    root: PathBuf,
}

impl Folder {
    fn new(id: &str, files: &BTreeMap<String, String>) -> Self {
        let outer = std::env::temp_dir().join(format!("mcp-host-paths-{}-{id}", std::process::id()));
        let root = outer.join("ws");
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { outer, root }
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{ws}", self.root.to_str().unwrap())
            .replace("{wsname}", "ws")
    }

    fn set_up(&self, step: &str) {
        let step = self.fill(step);
        let words: Vec<&str> = step.split(' ').collect();
        match words[..] {
            ["mkdir", path] => fs::create_dir_all(path).unwrap(),
            ["write", path] => fs::write(path, "evil").unwrap(),
            ["symlink", target, path] => symlink(target, path).unwrap(),
            ["hardlink", target, path] => fs::hard_link(target, path).unwrap(),
            ["fifo", path] => {
                let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
                assert!(status.success());
            }
            _ => panic!("unknown step: {step}"),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.outer);
    }
}

fn run(workspace: &Workspace, path: &str) -> Result<String, WorkspaceError> {
    if let Some(path) = path.strip_prefix("write:") {
        return workspace.write_file(&WriteFile::new(path, "written"));
    }
    if let Some(path) = path.strip_prefix("list:") {
        let mut args = ListFiles::default();
        args.path = Some(path.to_owned());
        return workspace.list_files(&args);
    }
    // Allowed means reachable: a folder is reachable by listing it.
    match workspace.read_file(&ReadFile::new(path)) {
        Err(error) if error.to_string().ends_with("not a regular file") => {
            let mut args = ListFiles::default();
            args.path = Some(path.to_owned());
            workspace.list_files(&args).map_err(|_| error)
        }
        other => other,
    }
}

#[test]
fn p192_the_policy_vectors_hold() {
    let vectors: Vectors = serde_json::from_str(include_str!("data/workspace_paths.json")).unwrap();
    assert!(vectors.cases.len() > 20);
    for case in &vectors.cases {
        let folder = Folder::new(&case.id, &vectors.workspace);
        if let [race] = &case.setup[..]
            && race.starts_with("race:")
        {
            swap_race(&folder);
            continue;
        }
        for step in &case.setup {
            folder.set_up(step);
        }
        let before = outside(&folder);
        let workspace = Workspace::open(&folder.root, Limits::default()).unwrap();
        let result = run(&workspace, &folder.fill(&case.path));
        assert_eq!(result.is_ok(), case.allowed, "{}: {result:?}", case.id);
        assert_eq!(
            outside(&folder),
            before,
            "{}: nothing is written outside",
            case.id
        );
        if case.id == "list-does-not-follow" {
            assert_eq!(result.unwrap(), "Main.txt\nsrc/Util.txt");
        } else if let Err(error) = result {
            let leaves = case
                .setup
                .iter()
                .any(|step| step.contains("/etc") || step.contains("/tmp"))
                || case.path.contains("etc/passwd") && !case.path.contains(['%', '\\']);
            if leaves || case.id.contains("escape") || case.id.contains("prefix-sibling") {
                assert_eq!(error.to_string(), "path escapes the workspace", "{}", case.id);
            }
        }
    }
}

/// Names beside the workspace and the one place outside that the vectors write at.
fn outside(folder: &Folder) -> (Vec<PathBuf>, bool, bool) {
    let mut names: Vec<PathBuf> = fs::read_dir(&folder.outer)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    names.sort();
    (
        names,
        Path::new("/tmp/new-file-outside").exists(),
        Path::new("/tmp/x").exists(),
    )
}

/// Reads while another thread swaps a folder for a link to the outside.
fn swap_race(folder: &Folder) {
    let (real, link, place) = (
        folder.outer.join("real"),
        folder.outer.join("link"),
        folder.root.join("d"),
    );
    let secrets = folder.outer.join("secrets");
    fs::create_dir_all(&secrets).unwrap();
    fs::write(secrets.join("hostname"), "secret").unwrap();
    fs::create_dir_all(&place).unwrap();
    symlink(&secrets, &link).unwrap();
    let workspace = Workspace::open(&folder.root, Limits::default()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..10_000 {
                fs::rename(&place, &real).unwrap();
                fs::rename(&link, &place).unwrap();
                fs::rename(&place, &link).unwrap();
                fs::rename(&real, &place).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            assert!(workspace.read_file(&ReadFile::new("d/hostname")).is_err());
            assert!(
                workspace
                    .edit_file(&EditFile::new("d/hostname", "secret", "x"))
                    .is_err()
            );
            let listing = workspace.list_files(&ListFiles::default()).unwrap();
            assert!(!listing.contains("hostname"), "{listing}");
        }
    });
    assert_eq!(fs::read_to_string(secrets.join("hostname")).unwrap(), "secret");
}

#[test]
fn arguments_are_what_their_schemas_say() {
    let schema = serde_json::to_value(schemars::schema_for!(ReadFile)).unwrap();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], serde_json::json!(["path"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        schema["properties"]["path"]["description"],
        "Path of the file, relative to the workspace."
    );
    assert!(serde_json::from_str::<ReadFile>(r#"{"path":"a","extra":1}"#).is_err());
    assert_eq!(
        serde_json::from_str::<ReadFile>(r#"{"path":"a"}"#).unwrap(),
        ReadFile::new("a")
    );
    assert_eq!(
        serde_json::from_str::<ListFiles>("{}").unwrap(),
        ListFiles::default()
    );
    let list = serde_json::to_value(schemars::schema_for!(ListFiles)).unwrap();
    assert!(list.get("required").is_none() && list["type"] == "object");
}
