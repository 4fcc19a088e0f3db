//! The workspace server, as a client sees it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use mcp_bridge::text::for_model;
use mcp_client::{Client, ClientBuilder};
use mcp_host::serve::{WorkspaceOptions, workspace_server};
use mcp_types::{ElicitResult, Revision};

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("mcp-host-serve-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("a.txt"), "one two\n").unwrap();
        Self(root)
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.join(name)).ok()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn connect(folder: &Folder, options: WorkspaceOptions, builder: ClientBuilder) -> Client {
    let server = workspace_server(&folder.0, options).unwrap();
    let ((server_read, server_write), (read, write)) = mcp_stdio::pair(64 * 1024);
    tokio::spawn(async move {
        mcp_stdio::serve_on(server_read, server_write, server, mcp_stdio::Options::default()).await
    });
    builder.connect(mcp_stdio::streams(read, write)).await.unwrap()
}

fn host(revision: Revision) -> ClientBuilder {
    Client::builder("host", "1").revisions(revision)
}

async fn call(client: &Client, tool: &str, args: serde_json::Value) -> String {
    for_model(&client.tool(tool).args(&args).await.unwrap())
}

#[tokio::test]
async fn what_is_withheld_is_like_what_is_not_there() {
    for revision in ERAS {
        let folder = Folder::new();
        let options = WorkspaceOptions::new().policy(|name| name != "search_files");
        let client = connect(&folder, options, host(revision)).await;
        let tools = client.list_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["list_files", "read_file"]);
        for tool in &tools {
            let hints = tool.annotations.as_ref().unwrap();
            assert_eq!(hints.read_only_hint, Some(true));
        }
        for name in ["write_file", "edit_file", "search_files", "bash"] {
            let said = call(&client, name, serde_json::json!({"path": "new", "content": "x"})).await;
            assert_eq!(said, format!("Error: Tool not available: {name}"));
        }
        let said = call(
            &client,
            "read_file",
            serde_json::json!({"path": "../../etc/passwd"}),
        )
        .await;
        assert_eq!(said, "Error: path escapes the workspace");
    }
}

fn agree() -> ElicitResult {
    ElicitResult::accept(mcp_types::JsonObject::new())
}

#[tokio::test]
async fn a_write_asks_the_user_where_the_client_can_ask() {
    for revision in ERAS {
        let answers = [
            (agree as fn() -> ElicitResult, "created new (1 bytes)", Some("x")),
            (
                ElicitResult::decline,
                "Error: the user declined; nothing was changed",
                None,
            ),
            (
                ElicitResult::cancel,
                "Error: the user did not decide; nothing was changed",
                None,
            ),
        ];
        for (answer, says, content) in answers {
            let folder = Folder::new();
            let asked = Arc::new(Mutex::new(Vec::new()));
            let copy = Arc::clone(&asked);
            let builder = host(revision).on_elicit(move |form| {
                copy.lock().unwrap().push(form.message);
                async move { answer() }
            });
            let client = connect(&folder, WorkspaceOptions::new().allow_write(true), builder).await;
            let args = serde_json::json!({"path": "new", "content": "x"});
            assert_eq!(call(&client, "write_file", args).await, says);
            assert_eq!(folder.read("new").as_deref(), content);
            assert_eq!(*asked.lock().unwrap(), ["Write 1 bytes to the file new?"]);
        }
    }
}

#[tokio::test]
async fn nobody_is_asked_about_what_cannot_be_done_nor_fooled_by_its_text() {
    for revision in ERAS {
        let folder = Folder::new();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let copy = Arc::clone(&asked);
        let builder = host(revision).on_elicit(move |form| {
            copy.lock().unwrap().push(form.message);
            async { agree() }
        });
        let client = connect(&folder, WorkspaceOptions::new().allow_write(true), builder).await;
        let args = serde_json::json!({"path": "../new", "content": "x"});
        assert_eq!(
            call(&client, "write_file", args).await,
            "Error: path escapes the workspace"
        );
        assert!(asked.lock().unwrap().is_empty());
        let args = serde_json::json!({"path": "a.txt", "old": "two", "new": "\u{202e}\n2"});
        assert_eq!(call(&client, "edit_file", args).await, "edited a.txt at line 1");
        let question = r#"Change the file a.txt: replace "two" by "⟦U+202E⟧\n2"?"#;
        assert_eq!(*asked.lock().unwrap(), [question]);
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_switch_alone_decides() {
    for revision in ERAS {
        let folder = Folder::new();
        let client = connect(&folder, WorkspaceOptions::new().allow_write(true), host(revision)).await;
        let args = serde_json::json!({"path": "a.txt", "old": "two", "new": "three"});
        assert_eq!(call(&client, "edit_file", args).await, "edited a.txt at line 1");
        assert_eq!(folder.read("a.txt").as_deref(), Some("one three\n"));
    }
}

#[test]
fn a_folder_that_is_none_is_said() {
    let error = workspace_server("/no/such/folder", WorkspaceOptions::new()).unwrap_err();
    assert!(error.is_workspace());
}
