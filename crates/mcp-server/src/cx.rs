use std::sync::Arc;

use mcp_exchange::{Peer, Scope, Session};
use mcp_jsonrpc::RawJson;
use mcp_types::wire::{self, Open};
use mcp_types::{LogMessageParams, LoggingLevel, method};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ask::{self, Question};
use crate::error::{AskError, Failure};
use crate::round::{End, Round};
use crate::settings::Settings;

/// What a handler has in hand: the application's state, who asks, and the ways to report, to log, to ask and to
/// notice that the call was cancelled. A clone is a few reference counts.
///
/// A clone may outlive the call, in a task of its own. After the end of the call it reports, logs and asks nothing more.
pub struct Cx<S = ()> {
    pub(crate) base: Base,
    state: Arc<S>,
}

/// The part of a [`Cx`] that does not depend on the application.
#[derive(Clone)]
pub(crate) struct Base {
    pub(crate) scope: Scope,
    pub(crate) round: Arc<Round>,
    pub(crate) settings: Arc<Settings>,
}

impl Base {
    /// Keep this for as long as the call runs.
    pub(crate) fn end(&self) -> End {
        self.round.end()
    }
}

impl<S> Clone for Cx<S> {
    fn clone(&self) -> Self {
        Self {
            base: self.base.clone(),
            state: Arc::clone(&self.state),
        }
    }
}

impl<S> Cx<S> {
    pub(crate) fn new(base: Base, state: Arc<S>) -> Self {
        Self { base, state }
    }

    /// The application's state.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Who asks: revision, declared capabilities, the name it gives itself.
    pub fn peer(&self) -> &Arc<Peer> {
        self.base.scope.peer()
    }

    /// The session; none in the stateless era.
    pub fn session(&self) -> Option<&Session> {
        self.base.scope.session()
    }

    /// The exchange behind this, for what has no method here.
    pub fn scope(&self) -> &Scope {
        &self.base.scope
    }

    /// Whether the call was cancelled. Its future is dropped then, so this is for work on other threads.
    pub fn is_cancelled(&self) -> bool {
        self.base.scope.signal().is_cancelled()
    }

    /// Waits for the call to be cancelled.
    ///
    /// # Cancel safety
    /// Nothing is lost when dropped.
    pub async fn cancelled(&self) {
        self.base.scope.signal().cancelled().await;
    }

    fn is_over(&self) -> bool {
        self.base.round.is_over()
    }

    /// Whether the caller wants progress; reports cost next to nothing where it does not.
    pub fn wants_progress(&self) -> bool {
        self.base.scope.wants_progress()
    }

    /// Reports progress. Waits while the way to the client is full, so every report arrives. False where it was not
    /// sent: the caller wants none, or `progress` did not grow.
    ///
    /// # Cancel safety
    /// When dropped, it was not sent.
    pub async fn progress(&self, progress: f64, total: Option<f64>) -> bool {
        !self.is_over() && self.base.scope.progress(progress, total, None).await
    }

    /// [`Cx::progress`] with a text for people (from 2025-03-26).
    ///
    /// # Cancel safety
    /// When dropped, it was not sent.
    pub async fn progress_text(&self, progress: f64, total: Option<f64>, text: &str) -> bool {
        !self.is_over() && self.base.scope.progress(progress, total, Some(text)).await
    }

    /// Reports progress without waiting. Where the way to the client is full, only the newest report is kept.
    pub fn progress_now(&self, progress: f64, total: Option<f64>, text: Option<&str>) {
        if !self.is_over() {
            self.base.scope.progress_now(progress, total, text);
        }
    }

    /// Sends a log message to the client, if the server declares logging and the client wants this level. Never
    /// put secrets or personal data in one. False where it was not sent.
    ///
    /// # Cancel safety
    /// When dropped, it was not sent.
    pub async fn log(&self, level: LoggingLevel, data: impl Serialize) -> bool {
        let scope = &self.base.scope;
        let off = self.is_over() || !self.base.settings.logging;
        if off || scope.log_threshold().is_none_or(|threshold| level < threshold) {
            return false;
        }
        let Ok(data) = RawJson::encode(&data) else {
            return false;
        };
        let mut params = LogMessageParams::new(level, data);
        params.logger = Some(self.base.settings.info.name.clone());
        match wire::to_raw(&params, scope.revision()) {
            Ok(params) => scope.notify(method::MESSAGE, params.as_bytes()).await,
            Err(_) => false,
        }
    }

    /// Asks the client something: the same line in every revision.
    ///
    /// Up to 2025-11-25 a request goes to the client and this waits for the answer. From 2026-07-28 the first run of
    /// the handler ends here with an error that `?` must carry out; the client is told what is asked, and the call
    /// comes again with the answer, so *the code before an `ask` may run again*: put effects after the last one, or
    /// inside [`Cx::remember`]. `key` names the question: the same key gives the same answer. Questions that wait side by
    /// side, as under `tokio::join!`, go to the client in one round.
    ///
    /// # Errors
    /// When the client did not declare what the question needs, refused it, or answered it badly; and the interrupt
    /// just described. Questions cannot be asked while an argument is completed, nor after the call's end.
    ///
    /// # Cancel safety
    /// When dropped, the question is cancelled.
    pub async fn ask<Q: Question>(&self, key: &str, question: Q) -> Result<Q::Answer, AskError> {
        ask::ask(&self.base, key, question).await
    }

    /// Runs `work` once for a logical call, however often the handler is run again for the sake of a question. From
    /// 2026-07-28 the value travels through the client, sealed; keep it small. `key` names it, in every revision: the
    /// same key gives the same value.
    ///
    /// # Errors
    /// What `work` fails with, and values that cannot be encoded.
    pub async fn remember<T, W>(&self, key: &str, work: W) -> Result<T, Failure>
    where
        T: Serialize + DeserializeOwned,
        W: AsyncFnOnce() -> Result<T, Failure>,
    {
        let round = &self.base.round;
        if let Some(known) = round.remembered(key) {
            return Ok(known.parse()?);
        }
        let value = work().await?;
        round.remember(key, RawJson::encode(&value)?);
        Ok(value)
    }

    /// Sends a notification of your own on this call's stream. False where the call is over.
    ///
    /// # Cancel safety
    /// When dropped, it was not sent.
    pub async fn notify(&self, method: &str, params: impl Serialize) -> bool {
        match wire::to_raw(&Open(params), self.base.scope.revision()) {
            Ok(params) if !self.is_over() => self.base.scope.notify(method, params.as_bytes()).await,
            _ => false,
        }
    }
}
