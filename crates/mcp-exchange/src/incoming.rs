use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use mcp_jsonrpc::{Call, ErrorObject, RawJson};

use crate::error::LinkError;

/// Notifications of one call that wait to be read; beyond, the oldest is dropped.
const MAX_WAITING: usize = 256;

/// Bytes of their parameters; beyond, the oldest is dropped, but never the newest.
const MAX_WAITING_BYTES: usize = 1024 * 1024;

/// What comes back for a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A notification that belongs to this call: progress, or a log message where the transport can tell.
    Notice(Call),
    /// The answer. Nothing follows.
    Done(Result<RawJson, ErrorObject>),
    /// There will be no answer. Nothing follows.
    Lost(LinkError),
}

/// The caller's end of a call. Dropping it before [`Event::Done`] cancels the call.
pub struct Incoming {
    shared: Arc<Shared>,
    on_drop: Option<OnDrop>,
    reason: Option<String>,
}

type OnDrop = Box<dyn FnOnce(Option<String>) + Send>;

/// The transport's end of a call.
#[derive(Clone)]
pub struct CallSlot {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    notices: VecDeque<Call>,
    /// Bytes of the parameters in `notices`.
    bytes: usize,
    end: Option<Event>,
    ended: bool,
    waker: Option<Waker>,
}

