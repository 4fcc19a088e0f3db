//! Real clients as sources, over in-memory pipes.

use mcp_bridge::Registry;
use mcp_client::Client;
use mcp_jsonrpc::{ErrorObject, RawJson};
use mcp_server::{Cx, Failure, Server, Tool};
use mcp_types::Revision;

async fn client_of(server: Server, revision: Revision) -> Client {
    let ((server_read, server_write), (read, write)) = mcp_stdio::pair(64 * 1024);
    tokio::spawn(async move {
        mcp_stdio::serve_on(server_read, server_write, server, mcp_stdio::Options::default()).await
    });
    Client::builder("host", "1")
        .revisions(revision)
        .connect(mcp_stdio::streams(read, write))
        .await
        .unwrap()
}

fn tool(name: &str) -> Tool {
    let text = format!("{name} ran");
    Tool::new(name, move |_: Cx| {
        let text = text.clone();
        async move { text }
    })
}

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

#[tokio::test]
async fn a_client_is_a_source_and_its_changes_are_followed() {
    for revision in ERAS {
        let builder = Server::builder("todo", "1").dynamic();
        let server = builder.tool(tool("todo.add")).build().unwrap();
        let client = client_of(server.clone(), revision).await;
        let registry = Registry::new();
        let follow = registry.attach_client("todo", &client).await.unwrap().unwrap();
        tokio::spawn(follow.run());
        let result = registry
            .call("mcp__todo__todo_add", RawJson::null())
            .await
            .unwrap();
        assert_eq!(mcp_bridge::text::for_model(&result), "todo.add ran");

        server.add_tool(tool("todo.count")).unwrap();
        let limit = tokio::time::Duration::from_secs(10);
        tokio::time::timeout(limit, async {
            while registry.snapshot().get("mcp__todo__todo_count").is_none() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn what_the_server_said_stays_apart_from_what_went_wrong_here() {
    for revision in ERAS {
        let refuse = Tool::new("refuse", |_: Cx| async {
            Err::<String, _>(Failure::invalid_params("not today"))
        });
        let server = Server::builder("todo", "1").tool(refuse).build().unwrap();
        let client = client_of(server, revision).await;
        let registry = Registry::new();
        // This list cannot change, so there is nothing to follow.
        assert!(registry.attach_client("todo", &client).await.unwrap().is_none());
        let error = registry
            .call("mcp__todo__refuse", RawJson::null())
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), "MCP error -32602: not today");
        let (server, said) = error.as_source().unwrap();
        assert_eq!(server, "todo");
        assert_eq!(said.downcast_ref::<ErrorObject>().unwrap().code, -32602);
        client.close().await;
        let error = registry
            .call("mcp__todo__refuse", RawJson::null())
            .await
            .unwrap_err();
        let (_, gone) = error.as_source().unwrap();
        assert!(
            gone.downcast_ref::<mcp_client::ClientError>()
                .unwrap()
                .is_closed()
        );
    }
}
