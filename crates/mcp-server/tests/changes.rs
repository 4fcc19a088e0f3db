//! Lists that change while the server runs, and subscriptions.

mod peer;

use mcp_server::{Cx, Prompt, Resource, Server, Tool};
use mcp_types::{Map, Revision};
use peer::{ERAS, Peer, bare};
use serde_json::{Value, json};

const TAG: &str = "io.modelcontextprotocol/subscriptionId";

fn tool(name: &str) -> Tool {
    Tool::new(name, |_cx: Cx| async {})
}

fn resource(uri: &str) -> Resource {
    Resource::new(uri, "r", |_cx: Cx| async { "" })
}

fn prompt(name: &str) -> Prompt {
    Prompt::new(name, |_cx: Cx, _args: Map<String>| async { String::new() })
}

fn methods(notices: &[Value]) -> Vec<&str> {
    notices
        .iter()
        .map(|notice| notice["method"].as_str().unwrap())
        .collect()
}

/// Lets everything run that can.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

async fn listen(peer: &mut Peer, filter: Value) -> (i64, Value) {
    let id = peer
        .request("subscriptions/listen", json!({"notifications": filter}))
        .await;
    let acknowledged = peer.next().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["_meta"], json!({TAG: id}));
    (id, acknowledged["params"]["notifications"].clone())
}

#[tokio::test(start_paused = true)]
async fn p141_a_session_hears_of_each_list_that_changed_once() {
    let server = Server::builder("s", "1").dynamic().build().unwrap();
    let mut peer = Peer::new(server.clone(), Revision::V2025_11_25).await;
    settle().await;
    for n in 0..200 {
        server.add_tool(tool(&format!("t{n}"))).unwrap();
    }
    server.add_resource(resource("x:1")).unwrap();
    server.add_prompt(prompt("p")).unwrap();
    assert!(
        !server.remove_tool("none").unwrap(),
        "nothing changed, so nothing is said"
    );
    settle().await;
    let list = peer.result("tools/list", json!({})).await;
    assert_eq!(list["tools"].as_array().unwrap().len(), 200);
    let mut heard = methods(&peer.notices);
    heard.sort_unstable();
    assert_eq!(
        heard,
        [
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/tools/list_changed"
        ]
    );
    // They carry nothing.
    assert!(peer.notices.iter().all(|notice| notice.get("params").is_none()));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_said_of_changes_before_the_handshake_is_finished() {
    let server = Server::builder("s", "1")
        .dynamic()
        .subscriptions()
        .build()
        .unwrap();
    let mut peer = Peer::fresh(server.clone(), Revision::V2025_11_25, json!({}));
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    peer.result("initialize", hello).await;
    peer.result("resources/subscribe", json!({"uri": "x://a"})).await;
    server.add_tool(tool("t")).unwrap();
    server.resource_updated("x://a");
    settle().await;
    peer.result("tools/list", json!({})).await;
    assert!(peer.notices.is_empty(), "{:?}", peer.notices);
    peer.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    settle().await;
    peer.result("tools/list", json!({})).await;
    // The subscription was kept; the client lists the tools after the handshake anyway.
    assert_eq!(methods(&peer.notices), ["notifications/resources/updated"]);
}

#[tokio::test(start_paused = true)]
async fn only_a_list_that_was_declared_changes_and_is_spoken_of() {
    let server = Server::builder("s", "1")
        .dynamic_tools()
        .resource(resource("x:1"))
        .build()
        .unwrap();
    for error in [
        server.add_resource(resource("x:2")).unwrap_err(),
        server.add_prompt(prompt("p")).unwrap_err(),
        server.remove_resource("x:1").unwrap_err(),
    ] {
        assert_eq!(
            error.to_string(),
            "this list of the server cannot change: build it with `dynamic()`"
        );
    }
    let mut peer = Peer::new(server.clone(), Revision::V2026_07_28).await;
    let asked = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["x:1"], "taskIds": ["t"]});
    let (_, accepted) = listen(&mut peer, asked).await;
    assert_eq!(accepted, json!({"toolsListChanged": true}));
}

