//! Many servers in one registry.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_bridge::{Gate, Limits, Registry, SourceError, SourceFuture, ToolSource, text};
use mcp_jsonrpc::{ErrorObject, RawJson};
use mcp_types::{CallToolResult, Tool};
use tokio::sync::Semaphore;

/// A server in memory: answers like the one of the lesson's Example 10.
struct Fake {
    name: &'static str,
    tools: Mutex<Result<String, ErrorObject>>,
    listings: AtomicUsize,
    /// A permit for each listing.
    gate: Semaphore,
}

impl Fake {
    fn new(name: &'static str, tools: &str) -> Arc<Self> {
        Arc::new(Self {
            name,
            tools: Mutex::new(Ok(tools.to_owned())),
            listings: AtomicUsize::new(0),
            gate: Semaphore::new(1000),
        })
    }

    fn set(&self, tools: Result<&str, ErrorObject>) {
        *self.tools.lock().unwrap() = tools.map(str::to_owned);
    }
}

impl ToolSource for Fake {
    fn list_tools(&self) -> SourceFuture<'_, Vec<Tool>> {
        Box::pin(async {
            self.listings.fetch_add(1, Ordering::SeqCst);
            self.gate.acquire().await.map_err(SourceError::new)?.forget();
            let tools = self.tools.lock().unwrap().clone().map_err(SourceError::new)?;
            serde_json::from_str(&tools).map_err(SourceError::new)
        })
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: RawJson) -> SourceFuture<'a, CallToolResult> {
        Box::pin(async move {
            match name {
                "fail" => Ok(CallToolResult::error("database is locked")),
                "broken" => Err(SourceError::new(ErrorObject::method_not_found("tools/call"))),
                _ => Ok(CallToolResult::text(format!(
                    "{} ran {name} with {arguments}",
                    self.name
                ))),
            }
        })
    }
}

fn tool(name: &str, description: &str) -> String {
    let schema = r#"{"type":"object","properties":{"q":{"type":"string"}}}"#;
    format!(r#"{{"name":"{name}","description":"{description}","inputSchema":{schema}}}"#)
}

fn list(tools: &[String]) -> String {
    format!("[{}]", tools.join(","))
}

async fn lesson() -> Registry {
    let registry = Registry::new();
    let notes = Fake::new("notes", &list(&[tool("search", "Search notes")]));
    let tracker = Fake::new(
        "issue-tracker",
        &list(&[
            tool("search", "Search issues"),
            tool("issues.create", "Create an issue"),
            tool("issues_create", "Create an issue (v2)"),
            tool("fail", "Always fails"),
            tool("broken", "No call"),
        ]),
    );
    registry.attach("issue-tracker", tracker).await.unwrap();
    registry.attach("notes", notes).await.unwrap();
    registry
}

fn names(registry: &Registry) -> Vec<String> {
    registry
        .snapshot()
        .iter()
        .map(|tool| tool.name().to_owned())
        .collect()
}

#[tokio::test]
async fn tools_are_listed_by_name_with_their_server_in_front() {
    let registry = lesson().await;
    let tools = registry.snapshot();
    let lines: Vec<String> = tools
        .iter()
        .map(|t| format!("{} {}", t.name(), t.description()))
        .collect();
    assert_eq!(
        lines,
        [
            "mcp__issue-tracker__broken [issue-tracker] No call",
            "mcp__issue-tracker__fail [issue-tracker] Always fails",
            "mcp__issue-tracker__issues_create [issue-tracker] Create an issue",
            "mcp__issue-tracker__issues_create_2 [issue-tracker] Create an issue (v2)",
            "mcp__issue-tracker__search [issue-tracker] Search issues",
            "mcp__notes__search [notes] Search notes",
        ]
    );
    // P136: told apart, and reported.
    assert_eq!(tools.problems().len(), 2);
}

/// P132
#[tokio::test]
async fn calls_go_out_under_the_original_name() {
    let registry = lesson().await;
    let args = RawJson::from_text(r#"{"q":"bug"}"#).unwrap();
    let result = registry
        .call("mcp__issue-tracker__issues_create", args)
        .await
        .unwrap();
    assert_eq!(
        text::for_model(&result),
        r#"issue-tracker ran issues.create with {"q":"bug"}"#
    );
    // P144
    let result = registry
        .call("mcp__issue-tracker__issues_create_2", RawJson::null())
        .await
        .unwrap();
    assert_eq!(
        text::for_model(&result),
        "issue-tracker ran issues_create with {}"
    );
    let result = registry
        .call("mcp__issue-tracker__fail", RawJson::empty_object())
        .await
        .unwrap();
    assert_eq!(text::for_model(&result), "Error: database is locked");
}

#[tokio::test]
async fn an_error_of_the_peer_is_told_from_an_unknown_name() {
    let registry = lesson().await;
    let unknown = registry
        .call("mcp__notes__nothing", RawJson::empty_object())
        .await
        .unwrap_err();
    assert!(unknown.is_unknown_tool() && unknown.as_source().is_none());
    assert_eq!(unknown.to_string(), "Unknown tool: mcp__notes__nothing");
    let broken = registry
        .call("mcp__issue-tracker__broken", RawJson::empty_object())
        .await
        .unwrap_err();
    let (server, error) = broken.as_source().unwrap();
    assert_eq!(
        (server, error.downcast_ref::<ErrorObject>().unwrap().code),
        ("issue-tracker", -32601)
    );
    assert_eq!(
        broken.to_string(),
        "MCP error -32601: Method not found: tools/call"
    );
}

#[tokio::test]
async fn the_export_for_chat_has_the_schema_unchanged() {
    let registry = lesson().await;
    let tools = registry.snapshot();
    let exported = serde_json::to_string(tools.to_chat_tools().last().unwrap()).unwrap();
    assert_eq!(
        exported,
        r#"{"type":"function","function":{"name":"mcp__notes__search","description":"[notes] Search notes","parameters":{"type":"object","properties":{"q":{"type":"string"}}}}}"#
    );
}

/// P118, P119
#[tokio::test]
async fn a_bad_tool_is_left_out_alone_and_a_short_schema_completed() {
    let registry = Registry::new();
    let tools = r#"[{"name":"a","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#"}},
        {"name":"b","inputSchema":{"type":"string"}},{"name":"c","inputSchema":{"type":"object","required":null}},
        {"name":"d","title":"Four","inputSchema":{"type":"object"}},{"name":"d","inputSchema":{"type":"object"}}]"#;
    registry.attach("s", Fake::new("s", tools)).await.unwrap();
    let tools = registry.snapshot();
    assert_eq!(names(&registry), ["mcp__s__a", "mcp__s__d"]);
    let a = tools.get("mcp__s__a").unwrap();
    assert_eq!(
        a.parameters().as_str(),
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{}}"#
    );
    assert_eq!(
        a.definition().input_schema.as_str(),
        r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#
    );
    assert_eq!(a.description(), "[s]");
    assert_eq!(tools.get("mcp__s__d").unwrap().description(), "[s] Four");
    let named: Vec<_> = tools.problems().iter().map(|p| p.tool().unwrap()).collect();
    assert_eq!(named, ["b", "c", "d"]);
}

