//! Changes of lists and resources: one way to hear of them in both eras.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::Poll;

use mcp_exchange::{BoxLink, Event, Incoming, LinkError, Outgoing};
use mcp_types::{JsonObject, ResourceParams, SubscriptionFilter, method, wire};

use crate::calls::nothing;
use crate::client::{Client, Inner};
use crate::error::ClientError;
use crate::inbound::Inlet;
use crate::listeners::Listener;
use crate::params::{Members, MetaParts};

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// This resource: one that was asked for, or a part of it.
    Resource(String),
    /// More resources than could be kept: read all of them again.
    ManyResources,
}

/// Hears changes until it is dropped, or the last clone of its client is. Equal changes that nobody has read yet count
/// as one.
pub struct Subscription {
    listener: Arc<Listener>,
    accepted: SubscriptionFilter,
    inlet: Arc<Inlet>,
    link: BoxLink,
    how: How,
    over: bool,
}

enum How {
    /// The request that stays open.
    Stateless(Incoming),
    /// Each resource is subscribed to by itself.
    Stateful { uris: Vec<String>, client: Weak<Inner> },
}

/// Removes a listener that was not heard out.
struct Registered {
    listener: Arc<Listener>,
    inlet: Arc<Inlet>,
    done: bool,
}

impl Drop for Registered {
    fn drop(&mut self) {
        if !self.done {
            self.inlet.listeners.remove(&self.listener);
        }
    }
}

impl Client {
    /// Listens for changes: by `subscriptions/listen` in the stateless era; in the stateful one by
    /// `resources/subscribe` for each resource, beside the notices that come anyway. What the server does not offer is
    /// left out of [`Subscription::accepted`].
    ///
    /// Changes before this returns are not told: list and read afterwards.
    ///
    /// # Errors
    /// As any request.
    ///
    /// # Cancel safety
    /// When dropped, the server may be told of a subscription that nobody hears; it is ended as far as possible.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Subscription, ClientError> {
        if self.revision().is_stateless() {
            self.listen_stateless(filter).await
        } else {
            self.listen_stateful(filter).await
        }
    }

    async fn listen_stateless(&self, filter: SubscriptionFilter) -> Result<Subscription, ClientError> {
        let inner = &*self.0;
        let link = self.link();
        let id = link.next_id();
        let meta = MetaParts {
            common: &inner.common_meta,
            extra: &JsonObject::new(),
            log_level: None,
            progress: None,
        };
        let mut members = Members::new();
        wire::encode(members.key("notifications"), &filter, self.revision()).map_err(ClientError::encode)?;
        let params = members.close(&meta);
        let listener = Listener::new(Some(id.clone()), filter);
        inner.inlet.listeners.add(&listener);
        let mut registered = Registered {
            listener: Arc::clone(&listener),
            inlet: Arc::clone(&inner.inlet),
            done: false,
        };
        let acknowledged = async {
            let opened = link
                .open(id, Outgoing::new(method::SUBSCRIPTIONS_LISTEN, params))
                .await;
            let mut incoming = opened.map_err(ClientError::link)?;
            loop {
                let heard = pin_next(&listener, &mut incoming).await;
                match heard {
                    None => {}
                    Some(Event::Notice(call)) => inner.inlet.hear(&call),
                    Some(Event::Done(Err(error))) => return Err(ClientError::peer(error)),
                    Some(Event::Lost(error)) => return Err(ClientError::link(error)),
                    Some(_) => {
                        return Err(ClientError::protocol("the server ended the subscription at once"));
                    }
                }
                if let Some(accepted) = listener.heard().accepted.clone() {
                    return Ok((incoming, accepted));
                }
            }
        };
        let time = inner.bounds.timeout;
        let (incoming, accepted) = tokio::time::timeout(time, acknowledged)
            .await
            .unwrap_or_else(|_| Err(ClientError::timeout(method::SUBSCRIPTIONS_LISTEN.into(), time)))?;
        registered.done = true;
        Ok(Subscription {
            listener,
            accepted,
            inlet: Arc::clone(&inner.inlet),
            link: link.clone(),
            how: How::Stateless(incoming),
            over: false,
        })
    }

    async fn listen_stateful(&self, mut filter: SubscriptionFilter) -> Result<Subscription, ClientError> {
        let inner = &*self.0;
        let server = &inner.server.capabilities;
        filter.tools_list_changed &= server.tools.as_ref().is_some_and(|one| one.list_changed);
        filter.prompts_list_changed &= server.prompts.as_ref().is_some_and(|one| one.list_changed);
        filter.resources_list_changed &= server.resources.as_ref().is_some_and(|one| one.list_changed);
        filter.task_ids.clear();
        if !server.resources.as_ref().is_some_and(|one| one.subscribe) {
            filter.resource_subscriptions.clear();
        }
        let listener = Listener::new(None, filter.clone());
        inner.inlet.listeners.add(&listener);
        let mut subscription = Subscription {
            listener,
            accepted: filter.clone(),
            inlet: Arc::clone(&inner.inlet),
            link: self.link().clone(),
            how: How::Stateful {
                uris: Vec::new(),
                client: Arc::downgrade(&self.0),
            },
            over: false,
        };
        for uri in filter.resource_subscriptions {
            let asked = self.subscribe(&uri).await;
            // Dropped on failure, which takes the others back.
            if let How::Stateful { uris, .. } = &mut subscription.how {
                uris.push(uri);
            }
            asked?;
        }
        Ok(subscription)
    }

    /// Subscribes to one resource, in the stateful era: its changes come to
    /// [`ClientBuilder::on_notice`](crate::ClientBuilder::on_notice). [`Client::listen`] works in both eras.
    ///
    /// # Errors
    /// As any request.
    pub async fn subscribe(&self, uri: impl AsRef<str>) -> Result<(), ClientError> {
        let params = ResourceParams::new(uri.as_ref());
        self.entity(method::RESOURCES_SUBSCRIBE, &params, nothing).await
    }

    /// Takes [`Client::subscribe`] back.
    ///
    /// # Errors
    /// As any request.
    pub async fn unsubscribe(&self, uri: impl AsRef<str>) -> Result<(), ClientError> {
        let params = ResourceParams::new(uri.as_ref());
        self.entity(method::RESOURCES_UNSUBSCRIBE, &params, nothing).await
    }
}