#[tokio::test(start_paused = true)]
async fn p143_a_change_shows_in_the_next_list_of_every_revision() {
    for revision in ERAS {
        let server = Server::builder("s", "1")
            .dynamic()
            .tool(tool("b"))
            .build()
            .unwrap();
        let mut peer = Peer::new(server.clone(), revision).await;
        let names = |list: Value| -> Vec<String> {
            let tools = list["tools"].as_array().unwrap().iter();
            tools
                .map(|tool| tool["name"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(names(peer.result("tools/list", json!({})).await), ["b"]);
        server.add_tool(tool("a")).unwrap();
        assert_eq!(names(peer.result("tools/list", json!({})).await), ["a", "b"]);
        server.set_tools([tool("d"), tool("c")]).unwrap();
        assert_eq!(names(peer.result("tools/list", json!({})).await), ["c", "d"]);
        assert!(
            server.set_tools([tool("e"), tool("e")]).is_err(),
            "and nothing changes"
        );
        assert!(server.remove_tool("c").unwrap());
        assert_eq!(names(peer.result("tools/list", json!({})).await), ["d"]);
        assert_eq!(
            peer.error("tools/call", json!({"name": "c"})).await.1,
            "Unknown tool: c"
        );
        // What was declared stays declared when the list is empty.
        assert!(server.remove_tool("d").unwrap());
        assert_eq!(
            bare(peer.result("tools/list", json!({})).await),
            json!({"tools": []})
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_hears_of_the_resources_it_subscribed_to_and_of_no_others() {
    let server = Server::builder("s", "1").subscriptions().build().unwrap();
    let mut one = Peer::new(server.clone(), Revision::V2025_11_25).await;
    let mut two = Peer::new(server.clone(), Revision::V2025_11_25).await;
    settle().await;
    assert_eq!(
        one.result("resources/subscribe", json!({"uri": "x://a"})).await,
        json!({})
    );
    two.result("resources/subscribe", json!({"uri": "x://b"})).await;
    assert_eq!(one.error("resources/subscribe", json!({})).await.0, -32602);
    server.resource_updated("x://a/part");
    server.resource_updated("x://b");
    settle().await;
    one.result("resources/list", json!({})).await;
    two.result("resources/list", json!({})).await;
    let updated = |uri: &str| json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}});
    assert_eq!(one.notices, [updated("x://a/part")]);
    assert_eq!(two.notices, [updated("x://b")]);
    one.result("resources/unsubscribe", json!({"uri": "x://a"})).await;
    one.notices.clear();
    server.resource_updated("x://a");
    settle().await;
    one.result("resources/list", json!({})).await;
    assert!(one.notices.is_empty(), "{:?}", one.notices);
}

#[tokio::test(start_paused = true)]
async fn a_listener_is_acknowledged_first_and_hears_what_it_asked_for_under_its_id() {
    let server = Server::builder("s", "1")
        .dynamic()
        .subscriptions()
        .build()
        .unwrap();
    let mut peer = Peer::new(server.clone(), Revision::V2026_07_28).await;
    let (first, accepted) = listen(&mut peer, json!({"toolsListChanged": true})).await;
    assert_eq!(accepted, json!({"toolsListChanged": true}));
    let filter = json!({"promptsListChanged": true, "resourceSubscriptions": ["x://a"]});
    let (second, accepted) = listen(&mut peer, filter.clone()).await;
    assert_eq!(accepted, filter);

    server.add_tool(tool("t")).unwrap();
    let heard = peer.next().await;
    assert_eq!(heard["method"], "notifications/tools/list_changed");
    assert_eq!(heard["params"], json!({"_meta": {TAG: first}}));
    server.add_resource(resource("x://a")).unwrap();
    server.resource_updated("x://a");
    let heard = peer.next().await;
    assert_eq!(heard["method"], "notifications/resources/updated");
    assert_eq!(heard["params"], json!({"uri": "x://a", "_meta": {TAG: second}}));

    // A cancelled listener hears no more.
    let params = json!({"requestId": first, "_meta": {}});
    peer.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    peer.result("tools/list", json!({})).await;
    server.add_tool(tool("u")).unwrap();
    server.add_prompt(prompt("p")).unwrap();
    let heard = peer.next().await;
    assert_eq!(
        (&heard["method"], &heard["params"]["_meta"][TAG]),
        (&json!("notifications/prompts/list_changed"), &json!(second))
    );
}

#[tokio::test(start_paused = true)]
async fn a_listener_of_a_text_id_is_tagged_with_a_text() {
    let server = Server::builder("s", "1").dynamic().build().unwrap();
    let mut peer = Peer::new(server.clone(), Revision::V2026_07_28).await;
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    peer.send(json!({"jsonrpc": "2.0", "id": "7", "method": "subscriptions/listen", "params": params}))
        .await;
    assert_eq!(peer.next().await["params"]["_meta"][TAG], json!("7"));
    server.add_tool(tool("t")).unwrap();
    assert_eq!(peer.next().await["params"]["_meta"][TAG], json!("7"));
}

#[tokio::test(start_paused = true)]
async fn a_listener_gets_a_final_result_when_the_server_ends() {
    let server = Server::builder("s", "1").dynamic().build().unwrap();
    let mut peer = Peer::new(server.clone(), Revision::V2026_07_28).await;
    let (id, _) = listen(&mut peer, json!({"toolsListChanged": true})).await;
    peer.hang_up().await;
    let end = peer.answer(id).await;
    assert_eq!(end["result"]["resultType"], "complete");
    assert_eq!(end["result"]["_meta"][TAG], json!(id));
    assert_eq!(
        end["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "s"
    );
}

#[tokio::test(start_paused = true)]
async fn completion_stays_declared_once_something_can_be_completed() {
    let server = Server::builder("s", "1").dynamic_prompts().build().unwrap();
    let mut peer = Peer::new(server.clone(), Revision::V2026_07_28).await;
    assert_eq!(
        peer.greeting["capabilities"],
        json!({"prompts": {"listChanged": true}})
    );
    let complete =
        json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}});
    assert_eq!(
        peer.error("completion/complete", complete.clone()).await.0,
        -32601
    );
    let completed = prompt("p")
        .required("a")
        .complete("a", |_cx: Cx, _what| async { vec!["v".to_owned()] });
    server.add_prompt(completed).unwrap();
    let found = peer.result("completion/complete", complete.clone()).await;
    assert_eq!(found["completion"]["values"], json!(["v"]));
    server.remove_prompt("p").unwrap();
    assert_eq!(
        peer.error("completion/complete", complete).await,
        (-32602, "Unknown prompt: p".to_owned())
    );
    let greeting = peer.result("server/discover", json!({})).await;
    assert_eq!(greeting["capabilities"]["completions"], json!({}));
}
