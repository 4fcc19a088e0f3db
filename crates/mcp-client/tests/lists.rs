//! Lists, the kept catalogue of tools, and what it is good for.

mod peer;

use std::time::Duration;

use peer::{builder, stateful, stateless};
use serde_json::{Value, json};

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn names(tools: &[mcp_types::Tool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn p139_p035_all_lists_follow_their_cursors() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}, "resources": {}, "prompts": {}})).await;
    let mut pages = async |method: &str, member: &str, entry: fn(u32) -> Value| {
        for page in 0..3 {
            let request = peer.expect(method).await;
            match page {
                0 => assert_eq!(request.get("params"), None),
                n => assert_eq!(request["params"], json!({"cursor": format!("p{n}")})),
            }
            let mut result = json!({member: [entry(2 * page), entry(2 * page + 1)]});
            if page < 2 {
                result["nextCursor"] = json!(format!("p{}", page + 1));
            }
            peer.answer(&request, result).await;
        }
    };
    let named = |n: u32| json!({"name": format!("n{n}")});
    let located = |n: u32| json!({"name": "n", "uri": format!("x:{n}")});
    let (tools, ()) = tokio::join!(
        client.list_tools(),
        pages("tools/list", "tools", |n| tool(&format!("t{n}")))
    );
    assert_eq!(names(&tools.unwrap()), ["t0", "t1", "t2", "t3", "t4", "t5"]);
    let (prompts, ()) = tokio::join!(client.list_prompts(), pages("prompts/list", "prompts", named));
    assert_eq!(prompts.unwrap().len(), 6);
    let (resources, ()) = tokio::join!(
        client.list_resources(),
        pages("resources/list", "resources", located)
    );
    assert_eq!(resources.unwrap()[5].uri, "x:5");
    let (templates, ()) = tokio::join!(
        client.list_resource_templates(),
        pages("resources/templates/list", "resourceTemplates", |n| {
            json!({"name": "n", "uriTemplate": format!("x:{n}/{{y}}")})
        })
    );
    assert_eq!(templates.unwrap().len(), 6);
}

#[tokio::test]
async fn one_page_can_be_asked_for() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let (page, request) = tokio::join!(
        client.list_tools_page(Some("")).into_future(),
        peer.serve("tools/list", json!({"tools": [tool("a")], "nextCursor": "n"}))
    );
    assert_eq!(request["params"], json!({"cursor": ""}));
    assert_eq!(page.unwrap().next_cursor.as_deref(), Some("n"));
}

#[tokio::test]
async fn p140_an_empty_cursor_is_one_and_null_is_none() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let script = async {
        peer.serve("tools/list", json!({"tools": [tool("a")], "nextCursor": ""}))
            .await;
        let second = peer
            .serve("tools/list", json!({"tools": [tool("b")], "nextCursor": null}))
            .await;
        assert_eq!(second["params"], json!({"cursor": ""}));
    };
    let (tools, ()) = tokio::join!(client.list_tools(), script);
    assert_eq!(names(&tools.unwrap()), ["a", "b"]);
}

#[tokio::test]
async fn p138_a_cursor_that_repeats_ends_the_list_before_its_page_comes_twice() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let script = async {
        for name in ["a", "b"] {
            peer.serve("tools/list", json!({"tools": [tool(name)], "nextCursor": "8"}))
                .await;
        }
    };
    let (tools, ()) = tokio::join!(client.list_tools(), script);
    assert_eq!(names(&tools.unwrap()), ["a", "b"]);
}

#[tokio::test]
async fn p138_pages_and_items_are_bounded() {
    for bounded in [builder().max_pages(5), builder().max_items(4)] {
        let (client, mut peer) = stateful(bounded, json!({"tools": {}})).await;
        let script = async {
            for page in 0..5 {
                let result = json!({"tools": [tool("a")], "nextCursor": page.to_string()});
                peer.serve("tools/list", result).await;
            }
        };
        let (tools, ()) = tokio::join!(client.list_tools(), script);
        assert!(tools.unwrap_err().is_protocol());
    }
}

#[tokio::test]
async fn p119_p047_a_bad_entry_costs_no_other() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let page = json!({"tools": [
        {"name": "a", "inputSchema": {"type": "object"}, "_meta": {"_x": {}}, "newField": 1},
        {"name": "no schema"},
        {"name": 7, "inputSchema": {}},
        {"name": "z", "inputSchema": {"type": "object", "required": null}},
    ]});
    let (tools, _) = tokio::join!(client.list_tools(), peer.serve("tools/list", page));
    let tools = tools.unwrap();
    assert_eq!(names(&tools), ["a", "z"]);
    assert_eq!(tools[0].extra.get("newField").unwrap().as_str(), "1");
}

