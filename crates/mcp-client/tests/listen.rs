//! Changes of lists and resources.

mod peer;

use mcp_client::Change;
use mcp_types::SubscriptionFilter;
use peer::{builder, stateful, stateless};
use serde_json::{Value, json};

fn everything() -> SubscriptionFilter {
    SubscriptionFilter::new()
        .with_tools_list_changed(true)
        .with_prompts_list_changed(true)
        .with_resources_list_changed(true)
        .with_resource_subscriptions(["x://a", "x://b"])
}

fn tagged(id: &Value, mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
    params
}

#[tokio::test]
async fn the_stateful_era_subscribes_to_each_resource_and_takes_it_back() {
    let declared = json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}});
    let (client, mut peer) = stateful(builder(), declared).await;
    let script = async {
        for uri in ["x://a", "x://b"] {
            let request = peer.serve("resources/subscribe", json!({})).await;
            assert_eq!(request["params"], json!({"uri": uri}));
        }
    };
    let (subscription, ()) = tokio::join!(client.listen(everything()), script);
    let mut subscription = subscription.unwrap();
    let accepted = SubscriptionFilter::new()
        .with_tools_list_changed(true)
        .with_resource_subscriptions(["x://a", "x://b"]);
    assert_eq!(*subscription.accepted(), accepted);
    let changes = async {
        for uri in ["x://b", "x://a/part", "x://b"] {
            peer.notify("notifications/resources/updated", json!({"uri": uri}))
                .await;
        }
        peer.notify("notifications/tools/list_changed", json!({})).await;
        // Not asked for, as the server did not declare it.
        peer.notify("notifications/prompts/list_changed", json!({})).await;
        peer.serve("ping", json!({})).await;
    };
    let (pong, ()) = tokio::join!(client.ping().into_future(), changes);
    pong.unwrap();
    assert_eq!(subscription.next().await.unwrap(), Some(Change::Tools));
    assert_eq!(
        subscription.next().await.unwrap(),
        Some(Change::Resource("x://b".into()))
    );
    assert_eq!(
        subscription.next().await.unwrap(),
        Some(Change::Resource("x://a/part".into()))
    );
    drop(subscription);
    for uri in ["x://a", "x://b"] {
        let request = peer.serve("resources/unsubscribe", json!({})).await;
        assert_eq!(request["params"], json!({"uri": uri}));
    }
}

#[tokio::test]
async fn a_stateful_subscription_ends_with_its_connection() {
    let (client, peer) = stateful(builder(), json!({"tools": {"listChanged": true}})).await;
    let mut subscription = client.listen(everything()).await.unwrap();
    peer.hang_up().await;
    assert!(subscription.next().await.unwrap_err().is_closed());
}

#[tokio::test]
async fn a_stateless_subscription_is_acknowledged_first_and_hears_only_its_own() {
    let (client, mut peer) = stateless(builder(), json!({})).await;
    let script = async {
        let listen = peer.expect("subscriptions/listen").await;
        assert_eq!(
            listen["params"]["notifications"],
            json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
                "resourceSubscriptions": ["x://a", "x://b"]})
        );
        let id = &listen["id"];
        let accepted =
            json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["x://a"]}});
        peer.notify("notifications/subscriptions/acknowledged", tagged(id, accepted))
            .await;
        // Neither the id's text nor another id is this subscription.
        for other in [json!(id.to_string()), json!(9999)] {
            peer.notify("notifications/prompts/list_changed", tagged(&other, json!({})))
                .await;
        }
        peer.notify("notifications/prompts/list_changed", json!({})).await;
        for _ in 0..2 {
            let params = tagged(id, json!({"uri": "x://a"}));
            peer.notify("notifications/resources/updated", params).await;
        }
        peer.answer(&listen, tagged(id, json!({"resultType": "complete"})))
            .await;
        peer.notify("notifications/cancelled", json!({"requestId": id}))
            .await;
    };
    let (subscription, ()) = tokio::join!(client.listen(everything()), script);
    let mut subscription = subscription.unwrap();
    assert_eq!(
        *subscription.accepted(),
        SubscriptionFilter::new()
            .with_tools_list_changed(true)
            .with_resource_subscriptions(["x://a"])
    );
    assert_eq!(
        subscription.next().await.unwrap(),
        Some(Change::Resource("x://a".into()))
    );
    assert_eq!(subscription.next().await.unwrap(), None);
    assert_eq!(subscription.next().await.unwrap(), None);
}

#[tokio::test]
async fn dropping_a_stateless_subscription_cancels_its_request() {
    let (client, mut peer) = stateless(builder(), json!({})).await;
    let script = async {
        let listen = peer.expect("subscriptions/listen").await;
        let accepted = tagged(&listen["id"], json!({"notifications": {}}));
        peer.notify("notifications/subscriptions/acknowledged", accepted)
            .await;
        listen["id"].clone()
    };
    let (subscription, id) = tokio::join!(client.listen(everything()), script);
    drop(subscription.unwrap());
    assert_eq!(
        peer.expect("notifications/cancelled").await["params"]["requestId"],
        id
    );
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_refused_or_never_acknowledged_fails() {
    let (client, mut peer) = stateless(builder(), json!({})).await;
    let script = async {
        let listen = peer.expect("subscriptions/listen").await;
        peer.refuse(&listen, -32601, "Method not found").await;
    };
    let (subscription, ()) = tokio::join!(client.listen(everything()), script);
    assert_eq!(
        subscription.unwrap_err().to_string(),
        "MCP error -32601: Method not found"
    );
    assert!(client.listen(everything()).await.unwrap_err().is_timeout());
    peer.expect("subscriptions/listen").await;
    peer.expect("notifications/cancelled").await;
}

#[tokio::test]
async fn more_changed_resources_than_can_be_kept_become_one_change() {
    let (client, mut peer) = stateful(builder(), json!({"resources": {"subscribe": true}})).await;
    let filter = SubscriptionFilter::new().with_resource_subscriptions(["x:"]);
    let (subscription, _) = tokio::join!(
        client.listen(filter),
        peer.serve("resources/subscribe", json!({}))
    );
    let mut subscription = subscription.unwrap();
    let flood = async {
        for at in 0..1100 {
            peer.notify(
                "notifications/resources/updated",
                json!({"uri": format!("x:{at}")}),
            )
            .await;
        }
        peer.serve("ping", json!({})).await;
    };
    let (pong, ()) = tokio::join!(client.ping().into_future(), flood);
    pong.unwrap();
    assert_eq!(subscription.next().await.unwrap(), Some(Change::ManyResources));
}
