//! How a client finds out what a server speaks.

mod peer;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_client::Client;
use mcp_exchange::{BoxHandler, BoxLink, Connect, LinkError};
use mcp_types::{Revision, Revisions, Root};
use peer::{Peer, builder, failed, peer, stateful, stateless};
use serde_json::json;

#[tokio::test]
async fn a_modern_server_is_found_by_its_answer_to_discover() {
    let (client, mut peer) =
        stateless(builder().title("Test"), json!({"tools": {"listChanged": true}})).await;
    assert_eq!(client.revision(), Revision::V2026_07_28);
    assert!(client.server_capabilities().tools.as_ref().unwrap().list_changed);
    assert_eq!(client.server_info().version, "1");
    client.close().await;
    assert_eq!(peer.try_next().await, None);
}

#[tokio::test]
async fn an_old_server_gets_the_handshake() {
    let (mut peer, transport) = peer();
    let (client, initialize) = tokio::join!(
        builder().connect(transport),
        peer.shake_hands("2025-06-18", json!({"tools": {}}))
    );
    let client = client.unwrap();
    assert_eq!(client.revision(), Revision::V2025_06_18);
    assert_eq!(
        initialize["params"],
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0.1"},
        })
    );
}

#[tokio::test(start_paused = true)]
async fn p065_silence_means_an_old_server() {
    let (mut peer, transport) = peer();
    let connecting = builder().probe_timeout(Duration::from_secs(2)).connect(transport);
    let script = async {
        let probe = peer.expect("server/discover").await;
        // No cancellation of a probe: the server may be too old to know one.
        peer.shake_hands("2024-10-07", json!({"tools": {}})).await;
        // Too late, and harmless.
        peer.answer(&probe, json!({"supportedVersions": ["2026-07-28"]}))
            .await;
    };
    let (client, ()) = tokio::join!(connecting, script);
    assert_eq!(client.unwrap().revision(), Revision::V2024_10_07);
}

#[tokio::test(start_paused = true)]
async fn p078_a_silent_server_costs_no_more_than_the_set_limits() {
    let started = tokio::time::Instant::now();
    let error = failed(
        builder().timeout(Duration::from_secs(1)),
        async |mut peer: Peer| {
            peer.expect("server/discover").await;
            peer.expect("initialize").await;
            // P069 and 9.60: `initialize` is never cancelled.
            assert_eq!(peer.try_next().await, None);
        },
    )
    .await;
    assert!(error.is_timeout() && !error.is_peer_error(), "{error}");
    assert_eq!(error.to_string(), "initialize: no answer within 1s");
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn one_revision_with_a_handshake_is_not_probed() {
    let (mut peer, transport) = peer();
    let connecting = builder().revisions(Revision::V2025_03_26).connect(transport);
    let script = async {
        let initialize = peer.expect("initialize").await;
        assert_eq!(initialize["params"]["protocolVersion"], "2025-03-26");
        peer.answer(
            &initialize,
            json!({"protocolVersion": "2025-03-26", "capabilities": {}}),
        )
        .await;
        peer.expect("notifications/initialized").await;
    };
    let (client, ()) = tokio::join!(connecting, script);
    assert_eq!(client.unwrap().revision(), Revision::V2025_03_26);
}

#[tokio::test]
async fn what_is_remembered_is_not_probed_again_until_it_no_longer_holds() {
    let known = builder().known_revision(Revision::V2025_11_25);
    let (mut peer, transport) = peer();
    let script = async {
        let initialize = peer.expect("initialize").await;
        let error = json!({"code": -32022, "message": "Unsupported protocol version",
            "data": {"supported": ["2026-07-28"], "requested": "2025-11-25"}});
        peer.send(json!({"jsonrpc": "2.0", "id": initialize["id"], "error": error}))
            .await;
        peer.be_discovered(json!({})).await;
    };
    let (client, ()) = tokio::join!(known.connect(transport), script);
    assert_eq!(client.unwrap().revision(), Revision::V2026_07_28);
}

#[tokio::test]
async fn minus_32022_is_answered_with_another_version_or_an_end_never_with_a_blind_handshake() {
    let error = failed(builder(), async |mut peer: Peer| {
        let probe = peer.expect("server/discover").await;
        let error = json!({"code": -32022, "message": "no", "data": {"supported": ["2030-01-01"]}});
        peer.send(json!({"jsonrpc": "2.0", "id": probe["id"], "error": error}))
            .await;
        assert_eq!(peer.try_next().await, None);
    })
    .await;
    assert!(error.is_negotiation(), "{error}");
    assert!(error.to_string().contains("2030-01-01"), "{error}");

    let error = failed(
        builder().revisions(Revisions::STATELESS),
        async |mut peer: Peer| {
            let probe = peer.expect("server/discover").await;
            peer.refuse(&probe, -32601, "Method not found").await;
            assert_eq!(peer.try_next().await, None);
        },
    )
    .await;
    assert!(error.is_negotiation(), "{error}");
}

#[tokio::test]
async fn p053_initialized_comes_before_the_first_request() {
    let (mut peer, transport) = peer();
    let script = async {
        let probe = peer.expect("server/discover").await;
        peer.refuse(&probe, -32601, "Method not found").await;
        let initialize = peer.expect("initialize").await;
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}});
        peer.answer(&initialize, result).await;
        peer.expect("notifications/initialized").await;
        peer.serve("tools/list", json!({"tools": []})).await;
    };
    let asking = async { builder().connect(transport).await.unwrap().list_tools().await };
    let (tools, ()) = tokio::join!(asking, script);
    assert_eq!(tools.unwrap(), []);
}

