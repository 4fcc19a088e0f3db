use mcp_jsonrpc::RequestId;

use crate::entity::entity;
use crate::meta::keys;
use crate::value::{JsonObject, Meta};
use mcp_jsonrpc::RawJson;

entity! {
    /// What a listener wants to hear, or what it will hear (2026-07-28).
    #[derive(Default)]
    SubscriptionFilter {
        /// Changes of the list of tools.
        flag tools_list_changed/with_tools_list_changed: bool = "toolsListChanged",
        /// Changes of the list of prompts.
        flag prompts_list_changed/with_prompts_list_changed: bool = "promptsListChanged",
        /// Changes of the list of resources.
        flag resources_list_changed/with_resources_list_changed: bool = "resourcesListChanged",
        /// Changes of these resources, by URI.
        list resource_subscriptions/with_resource_subscriptions: String = "resourceSubscriptions",
        /// States of these tasks (extension `io.modelcontextprotocol/tasks`).
        list task_ids/with_task_ids: String = "taskIds",
    }
}

entity! {
    /// Parameters of `subscriptions/listen` and of `notifications/subscriptions/acknowledged`.
    SubscriptionParams {
        /// The filter, or the part of it that was accepted.
        expected notifications: SubscriptionFilter = "notifications",
        /// Metadata.
        object meta/with_meta: Meta = "_meta",
    }
}

entity! {
    /// Result of `subscriptions/listen`: the server ends it in good order.
    #[derive(Default)]
    SubscriptionsListenResult [result] {
        /// Metadata, with the id of the subscription.
        object meta/with_meta: Meta = "_meta",
    }
}

impl SubscriptionsListenResult {
    /// Ends the subscription that the request `id` opened.
    pub fn of(id: &RequestId) -> Self {
        let id = RawJson::encode(id).unwrap_or_else(|_| RawJson::null());
        Self::new().with_meta(JsonObject::from([(keys::SUBSCRIPTION_ID, id)]))
    }
}
