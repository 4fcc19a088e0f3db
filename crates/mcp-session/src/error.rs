use std::borrow::Cow;

/// A rule of the session that was broken.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct SessionError {
    kind: Kind,
    message: Cow<'static, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    State,
    Negotiation,
    Internal,
}

impl SessionError {
    pub(crate) fn state(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind: Kind::State,
            message: message.into(),
        }
    }

    pub(crate) fn negotiation(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind: Kind::Negotiation,
            message: message.into(),
        }
    }

    /// A failure of our own side, such as a key store that is out of reach; for implementers of
    /// [`StateSealer`](crate::StateSealer).
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind: Kind::Internal,
            message: message.into(),
        }
    }

    /// Whether a `requestState` was refused: the peer is at fault.
    pub fn is_state(&self) -> bool {
        self.kind == Kind::State
    }

    /// Whether both sides have no revision in common.
    pub fn is_negotiation(&self) -> bool {
        self.kind == Kind::Negotiation
    }
}
