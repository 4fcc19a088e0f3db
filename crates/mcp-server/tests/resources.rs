//! Resources and their templates.

mod peer;

use mcp_jsonrpc::ErrorObject;
use mcp_server::{Cx, Failure, Resource, Server, Template};
use mcp_types::{CacheHints, CacheScope, Map, ResourceContents, Revision};
use peer::{ERAS, Peer, bare};
use serde_json::json;

const TODO: &str = "- fix the parser\n- add tests";

/// The server of the lesson's Example 7.
fn notes() -> Server {
    let note = |_cx: Cx, values: Map<String>| async move {
        match values.get("name").map(String::as_str) {
            Some("todo") => Ok(TODO.to_owned()),
            Some(other) if other.contains('\u{a7}') || other.contains('%') => Ok(other.to_owned()),
            _ => Err(Failure::not_found()),
        }
    };
    Server::builder("notes", "1")
        .resource(Resource::new("notes://todo", "todo", |_cx: Cx| async { TODO }).mime_type("text/markdown"))
        .resource(
            Resource::new("notes://design", "design", |_cx: Cx| async { "The parser." })
                .mime_type("text/markdown"),
        )
        .resource(Resource::new("x://HOST", "host", |_cx: Cx| async {
            vec![
                ResourceContents::from_blob("x://HOST", "+/8="),
                ResourceContents::from_text("x://HOST#2", "b"),
            ]
        }))
        .template(Template::new("notes://{name}", "note", note).description("A note by name"))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_notes_server_of_the_lesson_lists_and_reads() {
    for revision in ERAS {
        let mut peer = Peer::new(notes(), revision).await;
        assert_eq!(
            bare(peer.result("resources/list", json!({})).await),
            json!({"resources": [
                {"uri": "notes://design", "name": "design", "mimeType": "text/markdown"},
                {"uri": "notes://todo", "name": "todo", "mimeType": "text/markdown"},
                {"uri": "x://HOST", "name": "host"}]})
        );
        assert_eq!(
            bare(peer.result("resources/templates/list", json!({})).await),
            json!({"resourceTemplates": [
                {"uriTemplate": "notes://{name}", "name": "note", "description": "A note by name"}]})
        );
        assert_eq!(
            bare(
                peer.result("resources/read", json!({"uri": "notes://todo"}))
                    .await
            ),
            json!({"contents": [{"uri": "notes://todo", "mimeType": "text/markdown", "text": TODO}]})
        );
    }
}

#[tokio::test(start_paused = true)]
async fn p157_an_unknown_resource_has_the_code_of_its_revision() {
    for (revision, code) in [
        (Revision::V2024_11_05, -32002),
        (Revision::V2025_11_25, -32002),
        (Revision::V2026_07_28, -32602),
    ] {
        let mut peer = Peer::new(notes(), revision).await;
        // One that no template matches, and one that a handler does not find.
        for uri in ["other://secret", "notes://secret"] {
            let answer = peer.call("resources/read", json!({"uri": uri})).await;
            let expected =
                json!({"code": code, "message": format!("Resource {uri} not found"), "data": {"uri": uri}});
            assert_eq!(answer["error"], expected, "{revision}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn codes_that_a_revision_must_not_see_are_not_passed_on() {
    let fails =
        |code| move |_cx: Cx| async move { Err::<String, _>(ErrorObject::new(code, "from upstream")) };
    let server = Server::builder("s", "1")
        .resource(Resource::new("x:missing", "missing", fails(-32002)))
        .resource(Resource::new("x:url", "url", fails(-32042)))
        .build()
        .unwrap();
    for (revision, missing, url) in [
        (Revision::V2025_06_18, -32002, -32603),
        (Revision::V2025_11_25, -32002, -32042),
        (Revision::V2026_07_28, -32602, -32603),
    ] {
        let mut peer = Peer::new(server.clone(), revision).await;
        assert_eq!(
            peer.error("resources/read", json!({"uri": "x:missing"})).await.0,
            missing,
            "{revision}"
        );
        assert_eq!(
            peer.error("resources/read", json!({"uri": "x:url"})).await.0,
            url,
            "{revision}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn p152_p153_variables_are_decoded_once_and_a_broken_escape_is_refused() {
    for revision in ERAS {
        let mut peer = Peer::new(notes(), revision).await;
        for (uri, said) in [("notes://%C2%A7%20a+b", "\u{a7} a+b"), ("notes://%2520", "%20")] {
            let read = peer.result("resources/read", json!({"uri": uri})).await;
            // P156: the URI comes back byte for byte.
            assert_eq!(bare(read), json!({"contents": [{"uri": uri, "text": said}]}));
        }
        let (code, message) = peer.error("resources/read", json!({"uri": "notes://%zz"})).await;
        assert_eq!(code, -32602);
        assert!(message.contains("broken percent escape"), "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn p156_p159_contents_are_passed_on_as_they_are() {
    for revision in ERAS {
        let mut peer = Peer::new(notes(), revision).await;
        assert_eq!(
            bare(peer.result("resources/read", json!({"uri": "x://HOST"})).await),
            json!({"contents": [{"uri": "x://HOST", "blob": "+/8="}, {"uri": "x://HOST#2", "text": "b"}]})
        );
        assert_eq!(
            peer.error("resources/read", json!({"uri": "x://host"})).await.1,
            "Resource x://host not found"
        );
        for params in [json!({}), json!({"uri": 1}), json!({"uri": null})] {
            let error = peer.error("resources/read", params).await;
            assert_eq!(error, (-32602, "Invalid params: uri is not a string".to_owned()));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn reads_carry_the_cache_hints_unless_they_come_of_answers() {
    let server = Server::builder("s", "1")
        .resource(Resource::new("x:y", "y", |_cx: Cx| async { "text" }))
        .cache(CacheHints::new(5000, CacheScope::Public))
        .build()
        .unwrap();
    let mut peer = Peer::new(server.clone(), Revision::V2026_07_28).await;
    let read = peer.result("resources/read", json!({"uri": "x:y"})).await;
    assert_eq!(
        (&read["ttlMs"], &read["cacheScope"]),
        (&json!(5000), &json!("public"))
    );
    let read = peer
        .result("resources/read", json!({"uri": "x:y", "inputResponses": {}}))
        .await;
    assert_eq!(
        (&read["ttlMs"], &read["cacheScope"]),
        (&json!(0), &json!("private"))
    );
    let mut peer = Peer::new(server, Revision::V2025_11_25).await;
    assert!(
        peer.result("resources/read", json!({"uri": "x:y"}))
            .await
            .get("ttlMs")
            .is_none()
    );
}
