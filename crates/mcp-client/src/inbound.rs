//! What comes from the server unasked: its questions of the stateful era, and notifications that belong to no call.

use std::future::Future;
use std::sync::Arc;

use mcp_exchange::{Exchange, Handler, Notice, Reply};
use mcp_jsonrpc::{Call, ErrorObject, RawJson};
use mcp_types::{LogMessageParams, method};
use tokio::sync::watch;

use crate::builder::Ears;
use crate::listeners::Listeners;
use crate::questions::Questions;

/// Where everything that comes unasked goes. It knows nothing of the connection, so neither keeps the other alive.
pub(crate) struct Inlet {
    pub(crate) questions: Questions,
    ears: Ears,
    /// Counts the notices that the list of tools changed.
    pub(crate) tools: watch::Sender<u64>,
    pub(crate) listeners: Listeners,
}

impl Inlet {
    pub(crate) fn new(questions: Questions, ears: Ears) -> Arc<Self> {
        Arc::new(Self {
            questions,
            ears,
            tools: watch::Sender::new(0),
            listeners: Listeners::default(),
        })
    }

    /// Hears a notification. Never waits.
    pub(crate) fn hear(&self, call: &Call) {
        match call.method() {
            method::TOOLS_LIST_CHANGED => self.tools.send_modify(|count| *count += 1),
            method::MESSAGE => {
                if let Some(hear) = &self.ears.log {
                    match call.parse::<LogMessageParams>() {
                        Ok(message) => hear(&message),
                        Err(error) => tracing::debug!(%error, "a malformed log message was dropped"),
                    }
                }
            }
            _ => {}
        }
        self.listeners.hear(call);
        if let Some(hear) = &self.ears.notice {
            hear(call);
        }
    }
}

/// The [`Handler`] that a transport gives the server's messages to.
pub(crate) struct Inbound(pub(crate) Arc<Inlet>);

impl Handler for Inbound {
    async fn call(&self, exchange: Exchange) -> Reply {
        let Exchange { request, scope, .. } = exchange;
        let call = &request.call;
        if call.method() == method::PING {
            return scope.complete_raw(&RawJson::empty_object());
        }
        let answer = self
            .0
            .questions
            .answer(call.method(), call.params(), scope.revision())
            .await;
        match answer {
            Ok(answer) => scope.complete(&answer),
            Err(none) => {
                let error: ErrorObject = none.into_error();
                scope.fail(&error)
            }
        }
    }

    fn notify(&self, notice: Notice) -> impl Future<Output = ()> + Send {
        self.0.hear(&notice.call);
        std::future::ready(())
    }
}