impl State {
    fn take_notice(&mut self) -> Option<Call> {
        let call = self.notices.pop_front()?;
        self.bytes -= size(&call);
        Some(call)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A fresh pair of ends.
pub fn call_slot() -> (CallSlot, Incoming) {
    let shared = Arc::new(Shared::default());
    (
        CallSlot {
            shared: Arc::clone(&shared),
        },
        Incoming {
            shared,
            on_drop: None,
            reason: None,
        },
    )
}

impl CallSlot {
    /// Delivers a notification of this call. The oldest unread ones give way when 256 wait, or 1 MiB of them.
    pub fn notice(&self, call: Call) {
        let mut state = self.shared.lock();
        if state.ended {
            return;
        }
        state.bytes += size(&call);
        while state.notices.len() >= MAX_WAITING || state.bytes > MAX_WAITING_BYTES {
            if state.take_notice().is_none() {
                break;
            }
        }
        state.notices.push_back(call);
        wake(state);
    }

    /// Delivers the answer. Later deliveries are ignored.
    pub fn done(&self, outcome: Result<RawJson, ErrorObject>) {
        self.end(Event::Done(outcome));
    }

    /// Says that there will be no answer. Later deliveries are ignored.
    pub fn lost(&self, error: LinkError) {
        self.end(Event::Lost(error));
    }

    fn end(&self, event: Event) {
        let mut state = self.shared.lock();
        if !state.ended {
            state.ended = true;
            state.end = Some(event);
            wake(state);
        }
    }
}

fn size(call: &Call) -> usize {
    call.params().map_or(0, |params| params.as_bytes().len())
}

fn wake(mut state: MutexGuard<'_, State>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Incoming {
    /// Runs `cancel` when this is dropped before the end, with the reason where one was given. For transports.
    pub fn on_drop(&mut self, cancel: impl FnOnce(Option<String>) + Send + 'static) {
        self.on_drop = Some(Box::new(cancel));
    }

    /// Cancels the call and tells the peer why.
    pub fn cancel(mut self, reason: impl Into<String>) {
        self.reason = Some(reason.into());
    }

    /// The next event.
    ///
    /// # Cancel safety
    /// Nothing is lost when dropped.
    pub async fn next(&mut self) -> Event {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Polls for the next event.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        let mut state = self.shared.lock();
        if let Some(call) = state.take_notice() {
            return Poll::Ready(Event::Notice(call));
        }
        if let Some(end) = state.end.take() {
            drop(state);
            self.on_drop = None;
            return Poll::Ready(end);
        }
        if state.ended {
            return Poll::Ready(Event::Lost(LinkError::usage("the call has already ended")));
        }
        match &mut state.waker {
            Some(waker) if waker.will_wake(cx.waker()) => {}
            slot => *slot = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Waits for the answer, passing notifications over.
    ///
    /// # Cancel safety
    /// Notifications already passed over are gone.
    pub async fn answer(mut self) -> Result<Result<RawJson, ErrorObject>, LinkError> {
        loop {
            match self.next().await {
                Event::Notice(_) => {}
                Event::Done(outcome) => return Ok(outcome),
                Event::Lost(error) => return Err(error),
            }
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let ended = {
            let mut state = self.shared.lock();
            // The transport may keep its end for long.
            state.notices = VecDeque::new();
            std::mem::replace(&mut state.ended, true)
        };
        if let (false, Some(cancel)) = (ended, self.on_drop.take()) {
            cancel(self.reason.take());
        }
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Incoming")
    }
}

impl fmt::Debug for CallSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallSlot")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::task::Waker;

    use super::*;

    fn notice(text: &str) -> Call {
        let params = format!("{{\"x\":\"{text}\"}}");
        Call::new(
            "notifications/progress",
            Some(RawJson::from_text(params).unwrap()),
        )
    }

    fn poll(incoming: &mut Incoming) -> Option<Event> {
        match incoming.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(event) => Some(event),
            Poll::Pending => None,
        }
    }

    fn text(event: Option<Event>) -> String {
        match event {
            Some(Event::Notice(call)) => call.params().unwrap().as_str().to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn notices_come_in_order_before_the_answer_and_nothing_after_it() {
        let (slot, mut incoming) = call_slot();
        assert!(poll(&mut incoming).is_none());
        slot.notice(notice("a"));
        slot.notice(notice("b"));
        slot.done(Ok(RawJson::null()));
        slot.notice(notice("c"));
        slot.lost(LinkError::closed("too late"));
        assert_eq!(text(poll(&mut incoming)), r#"{"x":"a"}"#);
        assert_eq!(text(poll(&mut incoming)), r#"{"x":"b"}"#);
        assert!(matches!(poll(&mut incoming), Some(Event::Done(Ok(_)))));
        assert!(matches!(poll(&mut incoming), Some(Event::Lost(_))));
    }

    #[test]
    fn the_oldest_unread_notices_give_way_by_number_and_by_size() {
        let (slot, mut incoming) = call_slot();
        for round in 0..1000 {
            slot.notice(notice(&round.to_string()));
        }
        assert_eq!(text(poll(&mut incoming)), r#"{"x":"744"}"#);
        let large = "y".repeat(MAX_WAITING_BYTES / 3);
        for _ in 0..10 {
            slot.notice(notice(&large));
        }
        let waiting = slot.shared.lock();
        assert_eq!(waiting.notices.len(), 2, "a third is just too much");
        drop(waiting);
        // One alone may be of any size.
        slot.notice(notice(&"z".repeat(2 * MAX_WAITING_BYTES)));
        assert_eq!(slot.shared.lock().notices.len(), 1);
        assert!(text(poll(&mut incoming)).contains("zzz"));
        assert_eq!(slot.shared.lock().bytes, 0);
    }

    #[test]
    fn p069_dropping_before_the_end_cancels_once_and_after_it_never() {
        let (sent, cancels) = mpsc::channel();
        let open = || {
            let (slot, mut incoming) = call_slot();
            let sent = sent.clone();
            incoming.on_drop(move |reason| sent.send(reason).unwrap());
            (slot, incoming)
        };
        let (slot, incoming) = open();
        slot.notice(notice("unread"));
        drop(incoming);
        assert_eq!(cancels.try_recv(), Ok(None));
        slot.notice(notice("to nobody"));
        assert!(slot.shared.lock().notices.is_empty());

        let (_slot, incoming) = open();
        incoming.cancel("enough");
        assert_eq!(cancels.try_recv(), Ok(Some("enough".into())));

        let (slot, incoming) = open();
        slot.done(Ok(RawJson::null()));
        drop(incoming);
        let (slot, mut incoming) = open();
        slot.lost(LinkError::closed("gone"));
        assert!(matches!(poll(&mut incoming), Some(Event::Lost(_))));
        drop(incoming);
        assert!(cancels.try_recv().is_err());
    }

    #[tokio::test]
    async fn whoever_waits_is_woken() {
        let (slot, incoming) = call_slot();
        let waiting = tokio::spawn(incoming.answer());
        tokio::task::yield_now().await;
        slot.notice(notice("passed over"));
        tokio::task::yield_now().await;
        slot.done(Err(ErrorObject::new(7, "no")));
        assert_eq!(waiting.await.unwrap().unwrap().unwrap_err().code, 7);
    }
}