#[tokio::test]
async fn p130_schemas_keep_their_order_and_digits() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {}})).await;
    let schema = r#"{"type":"object","properties":{"z":{},"a":{"maximum":1e400},"m":{}}}"#;
    let script = async {
        let id = peer.expect("tools/list").await["id"].clone();
        peer.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}}}"#
        ))
        .await;
    };
    let (tools, ()) = tokio::join!(client.list_tools(), script);
    assert_eq!(tools.unwrap()[0].input_schema.as_str(), schema);
}

#[tokio::test]
async fn p143_the_catalogue_is_kept_until_the_server_says_that_it_changed() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {"listChanged": true}})).await;
    let (tools, _) = tokio::join!(
        client.tools(),
        peer.serve("tools/list", json!({"tools": [tool("a")]}))
    );
    let first = tools.unwrap();
    // Nothing is asked for: it is the same list.
    assert!(std::sync::Arc::ptr_eq(&first, &client.tools().await.unwrap()));
    let changed = tokio::join!(
        client.tools_changed(),
        peer.notify("notifications/tools/list_changed", json!({}))
    );
    let ((), ()) = changed;
    let page = json!({"tools": [tool("a"), tool("b")]});
    let (tools, _) = tokio::join!(client.tools(), peer.serve("tools/list", page));
    assert_eq!(names(&tools.unwrap()), ["a", "b"]);
}

#[tokio::test]
async fn p064_a_change_during_a_listing_leads_to_one_more() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {"listChanged": true}})).await;
    let script = async {
        let first = peer.expect("tools/list").await;
        peer.notify("notifications/tools/list_changed", json!({})).await;
        peer.answer(&first, json!({"tools": [tool("a")]})).await;
        peer.serve("tools/list", json!({"tools": [tool("a"), tool("b")]}))
            .await;
    };
    let (tools, ()) = tokio::join!(client.tools(), script);
    assert_eq!(names(&tools.unwrap()), ["a", "b"]);
    assert_eq!(client.tools().await.unwrap().len(), 2);
}

#[tokio::test]
async fn p141_many_notices_and_many_who_ask_make_few_listings() {
    let (client, mut peer) = stateful(builder(), json!({"tools": {"listChanged": true}})).await;
    let script = async {
        let first = peer.expect("tools/list").await;
        for _ in 0..200 {
            peer.notify("notifications/tools/list_changed", json!({})).await;
        }
        peer.answer(&first, json!({"tools": [tool("a")]})).await;
        peer.serve("tools/list", json!({"tools": [tool("b")]})).await;
        // No third one.
        peer.serve("ping", json!({})).await;
    };
    let asking = async {
        let (one, two, three) = tokio::join!(client.tools(), client.tools(), client.tools());
        for tools in [one, two, three] {
            assert_eq!(names(&tools.unwrap()), ["b"]);
        }
        client.ping().await.unwrap();
    };
    tokio::join!(asking, script);
}

