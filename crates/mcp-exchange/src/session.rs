use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mcp_types::LoggingLevel;

use crate::link::BoxLink;
use crate::peer::Peer;

/// One stateful session: from `initialize` to the end of the connection, or of the HTTP session.
///
/// A clone is a reference count. There is none in the stateless era, so nothing that a handler keeps here can be
/// relied on there.
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    peer: Arc<Peer>,
    link: BoxLink,
    log_level: Mutex<Option<LoggingLevel>>,
    state: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl Session {
    /// A session with this peer, reached by this link.
    pub fn new(peer: Arc<Peer>, link: BoxLink) -> Self {
        Self(Arc::new(Shared {
            peer,
            link,
            log_level: Mutex::new(None),
            state: OnceLock::new(),
        }))
    }

    /// The other side, as it introduced itself in the handshake.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.0.peer
    }

    /// Where messages that belong to no exchange go.
    pub fn link(&self) -> &BoxLink {
        &self.0.link
    }

    /// The level below which the client wants no log messages; none before it said so.
    pub fn log_level(&self) -> Option<LoggingLevel> {
        *self.0.log_level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the level.
    pub fn set_log_level(&self, level: LoggingLevel) {
        *self.0.log_level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    /// What the handler keeps for this session; made at the first call. One type for each handler.
    pub fn state<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.0.state.get_or_init(|| Box::new(make())).downcast_ref()
    }

    /// Whether both are the same session.
    pub fn is(&self, other: &Session) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("revision", &self.0.peer.revision)
            .finish_non_exhaustive()
    }
}
