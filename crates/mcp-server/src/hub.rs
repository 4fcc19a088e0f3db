use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mcp_exchange::Session;
use mcp_types::{SubscriptionFilter, method};
use tokio::sync::{Notify, SetOnce};

use crate::settings::Dynamic;

/// URIs that one listener may subscribe to.
pub(crate) const MAX_URIS: usize = 1024;

/// Tells listeners what changed. There is no queue: a listener has one mark for each thing it may hear of, so a
/// thousand changes that it had no time to read are one.
#[derive(Default)]
pub(crate) struct Hub {
    listeners: Mutex<Vec<Weak<Listener>>>,
}

/// Whoever hears of changes: a stateful session, or a `subscriptions/listen` request.
#[derive(Default)]
pub(crate) struct Listener {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    wanted: Marks,
    pending: Marks,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    pub(crate) resources: bool,
    pub(crate) uris: BTreeSet<String>,
}

impl Marks {
    pub(crate) fn from_filter(filter: &SubscriptionFilter) -> Self {
        Self {
            tools: filter.tools_list_changed,
            prompts: filter.prompts_list_changed,
            resources: filter.resources_list_changed,
            uris: filter
                .resource_subscriptions
                .iter()
                .take(MAX_URIS)
                .cloned()
                .collect(),
        }
    }

    fn is_empty(&self) -> bool {
        *self == Marks::default()
    }

    /// The notifications that these marks stand for, each with the URI it is about.
    pub(crate) fn notices(&self) -> impl Iterator<Item = (&'static str, Option<&str>)> {
        let lists = [
            (self.tools, method::TOOLS_LIST_CHANGED),
            (self.prompts, method::PROMPTS_LIST_CHANGED),
            (self.resources, method::RESOURCES_LIST_CHANGED),
        ];
        let lists = lists
            .into_iter()
            .filter(|(marked, _)| *marked)
            .map(|(_, method)| (method, None));
        lists.chain(
            self.uris
                .iter()
                .map(|uri| (method::RESOURCES_UPDATED, Some(uri.as_str()))),
        )
    }
}

/// Something that changed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change<'a> {
    Tools,
    Prompts,
    Resources,
    Uri(&'a str),
}

impl Hub {
    /// A new listener, which hears of what it wants from now on.
    pub(crate) fn listen(&self, wanted: Marks) -> Arc<Listener> {
        let listener = Arc::new(Listener::default());
        listener.lock().wanted = wanted;
        self.add(&listener);
        listener
    }

    /// What is kept for a stateful session. None where the session belongs to another handler.
    pub(crate) fn seat<'s>(&self, session: &'s Session) -> Option<&'s Seat> {
        let fresh = || {
            let listener = Arc::new(Listener::default());
            self.add(&listener);
            Seat {
                listener,
                ready: SetOnce::new(),
            }
        };
        session.state(fresh)
    }

    /// Lets a listener hear of changes, until it is dropped.
    fn add(&self, listener: &Arc<Listener>) {
        let mut listeners = self.lock();
        listeners.retain(|known| known.strong_count() > 0);
        listeners.push(Arc::downgrade(listener));
    }

    /// Tells everyone who wants to know.
    pub(crate) fn tell(&self, change: Change<'_>) {
        let listeners: Vec<Arc<Listener>> = self.lock().iter().filter_map(Weak::upgrade).collect();
        for listener in listeners {
            listener.mark(change);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Listener>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is kept for a stateful session.
pub(crate) struct Seat {
    pub(crate) listener: Arc<Listener>,
    /// The client finished the handshake.
    ready: SetOnce<()>,
}

impl Seat {
    /// The client finished the handshake.
    pub(crate) fn open(&self) {
        // A second time changes nothing.
        let _ = self.ready.set(());
    }

    /// Whether the client finished the handshake.
    pub(crate) fn is_open(&self) -> bool {
        self.ready.initialized()
    }

    /// Waits for the client to finish the handshake: nothing may be asked before
    /// (2025-11-25: basic/lifecycle, "Initialization").
    pub(crate) async fn opened(&self) {
        self.ready.wait().await;
    }
}

impl Listener {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark(&self, change: Change<'_>) {
        let mut state = self.lock();
        let State { wanted, pending } = &mut *state;
        match change {
            Change::Tools => pending.tools |= wanted.tools,
            Change::Prompts => pending.prompts |= wanted.prompts,
            Change::Resources => pending.resources |= wanted.resources,
            Change::Uri(uri) => {
                // Whoever watches a folder hears of what is in it (2025-11-25: server/resources, "Subscriptions").
                let inside = |watched: &str| {
                    uri.strip_prefix(watched).is_some_and(|rest| {
                        rest.is_empty() || rest.starts_with('/') || watched.ends_with('/')
                    })
                };
                if wanted.uris.iter().any(|watched| inside(watched)) && pending.uris.len() < MAX_URIS {
                    pending.uris.insert(uri.to_owned());
                }
            }
        }
        let any = !pending.is_empty();
        drop(state);
        if any {
            self.changed.notify_one();
        }
    }

    /// Wants the lists that can change.
    pub(crate) fn want_lists(&self, dynamic: Dynamic) {
        let mut state = self.lock();
        let uris = std::mem::take(&mut state.wanted.uris);
        state.wanted = Marks {
            tools: dynamic.tools,
            prompts: dynamic.prompts,
            resources: dynamic.resources,
            uris,
        };
    }

    /// Wants to hear of this resource. False where it watches too many already.
    pub(crate) fn subscribe(&self, uri: &str) -> bool {
        let mut state = self.lock();
        let room = state.wanted.uris.len() < MAX_URIS || state.wanted.uris.contains(uri);
        if room {
            state.wanted.uris.insert(uri.to_owned());
        }
        room
    }

    /// No longer wants to hear of this resource.
    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.lock().wanted.uris.remove(uri);
    }

    /// Waits for changes and takes them.
    pub(crate) async fn next(&self) -> Marks {
        loop {
            let pending = std::mem::take(&mut self.lock().pending);
            if !pending.is_empty() {
                return pending;
            }
            self.changed.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thousand_changes_are_one_mark_and_only_what_is_wanted_is_heard() {
        let hub = Hub::default();
        let listener = hub.listen(Marks {
            tools: true,
            ..Marks::default()
        });
        for _ in 0..1000 {
            hub.tell(Change::Tools);
            hub.tell(Change::Prompts);
        }
        assert_eq!(
            listener.next().await,
            Marks {
                tools: true,
                ..Marks::default()
            }
        );
        assert!(listener.lock().pending.is_empty());
    }

    #[tokio::test]
    async fn a_watched_folder_tells_of_what_is_in_it() {
        let hub = Hub::default();
        let listener = hub.listen(Marks::default());
        assert!(listener.subscribe("x://a"));
        hub.tell(Change::Uri("x://ab"));
        hub.tell(Change::Uri("x://a/b"));
        let heard = listener.next().await;
        assert_eq!(heard.uris.into_iter().collect::<Vec<_>>(), ["x://a/b"]);
        listener.unsubscribe("x://a");
        hub.tell(Change::Uri("x://a"));
        assert!(listener.lock().pending.is_empty());
    }
}