#[tokio::test]
async fn p054_other_messages_may_come_before_the_answer_to_initialize() {
    let (mut peer, transport) = peer();
    let script = async {
        let initialize = peer.expect("initialize").await;
        peer.notify(
            "notifications/message",
            json!({"level": "info", "data": "starting"}),
        )
        .await;
        peer.send(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}))
            .await;
        assert_eq!(
            peer.next().await,
            json!({"jsonrpc": "2.0", "id": "p", "result": {}})
        );
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
        peer.answer(&initialize, result).await;
        peer.expect("notifications/initialized").await;
    };
    let old = builder().revisions(Revisions::STATEFUL);
    let (client, ()) = tokio::join!(old.connect(transport), script);
    client.unwrap();
}

#[tokio::test]
async fn p056_a_version_that_nobody_speaks_ends_the_connection_and_names_both() {
    let error = failed(
        builder().revisions(Revisions::STATEFUL),
        async |mut peer: Peer| {
            peer.serve(
                "initialize",
                json!({"protocolVersion": "1999-01-01", "capabilities": {}}),
            )
            .await;
            assert_eq!(peer.try_next().await, None);
        },
    )
    .await;
    assert!(error.is_negotiation());
    let text = error.to_string();
    assert!(
        text.contains("1999-01-01") && text.contains("2025-11-25"),
        "{text}"
    );
}

#[tokio::test]
async fn p060_capabilities_of_any_type_are_read() {
    let odd = json!({"tools": [], "prompts": null, "logging": false, "x": 1, "resources": {}});
    let (client, _peer) = stateful(builder(), odd).await;
    let declared = client.server_capabilities();
    assert!(declared.tools.is_none() && declared.prompts.is_none() && declared.logging.is_none());
    assert!(declared.resources.is_some());
}

