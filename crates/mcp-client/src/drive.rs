//! One request on the wire: sent, watched, timed, answered.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use mcp_exchange::{BoxLink, Event, Outgoing, ParamHeaders};
use mcp_jsonrpc::{RawJson, RequestId};
use mcp_types::{ProgressParams, method};
use tokio::time::{Instant, Sleep, sleep};

use crate::error::ClientError;
use crate::inbound::Inlet;

/// Hears the progress of one call.
pub(crate) type OnProgress = Box<dyn FnMut(ProgressParams) + Send>;

/// How long a request may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Without an answer; forever where none.
    pub(crate) timeout: Option<Duration>,
    /// Whether progress starts that time again.
    pub(crate) extends: bool,
    /// In all, where it does.
    pub(crate) max: Duration,
}

/// A request that is ready to be sent.
pub(crate) struct Wire<'a> {
    pub(crate) link: &'a BoxLink,
    pub(crate) inlet: &'a Inlet,
    pub(crate) id: RequestId,
    pub(crate) method: Cow<'static, str>,
    pub(crate) params: Option<Bytes>,
    pub(crate) param_headers: Option<ParamHeaders>,
}

impl Wire<'_> {
    /// Sends it and waits for the answer. Dropping the future, and running out of time, cancel the request.
    pub(crate) async fn send(
        self,
        patience: Patience,
        mut on_progress: Option<&mut OnProgress>,
    ) -> Result<RawJson, ClientError> {
        let started = Instant::now();
        let mut clock = pin!(patience.timeout.map(sleep));
        let outgoing = Outgoing::new(self.method.clone(), self.params).with_param_headers(self.param_headers);
        let late = |extended: bool| {
            let after = patience.timeout.filter(|_| !extended);
            ClientError::timeout(self.method.clone(), after.unwrap_or_else(|| started.elapsed()))
        };
        let opened = {
            let mut opening = pin!(self.link.open(self.id, outgoing));
            poll_fn(|cx| before(clock.as_mut(), cx, |cx| opening.as_mut().poll(cx))).await
        };
        let mut incoming = match opened {
            Some(opened) => opened.map_err(ClientError::link)?,
            None => return Err(late(false)),
        };
        let mut extended = false;
        loop {
            match poll_fn(|cx| before(clock.as_mut(), cx, |cx| incoming.poll_next(cx))).await {
                Some(Event::Done(Ok(result))) => return Ok(result),
                Some(Event::Done(Err(error))) => return Err(ClientError::peer(error)),
                Some(Event::Lost(error)) => return Err(ClientError::link(error)),
                Some(Event::Notice(call)) if call.method() == method::PROGRESS => {
                    if let (Some(timeout), true) = (patience.timeout, patience.extends) {
                        let again = Instant::now().checked_add(timeout);
                        let last = started.checked_add(patience.max.max(timeout));
                        let end = [again, last].into_iter().flatten().min();
                        if let (Some(clock), Some(end)) = (clock.as_mut().as_pin_mut(), end) {
                            clock.reset(end);
                        }
                        extended = true;
                    }
                    if let Some(hear) = &mut on_progress {
                        match call.parse() {
                            Ok(progress) => hear(progress),
                            Err(error) => tracing::debug!(%error, "malformed progress was dropped"),
                        }
                    }
                }
                Some(Event::Notice(call)) => self.inlet.hear(&call),
                Some(_) => {}
                None => {
                    incoming.cancel("Request timed out");
                    return Err(late(extended));
                }
            }
        }
    }
}

/// Polls something, and the clock where it is pending. None when the time is over.
fn before<T>(
    clock: Pin<&mut Option<Sleep>>,
    cx: &mut Context<'_>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Poll<Option<T>> {
    if let Poll::Ready(value) = poll(cx) {
        return Poll::Ready(Some(value));
    }
    match clock.as_pin_mut() {
        Some(clock) => clock.poll(cx).map(|()| None),
        None => Poll::Pending,
    }
}
