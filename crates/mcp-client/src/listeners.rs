//! Who listens for changes, and what they have heard and not read yet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_jsonrpc::{Call, ParamKey, RequestId};
use mcp_types::meta::keys;
use mcp_types::{
    CancelledParams, JsonObject, ResourceParams, SubscriptionFilter, SubscriptionParams, method,
};
use tokio::sync::Notify;

use crate::listen::Change;

/// Changed resources that are kept until they are read from the subscription.
const MAX_WAITING: usize = 1024;

/// Who listens.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<Vec<Arc<Listener>>>);

pub(crate) struct Listener {
    /// The id of the request that listens, in the stateless era.
    id: Option<RequestId>,
    pub(crate) filter: SubscriptionFilter,
    heard: Mutex<Heard>,
    pub(crate) changed: Notify,
}

#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) accepted: Option<SubscriptionFilter>,
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: VecDeque<String>,
    many: bool,
    pub(crate) ended: bool,
}

impl Listener {
    pub(crate) fn new(id: Option<RequestId>, filter: SubscriptionFilter) -> Arc<Self> {
        Arc::new(Self {
            id,
            filter,
            heard: Mutex::default(),
            changed: Notify::new(),
        })
    }

    pub(crate) fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, call: &Call) {
        {
            let mut heard = self.heard();
            match call.method() {
                method::TOOLS_LIST_CHANGED if self.filter.tools_list_changed => heard.tools = true,
                method::PROMPTS_LIST_CHANGED if self.filter.prompts_list_changed => heard.prompts = true,
                method::RESOURCES_LIST_CHANGED if self.filter.resources_list_changed => {
                    heard.resources = true
                }
                method::RESOURCES_UPDATED if !self.filter.resource_subscriptions.is_empty() => {
                    let Ok(params) = call.parse::<ResourceParams>() else {
                        return;
                    };
                    heard.resource(params.uri);
                }
                method::SUBSCRIPTIONS_ACKNOWLEDGED => {
                    let Ok(params) = call.parse::<SubscriptionParams>() else {
                        return;
                    };
                    heard.accepted = Some(params.notifications);
                }
                method::CANCELLED => heard.ended = true,
                _ => return,
            }
        }
        self.changed.notify_one();
    }

    /// Whether a change of this resource is what was asked for. A server may name a part of it instead.
    fn wants(&self, uri: &str) -> bool {
        let asked = &self.filter.resource_subscriptions;
        asked.iter().any(|asked| uri.starts_with(asked.as_str()))
    }
}

impl Heard {
    fn resource(&mut self, uri: String) {
        if self.many || self.uris.contains(&uri) {
            return;
        }
        if self.uris.len() == MAX_WAITING {
            self.uris.clear();
            self.many = true;
        } else {
            self.uris.push_back(uri);
        }
    }

    pub(crate) fn take(&mut self) -> Option<Change> {
        let flags = [
            (&mut self.tools, Change::Tools),
            (&mut self.prompts, Change::Prompts),
            (&mut self.resources, Change::Resources),
            (&mut self.many, Change::ManyResources),
        ];
        for (flag, change) in flags {
            if std::mem::take(flag) {
                return Some(change);
            }
        }
        self.uris.pop_front().map(Change::Resource)
    }
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Listener>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, listener: &Arc<Listener>) {
        self.lock().push(Arc::clone(listener));
    }

    pub(crate) fn remove(&self, listener: &Arc<Listener>) {
        self.lock().retain(|one| !Arc::ptr_eq(one, listener));
    }

    /// Whether somebody still listens to this resource.
    pub(crate) fn any_wants(&self, uri: &str) -> bool {
        let all = self.lock();
        all.iter()
            .any(|one| one.filter.resource_subscriptions.iter().any(|asked| asked == uri))
    }

    /// Gives a notification to those that it is for: the one that it names in the stateless era, else all that asked
    /// for its kind.
    pub(crate) fn hear(&self, call: &Call) {
        let all = self.lock();
        if all.is_empty() {
            return;
        }
        if call.method() == method::CANCELLED {
            let id = call
                .parse::<CancelledParams>()
                .ok()
                .and_then(|params| params.request_id);
            for one in all.iter().filter(|one| one.id.is_some() && one.id == id) {
                one.hear(call);
            }
            return;
        }
        if let Some(id) = subscription_of(call) {
            for one in all.iter().filter(|one| one.id.as_ref() == Some(&id)) {
                one.hear(call);
            }
            return;
        }
        let stateful = || all.iter().filter(|one| one.id.is_none());
        if call.method() == method::RESOURCES_UPDATED {
            let uri = call.param_str(ParamKey::Uri).ok().flatten().unwrap_or_default();
            let meant = stateful().any(|one| one.wants(&uri));
            for one in stateful().filter(|one| !meant || one.wants(&uri)) {
                one.hear(call);
            }
        } else {
            for one in stateful() {
                one.hear(call);
            }
        }
    }
}

fn subscription_of(call: &Call) -> Option<RequestId> {
    let meta: JsonObject = call.param(ParamKey::Meta)?.parse().ok()?;
    meta.get(keys::SUBSCRIPTION_ID)?.parse().ok()
}
