use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use mcp_jsonrpc::Call;
use mcp_types::Revisions;

use crate::reply::Reply;
use crate::scope::Exchange;
use crate::session::Session;

/// Answers requests and hears notifications: a server, a client's side for the server's questions, a proxy.
///
/// Transports poll a call's future where the request was read, and move it to a task of its own only when it
/// waits; so a handler must not block its thread.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request. Dropping the future cancels it.
    fn call(&self, exchange: Exchange) -> impl Future<Output = Reply> + Send;

    /// Hears one notification. Notifications of a connection arrive in order.
    fn notify(&self, notice: Notice) -> impl Future<Output = ()> + Send {
        let _ = notice;
        async {}
    }

    /// Runs beside a stateful session, from `notifications/initialized` to its end, when it is dropped: where
    /// change notices are sent from.
    fn attend(&self, session: Session) -> impl Future<Output = ()> + Send {
        let _ = session;
        async {}
    }

    /// The revisions that this handler serves.
    fn revisions(&self) -> Revisions {
        Revisions::ALL
    }
}

/// A notification from the peer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Notice {
    /// Method and parameters.
    pub call: Call,
    /// The session it belongs to, in the stateful era.
    pub session: Option<Session>,
}

impl Notice {
    /// A notice.
    pub fn new(call: Call, session: Option<Session>) -> Self {
        Self { call, session }
    }
}

/// The future of a call.
pub type ReplyFuture = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// Any handler. Generics stop here: a clone is a reference count, a call one boxed future.
#[derive(Clone)]
pub struct BoxHandler(Arc<dyn DynHandler>);

trait DynHandler: Send + Sync {
    fn call(self: Arc<Self>, exchange: Exchange) -> ReplyFuture;
    fn notify(self: Arc<Self>, notice: Notice) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    fn attend(self: Arc<Self>, session: Session) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    fn revisions(&self) -> Revisions;
}

struct Erased<H>(H);

impl<H: Handler> DynHandler for Erased<H> {
    fn call(self: Arc<Self>, exchange: Exchange) -> ReplyFuture {
        Box::pin(async move { self.0.call(exchange).await })
    }

    fn notify(self: Arc<Self>, notice: Notice) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move { self.0.notify(notice).await })
    }

    fn attend(self: Arc<Self>, session: Session) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move { self.0.attend(session).await })
    }

    fn revisions(&self) -> Revisions {
        self.0.revisions()
    }
}

impl BoxHandler {
    /// Erases a handler's type. One that is erased already stays as it is.
    pub fn new(handler: impl Handler) -> Self {
        if let Some(erased) = (&handler as &dyn Any).downcast_ref::<BoxHandler>() {
            return erased.clone();
        }
        Self(Arc::new(Erased(handler)))
    }

    /// [`Handler::call`], as a future that owns what it needs.
    pub fn call_boxed(&self, exchange: Exchange) -> ReplyFuture {
        Arc::clone(&self.0).call(exchange)
    }

    /// [`Handler::notify`], as a future that owns what it needs.
    pub fn notify_boxed(&self, notice: Notice) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Arc::clone(&self.0).notify(notice)
    }

    /// [`Handler::attend`], as a future that owns what it needs.
    pub fn attend_boxed(&self, session: Session) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Arc::clone(&self.0).attend(session)
    }
}

impl Handler for BoxHandler {
    fn call(&self, exchange: Exchange) -> impl Future<Output = Reply> + Send {
        self.call_boxed(exchange)
    }

    fn notify(&self, notice: Notice) -> impl Future<Output = ()> + Send {
        self.notify_boxed(notice)
    }

    fn attend(&self, session: Session) -> impl Future<Output = ()> + Send {
        self.attend_boxed(session)
    }

    fn revisions(&self) -> Revisions {
        self.0.revisions()
    }
}

impl fmt::Debug for BoxHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxHandler")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Picky;

    impl Handler for Picky {
        async fn call(&self, exchange: Exchange) -> Reply {
            exchange.scope.complete_raw(&mcp_jsonrpc::RawJson::null())
        }

        fn revisions(&self) -> Revisions {
            Revisions::STATELESS
        }
    }

    #[test]
    fn a_handler_is_erased_once() {
        let erased = BoxHandler::new(Picky);
        let again = BoxHandler::new(erased.clone());
        assert!(Arc::ptr_eq(&erased.0, &again.0));
        assert_eq!(again.revisions(), Revisions::STATELESS);
    }
}
