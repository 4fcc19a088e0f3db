use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::options::Options;
use super::session::HttpSession;

/// The sessions of an endpoint: bounded in number, and forgotten when idle.
#[derive(Default)]
pub(crate) struct Table {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    by_id: HashMap<Box<str>, Arc<HttpSession>>,
    sweeping: bool,
    closed: bool,
}

/// How often idle sessions are looked for, at least and at most.
const STEP: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(30));

impl Table {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().by_id.len()
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<HttpSession>> {
        self.lock().by_id.get(id).cloned()
    }

    /// Ends a session.
    pub(crate) fn remove(&self, id: &str) {
        let session = self.lock().by_id.remove(id);
        if let Some(session) = session {
            session.close();
        }
    }

    /// Ends every session and takes no new ones.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.clear();
    }

    /// Ends every session.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut self.lock().by_id);
        for session in all.into_values() {
            session.close();
        }
    }

    /// Keeps a session. Where there are too many, the one that was idle longest gives way.
    ///
    /// # Errors
    /// Why it cannot be kept, in words for its client.
    pub(crate) fn admit(
        self: &Arc<Self>,
        session: &Arc<HttpSession>,
        options: &Options,
    ) -> Result<(), &'static str> {
        let mut gone = None;
        {
            let mut state = self.lock();
            if state.closed {
                return Err("The server is ending");
            }
            if state.by_id.len() >= options.max_sessions {
                let idle = state
                    .by_id
                    .values()
                    .filter_map(|one| Some((one.idle()?, one.id.clone())));
                let (_, oldest) = idle.max().ok_or("Too many sessions")?;
                gone = state.by_id.remove(&oldest);
            }
            state.by_id.insert(session.id.clone(), Arc::clone(session));
            if !std::mem::replace(&mut state.sweeping, true) {
                let limits = (options.session_idle, options.replay_time);
                tokio::spawn(sweep(Arc::downgrade(self), limits));
            }
        }
        if let Some(gone) = gone {
            gone.close();
        }
        Ok(())
    }

    /// Forgets what is idle for that long. False when there is nothing left to look after.
    fn forget_idle(&self, (idle, replay): (Duration, Duration)) -> bool {
        let (gone, more) = {
            let mut state = self.lock();
            let over: Vec<Box<str>> = state
                .by_id
                .values()
                .filter(|session| session.idle().is_some_and(|time| time >= idle))
                .map(|session| session.id.clone())
                .collect();
            let gone: Vec<_> = over.iter().filter_map(|id| state.by_id.remove(id)).collect();
            for session in state.by_id.values() {
                session.sweep(replay);
            }
            // A table gives its memory back only when told.
            let room = state.by_id.len() * 2;
            state.by_id.shrink_to(room);
            state.sweeping = !state.by_id.is_empty();
            (gone, state.sweeping)
        };
        for session in gone {
            session.close();
        }
        more
    }
}

/// Looks after the table for as long as it is used.
async fn sweep(table: Weak<Table>, limits: (Duration, Duration)) {
    let step = (limits.0 / 4).clamp(STEP.0, STEP.1);
    loop {
        tokio::time::sleep(step).await;
        let Some(table) = table.upgrade() else { return };
        if !table.forget_idle(limits) {
            return;
        }
    }
}