#[tokio::test]
async fn the_stateless_era_listens_for_changes_of_the_tools() {
    let (client, mut peer) = stateless(builder(), json!({"tools": {"listChanged": true}})).await;
    let script = async {
        let listen = peer.expect("subscriptions/listen").await;
        assert_eq!(
            listen["params"]["notifications"],
            json!({"toolsListChanged": true})
        );
        let meta = json!({"io.modelcontextprotocol/subscriptionId": listen["id"]});
        let accepted = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
        peer.notify("notifications/subscriptions/acknowledged", accepted)
            .await;
        peer.serve(
            "tools/list",
            json!({"resultType": "complete", "tools": [tool("a")]}),
        )
        .await;
        peer.serve("x/next", json!({})).await;
        peer.notify("notifications/tools/list_changed", json!({"_meta": meta}))
            .await;
        peer.serve(
            "tools/list",
            json!({"resultType": "complete", "tools": [tool("b")]}),
        )
        .await;
    };
    let asking = async {
        assert_eq!(names(&client.tools().await.unwrap()), ["a"]);
        client.request("x/next", None).await.unwrap();
        client.tools_changed().await;
        assert_eq!(names(&client.tools().await.unwrap()), ["b"]);
    };
    tokio::join!(asking, script);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_the_server_ends_makes_the_tools_count_as_changed() {
    let (client, mut peer) = stateless(builder(), json!({"tools": {"listChanged": true}})).await;
    let script = async {
        let mut listens = 0;
        loop {
            let request = peer.next().await;
            match request["method"].as_str().unwrap() {
                "subscriptions/listen" => {
                    listens += 1;
                    let meta = json!({"io.modelcontextprotocol/subscriptionId": request["id"]});
                    let accepted = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
                    peer.notify("notifications/subscriptions/acknowledged", accepted)
                        .await;
                    if listens == 1 {
                        peer.answer(&request, json!({"resultType": "complete", "_meta": meta}))
                            .await;
                    }
                }
                "tools/list" => {
                    peer.answer(&request, json!({"tools": [tool(&format!("t{listens}"))]}))
                        .await;
                    if listens == 2 {
                        break;
                    }
                }
                other => panic!("{other}"),
            }
        }
    };
    let asking = async {
        assert_eq!(names(&client.tools().await.unwrap()), ["t1"]);
        client.tools_changed().await;
        assert_eq!(names(&client.tools().await.unwrap()), ["t2"]);
    };
    tokio::time::timeout(Duration::from_secs(30), async { tokio::join!(asking, script) })
        .await
        .unwrap();
}

#[cfg(feature = "validate")]
mod validated {
    use mcp_client::Client;
    use peer::Peer;

    use super::*;

    async fn listed(schema: Value) -> (Client, Peer) {
        let (client, mut peer) = stateful(builder(), json!({"tools": {"listChanged": true}})).await;
        let mut listed = tool("t");
        listed["outputSchema"] = schema;
        let (tools, _) = tokio::join!(
            client.list_tools(),
            peer.serve("tools/list", json!({"tools": [listed]}))
        );
        tools.unwrap();
        (client, peer)
    }

    fn sum() -> Value {
        json!({
            "type": "object",
            "properties": {"sum": {"type": "integer"}},
            "required": ["sum"],
            "additionalProperties": false,
        })
    }

    async fn outcome(client: &Client, peer: &mut Peer, result: Value) -> Result<(), String> {
        let (result, _) = tokio::join!(client.tool("t").into_future(), peer.serve("tools/call", result));
        match result {
            Ok(_) => Ok(()),
            Err(error) => {
                assert!(error.is_protocol());
                Err(error.to_string())
            }
        }
    }

    #[tokio::test]
    async fn p126_exactly_the_structured_result_is_checked() {
        let (client, mut peer) = listed(sum()).await;
        let fine = json!({"content": [], "structuredContent": {"sum": 1}, "_meta": {"x": 1}});
        assert_eq!(outcome(&client, &mut peer, fine).await, Ok(()));
        let more = json!({"content": [], "structuredContent": {"sum": 1, "more": 2}});
        let error = outcome(&client, &mut peer, more.clone()).await.unwrap_err();
        assert!(error.contains("the tool t") && error.contains("more"), "{error}");
        let (result, _) = tokio::join!(
            client.tool("t").unchecked().into_future(),
            peer.serve("tools/call", more)
        );
        result.unwrap();
    }

    #[tokio::test]
    async fn p125_what_a_failing_tool_says_is_not_checked() {
        let (client, mut peer) = listed(sum()).await;
        for odd in [
            json!({"isError": true}),
            json!({"isError": true, "structuredContent": 7}),
        ] {
            assert_eq!(outcome(&client, &mut peer, odd).await, Ok(()));
        }
    }

    #[tokio::test]
    async fn p127_a_missing_structure_is_an_error_that_says_so() {
        let (client, mut peer) = listed(sum()).await;
        let text = json!({"content": [{"type": "text", "text": "3"}]});
        assert_eq!(
            outcome(&client, &mut peer, text.clone()).await.unwrap_err(),
            "the tool t has an output schema, and its result has no structuredContent"
        );
        let (client, mut peer) = listed(json!({})).await;
        assert_eq!(outcome(&client, &mut peer, text).await, Ok(()));
    }

    #[tokio::test]
    async fn p128_any_json_may_be_a_structured_result() {
        let (client, mut peer) = listed(json!({})).await;
        for value in [json!([1, 2]), json!("x"), json!(null)] {
            let result = json!({"content": [], "structuredContent": value});
            assert_eq!(outcome(&client, &mut peer, result).await, Ok(()));
        }
    }

    #[tokio::test]
    async fn p121_p122_a_schema_that_cannot_be_used_checks_nothing() {
        for schema in [
            json!({"$schema": "urn:unknown"}),
            json!({"$ref": "http://127.0.0.1:1/x.json"}),
        ] {
            let (client, mut peer) = listed(schema).await;
            let result = json!({"content": [], "structuredContent": {"any": 1}});
            assert_eq!(outcome(&client, &mut peer, result).await, Ok(()));
        }
    }

    #[tokio::test]
    async fn p143_a_schema_that_may_have_changed_is_not_held_against_anybody() {
        let (client, mut peer) = listed(sum()).await;
        peer.notify("notifications/tools/list_changed", json!({})).await;
        let (pong, _) = tokio::join!(client.ping().into_future(), peer.serve("ping", json!({})));
        pong.unwrap();
        let other = json!({"content": [], "structuredContent": {"total": 1}});
        assert_eq!(outcome(&client, &mut peer, other).await, Ok(()));
    }
}