#[tokio::test]
async fn p061_a_missing_capabilities_member_is_no_word_about_tools_but_an_empty_one_is() {
    let (mut peer, transport) = peer();
    let script = async {
        peer.serve("initialize", json!({"protocolVersion": "2025-11-25"}))
            .await;
        peer.expect("notifications/initialized").await;
        let list = peer.expect("tools/list").await;
        peer.refuse(&list, -32601, "Method not found").await;
        assert_eq!(peer.try_next().await, None);
    };
    let asking = async {
        let old = builder().revisions(Revisions::STATEFUL);
        let client = old.connect(transport).await.unwrap();
        assert_eq!(client.list_tools().await.unwrap(), []);
        assert_eq!(client.list_prompts().await.unwrap(), []);
        client.close().await;
    };
    tokio::join!(asking, script);

    let (client, mut peer) = stateful(builder(), json!({})).await;
    assert_eq!(client.list_tools().await.unwrap(), []);
    let error = client.tool("add").await.unwrap_err();
    assert!(error.is_unsupported(), "{error}");
    client.close().await;
    assert_eq!(peer.try_next().await, None);
}

#[tokio::test]
async fn p062_a_nameless_server_gets_the_configured_name_and_a_missing_version_is_an_error() {
    for info in [
        json!({}),
        json!({"serverInfo": {"name": ""}}),
        json!({"serverInfo": null}),
    ] {
        let (mut peer, transport) = peer();
        let mut result = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "instructions": ""});
        result
            .as_object_mut()
            .unwrap()
            .extend(info.as_object().unwrap().clone());
        let script = async {
            peer.serve("initialize", result).await;
            peer.expect("notifications/initialized").await;
        };
        let old = builder().revisions(Revisions::STATEFUL).server_name("weather");
        let (client, ()) = tokio::join!(old.connect(transport), script);
        let client = client.unwrap();
        assert_eq!(client.server_name(), "weather");
        assert_eq!(client.instructions(), None);
    }
    let error = failed(
        builder().revisions(Revisions::STATEFUL),
        async |mut peer: Peer| {
            peer.serve("initialize", json!({"capabilities": {}})).await;
            peer.try_next().await;
        },
    )
    .await;
    assert!(error.is_protocol());
    assert_eq!(
        error.to_string(),
        "the server's answer to initialize has no protocolVersion"
    );
}

#[tokio::test]
async fn p063_an_error_of_initialize_is_handed_on_whole() {
    let error = failed(
        builder().revisions(Revisions::STATEFUL),
        async |mut peer: Peer| {
            let initialize = peer.expect("initialize").await;
            let error = json!({"code": -32001, "message": "no licence", "data": {"until": "May"}});
            peer.send(json!({"jsonrpc": "2.0", "id": initialize["id"], "error": error}))
                .await;
            peer.try_next().await;
        },
    )
    .await;
    assert_eq!(error.to_string(), "MCP error -32001: no licence");
    let object = error.error_object().unwrap();
    assert_eq!(object.data.as_ref().unwrap().as_str(), r#"{"until":"May"}"#);
}

#[tokio::test]
async fn p025_a_server_that_ends_before_it_is_ready_is_told_at_once() {
    let error = failed(
        builder().revisions(Revisions::STATEFUL),
        async |mut peer: Peer| {
            peer.expect("initialize").await;
            peer.hang_up().await;
        },
    )
    .await;
    assert!(error.is_closed(), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("the server ended before it was ready: "),
        "{error}"
    );
}

/// Starts a new server each time.
struct Restartable {
    ends: Mutex<Vec<mcp_stdio::Streams<Half, Out>>>,
    started: AtomicUsize,
}

type Half = tokio::io::ReadHalf<tokio::io::DuplexStream>;
type Out = tokio::io::WriteHalf<tokio::io::DuplexStream>;

impl Connect for &'static Restartable {
    async fn connect(&self, inbound: BoxHandler) -> Result<BoxLink, LinkError> {
        self.started.fetch_add(1, Ordering::Relaxed);
        let next = self.ends.lock().unwrap().pop();
        next.ok_or_else(|| LinkError::start("no more"))?
            .connect(inbound)
            .await
    }
}

