use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

const DRAINING: u8 = 1;
const CANCELLED: u8 = 2;

/// Where an exchange stands: active, asked to end politely, or cancelled. It only ever goes forward.
#[derive(Debug, Default)]
pub struct Signal {
    state: AtomicU8,
    changed: Notify,
}

impl Signal {
    /// Asks long-lived work to end politely; ordinary work goes on.
    pub fn drain(&self) {
        self.raise(DRAINING);
    }

    /// Cancels.
    pub fn cancel(&self) {
        self.raise(CANCELLED);
    }

    fn raise(&self, to: u8) {
        if self.state.fetch_max(to, Ordering::AcqRel) < to {
            self.changed.notify_waiters();
        }
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::Acquire) == CANCELLED
    }

    /// Whether it was asked to end, politely or by cancellation.
    pub fn is_draining(&self) -> bool {
        self.state.load(Ordering::Acquire) >= DRAINING
    }

    /// Waits for cancellation.
    ///
    /// # Cancel safety
    /// Nothing is lost when dropped.
    pub async fn cancelled(&self) {
        self.reached(CANCELLED).await;
    }

    /// Waits to be asked to end, politely or by cancellation.
    ///
    /// # Cancel safety
    /// Nothing is lost when dropped.
    pub async fn draining(&self) {
        self.reached(DRAINING).await;
    }

    async fn reached(&self, state: u8) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Registered before the check, so that a change between the two is seen.
            changed.as_mut().enable();
            if self.state.load(Ordering::Acquire) >= state {
                return;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Signal;

    #[test]
    fn it_only_goes_forward() {
        let signal = Signal::default();
        assert!(!signal.is_draining());
        signal.drain();
        assert!(signal.is_draining() && !signal.is_cancelled());
        signal.cancel();
        signal.drain();
        assert!(signal.is_draining() && signal.is_cancelled());
    }

    #[tokio::test]
    async fn each_step_wakes_those_who_wait_for_it_and_no_others() {
        let signal = Arc::new(Signal::default());
        let wait = |cancelled: bool| {
            let signal = Arc::clone(&signal);
            tokio::spawn(async move {
                if cancelled {
                    signal.cancelled().await;
                } else {
                    signal.draining().await;
                }
            })
        };
        let (drained, cancelled) = (wait(false), wait(true));
        tokio::task::yield_now().await;
        signal.drain();
        drained.await.unwrap();
        tokio::task::yield_now().await;
        assert!(!cancelled.is_finished());
        signal.cancel();
        cancelled.await.unwrap();
        // And whoever comes late does not wait.
        signal.cancelled().await;
        signal.draining().await;
    }
}