#[tokio::test]
async fn a_failing_server_is_reported_and_the_rest_kept() {
    let registry = lesson().await;
    let down = Fake::new("down", "[]");
    down.set(Err(ErrorObject::internal("out of order")));
    registry.attach("down", Arc::clone(&down)).await.unwrap();
    let tools = registry.snapshot();
    assert_eq!(tools.len(), 6);
    let problem = tools.problems().iter().find(|p| p.server() == "down").unwrap();
    assert_eq!(
        problem.to_string(),
        "down: could not list its tools: MCP error -32603: out of order"
    );
    // It comes back, and fails again: the tools known by then stay.
    down.set(Ok(&list(&[tool("x", "X")])));
    registry.refresh("down").await.unwrap();
    assert_eq!(registry.snapshot().len(), 7);
    down.set(Err(ErrorObject::internal("again")));
    registry.refresh("down").await.unwrap();
    assert_eq!(registry.snapshot().len(), 7);
    assert!(
        registry
            .snapshot()
            .problems()
            .iter()
            .any(|p| p.server() == "down")
    );
}

/// P143
#[tokio::test]
async fn names_follow_the_set_and_not_the_arrival() {
    let registry = Registry::new();
    let fake = Fake::new("s", &list(&[tool("a_b", "")]));
    registry.attach("s", Arc::clone(&fake)).await.unwrap();
    let before = registry.snapshot();
    fake.set(Ok(&list(&[tool("a_b", ""), tool("a.b", "")])));
    registry.refresh("s").await.unwrap();
    let after = registry.snapshot();
    assert_eq!(after.get("mcp__s__a_b").unwrap().definition().name, "a.b");
    assert_eq!(after.get("mcp__s__a_b_2").unwrap().definition().name, "a_b");
    // A snapshot does not change.
    assert_eq!(before.get("mcp__s__a_b").unwrap().definition().name, "a_b");
    assert!(registry.detach("s") && !registry.detach("s"));
    assert!(registry.snapshot().is_empty());
    assert!(registry.refresh("s").await.is_err());
}

