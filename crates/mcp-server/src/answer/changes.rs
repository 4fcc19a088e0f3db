use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::Poll;

use mcp_exchange::{Outgoing, Scope, Session};
use mcp_jsonrpc::{Call, ErrorObject, RawJson};
use mcp_types::meta::keys;
use mcp_types::wire;
use mcp_types::{
    EmptyParams, EmptyResult, JsonObject, ResourceParams, SubscriptionFilter, SubscriptionParams,
    SubscriptionsListenResult, method,
};

use super::{Answer, Responder, encode, parse};
use crate::error::BuildError;
use crate::hub::{Change, MAX_URIS, Marks};
use crate::lists::Lists;

impl Responder {
    pub(super) fn subscribe(&self, scope: &Scope, call: &Call, on: bool) -> Answer {
        let (true, Some(session)) = (self.settings.subscribe, scope.session()) else {
            return Err(ErrorObject::method_not_found(call.method()));
        };
        let params: ResourceParams = parse(call)?;
        let Some(seat) = self.settings.hub.seat(session) else {
            return Err(ErrorObject::internal(
                "Internal error: the session belongs to another handler",
            ));
        };
        if on && !seat.listener.subscribe(&params.uri) {
            return Err(ErrorObject::invalid_params(
                "Too many subscriptions in this session",
            ));
        }
        if !on {
            seat.listener.unsubscribe(&params.uri);
        }
        Ok(scope.complete(&EmptyResult::default()))
    }

    /// Changes the lists, and tells everyone where something changed.
    pub(crate) fn change(
        &self,
        what: Change<'_>,
        change: impl FnOnce(&mut Lists) -> bool,
    ) -> Result<bool, BuildError> {
        if !self.settings.dynamic.allows(what) {
            return Err(BuildError::new(
                "this list of the server cannot change: build it with `dynamic()`",
            ));
        }
        let changed = self.registry.change(change);
        if changed {
            if self.registry.now().has_completers() {
                self.completes.store(true, Ordering::Release);
            }
            self.settings.hub.tell(what);
        }
        Ok(changed)
    }

    pub(crate) fn tell(&self, change: Change<'_>) {
        self.settings.hub.tell(change);
    }

    /// From here on a stateful session hears of the lists that can change. In order with its requests: what the next
    /// one changes must be told, though [`Responder::attend`] may not have begun by then.
    pub(crate) fn welcome(&self, session: &Session) {
        if let Some(seat) = self.settings.hub.seat(session) {
            // Only what was declared (2025-11-25: server/tools, "List Changed Notification").
            seat.listener.want_lists(self.settings.dynamic);
        }
    }

    /// Sends a stateful session what changes, for as long as it lasts.
    pub(crate) async fn attend(&self, session: Session) {
        let Some(seat) = self.settings.hub.seat(&session) else {
            return;
        };
        seat.open();
        seat.listener.want_lists(self.settings.dynamic);
        loop {
            let marks = seat.listener.next().await;
            for (method, uri) in marks.notices() {
                let params =
                    uri.and_then(|uri| wire::to_raw(&ResourceParams::new(uri), session.peer().revision).ok());
                let note = Outgoing::new(method, params.map(RawJson::into_bytes));
                if session.link().notify(note).await.is_err() {
                    return;
                }
            }
        }
    }

    /// `subscriptions/listen` (2026-07-28): acknowledges, then sends what changes until the client or the server
    /// ends it.
    pub(super) async fn listen(&self, scope: &Scope, call: &Call) -> Answer {
        let params: SubscriptionParams = parse(call)?;
        let accepted = self.accepted(&params.notifications);
        let id = RawJson::encode(scope.id()).unwrap_or_else(|_| RawJson::null());
        let tag = || JsonObject::from([(keys::SUBSCRIPTION_ID, id.clone())]);
        // Listening starts before the acknowledgement, so that nothing is missed after it.
        let listener = self.settings.hub.listen(Marks::from_filter(&accepted));
        let acknowledged = SubscriptionParams::new(accepted).with_meta(tag());
        let acknowledged = encode(&acknowledged, scope.revision())?;
        scope
            .notify(method::SUBSCRIPTIONS_ACKNOWLEDGED, acknowledged.as_bytes())
            .await;
        loop {
            let marks = {
                let mut next = pin!(listener.next());
                let mut end = pin!(scope.signal().draining());
                std::future::poll_fn(|cx| {
                    if let Poll::Ready(marks) = next.as_mut().poll(cx) {
                        return Poll::Ready(Some(marks));
                    }
                    end.as_mut().poll(cx).map(|()| None)
                })
                .await
            };
            let Some(marks) = marks else { break };
            for (method, uri) in marks.notices() {
                let params = match uri {
                    Some(uri) => encode(&ResourceParams::new(uri).with_meta(tag()), scope.revision())?,
                    None => encode(&EmptyParams::default().with_meta(tag()), scope.revision())?,
                };
                scope.notify(method, params.as_bytes()).await;
            }
        }
        let mut result = SubscriptionsListenResult::of(scope.id());
        self.stamp(scope, &mut result.meta);
        Ok(scope.complete(&result))
    }

    /// The part of a filter that this server can serve.
    fn accepted(&self, asked: &SubscriptionFilter) -> SubscriptionFilter {
        let dynamic = self.settings.dynamic;
        let mut accepted = SubscriptionFilter::default()
            .with_tools_list_changed(asked.tools_list_changed && dynamic.tools)
            .with_prompts_list_changed(asked.prompts_list_changed && dynamic.prompts)
            .with_resources_list_changed(asked.resources_list_changed && dynamic.resources);
        if self.settings.subscribe {
            let uris = asked.resource_subscriptions.iter().take(MAX_URIS).cloned();
            accepted.resource_subscriptions = uris.collect();
        }
        accepted
    }
}