#[tokio::test]
async fn p065_a_server_that_dies_of_the_probe_is_started_again() {
    for answers_first in [false, true] {
        let (mut first, one) = peer();
        let (mut second, two) = peer();
        let transport: &'static Restartable = Box::leak(Box::new(Restartable {
            ends: Mutex::new(vec![two, one]),
            started: AtomicUsize::new(0),
        }));
        let script = async {
            let probe = first.expect("server/discover").await;
            if answers_first {
                first.refuse(&probe, -32600, "initialize first").await;
                first.expect("initialize").await;
            }
            first.hang_up().await;
            let initialize = second.expect("initialize").await;
            let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
            second.answer(&initialize, result).await;
            second.expect("notifications/initialized").await;
        };
        let (client, ()) = tokio::join!(builder().connect(transport), script);
        assert_eq!(client.unwrap().revision(), Revision::V2025_11_25);
        assert_eq!(transport.started.load(Ordering::Relaxed), 2);
    }
}

#[tokio::test]
async fn the_last_clone_closes_the_connection() {
    let (client, mut peer) = stateful(builder(), json!({})).await;
    let other = client.clone();
    drop(client);
    let (pong, _) = tokio::join!(other.ping().into_future(), peer.serve("ping", json!({})));
    pong.unwrap();
    drop(other);
    assert_eq!(peer.try_next().await, None);
}

#[tokio::test]
async fn a_connection_that_is_given_up_is_closed() {
    let (mut peer, transport) = peer();
    let connecting = tokio::spawn(Client::builder("test", "0").connect(transport));
    peer.expect("server/discover").await;
    connecting.abort();
    assert_eq!(peer.try_next().await, None);
}

#[tokio::test]
async fn what_has_a_handler_is_declared_as_each_revision_may_see_it() {
    let full = || {
        builder()
            .roots([Root::new("file:///a")])
            .on_sample(|_| std::future::pending())
            .sampling_tools(true)
            .on_elicit(|_| std::future::pending())
            .on_elicit_url(|_| std::future::pending())
            .experimental("x", mcp_jsonrpc::RawJson::empty_object())
    };
    let declared = async |revision: Revision| {
        let (mut peer, transport) = peer();
        let connecting = full().revisions(revision).connect(transport);
        let (_, initialize) = tokio::join!(connecting, peer.shake_hands(revision.name(), json!({})));
        initialize["params"]["capabilities"].clone()
    };
    assert_eq!(
        declared(Revision::V2024_10_07).await,
        json!({"experimental": {"x": {}}, "sampling": {}})
    );
    assert_eq!(
        declared(Revision::V2025_06_18).await,
        json!({"experimental": {"x": {}}, "roots": {"listChanged": true}, "sampling": {}, "elicitation": {}})
    );
    assert_eq!(
        declared(Revision::V2025_11_25).await,
        json!({"experimental": {"x": {}}, "roots": {"listChanged": true}, "sampling": {"tools": {}},
            "elicitation": {"form": {}, "url": {}}})
    );
    let bad = builder()
        .roots([Root::new("https://example.com")])
        .connect(peer().1)
        .await;
    assert!(bad.unwrap_err().is_usage());
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_that_was_too_slow_for_the_probe_is_probed_again_once() {
    let (mut peer, transport) = peer();
    let script = async {
        peer.expect("server/discover").await;
        let initialize = peer.expect("initialize").await;
        peer.refuse(&initialize, -32022, "Unsupported protocol version")
            .await;
        peer.be_discovered(json!({})).await;
    };
    let (client, ()) = tokio::join!(builder().connect(transport), script);
    assert_eq!(client.unwrap().revision(), Revision::V2026_07_28);

    let error = failed(builder(), async |mut peer: Peer| {
        for method in ["server/discover", "initialize", "server/discover", "initialize"] {
            let request = peer.expect(method).await;
            if method == "initialize" {
                peer.refuse(&request, -32022, "Unsupported protocol version")
                    .await;
            }
        }
        assert_eq!(peer.try_next().await, None);
    })
    .await;
    assert!(error.is_peer_error() && error.is_negotiation());
}
