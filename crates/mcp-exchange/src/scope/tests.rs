use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

use super::*;

/// Room for so many frames, until they are taken.
#[derive(Default)]
struct Pipe {
    frames: Mutex<Vec<String>>,
    room: AtomicUsize,
    gone: AtomicBool,
    changed: Notify,
}

impl Pipe {
    fn with_room(frames: usize) -> Arc<Self> {
        let pipe = Arc::new(Self::default());
        pipe.give(frames);
        pipe
    }

    fn give(&self, frames: usize) {
        self.room.fetch_add(frames, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    fn end(&self) {
        self.gone.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// What came out, without the parts that are always the same.
    fn taken(&self) -> Vec<String> {
        let short = |frame: &String| {
            let frame = frame.trim_start_matches(r#"{"jsonrpc":"2.0","method":"notifications/"#);
            frame.replace(r#"progress","params":{"progressToken":"t","progress":"#, "at ")
        };
        self.frames
            .lock()
            .unwrap()
            .drain(..)
            .map(|frame| short(&frame))
            .collect()
    }
}

impl Outbox for Pipe {
    fn try_send(&self, frame: BytesMut) -> Result<(), BytesMut> {
        let taken = |room: usize| room.checked_sub(1);
        match self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, taken) {
            Ok(_) => {
                let text = String::from_utf8(frame.to_vec()).unwrap();
                self.frames.lock().unwrap().push(text);
                Ok(())
            }
            Err(_) => Err(frame),
        }
    }

    fn room(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async {
            loop {
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                if self.gone.load(Ordering::SeqCst) {
                    return false;
                }
                if self.room.load(Ordering::SeqCst) > 0 {
                    return true;
                }
                changed.await;
            }
        })
    }
}

fn scope_in(pipe: &Arc<Pipe>, revision: Revision) -> Scope {
    let outbox = Arc::clone(pipe) as Arc<dyn Outbox>;
    ScopeBuilder::new(7.into(), Arc::new(Peer::new(revision)), outbox)
        .progress_token(Some(RawJson::from_text("\"t\"").unwrap()))
        .build()
}

fn scope(pipe: &Arc<Pipe>) -> Scope {
    scope_in(pipe, Revision::LATEST)
}

#[tokio::test]
async fn events_go_out_in_order_and_nothing_after_the_end() {
    let pipe = Pipe::with_room(100);
    let scope = scope(&pipe);
    assert!(scope.progress(0.5, Some(2.0), Some("half \"way\"")).await);
    assert!(scope.notify("notifications/x", b"{}").await);
    scope.progress_now(1.0, None, None);
    assert!(scope.close());
    assert!(!scope.close());
    assert!(!scope.progress(2.0, None, None).await);
    assert!(!scope.notify("notifications/x", b"{}").await);
    scope.progress_now(3.0, None, None);
    assert_eq!(
        pipe.taken(),
        [
            r#"at 0.5,"total":2,"message":"half \"way\""}}"#,
            r#"x","params":{}}"#,
            "at 1}}"
        ]
    );
}

#[tokio::test]
async fn p072_progress_must_grow_and_be_a_number() {
    let pipe = Pipe::with_room(100);
    let scope = scope_in(&pipe, Revision::V2024_11_05);
    let mut sent = Vec::new();
    for value in [
        1.0,
        1.0,
        0.5,
        f64::NAN,
        f64::INFINITY,
        1.25,
        -1.0,
        9_007_199_254_740_993.0,
        1e300,
    ] {
        if scope.progress(value, Some(f64::NAN), None).await {
            sent.push(value);
        }
        if scope
            .progress(value, None, Some("no message in this revision"))
            .await
        {
            sent.push(value);
        }
    }
    assert_eq!(sent, [1.0, 1.25, 9_007_199_254_740_992.0, 1e300]);
    let taken = pipe.taken();
    assert_eq!(taken[..3], ["at 1}}", "at 1.25}}", "at 9007199254740992}}"]);
    assert_eq!(taken.len(), 4);
}

#[tokio::test]
async fn without_a_token_there_is_no_progress() {
    let pipe = Pipe::with_room(100);
    let outbox = Arc::clone(&pipe) as Arc<dyn Outbox>;
    let peer = Arc::new(Peer::new(Revision::LATEST));
    let scope = ScopeBuilder::new(7.into(), peer, outbox).build();
    assert!(!scope.wants_progress());
    assert!(!scope.progress(1.0, None, None).await);
    scope.progress_now(1.0, None, None);
    assert!(pipe.taken().is_empty());
}

#[tokio::test]
async fn where_there_is_no_room_only_the_newest_progress_is_kept() {
    let pipe = Pipe::with_room(0);
    let scope = scope(&pipe);
    for value in 1..=5 {
        scope.progress_now(f64::from(value), None, None);
    }
    pipe.give(2);
    // It goes before the next event.
    assert!(scope.notify("notifications/x", b"{}").await);
    assert_eq!(pipe.taken(), ["at 5}}", r#"x","params":{}}"#]);
    // Or just before the answer.
    scope.progress_now(6.0, None, None);
    pipe.give(1);
    scope.close();
    assert_eq!(pipe.taken(), ["at 6}}"]);
}

#[tokio::test]
async fn progress_that_waits_takes_the_place_of_what_was_held() {
    let pipe = Pipe::with_room(0);
    let scope = scope(&pipe);
    scope.progress_now(1.0, None, None);
    let waiting = tokio::spawn({
        let scope = scope.clone();
        async move { scope.progress(2.0, None, None).await }
    });
    tokio::task::yield_now().await;
    pipe.give(9);
    assert!(waiting.await.unwrap());
    scope.close();
    assert_eq!(pipe.taken(), ["at 2}}"]);
}

#[tokio::test]
async fn an_event_that_is_dropped_while_it_waits_was_not_sent_and_harms_no_other() {
    let pipe = Pipe::with_room(0);
    let scope = scope(&pipe);
    scope.progress_now(1.0, None, None);
    {
        let mut waiting = std::pin::pin!(scope.progress(5.0, None, None));
        let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
        assert!(waiting.as_mut().poll(cx).is_pending());
    }
    pipe.give(9);
    assert!(scope.progress(2.0, None, None).await, "5 was never sent");
    scope.close();
    assert_eq!(pipe.taken(), ["at 2}}"]);
    // Nor does it take what was held with it.
    let pipe = Pipe::with_room(0);
    let scope = self::scope(&pipe);
    scope.progress_now(1.0, None, None);
    {
        let mut waiting = std::pin::pin!(scope.progress(5.0, None, None));
        let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
        assert!(waiting.as_mut().poll(cx).is_pending());
    }
    pipe.give(9);
    scope.close();
    assert_eq!(pipe.taken(), ["at 1}}"]);
}

#[tokio::test]
async fn p071_a_cancelled_exchange_sends_nothing_more_held_progress_neither() {
    let pipe = Pipe::with_room(0);
    let scope = scope(&pipe);
    scope.progress_now(1.0, None, None);
    let waiting = tokio::spawn({
        let scope = scope.clone();
        async move { scope.notify("notifications/x", b"{}").await }
    });
    tokio::task::yield_now().await;
    assert!(scope.cancel());
    assert!(scope.signal().is_cancelled());
    pipe.give(9);
    assert!(!waiting.await.unwrap());
    assert!(!scope.close() && !scope.cancel());
    assert!(pipe.taken().is_empty());
}

#[tokio::test]
async fn events_end_with_the_way_out() {
    let pipe = Pipe::with_room(0);
    let scope = scope(&pipe);
    let waiting = tokio::spawn({
        let scope = scope.clone();
        async move { scope.notify("notifications/x", b"{}").await }
    });
    tokio::task::yield_now().await;
    pipe.end();
    assert!(!waiting.await.unwrap());
}

#[test]
fn answers_carry_the_id_and_say_what_they_are() {
    use crate::StatusHint;
    let scope = scope(&Pipe::with_room(0));
    let done = scope.complete_raw(&RawJson::empty_object());
    assert_eq!(done.hint(), StatusHint::Result);
    assert_eq!(done.into_frame(), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    let failed = scope.fail(&ErrorObject::invalid_params("no"));
    assert_eq!(failed.hint(), StatusHint::Error(-32602));
    assert_eq!(
        failed.into_frame(),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}}"#
    );
}
