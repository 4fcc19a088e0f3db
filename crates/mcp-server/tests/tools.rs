//! Listing and calling tools.

mod peer;

use mcp_jsonrpc::RawJson;
use mcp_server::{Cx, Failure, Json, Server, Tool};
use mcp_types::meta::keys;
use mcp_types::{CacheHints, CacheScope, CallToolResult, ContentBlock, Meta, Revision};
use peer::{ERAS, Peer, bare, text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: u64,
}

async fn echo(_cx: Cx, args: Text) -> String {
    args.text
}

fn raw(text: &str) -> RawJson {
    RawJson::from_text(text).unwrap()
}

fn server() -> Server {
    Server::builder("s", "1")
        .tool(Tool::new("zeta", |_cx: Cx| async {}).read_only())
        .tool(
            Tool::new("echo", echo)
                .title("Echo")
                .idempotent()
                .open_world(false),
        )
        .tool(Tool::new("sum", |_cx: Cx| async { Json(Sum { sum: u64::MAX }) }))
        .tool(Tool::new("fails", |_cx: Cx| async {
            Err::<String, _>(Failure::text("no such note"))
        }))
        .tool(Tool::new("absent", |_cx: Cx| async {
            Err::<String, _>(Failure::not_found_text("no note"))
        }))
        .tool(Tool::new("refuses", |_cx: Cx| async {
            Err::<String, _>(Failure::invalid_params("not like this"))
        }))
        .tool(Tool::new("panics", |_cx: Cx| async {
            if std::hint::black_box(true) {
                panic!("a secret of the author");
            }
        }))
        .tool(Tool::new("blocks", |_cx: Cx| async {
            vec![ContentBlock::text("a"), ContentBlock::image("AAAA", "image/png")]
        }))
        .tool(Tool::new("strict", |_cx: Cx, args: Strict| async move {
            format!("{:?}", args.a)
        }))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn p148_tools_are_listed_by_name_and_hints_follow_the_revision() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        let list = peer.result("tools/list", json!({})).await;
        let names: Vec<&str> = list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "absent", "blocks", "echo", "fails", "panics", "refuses", "strict", "sum", "zeta"
            ]
        );
        assert_eq!(list["tools"][2]["title"], "Echo");
        assert_eq!(
            list["tools"][2]["annotations"],
            json!({"idempotentHint": true, "openWorldHint": false})
        );
        assert_eq!(list["tools"][8]["annotations"], json!({"readOnlyHint": true}));
        assert_eq!(list["tools"][8]["inputSchema"]["type"], "object");
        assert_eq!(
            list["tools"][7]["outputSchema"]["properties"]["sum"]["type"],
            "integer"
        );
        assert!(list.get("nextCursor").is_none());
    }
    let mut peer = Peer::new(server(), Revision::V2024_11_05).await;
    let list = peer.result("tools/list", json!({})).await;
    for member in ["title", "annotations", "outputSchema"] {
        assert!(list["tools"][2].get(member).is_none(), "{member}");
    }
}

#[tokio::test(start_paused = true)]
async fn results_have_the_shape_of_what_a_handler_returns() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        assert_eq!(
            bare(peer.tool("echo", json!({"text": "a\n\u{1f642}"})).await),
            json!({"content": [{"type": "text", "text": "a\n\u{1f642}"}]})
        );
        assert_eq!(bare(peer.tool("zeta", json!({})).await), json!({"content": []}));
        assert_eq!(
            bare(peer.tool("blocks", json!({})).await),
            json!({"content": [{"type": "text", "text": "a"},
                {"type": "image", "data": "AAAA", "mimeType": "image/png"}]})
        );
    }
}