/// Waits for an event, or (none) until something was heard.
async fn pin_next(listener: &Listener, incoming: &mut Incoming) -> Option<Event> {
    let mut changed = pin!(listener.changed.notified());
    poll_fn(|cx| {
        // First what was heard: it came before the end.
        if changed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        incoming.poll_next(cx).map(Some)
    })
    .await
}

impl Subscription {
    /// What the server agreed to tell.
    pub fn accepted(&self) -> &SubscriptionFilter {
        &self.accepted
    }

    /// The next change. None when the server ended the subscription in good order.
    ///
    /// # Errors
    /// When it ended otherwise. Listen again, then list and read again: nothing is told twice.
    ///
    /// # Cancel safety
    /// Nothing is lost when dropped.
    pub async fn next(&mut self) -> Result<Option<Change>, ClientError> {
        loop {
            let (change, ended) = {
                let mut heard = self.listener.heard();
                (heard.take(), heard.ended)
            };
            if change.is_some() {
                return Ok(change);
            }
            if ended || self.over {
                self.over = true;
                return Ok(None);
            }
            match &mut self.how {
                How::Stateless(incoming) => match pin_next(&self.listener, incoming).await {
                    None => {}
                    Some(Event::Notice(call)) => self.inlet.hear(&call),
                    // The changes before it are still to be read.
                    Some(Event::Done(Ok(_))) => self.over = true,
                    Some(Event::Done(Err(error))) => {
                        self.over = true;
                        return Err(ClientError::peer(error));
                    }
                    Some(Event::Lost(error)) => {
                        self.over = true;
                        return Err(ClientError::link(error));
                    }
                    Some(_) => {}
                },
                How::Stateful { .. } => {
                    let mut changed = pin!(self.listener.changed.notified());
                    let mut closed = pin!(self.link.closed());
                    let gone = poll_fn(|cx| match changed.as_mut().poll(cx) {
                        Poll::Ready(()) => Poll::Ready(None),
                        Poll::Pending => closed.as_mut().poll(cx).map(Some),
                    });
                    if let Some(how) = gone.await {
                        self.over = true;
                        let text = format!("the connection is closed: {}", how.reason);
                        return Err(ClientError::link(LinkError::closed(text)));
                    }
                }
            }
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.inlet.listeners.remove(&self.listener);
        let How::Stateful { uris, client } = &mut self.how else {
            return;
        };
        let (uris, Some(inner)) = (std::mem::take(uris), client.upgrade()) else {
            return;
        };
        let unheard: Vec<String> = uris
            .into_iter()
            .filter(|uri| !self.inlet.listeners.any_wants(uri))
            .collect();
        let runtime = tokio::runtime::Handle::try_current();
        if let (Ok(runtime), false) = (runtime, unheard.is_empty()) {
            let client = Client(inner);
            runtime.spawn(async move {
                for uri in unheard {
                    if let Err(error) = client.unsubscribe(&uri).await {
                        tracing::debug!(%error, "a subscription was not taken back");
                    }
                }
            });
        }
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription")
            .field("accepted", &self.accepted)
            .finish_non_exhaustive()
    }
}