/// P141
#[tokio::test]
async fn two_hundred_refreshes_at_once_cost_two_listings() {
    let registry = Registry::new();
    let fake = Fake::new("s", &list(&[tool("a", "")]));
    registry.attach("s", Arc::clone(&fake)).await.unwrap();
    assert_eq!(fake.listings.load(Ordering::SeqCst), 1);
    // Holds the first listing until all are waiting.
    fake.gate.forget_permits(1000);
    let refresh = || {
        let registry = registry.clone();
        tokio::spawn(async move { registry.refresh("s").await })
    };
    let first = refresh();
    while fake.listings.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    let others: Vec<_> = (0..200).map(|_| refresh()).collect();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    fake.set(Ok(&list(&[tool("a", ""), tool("b", "")])));
    fake.gate.add_permits(1000);
    for task in others.into_iter().chain([first]) {
        task.await.unwrap().unwrap();
    }
    assert_eq!(fake.listings.load(Ordering::SeqCst), 3);
    assert_eq!(names(&registry), ["mcp__s__a", "mcp__s__b"]);
}

#[tokio::test]
async fn a_dropped_refresh_leaves_nothing_locked() {
    let registry = Registry::new();
    let fake = Fake::new("s", &list(&[tool("a", "")]));
    registry.attach("s", Arc::clone(&fake)).await.unwrap();
    fake.gate.forget_permits(1000);
    let stuck = tokio::spawn({
        let registry = registry.clone();
        async move { registry.refresh("s").await }
    });
    while fake.listings.load(Ordering::SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    stuck.abort();
    assert!(stuck.await.unwrap_err().is_cancelled());
    fake.gate.add_permits(1);
    fake.set(Ok(&list(&[tool("b", "")])));
    registry.refresh("s").await.unwrap();
    assert_eq!(names(&registry), ["mcp__s__b"]);
}

/// P137
#[tokio::test]
async fn names_of_the_host_cannot_be_shadowed() {
    let registry = Registry::builder()
        .reserve("mcp__host__")
        .reserve("mcp__s__own")
        .build();
    let host = registry
        .attach("host", Fake::new("host", "[]"))
        .await
        .unwrap_err();
    assert!(host.is_name_conflict());
    registry
        .attach("hosts", Fake::new("hosts", &list(&[tool("a", "")])))
        .await
        .unwrap();
    registry
        .attach("s", Fake::new("s", &list(&[tool("own.tool", ""), tool("a", "")])))
        .await
        .unwrap();
    assert_eq!(names(&registry), ["mcp__hosts__a", "mcp__s__a"]);
    assert_eq!(registry.snapshot().problems()[0].tool(), Some("own.tool"));
    let twice = registry.attach("s", Fake::new("s", "[]")).await.unwrap_err();
    assert!(twice.is_name_conflict());
}

struct Refuses(Arc<AtomicUsize>);

impl Gate for Refuses {
    fn admit(&self, _: &str, tool: &Tool) -> Result<(), String> {
        match tool.name == "bad" || self.0.load(Ordering::SeqCst) > 0 {
            true => Err("not approved".to_owned()),
            false => Ok(()),
        }
    }
}

#[tokio::test]
async fn the_gate_decides_what_is_listed_and_called() {
    let closed = Arc::new(AtomicUsize::new(0));
    let registry = Registry::builder().gate(Refuses(Arc::clone(&closed))).build();
    registry
        .attach("s", Fake::new("s", &list(&[tool("good", ""), tool("bad", "")])))
        .await
        .unwrap();
    assert_eq!(names(&registry), ["mcp__s__good"]);
    assert!(
        registry
            .call("mcp__s__bad", RawJson::empty_object())
            .await
            .unwrap_err()
            .is_unknown_tool()
    );
    assert!(
        registry
            .call("mcp__s__good", RawJson::empty_object())
            .await
            .is_ok()
    );
    closed.store(1, Ordering::SeqCst);
    assert!(
        registry
            .call("mcp__s__good", RawJson::empty_object())
            .await
            .unwrap_err()
            .is_refused()
    );
}

#[tokio::test]
async fn a_server_adds_no_more_than_the_limits_allow() {
    let mut limits = Limits::default();
    limits.max_servers = 1;
    limits.max_tools = 2;
    limits.max_description = 5;
    let registry = Registry::builder().limits(limits).build();
    let tools = list(&[tool("a", "12😀45"), tool("b", ""), tool("c", "")]);
    registry.attach("s", Fake::new("s", &tools)).await.unwrap();
    let snapshot = registry.snapshot();
    assert_eq!(names(&registry), ["mcp__s__a", "mcp__s__b"]);
    assert_eq!(
        snapshot.get("mcp__s__a").unwrap().description(),
        "[s] 12\n[cut: 2 of 8 bytes shown]"
    );
    assert_eq!(
        snapshot.problems()[0].to_string(),
        "s: has 3 tools, and 2 are taken"
    );
    assert!(registry.attach("t", Fake::new("t", "[]")).await.is_err());
}