#[tokio::test(start_paused = true)]
async fn p032_a_structured_result_keeps_its_numbers_and_comes_as_text_too() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        let result = peer.tool("sum", json!({})).await;
        assert_eq!(
            result["structuredContent"],
            json!({"sum": 18_446_744_073_709_551_615_u64})
        );
        assert_eq!(text(&result), r#"{"sum":18446744073709551615}"#);
    }
    let mut old = Peer::new(server(), Revision::V2025_03_26).await;
    assert!(
        old.tool("sum", json!({}))
            .await
            .get("structuredContent")
            .is_none()
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_revision_gets_its_tool_result_beside_the_content() {
    let mut peer = Peer::new(server(), Revision::V2024_10_07).await;
    assert_eq!(
        peer.tool("echo", json!({"text": "a"})).await,
        json!({"content": [{"type": "text", "text": "a"}], "toolResult": "a"})
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_the_work_is_a_result_and_a_refusal_is_an_error() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        for (name, said) in [("fails", "no such note"), ("absent", "no note")] {
            let result = peer.tool(name, json!({})).await;
            assert_eq!(
                (text(&result), &result["isError"]),
                (said, &json!(true)),
                "{name}"
            );
        }
        let error = peer.error("tools/call", json!({"name": "refuses"})).await;
        assert_eq!(error, (-32602, "not like this".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn p144_absent_and_null_arguments_are_empty_and_others_must_be_an_object() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        for params in [
            json!({"name": "strict"}),
            json!({"name": "strict", "arguments": null}),
            json!({"name": "strict", "arguments": {}}),
        ] {
            assert_eq!(text(&peer.result("tools/call", params).await), "None");
        }
        for arguments in [json!([]), json!("x"), json!(1)] {
            let error = peer
                .error("tools/call", json!({"name": "strict", "arguments": arguments}))
                .await;
            assert_eq!(
                error,
                (-32602, "Invalid params: arguments is not an object".to_owned())
            );
        }
        for params in [json!({}), json!({"name": null}), json!({"name": 1})] {
            let error = peer.error("tools/call", params).await;
            assert_eq!(error, (-32602, "Invalid params: name is not a string".to_owned()));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn p146_bad_arguments_are_for_the_model_and_unknown_tools_for_the_program() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        for (name, arguments, said) in [
            ("echo", json!({}), "Missing argument: text"),
            (
                "echo",
                json!({"text": 1}),
                "Invalid argument text: invalid type: integer `1`, expected a string",
            ),
        ] {
            let result = peer.tool(name, arguments).await;
            assert_eq!((text(&result), &result["isError"]), (said, &json!(true)));
        }
        let error = peer
            .error("tools/call", json!({"name": "none", "arguments": 7}))
            .await;
        assert_eq!(error, (-32602, "Unknown tool: none".to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn p131_extra_arguments_are_refused_exactly_where_the_schema_says_so() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        let list = peer.result("tools/list", json!({})).await;
        assert_eq!(
            list["tools"][6]["inputSchema"]["additionalProperties"],
            json!(false)
        );
        assert_eq!(
            text(&peer.tool("strict", json!({"b": 1})).await),
            "Unknown argument: b"
        );
        assert!(
            list["tools"][2]["inputSchema"]
                .get("additionalProperties")
                .is_none()
        );
        assert_eq!(text(&peer.tool("echo", json!({"text": "x", "b": 1})).await), "x");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wish_for_a_task_is_ignored_where_no_tasks_are_declared() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        let params = json!({"name": "echo", "arguments": {"text": "x"}, "task": {"ttl": 1000}});
        let result = bare(peer.result("tools/call", params).await);
        assert_eq!(result, json!({"content": [{"type": "text", "text": "x"}]}));
    }
}

#[tokio::test(start_paused = true)]
async fn p147_a_panic_fails_its_call_only() {
    for revision in ERAS {
        let mut peer = Peer::new(server(), revision).await;
        let error = peer.error("tools/call", json!({"name": "panics"})).await;
        assert_eq!(error, (-32603, "Internal error".to_owned()));
        assert_eq!(text(&peer.tool("echo", json!({"text": "on"})).await), "on");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_puts_into_meta_stays_beside_who_made_the_result() {
    let server = || {
        Server::builder("s", "1")
            .tool(Tool::new("own", |_cx: Cx| async {
                let meta = Meta::from([("com.example/trace", raw("7"))]);
                CallToolResult::text("x").with_meta(meta)
            }))
            .tool(Tool::new("forwarded", |_cx: Cx| async {
                let meta = Meta::from([(keys::SERVER_INFO, raw(r#"{"name":"upstream","version":"9"}"#))]);
                CallToolResult::text("x").with_meta(meta)
            }))
            .build()
            .unwrap()
    };
    let mut peer = Peer::new(server(), Revision::V2026_07_28).await;
    assert_eq!(
        peer.tool("own", json!({})).await["_meta"],
        json!({"com.example/trace": 7, keys::SERVER_INFO: {"name": "s", "version": "1"}})
    );
    assert_eq!(
        peer.tool("forwarded", json!({})).await["_meta"][keys::SERVER_INFO]["name"],
        "upstream"
    );
    let mut peer = Peer::new(server(), Revision::V2025_11_25).await;
    assert_eq!(
        peer.tool("own", json!({})).await["_meta"],
        json!({"com.example/trace": 7})
    );
}

#[tokio::test(start_paused = true)]
async fn p139_p140_pages_follow_cursors_and_a_strange_cursor_is_refused() {
    let many = (0..5).map(|n| Tool::new(format!("t{n}"), |_cx: Cx| async {}));
    let server = Server::builder("s", "1")
        .tools(many)
        .page_size(2)
        .cache(CacheHints::new(1000, CacheScope::Public))
        .build()
        .unwrap();
    for revision in ERAS {
        let mut peer = Peer::new(server.clone(), revision).await;
        let (mut names, mut params) = (Vec::new(), json!({}));
        loop {
            let page = peer.result("tools/list", params).await;
            names.extend(
                page["tools"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|t| t["name"].as_str().unwrap().to_owned()),
            );
            // All pages share their scope.
            if revision.is_stateless() {
                assert_eq!(
                    (&page["ttlMs"], &page["cacheScope"]),
                    (&json!(1000), &json!("public"))
                );
            }
            match page.get("nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => break,
            }
        }
        assert_eq!(names, ["t0", "t1", "t2", "t3", "t4"]);
        for cursor in ["", "8", "prompt:t1"] {
            let error = peer.error("tools/list", json!({"cursor": cursor})).await;
            assert_eq!(error, (-32602, "Invalid params: unknown cursor".to_owned()));
        }
        assert_eq!(peer.error("tools/list", json!({"cursor": 3})).await.0, -32602);
    }
}
